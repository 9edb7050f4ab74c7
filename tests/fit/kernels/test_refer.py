"""A tuple by reference: its fields are those of the tuple, and nothing is freed while it is in use."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from unisymnet.fit.kernels.least_squares import eliminate
from unisymnet.fit.kernels.refer import Ref, hold, refer


class Inner(NamedTuple):
    numbers: Any
    table: Any


class Outer(NamedTuple):
    inner: Inner
    counts: Any
    factor: float


@njit  # type: ignore[untyped-decorator]
def _scaled(outer):  # type: ignore[no-untyped-def]
    inner = outer.inner
    for i in range(inner.numbers.shape[0]):
        outer.counts[0] += 1
        inner.numbers[i] *= outer.factor
    return inner.table[1, -1] + inner.table.size + inner.table[:, 1:].sum()


@njit  # type: ignore[untyped-decorator]
def _by_reference(outer):  # type: ignore[no-untyped-def]
    return _scaled(refer(outer))


@njit  # type: ignore[untyped-decorator]
def _made_inside(n):  # type: ignore[no-untyped-def]
    inner = Inner(np.full(n, 2.0), np.ones((2, 3)))
    ref = refer(inner)
    total = 0.0
    for _ in range(20):
        rubbish = np.full(n, np.nan)  # would lie where freed numbers were
        total += ref.numbers.sum() + 0.0 * rubbish.size
    hold(inner)
    return total


@njit  # type: ignore[untyped-decorator]
def _misspelt(outer):  # type: ignore[no-untyped-def]
    return refer(outer).wrong


def _outer() -> Outer:
    return Outer(Inner(np.arange(4.0), np.arange(6.0).reshape(2, 3)), np.zeros(1, dtype=np.int64), 3.0)


def test_fields_are_read_and_arrays_are_changed_in_place() -> None:
    by_value, by_reference = _outer(), _outer()
    assert _scaled(by_value) == _by_reference(by_reference) == 5.0 + 6.0 + (1.0 + 2.0 + 4.0 + 5.0)
    assert by_reference.inner.numbers.tolist() == [0.0, 3.0, 6.0, 9.0] == by_value.inner.numbers.tolist()
    assert by_reference.counts[0] == 4


def test_what_is_held_is_not_freed() -> None:
    assert _made_inside(50_000) == 20 * 100_000.0


def test_a_field_that_is_not_there_is_an_error() -> None:
    with pytest.raises(TypingError, match="wrong"):
        _misspelt(_outer())


def test_references_to_equal_types_are_equal_and_their_names_short() -> None:
    from numba import typeof

    one, other = Ref(typeof(_outer())), Ref(typeof(_outer()))
    assert one == other and one != Ref(typeof(_outer().inner))
    assert len(one.mangling_args[0]) < 20


@njit  # type: ignore[untyped-decorator]
def _solved(A, x):  # type: ignore[no-untyped-def]
    return eliminate(A, x)


def test_a_positive_system_is_solved_and_another_one_refused() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 8))
    A, x = root @ root.T, rng.normal(size=5)
    found = x.copy()
    assert _solved(A.copy(), found) and np.allclose(A @ found, x, rtol=1e-10)
    assert not _solved(-A, x.copy())
