"""Measured data whose law is accepted: is it picked, is it on the table, is the pick absurd?

    python benchmarks/measured.py --max-time 20 --out measured.jsonl [--half developed] [--only 0:5]
    python benchmarks/measured.py --list      # the sets, how well their accepted laws fit, and who says so

The sets are in measured_sets.py, and 36 that were written down later, before any was run, in measured_new.py
(`--half new`).  A pick is the law if its form is one of those accepted, with constants of its own; an exponent that the
form leaves free may be a whole or half number.  Absurd is a sine, an exponent beyond 6 or a constant a thousand times
the largest value.  What is in the file is not run again.  Times are processor times with UNISYMNET_CLOCK=processor.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path

import numpy as np

from measured_new import NEW
from measured_sets import DEVELOPED, KEPT_BACK, SETS, Measured
from unisymnet import UniSymNetRegressor
from unisymnet.fit.settle import settled
from unisymnet.judge.judge import make_judge
from unisymnet.judge.tree import EXPONENT, NUMBER, read
from unisymnet.metrics import r2
from unisymnet.symbolic.constants import free_constants
from unisymnet.symbolic.expr import Expr, bind, evaluate, variables
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.rewrite.simplify import simplify

HALVES = {"developed": DEVELOPED, "kept-back": KEPT_BACK, "all": SETS, "new": NEW}


def has_form(found: Expr, laws: tuple[str, ...], X: np.ndarray, y: np.ndarray) -> bool:
    """Is one of the accepted laws, fitted to the data, what the formula can become with its own constants?"""
    judge = make_judge(X, y)
    for accepted in itertools.chain.from_iterable(special_cases(parse(text)) for text in laws):
        law = settled(accepted, judge, _movable(accepted))
        if law is None or not variables(found):
            continue
        target = evaluate(law, X)
        places = _movable(found)
        if _n_constants(found) > _n_constants(law):  # a form with something more beside it is another form
            continue
        moved = settled(found, make_judge(X, target), places)
        spread, left = float(np.std(target)), np.inf
        if moved is not None:
            left = float(np.sqrt(np.mean((evaluate(moved, X) - target) ** 2)))
        if left < 1e-4 * spread:
            return True
    return False


def special_cases(law: Expr) -> list[Expr]:
    """The law, and with each exponent that it leaves free at a whole or half number: Hill's curve with exponent 2."""
    reading = read(law)
    numbers = [node for parent, node in reading.tree.walk() if node.symbol == NUMBER and parent == EXPONENT]
    free = [node for node in numbers if not float(node.value).is_integer()]
    found = [law]
    for node, size in itertools.product(free, (0.5, 1.0, 1.5, 2.0, 3.0)):
        values = list(reading.values)
        values[node.place] = float(np.copysign(size, node.value))
        found.append(bind(reading.form, values))
    return found


def _movable(found: Expr) -> list[int]:
    """Places of the numbers that may be fitted: not whole exponents, or a parabola would be a line."""
    tree = read(found).tree
    numbers = [(parent, node) for parent, node in tree.walk() if node.symbol == NUMBER]
    return [node.place for parent, node in numbers if not (parent == EXPONENT and float(node.value).is_integer())]


def _n_constants(expr: Expr) -> int:
    """Constants that a fit has to find, redundant ones merged, exponents that are no whole numbers among them."""
    exponents = [node.value for parent, node in read(expr).tree.walk() if node.symbol == NUMBER and parent == EXPONENT]
    return len(free_constants(simplify(expr))[1]) + sum(not float(value).is_integer() for value in exponents)


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


def described(task: Measured) -> str:
    """How well the accepted laws fit, whatever a search finds."""
    X, y = task.rows()
    judge, fits = make_judge(X, y), []
    for text in task.laws:
        law = settled(parse(text), judge, _movable(parse(text)))
        fits.append("none" if law is None else f"{r2(y, evaluate(law, X), np.ones(len(y))):.4f}")
    return f"{task.name:18} {len(y):4} rows  R² {' '.join(fits):32} {task.source}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-time", type=float, default=20.0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--half", choices=list(HALVES), default="all")
    parser.add_argument("--only", default=":")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    low, _, high = args.only.partition(":")
    tasks = HALVES[args.half][slice(int(low or 0), int(high) if high else None)]
    if args.list or args.out is None:
        for task in tasks:
            print(described(task), flush=True)
        return
    known = [json.loads(line) for line in args.out.read_text("utf-8").splitlines()] if args.out.exists() else []
    rows = [row for row in known if row["set"] in {task.name for task in tasks}]
    for task in tasks:
        if task.name in {row["set"] for row in rows}:
            continue
        try:
            rows.append(one(task, args.max_time))
        except ImportError as missing:
            print(f"{task.name}: left out, {missing}")
            continue
        with args.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[-1], ensure_ascii=False) + "\n")
        print(json.dumps(rows[-1], ensure_ascii=False), flush=True)
    counts = " ".join(f"{key}={sum(bool(row[key]) for row in rows)}" for key in ("picked", "listed", "absurd"))
    print(f"{counts} of={len(rows)}")


if __name__ == "__main__":
    main()
