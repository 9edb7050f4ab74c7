"""What ±, bands and printed digits are worth: coverage under every noise model, for given laws and drawn noise.

    python benchmarks/error_bars.py --draws 100 --out error_bars.jsonl [--rows 15 60 300] [--kinds equal relative …]

Laws are known, so nothing is searched: their constants are fitted and reported on the path that a row of the table
takes.  `one_sigma` is the share of constants whose ± holds the truth (68 % is right), `worst` and `best` that of single
constants, `band` the share of fresh measurements inside the 95 % band, `rise` the largest rise of chi-square for a row
by printing the formula with its own digits.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from unisymnet.fit.clean.verdict import Ruled
from unisymnet.fit.settle import shortest
from unisymnet.formula.constants import rounded
from unisymnet.judge.judge import make_judge
from unisymnet.judge.noise import NoiseModel
from unisymnet.regressor.judged import entry_of
from unisymnet.regressor.validation import Data
from unisymnet.symbolic.expr import Expr, evaluate
from unisymnet.symbolic.parse import parse

# Law with constants that no simple number stands for, and the range of x.
LAWS = (
    ("30.17*exp(-0.4137*x0)", (0.0, 8.0)),
    ("7.134*x0/(x0 + 2.317)", (0.2, 15.0)),
    ("2.313*x0**1.417", (0.3, 30.0)),
    ("1.713*x0 + 4.137", (0.0, 9.0)),
)
FRESH = 60


def noisy(clean: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    middle, normal = float(np.median(np.abs(clean))), rng.normal(size=len(clean))
    if kind == "relative":
        return clean + 0.1 * np.abs(clean) * normal
    if kind == "counts":
        return clean + 0.1 * np.sqrt(np.abs(clean) * middle) * normal
    if kind == "both":
        return clean + 0.05 * middle * np.sqrt(1.0 + (clean / middle) ** 2) * normal
    if kind == "heavy tails":
        return clean + 0.05 * middle * rng.standard_t(3.0, size=len(clean))
    return clean + 0.08 * middle * normal


def one(law: Expr, span: tuple[float, float], kind: str, n: int, seed: int) -> tuple[list[bool], float, float] | None:
    """Which constants lie within ±, the share of fresh rows in the band, the rise of chi-square by printing."""
    rng = np.random.default_rng([seed, n, len(kind), round(1000 * span[1])])
    X = rng.uniform(*span, (n, 1))
    y = noisy(evaluate(law, X), kind, rng)
    judge = make_judge(X, y)
    found = shortest(law, judge)
    if found is None:
        return None
    entry = entry_of(Ruled(*found, "own"), Data(X, y, None, ("x0",), "y"), None, judge=judge)
    truth = [constant.value for constant in _constants(law)]
    inside = [
        constant.stderr is not None and abs(constant.value - value) <= constant.stderr
        for constant, value in zip(entry.formula.constants, truth, strict=True)
    ]
    fresh = rng.uniform(*span, (FRESH, 1))
    low, high = entry.formula.predict_interval(fresh)
    again = noisy(evaluate(law, fresh), kind, rng)
    return inside, float(np.mean((again >= low) & (again <= high))), _rise(entry.formula, X, y, found[1].model)


def _constants(law: Expr) -> tuple:
    from unisymnet.formula import Formula

    return Formula(law).constants


def _rise(formula, X: np.ndarray, y: np.ndarray, model: NoiseModel) -> float:
    """By the residuals that were fitted: of logarithms, where the noise is a factor."""
    shown = rounded(formula.expr, formula.constants)
    if shown is None:
        return 0.0
    exact, values = evaluate(formula.expr, X), evaluate(shown, X)
    if model.kind == "factor":
        left, printed = np.log(y / exact), np.log(y / values)
    else:
        roots = model.roots(exact, y - exact)
        left, printed = roots * (y - exact), roots * (y - values)
    return float((np.sum(printed**2) - np.sum(left**2)) / np.mean(left**2))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=[15, 60, 300])
    parser.add_argument("--kinds", nargs="+", default=["equal", "relative", "counts", "both", "heavy tails"])
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    for kind in args.kinds:
        for n in args.rows:
            shares, bands, rises = [], [], []
            for text, span in LAWS:
                draws = [one(parse(text), span, kind, n, seed) for seed in range(args.draws)]
                kept = [draw for draw in draws if draw is not None]
                shares += list(np.mean([inside for inside, _, _ in kept], axis=0))
                bands += [band for _, band, _ in kept]
                rises += [rise for _, _, rise in kept]
            row = {"kind": kind, "rows": n, "draws": args.draws, "one_sigma": round(float(np.mean(shares)), 3),
                   "worst": round(float(min(shares)), 3), "best": round(float(max(shares)), 3),
                   "band": round(float(np.mean(bands)), 3), "rise": round(max(rises), 3)}  # fmt: skip
            with args.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
