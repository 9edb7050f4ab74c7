"""Which sums and products of functions of one input each the rows show, clean and noisy, and which they do not."""

import numpy as np
import pytest
from recover import draw

from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.short.parts import LEVEL, Tree, believed_parts, joined
from unisymnet.symbolic.parse import parse

PRODUCT, SUM = Tree("mul", (0, 1)), Tree("add", (0, 1))
JOININGS = [
    ("(1-exp(-0.7*x0))*x1/(x1+1.4)", [(0, 6), (0.1, 8)], PRODUCT),
    ("4*exp(-0.3*x0)+2.5*x1/(x1+3)", [(0, 6), (0.1, 8)], SUM),
    ("sin(1.3*x0)*cos(1.1*x1)", [(-2, 2), (0, 3)], PRODUCT),  # no sign is kept, no mean is left
    ("5+sin(1.3*x0)*(x1/(x1+1.4))", [(0, 4), (0.1, 8)], Tree("add", (LEVEL, PRODUCT))),
    ("(1-exp(-0.7*x0))*x1/(x1+1.4)-ln(x2+2)", [(0, 6), (0.1, 8), (0, 9)], Tree("add", (2, PRODUCT))),
    ("exp(-0.2*x2)*(sqrt(x0)+1/(x1+1))", [(0, 6), (0.1, 8), (0, 9)], Tree("mul", (2, SUM))),
]


def shown(law, ranges, noise=0.0, n=200, **knowledge):
    X, y = draw(law, ranges, n=n, noise=noise)
    return believed_parts(make_problem(X, y, **knowledge), np.arange(n), Deadline.never())


@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize(("law", "ranges", "tree"), JOININGS, ids=[law for law, *_ in JOININGS])
def test_the_joining_is_read_off_scattered_rows(law, ranges, tree, noise):
    assert shown(law, ranges, noise)[0].tree == tree


@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize("law", ["sin(x0*x1)", "x0/(x0+x1)", "exp(-(x0-x1)**2)", "1/(1+exp(x0-2*x1))"])
def test_other_laws_are_not_believed(law, noise):
    assert not shown(law, [(0.5, 3), (0.5, 3)], noise)


@pytest.mark.parametrize(
    ("law", "tree"),
    [
        ("(1-exp(-0.6*x0))*x1/(x1+0.9*x2)", Tree("mul", (0, (1, 2)))),
        ("x1**2/(x1+3)+exp(-0.3*x0*x2)", Tree("add", (1, (0, 2)))),
        ("sin(x0*x1+x2)", None),
    ],
)
def test_groups_of_inputs(law, tree):
    X, y = draw(law, [(0.5, 4)] * 3, n=250)
    found = believed_parts(make_problem(X, y), np.arange(250), Deadline.never(), groups=True)
    assert (found[0].tree if found else None) == tree


def test_a_leaf_is_what_the_others_leave():
    X, y = draw("3*exp(-0.5*x0)*(x1+2)", [(0, 3), (0, 3)])
    (parts,) = believed_parts(make_problem(X, y), np.arange(200), Deadline.never())
    for leaf in parts.leaves(y):
        known = np.exp(-0.5 * X[:, 0]) if leaf.columns == 0 else X[:, 1] + 2
        curve = leaf.target / leaf.factor / known
        np.testing.assert_allclose(curve, curve[0], rtol=1e-4)


def test_operators_and_time_are_kept():
    law, ranges, _ = JOININGS[0]
    assert not shown(law, ranges, operators=frozenset({"add"}))
    X, y = draw(law, ranges)
    assert not believed_parts(make_problem(X, y), np.arange(200), Deadline.after(0.0))


def test_parts_take_the_places_of_the_leaves():
    tree = Tree("add", (2, Tree("mul", (0, 1))))
    assert tree.leaves() == [2, 0, 1]
    assert joined(tree, [parse("x2"), parse("x0"), parse("exp(x1)")]) == parse("x2 + x0*exp(x1)")
