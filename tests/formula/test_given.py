"""What a caller hands over, and what is told of what was not given."""

import pytest

from unisymnet import DataError, Formula
from unisymnet.symbolic import parse


def test_units_that_are_not_given_are_not_told() -> None:
    formula = Formula(parse("x0*x1/x2"), ("m", "v", "t"), "p", units=("kg", "", "", ""))
    assert formula.units_text() == "units: m in kg" and "no unit" not in formula.to("c")
    assert Formula(parse("x1"), ("m", "v"), "p", units=("kg", "", "")).units_text() == ""


def test_a_text_among_numbers_is_told_with_its_row() -> None:
    formula = Formula(parse("2*x0"), ("t",))
    with pytest.raises(DataError, match=r"the column 't' must hold numbers, got the text 'abc' in row 2"):
        formula.predict({"t": ["1", 2.0, "abc"]})
