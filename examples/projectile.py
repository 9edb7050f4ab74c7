"""How far a projectile flies: fit, save, load, and take the formula to other programs."""

import tempfile
from importlib.resources import files
from pathlib import Path

import pandas as pd

from unisymnet import UniSymNetRegressor

table = pd.read_csv(files("unisymnet").joinpath("data/projectile.csv"))
X, y = table[["speed", "angle"]], table["range"]

model = UniSymNetRegressor(max_time=15, random_state=0).fit(X, y)
print(model)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "projectile.json"
    model.save(path)
    formula = UniSymNetRegressor.load(path).formula_
for language in ("latex", "excel", "c"):
    print(f"--- {language}\n{formula.to(language)}")
