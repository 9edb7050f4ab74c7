"""Weak form: every term is integrated against test functions that vanish at their edges, so that derivatives act on the
test function and never on noisy data.

A test function is a product of bumps (1 − s²)^p, one for each axis.  How wide it is follows from the data: narrow
enough to see what changes, wide enough to average noise away; the corner of the fields' spectrum says where one ends
and the other begins.  Columns are convolutions, computed axis by axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.signal import fftconvolve

from ..arrays import Floats
from .grid import Grid
from .terms import Term

EDGE = 1e-10  # value of a bump one node inside its edge
CORNER = 1.0  # how many standard widths of the bump's spectrum reach up to the corner
MAX_ROWS = 4000
LEAST_ROOM = 3  # an axis is at least so many times as long as half a test function: wider ones leave no rows


@dataclass(frozen=True)
class Bump:
    """One axis of a test function: half its width in nodes, its power, the axis's step."""

    half: int
    power: int
    step: float

    def values(self, derivative: int = 0) -> Floats:
        """The bump or a derivative of it at the nodes −half … half, by the axis's own unit."""
        s = np.linspace(-1.0, 1.0, 2 * self.half + 1)
        polynomial = np.polynomial.Polynomial([1.0, 0.0, -1.0]) ** self.power
        return polynomial.deriv(derivative)(s) / (self.half * self.step) ** derivative if derivative else polynomial(s)


def bumps_for(grid: Grid, fields: Sequence[Floats], max_order: int) -> tuple[Bump, ...]:
    """Test functions for these data; ``max_order`` is the highest derivative that will be moved to them."""
    found = []
    for axis, (n, step) in enumerate(zip(grid.shape, grid.steps)):
        corner = max(_corner(field, axis) for field in fields)
        least = max(max_order, 2) + 2
        half = min(max(_half_width(n, corner), least), max(n // LEAST_ROOM, least))
        edge = (2.0 * half - 1.0) / half**2
        power = max(max_order + 1, math.ceil(math.log(EDGE) / math.log(edge)))
        found.append(Bump(half, power, step))
    return tuple(found)


def _corner(field: Floats, axis: int) -> float:
    """The frequency (in periods of the axis) at which the spectrum turns from signal to noise or to nothing.

    Two straight lines are laid through the running sum of the spectrum; they meet at the corner.
    """
    spectrum = np.abs(np.fft.rfft(field - field.mean(axis=axis, keepdims=True), axis=axis))
    other = tuple(i for i in range(field.ndim) if i != axis)
    running = np.cumsum(spectrum.mean(axis=other))
    running /= max(running[-1], 1e-300)
    k = np.arange(len(running), dtype=float)
    best, where = math.inf, 1
    for corner in range(1, len(running) - 2):
        first = np.interp(k[: corner + 1], [0.0, corner], [running[0], running[corner]])
        second = np.interp(k[corner:], [corner, k[-1]], [running[corner], running[-1]])
        error = float(np.sum((running[: corner + 1] - first) ** 2) + np.sum((running[corner:] - second) ** 2))
        if error < best:
            best, where = error, corner
    return float(max(where, 1))


def _half_width(n: int, corner: float) -> int:
    """Half the width in nodes at which the bump's own spectrum has fallen off at the corner."""
    for half in range(3, n // 2):
        power = math.log(EDGE) / math.log((2.0 * half - 1.0) / half**2)
        # The bump is nearly a normal curve of deviation half/√(2p+3); so is its spectrum.
        if 2.0 * math.pi * corner / n * half / math.sqrt(2.0 * power + 3.0) >= CORNER * math.sqrt(2.0):
            return half
    return n // 4


@dataclass(frozen=True)
class WeakForm:
    """Columns of one problem on the same test functions."""

    grid: Grid
    fields: tuple[Floats, ...]
    noise: tuple[float, ...]
    bumps: tuple[Bump, ...]

    @property
    def n_rows(self) -> float:
        """Test functions that do not overlap: as many rows are independent."""
        widths = [n / max(bump.half, 1) for n, bump in zip(self.grid.shape, self.bumps)]
        return max(math.prod(widths), 12.0)

    def rate(self, field: int, order: int) -> Floats:
        """The left side: ∂_t or ∂_tt of a field."""
        spatial = (0,) * (len(self.bumps) - 1)
        return self.integral(self.fields[field], (*spatial, order))

    def columns(self, terms: Sequence[Term]) -> Floats:
        """One column for every term."""
        products: dict[tuple[tuple[int, ...], str], Floats] = {}
        found = []
        for term in terms:
            key = term.powers, term.function
            if key not in products:
                products[key] = term.values(self.fields, self.noise)
            found.append(self.integral(products[key], (*term.orders, 0)))
        return np.column_stack(found)

    def integral(self, product: Floats, orders: tuple[int, ...]) -> Floats:
        """∫ φ ∂^orders product, the derivatives moved to φ: (−1)^|orders| ∫ ∂^orders φ · product."""
        result = product
        for axis, (bump, order) in enumerate(zip(self.bumps, orders)):
            kernel = bump.values(order)[::-1] * (-1.0) ** order
            shape = [1] * product.ndim
            shape[axis] = len(kernel)
            result = fftconvolve(result, kernel.reshape(shape), mode="valid", axes=axis)
            stride = max(1, bump.half // 4)
            result = np.take(result, np.arange(0, result.shape[axis], stride), axis=axis)
        return result.ravel()


def noise_level(field: Floats) -> float:
    """Standard deviation of what changes from node to node without pattern, from high differences along every axis."""
    levels = []
    for axis in range(field.ndim):
        if field.shape[axis] > 8:
            rough = np.diff(field, n=6, axis=axis)
            levels.append(float(np.median(np.abs(rough))) / 0.6745 / math.sqrt(math.comb(12, 6)))
    return min(levels)
