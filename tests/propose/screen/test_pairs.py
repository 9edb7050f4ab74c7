"""Two and three inner functions at once."""

import pytest
from recover import draw, solve

from unisymnet.propose.screen.pairs import Pairs

LAWS = [
    ("0.5*sin(x0-x1)-1.3*sin(x0)", [(0, 6), (0, 6)]),
    ("3.1*exp(-0.23*x0)+1.4*exp(-1.9*x0)", [(0, 9)]),
    ("ln(x0+1.4)+ln(x0**2+1.3)", [(0, 2)]),
    ("2.1*(1-exp(-0.7*x0))*x1/(x1+1.4)", [(0.1, 6), (0.1, 6)]),  # a product, found in log space
    ("x0*x1-1.7*x1**2+exp(-0.6*x0)", [(-3, 3), (-3, 3)]),  # three terms
]


@pytest.mark.parametrize(("law", "ranges"), LAWS, ids=[law for law, _ in LAWS])
def test_recovers_sums_and_products_of_inner_functions(law, ranges):
    error, _ = solve(Pairs(), *draw(law, ranges))
    assert error < 1e-11


def test_huge_terms_that_cancel_are_no_law():
    error, formula = solve(Pairs(), *draw("ln(x0+1.4)+ln(x0**2+1.3)", [(0, 2)], n=20))
    assert error < 1e-13, formula  # the law itself, not an imitation that is good to 1e-12
