"""The operator table: values, derivatives and domains agree with each other."""

import numpy as np
import pytest

from unisymnet.symbolic.operators import ALIASES, OPERATORS, UNARY_LIBRARY

INSIDE = {
    "ln": (0.2, 3.0),
    "sqrt": (0.2, 3.0),
    "inv": (0.5, 3.0),
    "asin": (-0.9, 0.9),
    "acos": (-0.9, 0.9),
    "tan": (-1.2, 1.2),
    "pow": (0.3, 2.5),
    "div": (0.5, 2.0),
    "abs": (0.2, 2.0),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_derivatives_match_differences(name: str) -> None:
    row = OPERATORS[name]
    low, high = INSIDE.get(name, (-2.0, 2.0))
    rng = np.random.default_rng(0)
    args = tuple(rng.uniform(low, high, 50) for _ in range(3 if row.arity < 0 else row.arity))
    partials = row.partials(args, row.apply(*args))
    assert len(partials) == len(args)
    for i, partial in enumerate(partials):
        step = 1e-6
        up = row.apply(*(a + step * (i == j) for j, a in enumerate(args)))
        down = row.apply(*(a - step * (i == j) for j, a in enumerate(args)))
        np.testing.assert_allclose(np.broadcast_to(partial, (50,)), (up - down) / (2 * step), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", OPERATORS)
def test_a_row_is_complete(name: str) -> None:
    row = OPERATORS[name]
    assert row.name == name
    assert row.arity in (-1, 1, 2)
    assert row.domain
    assert bool(row.symbol) == (row.precedence < 9)


@pytest.mark.parametrize(
    ("name", "outside"), [("ln", -1.0), ("sqrt", -1.0), ("asin", 2.0), ("acos", -2.0), ("inv", 0.0), ("ln", 0.0)]
)
def test_outside_its_domain_an_operator_is_undefined(name: str, outside: float) -> None:
    assert OPERATORS[name].domain != "all"
    with np.errstate(all="ignore"):
        assert not np.isfinite(OPERATORS[name].apply(np.float64(outside)))


def test_powers_follow_ieee() -> None:
    power = OPERATORS["pow"].apply
    with np.errstate(all="ignore"):
        assert np.isnan(power(-8.0, 1 / 3))
        assert power(-2.0, 3.0) == -8.0
        assert power(0.0, 0.0) == 1.0
        assert np.isinf(power(0.0, -1.0))


def test_derivative_of_a_power_at_nonpositive_bases() -> None:
    base = np.array([-2.0, 0.0, 3.0])
    with np.errstate(all="ignore"):
        by_base, by_exponent = OPERATORS["pow"].partials((base, 2.0), base**2)
    np.testing.assert_allclose(by_base, 2 * base)
    np.testing.assert_allclose(by_exponent, [0.0, 0.0, 9 * np.log(3.0)])


def test_product_derivative_needs_no_division() -> None:
    zero = OPERATORS["mul"].partials((0.0, 2.0, 3.0), 0.0)
    assert zero == (6.0, 0.0, 0.0)


def test_aliases_lead_to_operators() -> None:
    assert set(ALIASES.values()) <= set(OPERATORS)
    assert not set(ALIASES) & set(OPERATORS)
    assert set(UNARY_LIBRARY) - {"id"} <= set(OPERATORS)
