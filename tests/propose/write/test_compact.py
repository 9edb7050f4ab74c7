"""Compact writing: the same values, fewer nodes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisymnet.fit.clean.spell import spell
from unisymnet.problem import make_problem
from unisymnet.propose.write.compact import compact_ratio, price, sum_forms
from unisymnet.propose.write.polynomial import cost, divide, make_poly, multiply
from unisymnet.propose.write.shorten import linear_factors, merged, rank_one, squares
from unisymnet.symbolic.expr import Call, Var, evaluate, walk
from unisymnet.symbolic.parse import parse

X = np.random.default_rng(0).uniform(0.5, 2.0, (20, 4))
ATOMS = tuple(Var(i) for i in range(4))
TOL = 1e-10  # pure algebra


def summed(poly, tol=TOL):
    return min((form.written() for form in sum_forms(poly, tol)), key=price)


def poly(table):
    rows = [(*powers, *[0] * (4 - len(powers))) for powers in table]
    return make_poly(ATOMS, rows, table.values())


def value(p):
    atoms = [evaluate(atom, X) for atom in p.atoms]
    return sum(c * math.prod(a**k for a, k in zip(atoms, powers, strict=True)) for powers, c in p.terms)


@pytest.mark.parametrize(
    ("num", "den", "text"),
    [
        ({(1,): 4, (2,): 3, (1, 1): -1, (3,): -1}, {(): 1, (1,): 1}, "x0*(4 - x0 - x1/(x0 + 1))"),
        ({(1, 1): 1, (1, 2): -0.075, (0, 2): -0.075}, {(): 1, (1,): 1}, "x1*(x0/(x0 + 1) - 0.075*x1)"),
        ({(): 1, (1,): 3, (2,): 3, (3,): 1}, {(): 1, (1,): -1, (2,): 1}, "(x0 + 1)**3/(x0**2 + 1 - x0)"),
        ({(1, 1): 3}, {(1,): 3, (0, 1): 3}, "x0*x1/(x0 + x1)"),
        ({(2,): 1, (): -1}, {(1,): 1, (): 1}, "x0 - 1"),
    ],
)
def test_quotients(num, den, text):
    a, b = poly(num), poly(den)
    found = compact_ratio(a, b, TOL).written()
    np.testing.assert_allclose(evaluate(found, X), value(a) / value(b), rtol=1e-12)
    assert str(found) == text


@pytest.mark.parametrize(
    ("table", "most"),
    [
        ({(2,): 1, (1, 1): -2, (0, 2): 1, (0, 0, 2): 1, (0, 0, 1, 1): -2, (0, 0, 0, 2): 1}, 11),  # two squares
        ({(1, 0, 1): 1, (1, 0, 0, 1): 2.5, (0, 1, 1): 3, (0, 1, 0, 1): 7.5}, 13),  # a product of sums
        ({(2, 0, 1): 1.5, (0, 2, 1): 1.5, (0, 0, 1, 1): 1.5}, 13),  # a common factor
        ({(6,): 1, (4,): -2, (2,): 1}, 11),  # roots
        ({(2,): 1, (1,): -3, (): 2.25}, 5),  # a perfect square
        ({(1, 1): 1, (-1, -1): 2}, 9),
    ],
)
def test_sums(table, most):
    p = poly(table)
    found = summed(p)
    np.testing.assert_allclose(evaluate(found, X), value(p), rtol=1e-12)
    assert cost(found) <= most


powers = st.tuples(*[st.integers(-2, 3)] * 3)
tables = st.dictionaries(powers, st.floats(-9, 9).filter(lambda c: abs(c) > 1e-3), min_size=1, max_size=7)


@settings(max_examples=60, deadline=None)
@given(tables, tables)
def test_writing_never_changes_values(num, den):
    a, b = poly(num), poly(den)
    scale = np.max(np.abs([c for _, c in a.terms])) * 2.0**6
    np.testing.assert_allclose(evaluate(summed(a), X), value(a), atol=1e-9 * scale)
    below = value(b)
    rows = np.abs(below) > 0.05
    found = evaluate(compact_ratio(a, b, TOL).written(), X)
    np.testing.assert_allclose(found[rows], (value(a) / below)[rows], rtol=1e-6, atol=1e-6 * scale)


def test_a_tolerance_gives_the_simpler_neighbour():
    p = poly({(2,): 1.0, (1, 1): -1.97, (0, 2): 1.02})
    assert str(summed(p, 0.05)).endswith("(x1 - x0)**2")
    assert cost(summed(p)) > cost(summed(p, 0.05))


def test_division_with_remainder():
    by = poly({(1,): 1, (): 2})
    whole = poly({(2,): 3, (0, 1): 1})
    quotient, rest = divide(multiply(whole, by), by, 0, 1e-12)
    assert not len(rest)
    np.testing.assert_allclose(value(quotient), value(whole))


def test_hidden_factors():
    assert rank_one(poly({(1, 1): 1, (1,): 2, (0, 1): 3, (): 6}), 1e-9) is not None
    assert rank_one(poly({(1, 1): 1, (1,): 2, (0, 1): 3, (): 7}), 1e-9) is None
    groups, rest = squares(poly({(2,): 4, (1, 1): 12, (0, 2): 9, (): 1}), 1e-9)
    assert len(groups) == 1 and len(rest) == 1
    factors, left = linear_factors([1.0, -4.0, 5.0, -2.0], 1e-9)  # (x - 1)^2 (x - 2)
    assert sorted((round(root, 9), m) for root, m in factors) == [(1.0, 2), (2.0, 1)] and left == [1.0]


@pytest.mark.parametrize(
    ("text", "op", "most"),
    [
        ("0.5*sin(x0)*cos(x1)-0.5*cos(x0)*sin(x1)", "sin", 6),
        ("cos(x0)*cos(x1)+sin(x0)*sin(x1)", "cos", 4),
        ("3*sin(x0)+4*cos(x0)", "sin", 6),
        ("exp(x0)+1/exp(x0)", "cosh", 4),
        ("x2*ln(x0)-x2*ln(x1)", "ln", 6),
    ],
)
def test_functions_are_merged(text, op, most):
    atoms = tuple(parse(t) for t in ("sin(x0)", "cos(x0)", "sin(x1)", "cos(x1)", "exp(x0)", "ln(x0)", "ln(x1)", "x2"))
    place = {str(atom): i for i, atom in enumerate(atoms)}
    tables = {
        "0.5*sin": [("sin(x0)", "cos(x1)", 0.5), ("cos(x0)", "sin(x1)", -0.5)],
        "cos(x0)": [("cos(x0)", "cos(x1)", 1.0), ("sin(x0)", "sin(x1)", 1.0)],
        "3*sin(x": [("sin(x0)", "", 3.0), ("cos(x0)", "", 4.0)],
        "exp(x0)": [("exp(x0)", "", 1.0), ("1/exp(x0)", "", 1.0)],
        "x2*ln(x": [("ln(x0)", "x2", 1.0), ("ln(x1)", "x2", -1.0)],
    }
    rows, coefficients = [], []
    for *names, c in tables[text[:7]]:
        row = [0.0] * len(atoms)
        for name in filter(None, names):
            row[place[name.removeprefix("1/")]] += -1.0 if name.startswith("1/") else 1.0
        rows.append(row)
        coefficients.append(c)
    problem = make_problem(X, X[:, 0])
    found = merged(make_poly(atoms, rows, coefficients), 1e-9, problem)
    best = min((summed(p) for p in found), key=cost)
    np.testing.assert_allclose(evaluate(best, X), evaluate(parse(text), X), rtol=1e-12, atol=1e-14)
    assert cost(best) <= most and any(isinstance(n, Call) and n.op == op for n in walk(best))


@pytest.mark.parametrize(
    ("operators", "text", "possible"),
    [
        ({"add", "mul"}, "x0**3-x1", True),
        ({"add", "mul", "pow"}, "sqrt(x0)/x1", True),
        ({"add", "mul", "div", "square", "sqrt"}, "x0**2.5-1/x1**2", True),
        ({"add", "mul"}, "x0/x1", False),
        ({"add", "mul"}, "sin(x0)", False),
    ],
)
def test_spelling(operators, text, possible):
    problem = make_problem(X, X[:, 0], operators=frozenset(operators))
    spelled = spell(parse(text), problem)
    assert (spelled is not None) is possible
    if spelled is not None:
        assert {n.op for n in walk(spelled) if isinstance(n, Call)} <= operators
        np.testing.assert_allclose(evaluate(spelled, X), evaluate(parse(text), X), rtol=1e-12)
