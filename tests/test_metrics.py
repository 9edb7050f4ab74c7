"""R², complexity and the two judges of symbolic solutions."""

import math
import time

import numpy as np
import pytest
from hypothesis import given

from strategies import expressions, many, points
from unisymnet import metrics
from unisymnet.metrics import (
    accuracy_rate,
    complexity,
    extrapolation_r2,
    is_solution_srbench,
    is_solution_strict,
    r2,
    srbench_complexity,
)
from unisymnet.symbolic import parse
from unisymnet.symbolic.expr import Expr
from unisymnet.symbolic.rewrite.simplify import present
from unisymnet.symbolic.writers.sympy_bridge import srbench_now

RNG = np.random.default_rng(0)
INSIDE, OUTSIDE = RNG.uniform(-1, 1, (200, 2)), RNG.uniform(-2, 2, (200, 2))
POSITIVE, WIDE = RNG.uniform(1, 3, (200, 2)), RNG.uniform(0.5, 6, (200, 2))

SOLVED = [
    ("x0**2 + x1", "x1 + x0*x0"),
    ("x0**2 + x1", "x0**2 + x1 + 5"),  # a constant
    ("x0**2 + x1", "-3*(x0**2 + x1)"),  # a factor
    ("x0**2 + x1", "(x0 - 1)*(x0 + 1) + x1"),
    ("(x0 + x1)**2", "x0**2 + 2*x0*x1 + x1**2"),
    ("sin(2*x0) + x1", "2*sin(x0)*cos(x0) + x1"),
    ("exp(x0)*x1", "x1*exp(x0)/3"),
    ("x0/(1 + x1**2)", "2*x0/(2 + 2*x1**2)"),
    ("6.67*x0*x1", "x0*x1"),
]
UNSOLVED = [
    # The paper marks these two as solved (Livermore-5 and -6).
    ("x0**4 - x0**3 + x0**2 - x1", "0.98*x0**4 - 0.764*x0**3 + 1.74*x0 - x1 - 1.02"),
    ("4*x0**4 + 3*x0**3 + 2*x0**2 + x0", "x0**3*(3.79*x0 + 0.00316*x0**4 + 4.36) + 2.59"),
    # near misses
    ("x0**2 + x1", "x0**2 + x1 + 0.01*x0"),
    ("x0**2 + x1", "x0**2 + 1.01*x1"),
    ("x0**2 + x1", "x0**2.02 + x1"),
    ("sin(x0) + x1", "x0 - x0**3/6 + x1"),
    ("exp(x0) + x1", "exp(1.02*x0) + x1"),
    ("x0**2 + x1", "3*x0**2 + 2*x1"),
    ("x0*x1", "x0*x1/(1 + 0.01*x0)"),
    # constants and nonsense
    ("x0**2 + x1", "5"),
    ("x0**2 + x1", "0"),
    ("x0**2 + x1", "0*x0"),
    ("x0**2 + x1", "ln(-1)"),
    ("x0**2 + x1", "1/0"),
]


@pytest.mark.parametrize(("true", "found"), SOLVED)
def test_both_judges_accept(true: str, found: str) -> None:
    assert is_solution_srbench(parse(true), parse(found), 0.9)
    assert is_solution_strict(parse(true), parse(found), INSIDE, OUTSIDE)


@pytest.mark.parametrize(("true", "found"), UNSOLVED)
def test_both_judges_refuse(true: str, found: str) -> None:
    assert not is_solution_srbench(parse(true), parse(found), 0.9)
    assert not is_solution_strict(parse(true), parse(found), INSIDE, OUTSIDE)


def test_srbench_forgives_what_its_rounding_hides() -> None:
    true = parse("1.5*x0**2 + x1")
    tiny = parse("1.50004*x0**2 + x1 + 0.00003*x0")
    assert is_solution_srbench(true, tiny, 0.9)
    assert not is_solution_strict(true, tiny, INSIDE)
    assert is_solution_strict(true, parse("1.5*x0**2 + x1 + 1e-9*x0"), INSIDE)  # below the tolerance


