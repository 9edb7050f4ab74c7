"""Counts public expressions and writes the judge's table, src/unisymnet/judge/prior.json.

    python benchmarks/make_prior.py FOLDER

FOLDER holds feynman.csv, strogatz.csv, standard.csv and odebench.csv (name and expression columns).  The judge is for
measured data, where a third of a law's quantities were held fixed and so are constants: each Feynman law is counted
many times with a random third of its variables read as constants.  ODE right-hand sides count 0.7, test suites, which
nobody has measured, 0.5.

Common parts (judge/parts.py) are the tops of trees that several expressions share and that cost more symbol by symbol.
Which are kept, and their prices, settle in a few rounds: every tree is read in its cheapest way, uses are counted, and
a part that fewer than five laws use goes.  A law does not count towards the price of its own parts.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from unisymnet.judge.numbers import number_key
from unisymnet.judge.parts import HOLE, Part, holes_of, written
from unisymnet.judge.prior import SYMBOLS, Prior
from unisymnet.judge.tree import ADD, COLUMN, EXPONENT, MUL, NUMBER, POW, ROOT, Node, read
from unisymnet.symbolic.constants import merge_params
from unisymnet.symbolic.expr import Call, Expr, Param, Var, n_params, rebuild, variables, walk
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.rewrite.simplify import simplify

OUT = Path(__file__).resolve().parents[1] / "src" / "unisymnet" / "judge" / "prior.json"
HELD, DRAWS = 1.0 / 3.0, 24
LEAST = 3.0  # expressions that must have a number before it counts as a usual one
COMMON = 5  # laws that must have a part before it counts as a common one
LARGEST_PART, MOST_CHILDREN = 5, 3  # symbols and numbers of a part; children of one symbol
ROUNDS = 8


def main(folder: Path) -> None:
    rng = np.random.default_rng(0)
    expressions = list(_expressions(folder, rng))
    table = _Counts()
    for expr, weight, _ in expressions:
        table.add(expr, weight)
    n = round(sum(weight if weight == 1.0 / DRAWS else 1.0 for _, weight, _ in expressions))
    shares = table.shares(n)
    single = Prior(shares["symbols"], shares["arity"], shares["exponents"], shares["numbers"])
    trees = [(read(expr).tree, weight, name) for expr, weight, name in expressions]
    shares["parts"] = [[written(part.tree), round(part.nats, 3)] for part in _parts(trees, single)]
    OUT.write_text(json.dumps(shares, indent=1, sort_keys=True) + "\n", "utf-8")
    print(f"expressions={n} symbols={len(SYMBOLS)} parts={len(shares['parts'])} file={OUT.name}")


def _expressions(folder: Path, rng: np.random.Generator) -> Iterator[tuple[Expr, float, str]]:
    """Every expression with its weight and the name of its law."""
    for row in _rows(folder / "feynman.csv"):
        expr = parse(row["expression"])
        for _ in range(DRAWS):
            yield _held(expr, rng), 1.0 / DRAWS, row["name"]
    for name, weight in (("strogatz.csv", 1.0), ("standard.csv", 0.5)):
        for place, row in enumerate(_rows(folder / name)):
            yield parse(row["expression"]), weight, f"{name} {place}"
    for place, row in enumerate(_rows(folder / "odebench.csv")):
        for side in row["rhs"].split("|"):
            yield _with_constants(parse(re.sub(r"([cx])_(\d+)", r"\1\2", side))), 0.7, f"odebench {place}"


def _parts(trees: list[tuple[Node, float, str]], single: Prior) -> list[Part]:
    """The common parts, the commonest first."""
    total = sum(sum(counts.values()) for counts in single.symbols.values())
    uses: dict[Node, Counter[str]] = defaultdict(Counter)
    for tree, weight, name in trees:
        for _, node in tree.walk():
            for part in set(_tops(node, LARGEST_PART)):
                uses[part][name] += weight
    parts: list[Part] = []
    for _ in range(ROUNDS):
        parts = [part for part in (_part(tree, names, single, total) for tree, names in uses.items()) if part]
        prior = replace(single, parts=tuple(parts))
        uses = defaultdict(Counter)
        for tree, weight, name in trees:
            for part in prior.price(tree, 1).parts:
                uses[part.tree][name] += weight
    return sorted(parts, key=lambda part: (part.nats, repr(part.tree)))


def _part(tree: Node, names: Counter[str], single: Prior, total: float) -> Part | None:
    """The part with its price: uses by other laws than the one that is priced, of all symbols.  None for one that few
    use, or that saves less than it takes to write it down once."""
    if len(names) < COMMON:
        return None
    weight = sum(names.values())
    nats = -math.log(weight * (1.0 - 1.0 / len(names)) / total)
    plain = _plain(tree, single)
    return Part(tree, nats) if weight * (plain - nats) > plain else None


def _plain(tree: Node, single: Prior) -> float:
    """What the part costs symbol by symbol, its holes left out, below a product (a sum below a root)."""
    above = POW if tree.symbol == ADD else MUL
    holes = sum(single.symbol_nats(symbol, COLUMN) for symbol in holes_of(tree))
    first = single.symbol_nats(above, tree.symbol) - single.symbol_nats(ROOT, tree.symbol)
    numbers = sum(single.written(node, parent) for parent, node in tree.walk() if node.symbol == NUMBER)
    return single.price(_columns(tree), 1).structure + numbers + first - holes


def _columns(tree: Node) -> Node:
    """With a column in every hole."""
    return Node(COLUMN) if tree.symbol == HOLE else replace(tree, children=tuple(map(_columns, tree.children)))


def _tops(node: Node, most: int) -> Iterator[Node]:
    """Tops of a tree of at most so many symbols and numbers, two symbols or a number at least; not products, of which
    a formula has more factors than a part."""
    if node.symbol != MUL:
        for part in _top(node, most):
            if sum(below.symbol != HOLE for _, below in part.walk()) >= 3:
                yield part


def _top(node: Node, most: int) -> Iterator[Node]:
    if node.symbol in (COLUMN, NUMBER) or len(node.children) > MOST_CHILDREN or most < 1:
        return
    if node.symbol == POW and not math.isfinite(node.children[1].value):
        return
    ways: list[list[Node]] = []
    for place, child in enumerate(node.children):
        hole = [] if node.symbol == POW and place == 1 else [Node(HOLE)]
        if child.symbol == NUMBER and math.isfinite(child.value):
            ways.append([*hole, Node(NUMBER, value=child.value if not hole else abs(child.value))])
        else:
            ways.append([*hole, *_top(child, most - 1)])
    for chosen in itertools.product(*ways):
        children = tuple(sorted(chosen, key=repr)) if node.symbol in (ADD, MUL) else chosen
        part = Node(node.symbol, children)
        if sum(below.symbol != HOLE for _, below in part.walk()) <= most:
            yield part


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
