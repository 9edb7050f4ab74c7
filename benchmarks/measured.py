"""Measured data whose law is accepted: is it picked, is it on the table, is the pick absurd?

    python benchmarks/measured.py --max-time 20 --out measured.jsonl [--only 0:5]
    python benchmarks/measured.py --list

Rows of public domain works are written down here (NIST's Statistical Reference Datasets are works of the United States
government; the others were published before 1930); other sets are read from packages that ship them (scikit-learn,
statsmodels) and are left out where the package is missing.  A pick is the law if its form is one of those accepted,
with constants of its own; absurd is a sine, an exponent beyond 6 or a constant a thousand times the largest value.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unisymnet import UniSymNetRegressor
from unisymnet.fit.settle import settled
from unisymnet.judge.judge import make_judge
from unisymnet.judge.tree import EXPONENT, NUMBER, read
from unisymnet.symbolic.expr import Expr, evaluate, variables
from unisymnet.symbolic.parse import parse


@dataclass(frozen=True)
class Measured:
    """One data set: its columns and target, accepted forms with starting constants, and who says so."""

    name: str
    rows: Callable[[], tuple[np.ndarray, np.ndarray]]
    laws: tuple[str, ...]
    source: str


def _table(x: str, y: str) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    return lambda: (np.array([[float(v)] for v in x.split()]), np.array([float(v) for v in y.split()]))


def _sklearn(loader: str, column: int, target: int) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    def read_rows() -> tuple[np.ndarray, np.ndarray]:
        import sklearn.datasets as sets

        found = getattr(sets, loader)()
        table = found.data if target >= 0 else np.column_stack([found.data, found.target])
        return table[:, [column]], table[:, target]

    return read_rows


def _statsmodels(name: str, inputs: tuple[str, ...], target: str) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    def read_rows() -> tuple[np.ndarray, np.ndarray]:
        import importlib

        frame = importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data
        frame = frame.dropna()
        return frame[list(inputs)].to_numpy(float), frame[target].to_numpy(float)

    return read_rows


SETS = (
    Measured(
        "Misra1a", _table("77.6 114.9 141.1 190.8 239.9 289.0 332.8 378.4 434.8 477.3 536.8 593.1 689.1 760.0",
                          "10.07 14.73 17.94 23.93 29.61 35.18 40.02 44.82 50.76 55.05 61.01 66.40 75.47 81.78"),
        ("238.9*(1 - exp(-0.00055*x0))", "338*(1 - (1 + 0.00078*x0/2)**-2)", "0.25*x0/(1 + 0.001*x0)",
         "0.14*x0 - 0.00005*x0**2", "0.2*x0**0.92"),
        "NIST StRD, Misra 1978: monomolecular adsorption (Misra1a to d are four forms for one kind of data)"),
    Measured(
        "DanWood", _table("1.309 1.471 1.490 1.565 1.611 1.680", "2.138 3.421 3.597 4.340 4.882 5.660"),
        ("0.77*x0**3.86", "0.7*x0**4"), "NIST StRD, Daniel and Wood 1980: radiated energy, about the fourth power"),
    Measured(
        "BoxBOD", _table("1 2 3 5 7 10", "109 149 149 191 213 224"),
        ("213*(1 - exp(-0.55*x0))", "240*x0/(1.3 + x0)", "110 + 50*ln(x0)"),
        "NIST StRD, Box, Hunter and Hunter 1978: oxygen demand"),
    Measured(
        "Boyle", _table("48 46 44 42 40 38 36 34 32 30 28 26 24 23 22 21 20 19 18 17 16 15 14 13 12",
                        "29.125 30.5625 31.9375 33.5 35.3125 37 39.3125 41.625 44.1875 47.0625 50.3125 54.3125 58.8125 "
                        "61.3125 64.0625 67.0625 70.6875 74.125 77.875 82.75 87.875 93.0625 100.4375 107.8125 "
                        "117.5625"),
        ("1400/x0",), "Boyle 1662: pressure and volume of air"),
    Measured(
        "Forbes", _table("194.5 194.3 197.9 198.4 199.4 199.9 200.9 201.1 201.4 201.3 203.6 204.6 209.5 208.6 210.7 "
                         "211.9 212.2",
                         "20.79 20.79 22.40 22.67 23.15 23.35 23.89 23.99 24.02 24.01 25.14 26.57 28.49 27.76 29.04 "
                         "29.88 30.06"),
        ("0.4*exp(0.0206*x0)", "1e-8*x0**4.3", "0.52*x0 - 81", "1e6*exp(-2000/x0)", "0.01*x0**2 - 2*x0 + 100",
         "0.001*x0**2 - 40"),
        "Forbes 1857: boiling point (F) and pressure; here exponential, power and line cannot be told apart"),
    Measured(
        "Hubble", _table("0.032 0.034 0.214 0.263 0.275 0.275 0.45 0.5 0.5 0.63 0.8 0.9 0.9 0.9 0.9 1.0 1.1 1.1 1.4 "
                         "1.7 2.0 2.0 2.0 2.0",
                         "170 290 -130 -70 -185 -220 200 290 270 200 300 -30 650 150 500 920 450 500 500 960 500 850 "
                         "800 1090"),
        ("424*x0", "454*x0 - 40"), "Hubble 1929: distance (Mpc) and velocity (km/s) of galaxies"),
    Measured(
        "Kepler", _table("0.387 0.723 1.0 1.524 5.203 9.537 19.19 30.07",
                         "0.241 0.615 1.0 1.881 11.86 29.45 84.01 164.8"),
        ("x0**1.5", "1.0003*x0**1.4997"), "Kepler 1619, with Uranus and Neptune: axis (au) and period (years)"),
    Measured(
        "water vapour", _table("0 10 20 30 40 50 60 70 80 90 100",
                             "0.611 1.227 2.337 4.241 7.375 12.34 19.92 31.16 47.36 70.11 101.33"),
        ("17.4*exp(-4030/(x0 + 235))*1e7", "0.6*exp(17.27*x0/(x0 + 237.3))", "0.7*exp(0.065*x0 - 0.0001*x0**2)"),
        "reference values of the vapour pressure of water (kPa) over temperature (C); Antoine or Magnus"),
    Measured(
        "Engel", _statsmodels("engel", ("income",), "foodexp"), ("0.485*x0 + 147", "4*x0**0.75", "0.55*x0 + 100"),
        "Engel 1857, through statsmodels: a line, or Engel's law as a power below one"),
    Measured(
        "iris petals", _sklearn("load_iris", 2, 3), ("0.416*x0 - 0.363", "0.09*x0**1.7"),
        "Anderson and Fisher 1936, through scikit-learn: allometry of petals"),
)  # fmt: skip


def has_form(found: Expr, laws: tuple[str, ...], X: np.ndarray, y: np.ndarray) -> bool:
    """Is one of the accepted laws, fitted to the data, what the formula can become with its own constants?"""
    judge = make_judge(X, y)
    for text in laws:
        law = settled(parse(text), judge, range(len(read(parse(text)).values)))
        if law is None or not variables(found):
            continue
        target = evaluate(law, X)
        places = range(len(read(found).values))
        if len(places) > len(read(law).values) + 1:
            continue
        moved = settled(found, make_judge(X, target), places)
        spread, left = float(np.std(target)), np.inf
        if moved is not None:
            left = float(np.sqrt(np.mean((evaluate(moved, X) - target) ** 2)))
        if left < 1e-4 * spread:
            return True
    return False


def is_absurd(expr: Expr, y: np.ndarray) -> bool:
    tree = read(expr).tree
    most = 1e3 * float(np.max(np.abs(y)))
    for parent, node in tree.walk():
        if node.symbol in ("sin", "cos", "tan"):
            return True
        if node.symbol == NUMBER and parent == EXPONENT and abs(node.value) > 6.0:
            return True
        if node.symbol == NUMBER and parent == "add" and abs(node.value) > most and tree.symbol == "add":
            return True
    return False


def one(task: Measured, max_time: float) -> dict[str, object]:
    X, y = task.rows()
    began = time.process_time()
    model = UniSymNetRegressor(max_time=max_time, n_jobs=1).fit(X, y)
    with np.errstate(all="ignore"):
        listed = [has_form(entry.formula.expr, task.laws, X, y) for entry in model.front_]
    return {
        "set": task.name, "rows": len(y), "picked": listed[model.picked_], "listed": any(listed),
        "absurd": is_absurd(model.formula_.expr, y), "found": model.formula_.text(6), "stopped": model.stopped_,
        "proven": model.proven_, "noise": model.front_[model.picked_].noise,
        "processor": round(time.process_time() - began, 2), "wall": round(model.seconds_, 2),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-time", type=float, default=20.0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default=":")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.list or args.out is None:
        print("\n".join(f"{task.name:16} {task.source}" for task in SETS))
        return
    low, _, high = args.only.partition(":")
    rows = []
    for task in SETS[slice(int(low or 0), int(high) if high else None)]:
        try:
            rows.append(one(task, args.max_time))
        except ImportError as missing:
            print(f"{task.name}: left out, {missing}")
            continue
        with args.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[-1]) + "\n")
        print(json.dumps(rows[-1], ensure_ascii=False), flush=True)
    counts = " ".join(f"{key}={sum(bool(row[key]) for row in rows)}" for key in ("picked", "listed", "absurd"))
    print(f"{counts} of={len(rows)}")


if __name__ == "__main__":
    main()
