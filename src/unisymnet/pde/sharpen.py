"""Coefficients of known terms as sharp as the noise allows: weak rows whitened by the errors that they share.

Rows overlap, and the error of a node stands in many of them, on both sides of the equation.  To first order, what a
row leaves is a known linear map of these errors; least squares weighted by the inverse of its covariance is close to
the most likely coefficients, and says how sure they are.  Knows no search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..arrays import Floats
from ..deadline import now
from .system import Equation
from .terms import Term
from .weak import WeakForm

N_ROWS, LEAST_ROWS = 350, 30
MAX_ENTRIES = 3e6  # of the map from nodes to rows
ROUNDS = 2  # the covariance holds the coefficients itself
SMALLEST = 1e-6  # of the largest variance: below it errors of the grid decide
TELLING = (0.1, 10.0)  # χ² per row outside of which the errors are not those of the nodes
NOISY = 1e-3  # noise over the spread of a field: less than that and the grid's errors decide


def sharpened(equation: Equation, form: WeakForm, field: int, order: int, end: float = np.inf) -> Equation:
    """The equation with its coefficients fitted again, or as it is where that cannot help or ``end`` comes first."""
    spreads = [float(np.std(values)) for values in form.fields]
    noisy = max(noise / spread if spread else 0.0 for noise, spread in zip(form.noise, spreads, strict=True))
    places = _places(form)
    support = int(np.prod([2 * bump.half + 1 for bump in form.bumps])) * len(form.fields)
    count = int(min(N_ROWS, len(places), MAX_ENTRIES / support))
    # In two dimensions of space only few of the rows could be taken, and all of them unweighted tell more.
    flat = len(form.bumps) == 2
    if not (flat and equation.terms) or noisy < NOISY or count < max(LEAST_ROWS, 4 * len(equation.terms)):
        return equation
    rows = np.unique(np.linspace(0, len(places) - 1, count).astype(int))
    columns, rate = form.columns(equation.terms)[rows], form.rate(field, order)[rows]
    maps = _Maps(form, equation.terms, field, order, places[rows])
    numbers = np.array(equation.coefficients)
    for _ in range(ROUNDS):
        if now() > end:
            return equation
        covariance, shared = maps.of(numbers)
        white = _whitening(covariance)
        if white is None:
            return equation
        table, target = white @ columns, white @ rate
        # Errors of the columns shrink coefficients; how much is known: the errors that a column and its row share.
        bias = np.array([float(np.sum((white @ part) * white)) for part in shared])
        numbers = np.linalg.lstsq(table.T @ table, table.T @ target - bias, rcond=None)[0]
    left = target - table @ numbers
    chi2 = float(left @ left) / max(len(left) - len(numbers), 1)
    if not TELLING[0] < chi2 < TELLING[1]:
        return equation
    errors = np.sqrt(np.maximum(np.diag(np.linalg.pinv(table.T @ table)), 0.0) * max(chi2, 1.0))
    return replace(equation, coefficients=tuple(map(float, numbers)), errors=tuple(map(float, errors)))


def _places(form: WeakForm) -> NDArray[np.int64]:
    """The first node of every test function, in the order of the rows."""
    axes = [
        np.arange(0, n - 2 * bump.half, max(1, bump.half // 4))
        for n, bump in zip(form.grid.shape, form.bumps, strict=True)
    ]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


class _Maps:
    """What the error of every node does to every row, and to every column of it."""

    def __init__(
        self, form: WeakForm, terms: Sequence[Term], field: int, order: int, places: NDArray[np.int64]
    ) -> None:
        self.form, self.field, self.places = form, field, places
        space = len(form.bumps) - 1
        self.rate = self._kernel((*(0,) * space, order))
        self.kernels = [self._kernel((*term.orders, 0)) for term in terms]
        self.slopes = [[_slope(term, form.fields, q) for q in range(len(form.fields))] for term in terms]
        strides = np.cumprod([1, *form.grid.shape[:0:-1]])[::-1]
        offsets = np.indices(self.rate.shape).reshape(len(form.bumps), -1)
        self.offsets = strides @ offsets
        self.firsts = places @ strides

    def _kernel(self, orders: tuple[int, ...]) -> Floats:
        kernel = np.ones(())
        for bump, order in zip(self.form.bumps, orders, strict=True):
            kernel = np.multiply.outer(kernel, bump.values(order) * (-1.0) ** order)
        return np.asarray(kernel)

    def _windows(self, kernel: Floats, slope: Floats | None) -> Floats:
        """A kernel laid on every test function, times the slope there."""
        if slope is None:
            return np.zeros((len(self.places), kernel.size))
        return (kernel.ravel() * slope.ravel()[self.firsts[:, None] + self.offsets]).reshape(len(self.places), -1)

    def of(self, numbers: Floats) -> tuple[Floats, list[Floats]]:
        """The covariance of the rows' errors, and that of the rows with the columns."""
        total = np.zeros((len(self.places), len(self.places)))
        shared = [np.zeros_like(total) for _ in self.kernels]
        for q, noise in enumerate(self.form.noise):
            parts = [noise * self._windows(kernel, slopes[q]) for kernel, slopes in zip(self.kernels, self.slopes)]
            own = noise * self.rate.ravel() * np.ones((len(self.places), 1)) if q == self.field else 0.0 * parts[0]
            rows = self._sparse(own - sum(number * part for number, part in zip(numbers, parts)))
            total += (rows @ rows.T).toarray()
            for both, part in zip(shared, parts):
                both += (rows @ self._sparse(part).T).toarray()
        return total, shared

    def _sparse(self, values: Floats) -> sparse.csr_matrix:
        starts = np.arange(len(self.places) + 1) * len(self.offsets)
        indices = (self.firsts[:, None] + self.offsets).ravel()
        shape = len(self.places), int(np.prod(self.form.grid.shape))
        return sparse.csr_matrix((values.ravel(), indices, starts), shape=shape)


def _slope(term: Term, fields: Sequence[Floats], q: int) -> Floats | None:
    """The derivative by one field of what a term's derivative acts on; None where the field is not in it."""
    if term.function:
        step = 1e-5 * float(np.std(fields[q])) or 1e-5
        up, down = ([f + s * step if i == q else f for i, f in enumerate(fields)] for s in (1.0, -1.0))
        none = (0.0,) * len(fields)
        return np.asarray((term.values(up, none) - term.values(down, none)) / (2.0 * step))
    if not term.powers[q]:
        return None
    slope = float(term.powers[q]) * np.ones_like(fields[q])
    for i, (power, values) in enumerate(zip(term.powers, fields, strict=True)):
        slope = slope * values ** (power - (i == q))
    return slope


def _whitening(covariance: Floats) -> Floats | None:
    """W with W C Wᵀ = 1, its smallest directions held up."""
    if not np.isfinite(covariance).all():
        return None
    values, vectors = np.linalg.eigh(covariance)
    if not values[-1] > 0.0:
        return None
    return np.asarray((vectors / np.sqrt(np.maximum(values, SMALLEST * values[-1]))).T)
