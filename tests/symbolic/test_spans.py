"""Bounds on intervals hold for every number between, and are reached where they can be."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unisymnet.symbolic.operators import OPERATORS

BOUNDED = [name for name, row in OPERATORS.items() if row.span is not None]
ends = st.floats(-12.0, 12.0)


@pytest.mark.parametrize("name", BOUNDED)
@given(a=ends, b=ends)
def test_no_value_leaves_its_bounds(name: str, a: float, b: float) -> None:
    row = OPERATORS[name]
    low, high = min(a, b), max(a, b)
    least, most = row.span(low, high)  # type: ignore[misc]
    with np.errstate(all="ignore"):
        values = np.asarray(row.apply(np.linspace(low, high, 201)), dtype=float)
    values = values[np.isfinite(values)]
    if len(values):
        slack = 1e-9 * max(1.0, float(np.abs(values).max()))
        assert least - slack <= values.min() and values.max() <= most + slack
    else:
        assert math.isnan(least) or not math.isfinite(least) or not math.isfinite(most) or low == high


@pytest.mark.parametrize(
    ("name", "low", "high", "bounds"),
    [
        ("sin", 0.0, 1.0, (0.0, math.sin(1.0))),
        ("sin", 0.0, 2.0, (0.0, 1.0)),
        ("cos", 3.0, 3.5, (-1.0, math.cos(3.5))),
        ("square", -2.0, 1.0, (0.0, 4.0)),
        ("ln", 1.0, math.e, (0.0, 1.0)),
        ("tan", 1.0, 2.0, (-math.inf, math.inf)),
        ("acos", -1.0, 1.0, (0.0, math.pi)),
        ("step", -1.0, 1.0, (0.0, 1.0)),
        ("exp", -math.inf, 0.0, (0.0, 1.0)),
    ],
)
def test_bounds_are_tight(name: str, low: float, high: float, bounds: tuple[float, float]) -> None:
    assert OPERATORS[name].span(low, high) == pytest.approx(bounds)  # type: ignore[misc]


def test_outside_the_domain_nothing_is_promised() -> None:
    assert all(math.isnan(bound) for bound in OPERATORS["sqrt"].span(-2.0, -1.0))  # type: ignore[misc]
