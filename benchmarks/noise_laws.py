"""Textbook laws under 1, 5, 10 and 20 % noise, equal and relative: is the law's form picked?

    python benchmarks/noise_laws.py --max-time 15 --out laws.jsonl [--level 0.05] [--kind equal] [--only 0:8] [--seed 0]
    python benchmarks/noise_laws.py --pure-noise 100 --max-time 5 --out noise.jsonl
    python benchmarks/noise_laws.py --numbers --out numbers.jsonl   # simple numbers only: the law's form is given

Noise is relative to the spread of the clean target (equal) or to each value (relative).  A pick has the law's form if
its constants, fitted to the law without noise on fresh rows, leave less than 1e-5 of the spread, and there are no more
of them than the law has.  `listed` says whether any row of the table has it; `snapped` counts the constants of a right
pick that are written as simple numbers, `further` those of them that a free fit would have put nearer to the truth, by
more than a tenth of its standard error.  What is in the file is not run again.  Times are processor times; with
UNISYMNET_CLOCK=processor the limit counts them too.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from unisymnet import UniSymNetRegressor
from unisymnet.deadline import Deadline
from unisymnet.fit.clean.shorten import shorten
from unisymnet.fit.settle import settled, shortest
from unisymnet.formula import Formula
from unisymnet.judge.judge import make_judge
from unisymnet.judge.tree import read
from unisymnet.symbolic.expr import Expr, bind, evaluate, variables
from unisymnet.symbolic.parse import parse

# Name, law, constants that a fit has to find, ranges of the inputs, rows.
LAWS = (
    ("cooling", "21.3 + 61.7*exp(-0.083*x0)", 3, ((0, 60),), 60),
    ("enzyme", "8.4*x0/(1.9 + x0)", 2, ((0.2, 15),), 50),
    ("pendulum", "2.006*sqrt(x0)", 1, ((0.2, 3),), 60),
    ("free fall", "4.905*x0**2", 1, ((0.1, 4),), 50),
    ("allometry", "0.0713*x0**0.74", 2, ((1, 400),), 80),
    ("dose response", "96/(1 + (x0/3.2)**-1.8)", 3, ((0.3, 30),), 80),
    ("logistic growth", "512/(1 + 23*exp(-0.31*x0))", 3, ((0, 30),), 60),
    ("decay of activity", "340*exp(-0.121*x0)", 2, ((0, 25),), 60),
    ("resonance", "5.2/(1 + ((x0 - 4.1)/0.6)**2)", 3, ((1, 8),), 80),
    ("spectral line", "7.1*exp(-((x0 - 3.3)**2)/1.3)", 3, ((0, 7),), 80),
    ("Arrhenius", "37*exp(-1450/x0)", 2, ((280, 700),), 60),
    ("well", "12.1 + 3.4*ln(x0)", 2, ((0.5, 80),), 60),
    ("inverse square", "8.7/x0**2", 1, ((0.5, 4),), 60),
    ("ideal gas", "8.314*x0*x1/x2", 1, ((1, 5), (250, 400), (0.5, 3)), 120),
    ("kinetic energy", "0.5*x0*x1**2", 1, ((0.5, 5), (0.3, 6)), 100),
    ("lens", "1/(1/x0 + 1/x1)", 0, ((1, 9), (1, 9)), 100),
    ("drag", "0.2303*x0*x1**2", 1, ((0.3, 2), (1, 12)), 100),
    ("tide", "2.3 + 1.1*sin(0.506*x0 + 0.7)", 4, ((0, 50),), 120),
    ("charging", "9.1*(1 - exp(-x0/2.7))", 2, ((0.1, 12),), 60),
    ("stopping distance", "0.31*x0 + 0.0061*x0**2", 2, ((3, 40),), 60),
    ("Gompertz", "83*exp(-4.6*exp(-0.22*x0))", 3, ((0, 25),), 70),
    ("Langmuir in two", "6.3*x0*x1/(1 + 0.8*x0)", 2, ((0.1, 8), (0.5, 4)), 120),
    ("heat loss", "1.7*x0*(x1 - x2)", 1, ((0.5, 4), (30, 90), (5, 25)), 120),
    ("chirp of a string", "0.5*sqrt(x0/x1)", 1, ((10, 90), (0.2, 3)), 100),
)  # fmt: skip
ENOUGH = 1e-5
# Targets that nothing predicts: symmetric, with heavy tails, skewed, counts, rounded to few digits, around nothing.
SHAPES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(3.0, 1.0, n),
    "uniform": lambda rng, n: rng.uniform(-1.0, 1.0, n),
    "heavy tails": lambda rng, n: 10.0 + rng.standard_t(2.0, n),
    "skewed": lambda rng, n: np.exp(rng.normal(0.0, 1.5, n)),
    "counts": lambda rng, n: rng.poisson(4.0, n).astype(float),
    "rounded": lambda rng, n: np.round(rng.normal(20.0, 2.0, n)),
    "around zero": lambda rng, n: rng.normal(0.0, 1e-3, n),
}


def has_form(found: Expr, law: Expr, n_constants: int, X: np.ndarray) -> bool:
    """Can the formula's own constants make it the law?"""
    y = evaluate(law, X)
    judge = make_judge(X, y)
    spread = float(np.std(y))
    reading = read(found)
    if not variables(found):
        return False
    free = [place for place, value in enumerate(reading.values) if abs(value) not in (1.0, 2.0, 3.0, 0.5)]
    for places in (free, list(range(len(reading.values)))):
        if len(places) > n_constants + 1:
            continue
        with np.errstate(all="ignore"):
            moved = settled(found, judge, places)
            left = np.inf if moved is None else float(np.sqrt(np.mean((evaluate(moved, X) - y) ** 2)))
        if left < ENOUGH * spread:
            return True
    return False


