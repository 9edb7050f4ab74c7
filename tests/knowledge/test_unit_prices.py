"""What units say about the price of a formula, and in which order searches without units are tried."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from unisymnet.judge.judge import make_judge
from unisymnet.judge.scales import UNIT_NATS, assumed_units
from unisymnet.judge.tree import read
from unisymnet.knowledge.reduced import Reduced
from unisymnet.knowledge.units.groups import MAX_BRIEF, reduced_searches
from unisymnet.knowledge.units.nats import UnitNats
from unisymnet.knowledge.units.system import UnitSystem, make_units
from unisymnet.problem import make_problem
from unisymnet.propose.view.noise import looks_noisy
from unisymnet.symbolic import Expr, parse, to_text
from unisymnet.symbolic.expr import Var, rebuild, walk

NAMES = ["x0", "x1", "x2"]


def system(*units: str) -> UnitSystem:
    *columns, target = units
    given = {f"x{i}": unit for i, unit in enumerate(columns) if unit}
    found = make_units({**given, "y": target}, None, [f"x{i}" for i in range(len(columns))], "y")
    assert found is not None
    return found


def price(units: UnitSystem, text: str) -> float:
    expr = parse(text)
    return UnitNats(units)(expr, read(expr).tree)


def filled(expr: Expr, columns: tuple[int, ...]) -> Expr:
    """The formula with other columns in its places, in the order in which they are visited."""
    left = iter(columns)
    return rebuild(expr, lambda node: Var(next(left)) if isinstance(node, Var) else node)


@pytest.mark.parametrize(
    "text",
    [
        "x2*exp(0.3*x1/x0)",
        "sqrt(x0**2 + 2.5*x1**2)/x1*x2",
        "x0*x1*x2/(x0 + x1)**2",
        "(1.7*x0 - x1)*x2/x0",
        "x2*abs(x0/x1)",
    ],
)
def test_a_shape_is_shared_among_the_columns_that_units_allow(text: str) -> None:
    """Counted by trying all of them."""
    units = system("m/s", "m/s", "kg", "kg")
    expr = parse(text)
    places = sum(isinstance(node, Var) for node in walk(expr))
    every = [filled(expr, columns) for columns in itertools.product(range(3), repeat=places)]
    allowed = sum(not _has_unit(units.read(one)) for one in every)
    assert 0 < allowed < len(every)
    assert price(units, text) == pytest.approx(math.log(allowed / len(every)))


def _has_unit(reading) -> bool:
    return not reading.fits or reading.n_with_unit > 0


def test_relations_that_units_confirm_cost_nothing() -> None:
    tree = read(parse("x0*exp(-x1/x2)")).tree
    assert assumed_units(tree) == 2
    joule = {-2: 2.0}
    assert assumed_units(tree, {0: {-3: 1.0}, 1: joule, 2: joule, -1: {-3: 1.0}}) == 0
    assert assumed_units(tree, {1: joule, 2: {-3: 1.0}}) == 2  # and those that they contradict stay


def test_a_constant_with_a_unit_costs_what_a_relation_costs() -> None:
    units = system("m", "s", "kg", "m")
    assert price(units, "2.5*x0") < 0.0
    assert price(units, "2.5*x1") == UNIT_NATS
    known = make_units({"x0": "s", "y": "m"}, {"c": "3e8 m/s"}, ["x0"], "y")
    assert known is not None
    assert price(known, "3e8*x0") == 0.0


def test_columns_without_a_unit_are_priced_as_before() -> None:
    units = make_units({"x0": "m"}, None, NAMES, "y")
    assert units is not None
    assert price(units, "x0*exp(-x1/x2)") == UNIT_NATS * 2


def test_the_judge_takes_units_into_account() -> None:
    X = np.random.default_rng(0).uniform(1.0, 3.0, (50, 3))
    y = X[:, 0] * np.exp(-X[:, 1] / X[:, 2])
    expr = parse("x0*exp(-x1/x2)")
    units = UnitNats(system("m", "J", "J", "m"))
    less = make_judge(X, y).structure(expr) - make_judge(X, y, units=units).structure(expr)
    assert less == pytest.approx(2 * UNIT_NATS + math.log(27 / 5))


def problem_of(n: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(1).uniform(1.0, 3.0, (60, n))
    return X, np.exp(-X[:, 0])


def _never(*args: object) -> list:
    raise AssertionError("nothing is searched here")


def test_groups_are_searched_both_ways_up() -> None:
    X, y = problem_of(2)
    brief, long = reduced_searches(system("J", "J", "1"), make_problem(X, y), _never, _never)
    inputs = {to_text(search.inputs[0]) for search in brief}
    assert len(brief) == 2 <= MAX_BRIEF and len(inputs) == 2
    assert max(search.share for search in brief) < min(search.share for search in long)


def test_a_search_that_is_the_whole_search_is_left_out() -> None:
    X, y = problem_of(3)
    assert reduced_searches(system("1", "1", "1", "1"), make_problem(X, y), _never, _never) == ([], [])


def test_a_problem_divided_by_a_factor_is_as_noisy_as_the_whole() -> None:
    """Noise that is the same in every row is not, once the rows are divided by something that spans four decades."""
    rng = np.random.default_rng(3)
    X = np.column_stack([10.0 ** rng.uniform(-2.0, 2.0, 400), rng.uniform(1.0, 3.0, (400, 2))])
    y = X[:, 0] * np.sqrt(X[:, 1] / X[:, 2]) + rng.normal(0.0, 2.0, 400)
    problem = make_problem(X, y)
    smaller = Reduced(Var(0), (Var(1) / Var(2),), _never).apply(problem)
    assert smaller is not None
    assert looks_noisy(problem) and looks_noisy(smaller)
    assert not looks_noisy(replace(smaller, noisy=None))  # by its own rows nobody could tell
