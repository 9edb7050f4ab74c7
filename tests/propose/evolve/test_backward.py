"""Parts of formulas solved for: undoing undoes, and the unit that was missing is found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import expressions
from unisymnet.propose.evolve.backward import Library, wanted
from unisymnet.symbolic import evaluate, parse
from unisymnet.symbolic.expr import Expr, children, size, variables

X = np.random.default_rng(0).uniform(0.5, 3.0, (60, 3))
UNDONE = tuple("add mul sub div pow neg exp ln sqrt square inv abs sin cos tan tanh".split())


def part(expr: Expr, place: int) -> Expr:
    """Written apart from the code: all parts, parents before children."""

    def listed(node: Expr) -> list[Expr]:
        return [node, *(inner for child in children(node) for inner in listed(child))]

    return listed(expr)[place]


@given(expressions(3, max_leaves=6, operators=UNDONE, tame=True), st.integers(0, 30))
def test_what_is_wanted_of_a_part_of_the_law_is_what_it_is(expr: Expr, number: int) -> None:
    place = number % size(expr)
    y = evaluate(expr, X)
    found = wanted(expr, place, X, y)
    if found is None:
        return
    _, target, slope = found
    truth = evaluate(part(expr, place), X)
    # Where the target hardly depends on the part, rounding hides it.
    good = np.isfinite(y) & np.isfinite(target) & np.isfinite(truth) & (slope * np.maximum(np.abs(y), 1e-12) < 1e3)
    reachable = np.abs(truth[good] - np.broadcast_to(target, len(y))[good])
    assert np.all(reachable <= 1e-6 * (1.0 + np.abs(truth[good])) * (1.0 + slope[good] * np.abs(y[good])))


@pytest.mark.parametrize(
    ("truth", "begun", "missing"),
    [
        ("x0*sin(x1*x2) + x1", "1.3*x0 + x1", "sin(x1*x2)"),
        ("x0/(x1 + sqrt(x2))", "x0/(x1 + 1.3)", "sqrt(x2)"),
        ("sqrt(x0**2 + x1*x2)", "sqrt(x0**2 + 2)", "x1*x2"),
        ("exp(-x0/x1)*x2 + 1", "x2*exp(-0.6) + 1", "x0/x1"),
        ("2*x0 + 3*x1 + 4*x2**2", "2*x0 + 3*x1", "x2**2"),
    ],
)
def test_the_missing_unit_is_found(truth: str, begun: str, missing: str) -> None:
    y, rng = evaluate(parse(truth), X), np.random.default_rng(0)
    units = [parse(text) for text in ("x0", "x1", "x2", "x0*x2", "x1/x2", "sin(x0)", "exp(x2)", missing)]
    library = Library.of(units, X, y, np.ones(len(y)))
    found = [library.solved(parse(begun), rng=rng) for _ in range(200)]
    losses = [float(np.mean((evaluate(expr, X) - y) ** 2)) for expr in found if expr is not None]
    assert np.nanmin(losses) < 1e-3 * np.var(y)


def test_a_library_holds_what_is_defined_and_varies_once() -> None:
    units = [parse(text) for text in ("x0", "2*x0 + 1", "ln(x0 - 1)", "x0/x0", "x1", "exp(1000*x0)")]
    library = Library.of(units, X, X[:, 0], np.ones(len(X)))
    assert library.units == (parse("x0"), parse("x1"))
    assert np.allclose(library.values.mean(axis=1), 0.0, atol=1e-6) and np.allclose(library.values.std(axis=1), 1.0)
    more = library.extended([parse("x0*x1"), parse("x1 - x1")])
    assert more.units == (*library.units, parse("x0*x1")) and more.values.shape == (3, len(X))


def test_rows_on_which_nothing_can_be_wanted_are_left_out() -> None:
    y = np.linspace(-1.0, 1.0, len(X))  # exp(P) cannot be negative
    library = Library.of([parse("x0"), parse("x1")], X, y, np.ones(len(y)))
    found = [library.solved(parse("exp(x0)"), rng=np.random.default_rng(seed)) for seed in range(50)]
    assert all(expr is None or np.isfinite(evaluate(expr, X)).all() for expr in found)
    assert all(expr is None or variables(expr) for expr in found)
