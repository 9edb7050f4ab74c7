"""Simple numbers: the right one first, none by accident, never zero."""

from __future__ import annotations

import math

import pytest

from unisymnet.fit.clean.numbers import is_plain, simple_numbers


@pytest.mark.parametrize(
    ("value", "window", "expected"),
    [
        (2.0000001, 1e-5, "2"),
        (-0.4999999, 1e-5, "-1/2"),
        (1 / 3 + 1e-9, 1e-7, "1/3"),
        (math.pi * 1.0000001, 1e-5, "pi"),
        (0.5 / math.pi, 1e-9, "1/(2*pi)"),
        (3.39, 1e-12, "3.39"),
        (6.674e-11, 1e-18, "6.674e-11"),
        (1 / math.sqrt(2 * math.pi), 1e-9, "1/sqrt(2*pi)"),
        (981.0, 1e-6, "981"),
        (1.5 * math.pi, 1e-9, "3*pi/2"),
    ],
)
def test_the_expected_number_comes_first(value: float, window: float, expected: str) -> None:
    assert simple_numbers(value, window)[0].text == expected


def test_candidates_lie_in_the_window_and_are_never_zero() -> None:
    for value, window in [(1e-17, 1.0), (0.3, 0.4), (-7.3, 2.0), (123456.789, 10.0)]:
        numbers = simple_numbers(value, window)
        assert all(n.value != 0.0 and math.copysign(1, n.value) == math.copysign(1, value) for n in numbers)
        assert all(abs(n.value - value) <= window for n in numbers)
        assert [n.cost for n in numbers] == sorted(n.cost for n in numbers)


def test_nothing_for_zero_and_infinity() -> None:
    assert simple_numbers(0.0, 1.0) == []
    assert simple_numbers(1.0, math.inf) == []


def test_plain() -> None:
    assert is_plain(2.0) and is_plain(-0.5) and is_plain(2 / 3)
    assert not is_plain(2.01) and not is_plain(100.0)
