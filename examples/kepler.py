"""Kepler's third law from fifteen orbits. Two of the three columns do not matter."""

from importlib.resources import files

import pandas as pd

from unisymnet import UniSymNetRegressor

table = pd.read_csv(files("unisymnet").joinpath("data/kepler.csv"))
X, y = table[["axis_au", "eccentricity", "mass_earths"]], table["period_years"]

model = UniSymNetRegressor(max_time=10, random_state=0).fit(X, y)
print(model)
print("LaTeX:", model.latex())
