"""A damaged file may say anything about the digits of a constant."""

from dataclasses import replace

import pytest

from unisymnet.formula import Constant
from unisymnet.formula.constants import rounded
from unisymnet.symbolic.parse import parse


@pytest.mark.parametrize("step", [-1.0, 0.0, float("inf"), float("nan"), None])
def test_a_senseless_step_rounds_nothing(step):
    constant = Constant(2.345, step=0.01)
    assert rounded(parse("2.345*x0"), (constant,)) is not None
    assert rounded(parse("2.345*x0"), (replace(constant, step=step),)) is None