def simple_numbers(formula: Formula, law: Expr, X: np.ndarray) -> tuple[int, int]:
    """How many constants of a formula that has the law's form are simple numbers, and how many of these are further
    from where the law without noise puts them than the free fit is."""
    values, truth = (tuple(c.value for c in f.constants) for f in (formula, formula.refit(X, evaluate(law, X))))
    snapped = [i for i, c in enumerate(formula.constants) if c.snapped_to is not None and c.fitted is not None]
    further = 0
    for i in snapped:
        fitted, error = formula.constants[i].fitted, formula.constants[i].stderr
        assert fitted is not None and error is not None
        further += abs(values[i] - truth[i]) > abs(fitted - truth[i]) + 0.1 * error
    return len(snapped), int(further)


def rows_of(law: Expr, ranges: tuple[tuple[float, float], ...], n: int, rng: np.random.Generator) -> np.ndarray:
    return np.column_stack([rng.uniform(low, high, n) for low, high in ranges])


def _noisy(index: int, level: float, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    _, text, _, ranges, n = LAWS[index]
    law = parse(text)
    rng = np.random.default_rng([seed, index, round(1000 * level), kind == "relative"])
    X = rows_of(law, ranges, n, rng)
    clean = evaluate(law, X)
    size = np.abs(clean) if kind == "relative" else np.std(clean)
    return X, clean + level * size * rng.normal(size=n)


def one(index: int, level: float, kind: str, max_time: float, seed: int) -> dict[str, object]:
    name, text, n_constants, ranges, _ = LAWS[index]
    law = parse(text)
    X, y = _noisy(index, level, kind, seed)
    fresh = rows_of(law, ranges, 400, np.random.default_rng([seed, index, 7]))
    began = time.process_time()
    model = UniSymNetRegressor(max_time=max_time, random_state=seed, n_jobs=1).fit(X, y)
    used = time.process_time() - began
    listed = [has_form(entry.formula.expr, law, n_constants, fresh) for entry in model.front_]
    lengths = make_judge(X, y).lengths(law)
    snapped, further = simple_numbers(model.formula_, law, fresh) if listed[model.picked_] else (0, 0)
    return {
        "law": name, "level": level, "kind": kind, "picked": listed[model.picked_], "listed": any(listed),
        "found": str(model.formula_), "stopped": model.stopped_, "wall": round(model.seconds_, 2),
        "processor": round(used, 2), "law_nats": None if lengths is None else round(lengths.total, 2),
        "pick_nats": _nats(model), "noise": getattr(model.front_[model.picked_], "noise", ""), "seed": seed,
        "snapped": snapped, "further": further, "proven": model.proven_,
    }  # fmt: skip


def numbers(index: int, level: float, kind: str, seed: int) -> dict[str, object]:
    """The law's own form, fitted and shortened without a search: which constants become simple numbers, which of them
    are the law's (`right`), and which are further from the law's than the fitted ones (`further`)."""
    name, text, *_ = LAWS[index]
    law = parse(text)
    X, y = _noisy(index, level, kind, seed)
    judge, truth = make_judge(X, y), read(law).values
    moved = bind(read(law).form, [value * (1.0003 + 0.0001 * place) for place, value in enumerate(truth)])
    row: dict[str, object] = {"law": name, "level": level, "kind": kind, "seed": seed}
    counts = {"snapped": 0, "right": 0, "further": 0}
    with np.errstate(all="ignore"):
        fitted = shortest(moved, judge)
        if fitted is None:
            return {**row, **counts, "found": ""}
        expr, lengths = shorten(fitted, judge, Deadline.never())
    before, after, errors = read(fitted[0]).values, read(expr).values, judge.errors(*fitted)
    if read(expr).form == read(fitted[0]).form:  # else a part was left out, and no constant can be compared
        for place in fitted[1].free - lengths.free:
            far = abs(before[place] - truth[place]) + 0.1 * errors[place]
            counts["snapped"] += 1
            counts["right"] += bool(np.isclose(after[place], truth[place], rtol=1e-9))
            counts["further"] += bool(abs(after[place] - truth[place]) > far)
    return {**row, **counts, "found": str(expr)}


def _nats(model: UniSymNetRegressor) -> float | None:
    value = getattr(model.front_[model.picked_], "nats", None)
    return None if value is None else round(value, 2)


def pure(index: int, max_time: float, seed: int) -> dict[str, object]:
    rng = np.random.default_rng([seed, index, 99])
    n, d, shape = int(rng.integers(12, 201)), int(rng.integers(1, 7)), list(SHAPES)[index % len(SHAPES)]
    X = rng.uniform(0.5, 5.0, (n, d)) if index % 2 else np.exp(rng.normal(0.0, 1.0, (n, d)))
    y = SHAPES[shape](rng, n)
    model = UniSymNetRegressor(max_time=max_time, random_state=seed, n_jobs=1).fit(X, y)
    return {"pure": index, "rows": n, "columns": d, "shape": shape, "constant": not variables(model.formula_.expr),
            "found": str(model.formula_), "stopped": model.stopped_, "nats": _nats(model), "seed": seed}  # fmt: skip


def _key(row: dict[str, object]) -> tuple[object, ...]:
    return (row["pure"], row["seed"]) if "pure" in row else (row["law"], row["level"], row["kind"], row["seed"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-time", type=float, default=15.0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--level", type=float, action="append")
    parser.add_argument("--kind", action="append")
    parser.add_argument("--only", default=":")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pure-noise", type=int, default=0)
    parser.add_argument("--numbers", action="store_true")
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in args.out.read_text("utf-8").splitlines()] if args.out.exists() else []
    done = {_key(row) for row in rows}
    jobs: list[tuple[tuple[object, ...], Callable[[], dict[str, object]]]] = []
    if args.pure_noise:
        for i in range(args.pure_noise):
            jobs.append(((i, args.seed), lambda i=i: pure(i, args.max_time, args.seed)))  # type: ignore[misc]
    else:
        low, _, high = args.only.partition(":")
        chosen = range(len(LAWS))[slice(int(low or 0), int(high) if high else None)]
        for level in args.level or (0.01, 0.05, 0.1, 0.2):
            for kind in args.kind or ("equal", "relative"):
                for i in chosen:
                    work = lambda i=i, level=level, kind=kind: (  # noqa: E731
                        numbers(i, level, kind, args.seed)
                        if args.numbers
                        else one(i, level, kind, args.max_time, args.seed)
                    )
                    jobs.append(((LAWS[i][0], level, kind, args.seed), work))
    with args.out.open("a", encoding="utf-8") as file:
        for key, job in jobs:
            if key in done:
                continue
            rows.append(job())
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
            print(json.dumps(rows[-1]), flush=True)
    searched = ("picked", "listed", "snapped", "further")
    names = ("constant",) if args.pure_noise else ("snapped", "right", "further") if args.numbers else searched
    print(" ".join(f"{name}={sum(int(row[name]) for row in rows)}" for name in names), f"of={len(rows)}")


if __name__ == "__main__":
    main()
