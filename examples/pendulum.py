"""A damped pendulum, filmed: the camera's error is known to be about 0.005 rad."""

from importlib.resources import files

import pandas as pd

from unisymnet import UniSymNetRegressor

table = pd.read_csv(files("unisymnet").joinpath("data/pendulum.csv"))

model = UniSymNetRegressor(max_time=15, random_state=0, noise=0.005).fit(table[["time_s"]], table["angle_rad"])
print(model)
for constant in model.formula_.constants:
    print("  constant", constant)
