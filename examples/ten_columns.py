"""Ten columns, seven of which do not matter."""

from importlib.resources import files

import pandas as pd

from unisymnet import UniSymNetRegressor

table = pd.read_csv(files("unisymnet").joinpath("data/ten_columns.csv"))
X, y = table.drop(columns="y"), table["y"]

model = UniSymNetRegressor(max_time=15, random_state=0).fit(X, y)
print(model)
print("columns used:", ", ".join(model.formula_.columns))
