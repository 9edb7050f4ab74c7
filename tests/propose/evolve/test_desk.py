"""Sums of products: what they say is left of y is what least squares leave, and they say where they cannot tell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit

from unisymnet.fit.kernels.refer import refer
from unisymnet.propose.evolve.desk import Desk, gather, new_desk, told, told_with_held

N, M = 200, 4


@njit
def _asked(desk: Desk, row: int) -> tuple[float, float]:
    desk = refer(desk)
    gather(desk, 0, row)
    gather(desk, row, N)
    return told(desk), told_with_held(desk)


def _desk(columns: np.ndarray, y: np.ndarray) -> Desk:
    desk = new_desk(1, N)
    desk.plan.layout[6] = len(columns)
    for k, column in enumerate(columns):
        desk.plan.phi[k] = 3 + k
        desk.table[3 + k, :N] = column
    desk.table[-1, :N] = y
    return desk


def _left(columns: np.ndarray, y: np.ndarray) -> float:
    return float(np.sum((y - columns.T @ np.linalg.lstsq(columns.T, y, rcond=None)[0]) ** 2))


def _example() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    columns = np.vstack([np.ones(N), rng.normal(2.0, 1.0, (M - 1, N))])
    return columns, columns.T @ [1.0, 0.9, -2.0, 0.01] + rng.normal(0.0, 0.1, N)


@pytest.mark.parametrize("row", [1, 64, 199])
def test_sums_tell_what_is_left(row: int) -> None:
    columns, y = _example()
    assert _asked(_desk(columns, y), row)[0] == pytest.approx(_left(columns, y), rel=1e-9)


@pytest.mark.parametrize("held", [{0: 0.0}, {1: 1.0}, {3: 0.0}, {0: 0.0, 1: 1.0, 2: -1.0}, {0: 0.0, 3: 0.0}])
def test_sums_tell_what_is_left_beside_held_coefficients(held: dict[int, float]) -> None:
    columns, y = _example()
    desk = _desk(columns, y)
    for k, value in held.items():
        desk.held[k] = value
    free = [k for k in range(M) if k not in held]
    rest = y - sum(value * columns[k] for k, value in held.items())
    assert _asked(desk, 64)[1] == pytest.approx(_left(columns[free], rest), rel=1e-9)


def test_sums_say_where_they_cannot_tell() -> None:
    columns, y = _example()
    assert math.isnan(_asked(_desk(columns, columns[1] + 2.0 * columns[2]), 64)[0])  # nothing is left
    assert math.isnan(_asked(_desk(np.vstack([columns, columns[1]]), y), 64)[0])  # the same column twice
    columns[2, 5] = np.inf
    assert _asked(_desk(columns, y), 64)[0] == math.inf
