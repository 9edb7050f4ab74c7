"""Products of two inner functions beside an offset."""

import pytest
from recover import draw, solve

from unisymnet.propose.screen.features import Products

LAWS = [
    ("2.3*exp(-0.31*x0)*sin(4.7*x0+0.6)+0.9", [(0, 10)], 300),
    ("0.7+1.1*sin(3.3*x0)*cos(2.1*x1)", [(0, 6), (0, 6)], 300),
    ("1.2*sin(19.1*x0)*cos(7.7*x0)-0.4", [(0, 8)], 300),
    ("sin(x0**3)*cos(x0**2)-1", [(-1, 1)], 20),
]


@pytest.mark.parametrize(("law", "ranges", "n"), LAWS, ids=[law for law, _, _ in LAWS])
def test_recovers_products_with_both_constants_free(law, ranges, n):
    error, _ = solve(Products(), *draw(law, ranges, n=n))
    assert error < 1e-11
