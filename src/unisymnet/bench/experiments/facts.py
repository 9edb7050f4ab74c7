"""Published numbers that ours are printed beside: the paper's tables, and SRBench 2021 by method and noise level.

Facts only.  The paper's figures are not here: it prints no numbers for them.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

# Table "Fitting accuracy rate, complexity, and symbolic solution rate": suite -> method -> (Com, Acc, Sol).
_METHODS = ("EQL", "NeSymRes", "End-to-End", "DySymNet", "TPSR", "ParFam", "UniSymNet")
_IN_DOMAIN = {
    "koza": "5 0 0; 9 0 0; 16.85 1 0; 14 1 0; 16.83 1 0; 23.8 1 0; 13.5 1 .5",
    "keijzer": "17.93 .4583 0; 9.45 .5833 .0833; 22.45 .6708 .0083; 17.2 .9667 0; 18.67 1 .1667; 74.37 .9762 .3333;"
    " 10.16 1 .4167",
    "nguyen": "15.85 .2958 0; 9.08 .4167 .1667; 22.75 .8458 0; 24.2 .8333 0; 15.86 .9167 .0833; 57.83 .9916 .1667;"
    " 9.25 .9167 .3333",
    "nguyen*": "17.7 .55 0; 8.07 .6 .2; 16.12 1 0; 16 1 0; 16.8 1 0; 43.91 1 .1; 11.8 1 .4",
    "r": "9 .3167 0; 12.3 .3333 0; 21.83 .6667 0; 29.7 .6833 0; 16.87 .6833 0; 23.92 1 0; 20 1 .3333",
    "jin": "17.11 .0167 0; 8.95 .1667 0; 28.19 .9667 0; 59.78 .9833 0; 19.78 1 .0583; 100.92 1 .3333; 15.67 1 .5",
    "livermore": "14.72 .2682 0; 8.09 .2727 .0455; 20.95 .6614 .0045; 23.3 .7568 0; 14.55 .8182 .05; 29.39 1 .2727;"
    " 11.5 1 .4091",
    "constant": "21.47 .5313 0; 7.43 .5 .25; 16.3 1 .0063; 17.11 .8333 0; 14.5 .875 .125; 28.33 1 .375; 9.63 1 .75",
}

# Table "Comparison of different initialization methods": suite -> method -> (Com, Acc, Sol, Time).
# Livermore's accuracy of the grid is printed as 0.09091, most likely for 0.9091.
INITS = ("random", "grid", "lhs", "evolutionary")
_INITIALISATION = {
    "koza": "13.5 1 .5 81.03; 13 1 .5 37.54; 13.5 1 .5 37.23; 14.5 1 .5 46.15",
    "keijzer": "10 1 .4167 78.45; 10.5 1 .4167 72.69; 10.16 1 .4167 74.91; 10.25 1 .4167 75.98",
    "nguyen": "13.08 .9167 .25 87.28; 13.17 .8333 .1667 75.35; 11.5 .9167 .25 71.22; 13.17 .9167 .25 72.01",
    "nguyen*": "11.8 1 .4 75.38; 9.4 .8 .2 54.82; 11.8 1 .4 50.4; 11.8 1 .4 52.01",
    "r": "19.33 1 .3333 100; 19.33 1 .3333 100; 20 1 .3333 100; 19.33 1 .3333 100",
    "jin": "16.5 1 .5 88.79; 16.5 1 .5 69.14; 15.67 1 .5 69.79; 16.83 1 .5 72.01",
    "livermore": "11 1 .4091 68.6; 10.86 .09091 .3183 49.65; 11.5 1 .4091 53.3; 10.82 1 .4091 52.29",
    "constant": "9.75 1 .75 66.11; 8.63 .75 .5 62.72; 9.63 1 .75 59.16; 9.63 1 .75 57.46",
}

# Table "Relative changes of Huber and Quantile losses": suite -> loss -> (ΔR², ΔSol, ΔCom) against mean squares.
_LOSSES = {
    "koza": "0 0 .5; 0 0 -1.5",
    "keijzer": "2e-5 0 -.17; -8e-4 0 0",
    "nguyen": "-2.02e-3 0 -1.92; -1.87e-3 .0833 -2.25",
    "nguyen*": "-2.5e-3 0 -2.2; -2.37e-3 0 -2.2",
    "r": "3e-5 0 -3; 0 0 0",
    "jin": "-3.98e-3 0 -.83; -3.36e-3 0 -.33",
    "livermore": "-2.42e-3 0 -.64; -1.47e-3 0 -.23",
    "constant": "-1e-5 0 .75; -8e-5 0 -.75",
}

# Table "Sensitivity analysis": schedule -> entropy -> (mean R², solution rate, complexity), on Nguyen.
_SENSITIVITY = {
    "constant": ".9976 .1667 14.83; .9976 .1667 14.83; .9976 .1667 14.87",
    "linear": ".9976 .25 14.83; .9976 .2458 14.85; .9976 .2458 14.85",
    "exponential": ".9989 .25 13.5; .9976 .2458 14.85; .9976 .2458 14.89",
}
ENTROPIES = (0.005, 0.01, 0.05)

# Table "Overall performance of UniSymNet": suite -> noise -> (solution rate, mean R², complexity).
NOISES = (0.0, 0.001, 0.01, 0.1)
_SRBENCH = {
    "feynman": ".569 .9791 20.19; .5086 .9708 20.44; .4483 .9681 19.07; .2845 .9596 21.24",
    "strogatz": ".2857 .9522 22.21; .1429 .8781 20.5; .1429 .8581 19.57; .1429 .9113 21.79",
}

Numbers = tuple[float, ...]


def in_domain(suite: str) -> dict[str, Numbers]:
    return dict(zip(_METHODS, _read(_IN_DOMAIN[suite]), strict=True))


def initialisation(suite: str) -> dict[str, Numbers]:
    return dict(zip(INITS, _read(_INITIALISATION[suite]), strict=True))


def losses(suite: str) -> dict[str, Numbers]:
    return dict(zip(("huber", "quantile"), _read(_LOSSES[suite]), strict=True))


def sensitivity(schedule: str) -> dict[float, Numbers]:
    return dict(zip(ENTROPIES, _read(_SENSITIVITY[schedule]), strict=True))


def srbench(suite: str) -> dict[float, Numbers]:
    return dict(zip(NOISES, _read(_SRBENCH[suite]), strict=True))


@cache
def published(suite: str, noise: float) -> dict[str, dict[str, float | None]]:
    """SRBench 2021's methods on one suite at one noise level: method -> rate, r2, complexity, time."""
    path = files(__package__.rpartition(".")[0]).joinpath("catalogs", "srbench_published.csv")
    rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    keys = ("rate", "r2", "complexity", "time")
    return {
        row["method"]: {key: float(row[key]) if row[key] else None for key in keys}
        for row in rows
        if row["suite"] == suite and float(row["noise"]) == noise
    }


def _read(text: str) -> list[Numbers]:
    return [tuple(map(float, cell.split())) for cell in text.split(";")]
