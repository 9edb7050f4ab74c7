"""Enzyme kinetics with an inhibitor: the search, a textbook guess beside it, and the guess alone."""

from importlib.resources import files

import pandas as pd

from unisymnet import UniSymNetRegressor
from unisymnet.regressor import fit_formula

table = pd.read_csv(files("unisymnet").joinpath("data/enzyme.csv"))
X, y = table[["substrate_mM", "inhibitor_mM"]], table["rate"]

# Names that are no column are constants to fit.
guess = "vmax*substrate_mM/(km + substrate_mM)"
model = UniSymNetRegressor(max_time=10, random_state=0).fit(X, y, guesses=[guess])
print(model)

own = fit_formula(guess, X, y)
print(f"the guess alone: {own.text(4)}, R² = {own.score(X, y):.4f}; found: R² = {model.score(X, y):.4f}")
