"""A form keeps what its name promises: what saturates has no pole."""

import pytest

from unisymnet.judge.forms import form_share
from unisymnet.judge.special import canonical
from unisymnet.symbolic.parse import parse


@pytest.mark.parametrize(
    "text",
    ["2.1/(x0^-1.11 - 0.00044)", "3.1*x0/(x0 - 4.4)", "3.1/(1 - 0.2*exp(0.31*x0))", "7 + 3.1/(1 - 0.2*exp(0.31*x0))"],
)
def test_what_saturates_has_no_pole(text):
    found = form_share(canonical(parse(text)))
    assert found is None or not found[0].endless


@pytest.mark.parametrize("text", ["1.02*(1.3 - 5.1*x0)^-0.8", "(1 - 5.1*x0)^-0.8", "3.1*(x0 + 1.7)^-1.1"])
def test_powers_of_the_distance_to_a_place_are_forms(text):
    found = form_share(canonical(parse(text)))
    assert found is not None and found[0].name.startswith("power law")
