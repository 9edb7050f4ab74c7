"""Counts public expressions and writes the judge's table, src/unisymnet/judge/prior.json.

    python benchmarks/make_prior.py FOLDER

FOLDER holds feynman.csv, strogatz.csv, standard.csv and odebench.csv (name and expression columns).  The judge is for
measured data, where a third of a law's quantities were held fixed and so are constants: each Feynman law is counted
many times with a random third of its variables read as constants.  ODE right-hand sides count 0.7, test suites, which
nobody has measured, 0.5.
"""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from unisymnet.judge.numbers import number_key
from unisymnet.judge.prior import SYMBOLS
from unisymnet.judge.tree import ADD, EXPONENT, MUL, NUMBER, read
from unisymnet.symbolic.constants import merge_params
from unisymnet.symbolic.expr import Call, Expr, Param, Var, n_params, rebuild, variables, walk
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.rewrite.simplify import simplify

OUT = Path(__file__).resolve().parents[1] / "src" / "unisymnet" / "judge" / "prior.json"
HELD, DRAWS = 1.0 / 3.0, 24
LEAST = 3.0  # expressions that must have a number before it counts as a usual one


def main(folder: Path) -> None:
    rng = np.random.default_rng(0)
    table = _Counts()
    n = 0
    for row in _rows(folder / "feynman.csv"):
        expr = parse(row["expression"])
        for _ in range(DRAWS):
            table.add(_held(expr, rng), 1.0 / DRAWS)
        n += 1
    for name, weight in (("strogatz.csv", 1.0), ("standard.csv", 0.5)):
        for row in _rows(folder / name):
            table.add(parse(row["expression"]), weight)
            n += 1
    for row in _rows(folder / "odebench.csv"):
        for side in row["rhs"].split("|"):
            table.add(_with_constants(parse(re.sub(r"([cx])_(\d+)", r"\1\2", side))), 0.7)
            n += 1
    OUT.write_text(json.dumps(table.shares(n), indent=1, sort_keys=True) + "\n", "utf-8")
    print(f"expressions={n} symbols={len(SYMBOLS)} file={OUT.name}")


class _Counts:
    def __init__(self) -> None:
        self.symbols: dict[str, Counter[str]] = defaultdict(Counter)
        self.arity: dict[str, Counter[str]] = defaultdict(Counter)
        self.exponents: Counter[str] = Counter()
        self.numbers: Counter[str] = Counter()

    def add(self, expr: Expr, weight: float) -> None:
        for parent, node in read(expr).tree.walk():
            if node.symbol == NUMBER and parent == EXPONENT:
                if not math.isnan(node.value):
                    self.exponents[("-" if node.value < 0 else "") + number_key(node.value)] += weight
                continue
            self.symbols[parent][node.symbol] += weight
            if node.symbol in (ADD, MUL):
                self.arity[node.symbol][str(len(node.children))] += weight
            elif node.symbol == NUMBER and not math.isnan(node.value):
                self.numbers[number_key(node.value)] += weight

    def shares(self, n: int) -> dict[str, object]:
        return {
            "made by": f"benchmarks/make_prior.py from {n} expressions: Feynman, Strogatz, standard suites, ODEBench",
            "symbols": {parent: _rounded(counts) for parent, counts in self.symbols.items()},
            "arity": {symbol: _rounded(counts) for symbol, counts in self.arity.items()},
            "exponents": _normalised(self.exponents),
            "numbers": _normalised(self.numbers),
        }


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _held(expr: Expr, rng: np.random.Generator) -> Expr:
    """The law with some of its variables as constants, at least one left."""
    used = list(variables(expr))
    held = {index for index in used if rng.random() < HELD}
    if len(held) == len(used):
        held.discard(used[int(rng.integers(len(used)))])
    places = {index: place for place, index in enumerate(sorted(held))}

    def hold(node: Expr) -> Expr:
        return Param(places[node.index]) if isinstance(node, Var) and node.index in places else node

    return _with_constants(rebuild(expr, hold))


def _with_constants(expr: Expr) -> Expr:
    """Open constants merged; whatever holds no column is one."""
    if not n_params(expr):
        return expr
    return rebuild(simplify(merge_params(rebuild(simplify(expr), _one_constant))), _one_constant)


def _one_constant(node: Expr) -> Expr:
    if isinstance(node, Call) and not variables(node):
        return next((part for part in walk(node) if isinstance(part, Param)), node)
    return node


def _rounded(counts: Counter[str]) -> dict[str, float]:
    return {name: round(count, 3) for name, count in counts.items() if count >= 0.0005}


def _normalised(counts: Counter[str]) -> dict[str, float]:
    total = sum(counts.values())
    # Products of pi are what the physics of spheres needs; a measured constant near one is none.
    kept = {name: count for name, count in counts.items() if count >= LEAST and "." not in name}
    return {name: round(count / total, 6) for name, count in kept.items()}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
