"""Finishers: what is wanted in a hole of a formula, and closed families that know it."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.candidate import Candidate, ParetoFront, Proposal
from unisymnet.deadline import Deadline
from unisymnet.problem import Problem, make_problem
from unisymnet.propose.evolve.finish import Finisher, _plain, _promise
from unisymnet.propose.evolve.holes import Hole, holes
from unisymnet.propose.pool import misfit
from unisymnet.search.order import FINISHERS
from unisymnet.search.stages import loaded
from unisymnet.symbolic.expr import Call, Const, Expr, Var, evaluate, rebuild, variables
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.rewrite.simplify import simplify

X = np.random.default_rng(3).uniform(0.5, 3.0, (200, 3))
STAGES = tuple(map(loaded, FINISHERS))

FORMULAS = (
    "x0*sin(x1) + x2**2",
    "exp(-x0*x1)/(1 + x2)",
    "sqrt(x0 + x1**3)*ln(x2 + 1)",
    "tanh(x0 - x1)*abs(x2 - 1.5)",
    "cos(2*x0 + 1)*(x1 - x2)**2",
    "tan(0.4*x0)*x1**-1.5",
)


def opened(text: str, y: np.ndarray) -> list[Hole]:
    with np.errstate(all="ignore"):
        return list(holes(simplify(parse(text)), X, y))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_hole_wants_what_is_there_where_the_formula_is_right(text: str) -> None:
    y = evaluate(parse(text), X)
    found = opened(text, y)
    assert len(found) > 4
    for hole in found:
        assert np.allclose(hole.wanted, hole.now, rtol=1e-6, atol=1e-9)
        assert np.allclose(evaluate(hole.fill(hole.part), X), y, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("text", FORMULAS)
def test_the_slope_is_how_far_the_wanted_values_move(text: str) -> None:
    y = evaluate(parse(text), X)
    step = 1e-6 * np.abs(y)
    for before, after in zip(opened(text, y), opened(text, y + step), strict=True):
        moved = np.abs(after.wanted - before.wanted)
        usual = np.isfinite(before.slope) & (before.slope < 1e3)
        assert np.median(np.abs(moved - before.slope * step)[usual] / (before.slope * step)[usual]) < 1e-2


def test_what_is_wanted_does_not_depend_on_what_is_there() -> None:
    y = evaluate(parse("x0*sin(x1)/(1 + x2**2) + x0**2"), X)
    wrong = opened("x0*sin(x1)*(1.1 - 0.3*x2) + x0**2", y)
    factor = next(hole for hole in wrong if hole.inputs == {2})
    assert np.allclose(np.abs(factor.wanted), 1.0 / (1.0 + X[:, 2] ** 2))  # a sign stands before the product


def finished(problem: Problem, *texts: str, seed: int = 0) -> list[Proposal]:
    front = ParetoFront()
    for text in texts:
        expr = parse(text)
        loss = float(np.mean((evaluate(expr, problem.X) - problem.y) ** 2))
        front.add(Candidate(expr, loss, 10 + len(front), 1))
    finisher = Finisher(problem, STAGES, seed)
    return [proposal for epoch in range(4) for proposal in finisher.propose(front, [], epoch, Deadline.never())]


def best(problem: Problem, proposals: list[Proposal]) -> float:
    return min((misfit(problem, proposal.expr) for proposal in proposals), default=1.0)


def test_the_part_that_is_imitated_is_found() -> None:
    problem = make_problem(X, evaluate(parse("x0*cos(x1)*((x2 - 1)/(x2 + 2) - x0)"), X))
    found = finished(problem, "x0*cos(x1)*(1.2 - 2*exp(-0.7*x2) - x0)")
    assert best(problem, found) < 1e-11


def test_numbers_that_are_a_little_off_do_not_matter() -> None:
    problem = make_problem(X, evaluate(parse("x0*(1 - cos(x1*x2))*(1 - cos(x0))/x0**2"), X))
    imitation = "x0*(3.0002 - 3.0001*cos(x1*x2))*(0.166 - 0.0135*x0**2)"
    assert best(problem, finished(problem, imitation)) < 1e-11


def test_a_summand_beside_the_whole_is_found() -> None:
    problem = make_problem(X, evaluate(parse("x0*x1*x2 + 0.01*x0/(x1 + x2)**2"), X))
    assert best(problem, finished(problem, "x0*x1*x2")) < 1e-11


def test_the_same_front_gives_the_same_proposals() -> None:
    problem = make_problem(X, evaluate(parse("x0*cos(x1)*(sin(1.3*x2)/x2 - x0)"), X))
    texts = ("x0*cos(x1)*(1.2 - 0.4*x2 - x0)", "x0*cos(x1)*(1.1 - 0.3*x2 - x0) + 0.1")
    first, second = finished(problem, *texts), finished(problem, *texts)
    assert first and [p.expr for p in first] == [p.expr for p in second]


def test_only_allowed_operators() -> None:
    y = evaluate(parse("x0*x1*(x2 - 1)/(x2 + 2)"), X)
    problem = make_problem(X, y, operators=frozenset({"add", "mul", "sub", "div", "pow"}))
    found = finished(problem, "x0*x1*(0.3*x2 - 0.4)")
    assert best(problem, found) < 1e-11
    assert not any(name in str(p.expr) for p in found for name in ("sin", "cos", "exp", "ln", "tanh"))


def test_where_only_noise_is_left_nobody_is_asked() -> None:
    rng = np.random.default_rng(0)
    y = evaluate(parse("x0*cos(x1) + x2"), X)
    problem = make_problem(X, y + rng.normal(0.0, 0.05, len(y)))
    assert finished(problem, "x0*cos(x1) + x2") == []


def test_a_polynomial_tells_what_depends_on_the_inputs_of_the_part() -> None:
    t = 1.0 / (1.0 + X[:, 2])
    one = np.ones(len(t))
    assert _promise(X[:, 2:], t, 0.8 - 0.2 * X[:, 2], one) > 1e4
    assert _promise(X[:, :1], t, 0.8 - 0.2 * X[:, 2], one) < 1.0


def test_plain_numbers_keep_the_shape() -> None:
    expr: Expr = rebuild(simplify(parse("x0*(3.0002 - 3.0001*cos(x1)) + 0.73*x2")), _plain)
    assert variables(expr) == (0, 1, 2)
    assert np.allclose(evaluate(expr, X), evaluate(parse("x0*(3.0001 - 3.0001*cos(x1)) + 0.73*x2"), X), rtol=1e-3)


def test_a_power_of_zero_has_no_hole_inside() -> None:
    expr = Call("add", (Var(1), Call("pow", (Call("sin", (Var(0),)), Const(0.0)))))  # plain numbers can make one
    with np.errstate(all="ignore"):
        found = list(holes(expr, X, X[:, 1] + 1.0))
    assert all(hole.part != Call("sin", (Var(0),)) for hole in found)
