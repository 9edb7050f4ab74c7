"""What a formula takes for granted about units."""

import numpy as np
import pytest

from unisymnet.judge.judge import make_judge
from unisymnet.judge.scales import assumed_units
from unisymnet.judge.tree import read
from unisymnet.symbolic.parse import parse


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("3.71*x0 + 2.23", 0),
        ("8.314*x0*x1/x2", 0),
        ("3.71*ln(x0) + 2.23", 0),
        ("2.31*exp(-0.37*x0)", 0),
        ("x0/(0.119*x0 + 0.2249)", 0),
        ("2.31*x0^0.74", 0),
        ("x0", 1),
        ("x0*x1^2", 1),
        ("0.5*x0*x1^2", 0),
        ("0.1037*x0^2 + x0", 1),
        ("x0*(ln(x0) + 1)", 1),
        ("1/(1/x0 + 1/x1)", 2),
        ("x0*ln(x0)", 2),
        ("x0^1.224 + x0", 2),
        ("sin(x0)", 2),
        ("x0^x1", 3),
    ],
)
def test_relations_between_units_that_a_formula_needs(text, n):
    assert assumed_units(read(parse(text)).tree) == n


def test_a_formula_that_hangs_on_the_units_costs_more():
    X = np.linspace(4.0, 25.0, 30)[:, None]
    judge = make_judge(X, 3.1 * X[:, 0] + 2.0)
    free, bound = (judge.structure(parse(text)) for text in ("2.31*x0*ln(0.37*x0)", "x0*ln(x0)"))
    unpriced = judge.prior.price(read(parse("x0*ln(x0)")).tree, 1).structure
    assert bound > unpriced + 2.0
    assert bound < free  # but less than the constants that would take the units up


@pytest.mark.parametrize("form", ["{a}*x0 + {b}", "{a}*x0**2 + {b}*x0 + {c}"])
def test_a_line_over_years_costs_what_it_costs_from_zero(form):
    """Where a column has its zero is no merit of a polynomial."""
    rng = np.random.default_rng(0)
    x = np.linspace(0.0, 70.0, 40)
    y = 3.1 + 0.17 * x + 0.002 * x**2 + 0.4 * rng.normal(size=40)
    totals = []
    for start in (0.0, 1950.0):
        X = (x + start)[:, None]
        numbers = np.polyfit(X[:, 0], y, form.count("{") - 1)
        text = form.format(**dict(zip("abc", (f"({c!r})" for c in numbers.tolist()), strict=False)))
        lengths = make_judge(X, y).lengths(parse(text))
        assert lengths is not None
        totals.append(lengths.total)
    assert totals[1] == pytest.approx(totals[0], abs=2.0)  # no more than unusual sizes cost
