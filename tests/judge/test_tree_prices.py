"""A formula costs the same however it is written."""

import pytest

from unisymnet.judge.prior import load_prior
from unisymnet.judge.tree import read
from unisymnet.symbolic.parse import parse


@pytest.mark.parametrize(
    ("joined", "apart"),
    [
        ("2*sqrt(x0*x1)*cos(x2)", "2*sqrt(x0)*sqrt(x1)*cos(x2)"),
        ("x2 + sqrt(x0/x1)", "x2 + x0**0.5*x1**-0.5"),
        ("exp((x0*x1**2)**0.3)", "exp(x0**0.3*x1**0.6)"),
    ],
)
def test_a_root_of_a_product_costs_no_more_than_a_product_of_roots(joined, apart):
    prior = load_prior()
    whole, parts = (prior.price(read(parse(text)).tree, 3).structure for text in (joined, apart))
    assert whole <= parts + 1e-12
    assert prior.price(read(parse("sqrt(x0 + x1)")).tree, 3).structure > 0.0  # a sum stays where it is
