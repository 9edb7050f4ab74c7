"""Which exponents are likely where, and powers of what is negative or changes its sign."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.fit.sfo.exponents import EXPONENTS, simplest_choices
from unisymnet.fit.sfo.roles import costs_of, drawn, facing_up, smooth_variants
from unisymnet.symbolic.expr import Expr, Param, Var, evaluate

x, z = Var(0), Var(1)
c = [Param(i) for i in range(6)]
up = np.random.default_rng(0).uniform(0.5, 2.0, (30, 2))
both = np.random.default_rng(1).uniform(-2.0, 2.0, (30, 2))


@pytest.mark.parametrize(
    ("skeleton", "positions", "first"),
    [
        (c[0] * x ** c[1] * z ** c[2], [1, 2], (1.0, 1.0)),  # in a product
        (c[0] * x ** c[1] + c[2] * z ** c[3], [1, 3], (-1.0, -1.0)),  # a lone power of 1 would be none
        (x ** c[0], [0], (-1.0,)),
        (c[0] * (x * z) ** c[1], [1], (0.5,)),
    ],
)
def test_the_role_decides(skeleton: Expr, positions: list[int], first: tuple[float, ...]) -> None:
    assert next(simplest_choices(costs_of(skeleton, positions, EXPONENTS, up), 1)) == first


def test_only_whole_powers_of_what_changes_its_sign() -> None:
    skeleton = c[0] * x ** c[1] + c[2] * (x + c[3]) ** c[4]
    lone, unknown = costs_of(skeleton, [1, 4], EXPONENTS, both)
    assert set(lone) == {v for v in EXPONENTS if v is not None and v == round(v)}
    assert set(unknown) == set(EXPONENTS)  # its sign depends on an unknown


def test_what_is_negative_is_turned_round() -> None:
    down = up * np.array([-1.0, 1.0])
    skeleton = facing_up(c[0] * x ** c[1] * z ** c[2], down)
    values = evaluate(skeleton, down, np.array([2.0, 0.5, 1.5]))
    assert values == pytest.approx(2.0 * up[:, 0] ** 0.5 * up[:, 1] ** 1.5)
    assert facing_up(skeleton, down) == skeleton
    assert facing_up(c[0] * x ** c[1], both) == c[0] * x ** c[1]


def test_odd_and_even_powers_of_either_sign() -> None:
    variants = list(smooth_variants(c[0] * x ** c[1], both, 8))
    assert [shifts for _, shifts in variants] == [{1: 1.0}, {1: 0.0}]
    for (expr, shifts), exponent in zip(variants, (3.0, 2.0)):
        values = evaluate(expr, both, np.array([1.0, exponent - shifts[1]]))
        assert values == pytest.approx(both[:, 0] ** exponent)
    assert list(smooth_variants(c[0] * x ** c[1], up, 8)) == []
    assert len(list(smooth_variants(c[0] * x ** c[1] * z ** c[2], both, 3))) == 3


def test_exponents_are_drawn_as_their_role_has_them() -> None:
    rng = np.random.default_rng(0)
    product = [drawn(Var(0) ** Param(1) * Var(1) ** Param(0), rng=rng) for _ in range(300)]
    alone = [drawn(Var(0) ** Param(0), rng=rng)[0] for _ in range(300)]
    assert all(set(exponents) == {0, 1} for exponents in product)
    assert sum(exponents[0] in (1.0, -1.0) for exponents in product) > 240
    assert alone.count(1.0) < 5 and alone.count(-1.0) > 100