def test_srbench_loses_what_its_rounding_breaks() -> None:
    true, same = parse("exp(x0)*x1"), parse("2.718281828459045*x1*exp(x0 - 1)")  # 2.72*exp(-1) is not 1
    assert not is_solution_srbench(true, same, 0.9)
    assert is_solution_strict(true, same, INSIDE, OUTSIDE)


def test_a_ratio_that_rounding_has_made_zero_is_no_solution() -> None:
    assert not srbench_now(parse("42*x0*x1"), parse("0.003*x0*x2"))  # 0.00007*x2/x1, rounded
    assert srbench_now(parse("42*x0*x1"), parse("0.3*x0*x1"))  # a ratio that is constant


def test_srbench_asks_for_accuracy_first() -> None:
    same = parse("x0 + x1")
    assert not is_solution_srbench(same, same, 0.5)
    assert not is_solution_srbench(same, same, math.nan)
    assert is_solution_srbench(same, same, 0.51)


def test_quick_verdicts_agree_with_sympy(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = [is_solution_srbench(parse(t), parse(f), 0.9) for t, f in SOLVED + UNSOLVED]
    monkeypatch.setattr(metrics, "_plain_verdict", lambda true, found, moved: None)
    slow = [is_solution_srbench(parse(t), parse(f), 0.9) for t, f in SOLVED + UNSOLVED]
    assert quick == slow


def test_srbench_gives_up_in_time() -> None:
    true = parse("sin(x0*x1)**9*cos(x0)**9 + (x0 + x1 + 1)**30*tan(x0)**9")
    found = parse("sin(x0*x1)**8*cos(x0)**8*sin(x1*x0) + (x1 + x0 + 1.001)**30*tan(x0)**9*cos(x1)")
    start = time.monotonic()
    assert not is_solution_srbench(true, found, 0.9, max_time=0.5)
    assert time.monotonic() - start < 20.0
    assert is_solution_srbench(parse("x0**2"), parse("(x0 - 1)*(x0 + 1)"), 0.9)  # the next question is answered


def test_strict_looks_outside_the_training_range() -> None:
    true, local = parse("sin(x0)"), parse("x0 - x0**3/6 + x0**5/120 - x0**7/5040 + x0**9/362880")
    small = np.linspace(-0.5, 0.5, 100)[:, None]
    assert is_solution_strict(true, local, small)
    assert not is_solution_strict(true, local, small, np.linspace(-4, 4, 100)[:, None])


def test_strict_wants_a_definition_where_the_truth_has_one() -> None:
    true, half = parse("x0**2"), parse("exp(2*ln(x0))")
    assert is_solution_strict(true, half, POSITIVE, WIDE)
    assert not is_solution_strict(true, half, POSITIVE, OUTSIDE)
    assert is_solution_strict(parse("ln(x0)"), parse("0.5*ln(x0**2)"), POSITIVE, OUTSIDE)  # more is no harm
    assert is_solution_strict(parse("x0 + x1"), parse("x0*x0/x0 + x1"), np.vstack([INSIDE, [[0.0, 1.0]]]))


def test_strict_is_not_fooled_by_large_constants() -> None:
    assert not is_solution_strict(parse("1e6 + sin(x0)"), parse("1e6 + x0"), INSIDE)
    assert is_solution_strict(parse("1e6 + sin(x0)"), parse("3e6 + 3*sin(x0)"), INSIDE)
    assert not is_solution_strict(parse("1e6 + sin(x0)"), parse("1e6"), INSIDE)


def test_strict_works_in_any_unit() -> None:
    for unit in (1e-30, 1e30):
        true, near = parse(f"{unit}*x0*x1"), parse(f"{unit}*x0*x1 + {unit * 1e-3}*x0")
        assert is_solution_strict(true, parse("x0*x1"), INSIDE, OUTSIDE)
        assert not is_solution_strict(true, near, INSIDE, OUTSIDE)


def test_strict_on_hopeless_input() -> None:
    assert not is_solution_strict(parse("x0"), parse("x9"), INSIDE)
    assert not is_solution_strict(parse("x0"), parse("c0*x0"), INSIDE)
    assert not is_solution_strict(parse("ln(-1 - x0**2)"), parse("x0"), INSIDE)
    assert not is_solution_strict(parse("2"), parse("2"), INSIDE)
    assert not is_solution_strict(parse("x0"), parse("x0"), np.empty((0, 1)))


@many(1000)
@given(expressions(2), expressions(2), points(2))
def test_strict_never_raises(true: Expr, found: Expr, X: np.ndarray) -> None:
    assert is_solution_strict(true, found, X, 2 * X) in (True, False)


@many(300)
@given(expressions(2, tame=True), points(2, 40))
def test_strict_accepts_affine_copies(true: Expr, X: np.ndarray) -> None:
    if is_solution_strict(true, true, X):
        assert is_solution_strict(true, true + 1e-3, X) or is_solution_strict(true, true, X, tol=1e-12)
        assert is_solution_strict(true, -2.5 * true, X)


@pytest.mark.parametrize(
    ("formula", "nodes"),
    [
        ("x0", 1),
        ("-2", 1),
        ("-(2)", 1),
        ("x0 - x1", 3),
        ("x0 + -1*x1", 3),
        ("-x0", 2),
        ("-2*x0", 3),
        ("-(2*x0)", 3),
        ("-x0*x1", 4),
        ("x0 + x1 + x2", 5),
        ("x0*x1*x2", 5),
        ("x0**2", 3),
        ("square(x0)", 3),
        ("sqrt(x0)", 3),
        ("1/x0", 3),
        ("inv(x0)", 3),
        ("2*sin(x0) + 1", 6),
        ("c0*x0", 3),
        ("x0**4 - x0**3 + x0**2 - x1", 13),
        ("tanh(x0)", 2),
    ],
)
def test_complexity(formula: str, nodes: int) -> None:
    assert complexity(parse(formula)) == nodes


@pytest.mark.parametrize(
    ("formula", "nodes"), [("x0/x1", 5), ("x0 - x1", 5), ("x0**2", 3), ("sin(x0)", 2), ("2*x0", 3)]
)
def test_srbench_complexity(formula: str, nodes: int) -> None:
    assert srbench_complexity(parse(formula)) == nodes


def test_complexity_of_the_presented_form_is_that_of_a_person() -> None:
    assert complexity(present(parse("x0 + (-1)*x1*x2**-1"))) == complexity(parse("x0 - x1/x2")) == 5


def test_r2() -> None:
    y = np.array([1.0, 2.0, 3.0])
    assert r2(y, y) == 1.0
    assert r2(y, [2.0, 2.0, 2.0]) == 0.0
    assert r2(y, [1.0, 2.0, 4.0]) == pytest.approx(0.5)
    assert r2(y, [1.0, 2.0, 4.0], weights=[1.0, 1.0, 0.0]) == 1.0
    assert r2(y, [1.0, np.nan, 3.0]) == -math.inf
    assert r2([2.0, 2.0], [2.0, 2.0]) == 1.0
    assert r2([2.0, 2.0], [2.0, 2.1]) == 0.0
    assert r2(y * 1e300, y * 1e300) == 1.0
    assert r2(y, y * 1e200) == -math.inf
    assert r2(y * 1e-300, y * 1e-300) == 1.0
    with pytest.raises(ValueError, match="same length"):
        r2(y, y[:2])


def test_accuracy_rate() -> None:
    assert accuracy_rate([1.0, 0.995, 0.9, -math.inf, math.nan]) == 0.4
    assert accuracy_rate([1.0, 0.995], threshold=0.999) == 0.5
    assert accuracy_rate([]) == 0.0


def test_extrapolation() -> None:
    X = np.linspace(-2, 2, 41)[:, None]
    assert extrapolation_r2(parse("ln(x0)"), parse("ln(x0)"), X) == 1.0
    assert extrapolation_r2(parse("x0**2"), parse("x0**2 + ln(x0)"), X) == -math.inf
    assert extrapolation_r2(parse("sin(x0)"), parse("x0"), X) < 0.9
    assert extrapolation_r2(parse("ln(-1 - x0**2)"), parse("x0"), X) == -math.inf
