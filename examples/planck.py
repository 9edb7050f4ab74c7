"""Planck's law: columns and target differ by many orders of magnitude, and nothing needs to be scaled by hand."""

from importlib.resources import files

import pandas as pd

from unisymnet import UniSymNetRegressor

table = pd.read_csv(files("unisymnet").joinpath("data/planck.csv"))
X, y = table[["wavelength_um", "temperature_K"]], table["radiance"]

model = UniSymNetRegressor(max_time=20, random_state=0).fit(X, y)
print(model)
print(model.equations_[["complexity", "r2_valid", "source"]])
