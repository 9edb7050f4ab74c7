"""`demo`: laws from data files that come with the package, one with units, one a system, in under a minute."""

from __future__ import annotations

import json
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..regressor import UniSymNetRegressor
from .screen import print_result

# Share of the time for each: fifteen rows are soon exhausted, an oscillation needs a finer look.
SHOWN = {"kepler": 0.3, "pendulum": 1.3, "enzyme": 0.7}
DRAWN = "pendulum"
# What the search is told besides the data: units, and constants of nature that the law may hold.
KNOWN: dict[str, dict[str, Any]] = {
    "kepler": {
        "units": {"axis_au": "au", "period_years": "yr"},
        "constants": {"GM_sun": "39.4784 au^3/yr^2"},
    }
}
SYSTEM = "predators"  # runs of a dynamical system


def run_demo(*, max_time: float, seed: int, only: str | None) -> None:
    index = demo_index()
    if only is not None and only not in index:
        raise DataError(f"there is no demo {only!r}; choose one of {', '.join(index)}")
    began = time.monotonic()
    shown = SHOWN if only is None else {only: 1.0}
    for name, share in shown.items():
        _show(name, index[name], share * max_time, seed, drawn=name in (DRAWN, only))
    if only is None:
        _show_system(max_time)
    print(f"{time.monotonic() - began:.1f} s in all.\n")
    print("Now your own data:  unisymnet fit data.csv --target y")


def write_data(folder: str) -> None:
    """Copy the data files of the package, to try the commands on."""
    index = demo_index()
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name in (*index, SYSTEM):
            Path(folder, f"{name}.csv").write_bytes(files("unisymnet").joinpath("data", f"{name}.csv").read_bytes())
    except OSError as error:
        raise DataError(f"cannot write to the folder {folder!r}: {error}") from error
    print(f"{Path(folder, SYSTEM)}.csv  time year, runs by region: hares and lynxes, for `unisymnet dynamics`")
    for name, facts in index.items():
        print(f"{Path(folder, name)}.csv  target {facts['target']}: {facts['about']}")
    print("next: unisymnet fit kepler.csv --target period_years")


def demo_index() -> dict[str, dict[str, Any]]:
    """Name of every data file with its target, law, noise and a sentence."""
    return json.loads(files("unisymnet").joinpath("data", "index.json").read_text(encoding="utf-8"))


def load_demo(name: str) -> tuple[Any, Any]:
    """Columns and target of a data file of the package, as pandas objects."""
    import pandas as pd

    target = demo_index()[name]["target"]
    with files("unisymnet").joinpath("data", f"{name}.csv").open("rb") as file:
        frame = pd.read_csv(file)
    return frame.drop(columns=target), frame[target]


def _show(name: str, facts: dict[str, Any], max_time: float, seed: int, *, drawn: bool) -> None:
    X, y = load_demo(name)
    print(f"{facts['about']}\n  {facts['rows']} rows; noise: {facts['noise']}\n")
    known = KNOWN.get(name, {})
    for what, values in known.items():
        link = " in " if what == "units" else " = "
        print(f"  {what}: " + ", ".join(f"{key}{link}{value}" for key, value in values.items()))
    model = UniSymNetRegressor(max_time=max_time, random_state=seed, verbose=True, **known).fit(X, y)
    print_result(model)
    print(f"\n  the law behind the data: {facts['target']} = {facts['law']}")
    network = explained(model) if drawn else ""
    if network:
        print("\n  the same formula as a symbolic network, and its label:")
        print("\n".join(f"  {line}" for line in network.splitlines()))
    print()


def _show_system(max_time: float) -> None:
    """Differential equations from two runs of a dynamical system."""
    import pandas as pd

    from ..dynamics import DynamicsRegressor

    with files("unisymnet").joinpath("data", f"{SYSTEM}.csv").open("rb") as file:
        frame = pd.read_csv(file)
    print(
        "Hares and lynxes counted in two regions: which differential equations?\n  120 rows; noise: 3 % of each count\n"
    )
    model = DynamicsRegressor(max_time=max_time).fit(frame, time="year", states=["hares", "lynx"], trajectory="region")
    print(model)
    print("\n  the system behind the data: hares' = 0.9*hares - 0.3*hares*lynx, lynx' = 0.12*hares*lynx - 0.6*lynx\n")


def explained(model: UniSymNetRegressor) -> str:
    """The picked formula as a unified symbolic network; empty where an operator is outside its library."""
    from ..errors import EncodingError
    from ..symbolic.network.draw import explain

    try:
        return explain(model.formula_.expr, model.formula_.names)
    except EncodingError:
        return ""
