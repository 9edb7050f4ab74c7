"""Fields on a periodic grid followed in time: space by Fourier's series, time by exponential Runge–Kutta steps.

Linear terms of a field in itself, which are the stiff ones (u_xx, u_xxxx), are solved exactly; the others are stepped.
The number of steps between two times is doubled until the result no longer changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..errors import DataError
from .terms import Term

Complexes = NDArray[np.complex128]
Slopes = Callable[[Complexes], Complexes]

TOLERANCE = 1e-6
MAX_STEPS = 4096  # between two times
N_CONTOUR = 32  # points for the mean that replaces a cancelling quotient


@dataclass(frozen=True)
class Flow:
    """∂_t of every field as terms with coefficients."""

    terms: tuple[tuple[Term, ...], ...]
    coefficients: tuple[tuple[float, ...], ...]

    @np.errstate(all="ignore")  # a coefficient may be too large for the grid; `follow` says so
    def split(self, waves: Sequence[Floats]) -> tuple[Complexes, Slopes]:
        """The exact linear part of every field in Fourier's space, and the rest as a function."""
        shape = np.broadcast_shapes(*(wave.shape for wave in waves))
        linear = np.zeros((len(self.terms), *shape), dtype=complex)
        rest: list[list[tuple[Term, float]]] = []
        for field, (terms, numbers) in enumerate(zip(self.terms, self.coefficients, strict=True)):
            rest.append([])
            for term, number in zip(terms, numbers, strict=True):
                if term.is_linear_in(field):
                    linear[field] += number * _symbol(term, waves, shape)
                else:
                    rest[-1].append((term, number))
        keep = _unaliased(waves, shape, 1 + max((t.degree for row in rest for t, _ in row), default=1))
        axes = tuple(range(-len(waves), 0))

        def slopes(state: Complexes) -> Complexes:
            fields = np.fft.ifftn(state, axes=axes).real
            out = np.zeros_like(state)
            for field, row in enumerate(rest):
                for term, number in row:
                    product = term.values(list(fields), (0.0,) * len(fields))
                    out[field] += number * _symbol(term, waves, shape) * np.fft.fftn(product)
            return out * keep

        return linear, slopes


def evolve(flow: Flow, start: Floats, lengths: Sequence[float], times: Floats) -> Floats:
    """Fields (number, space…) at every time, last axis; raises DataError where they leave every bound."""
    waves = wave_numbers(start.shape[1:], lengths)
    linear, slopes = flow.split(waves)
    return np.stack(list(follow(linear, slopes, start, times)), axis=-1)


def wave_numbers(shape: Sequence[int], lengths: Sequence[float]) -> list[Any]:
    """Frequencies along every axis, each shaped to be multiplied with a field."""
    waves = []
    for axis, (n, length) in enumerate(zip(shape, lengths, strict=True)):
        wave = 2.0 * np.pi / length * np.fft.fftfreq(n, 1.0 / n)
        waves.append(wave.reshape([-1 if i == axis else 1 for i in range(len(shape))]))
    return waves


def follow(linear: Complexes, slopes: Slopes, start: Floats, times: Floats) -> Iterator[Floats]:
    """The fields at one time after the other, by a linear part and slopes in Fourier's space."""
    if not np.isfinite(linear).all():
        raise DataError("a coefficient is too large for derivatives on this grid; simulate on a coarser or a wider one")
    axes = tuple(range(1, start.ndim))
    state, n_steps = np.fft.fftn(start, axes=axes), 4
    yield start
    for before, after in pairwise(times):
        state, n_steps = _between(linear, slopes, state, float(after - before), n_steps)
        yield np.fft.ifftn(state, axes=axes).real


@np.errstate(all="ignore")  # what blows up is told below
def _between(linear: Complexes, slopes: Slopes, state: Complexes, span: float, n_steps: int) -> tuple[Complexes, int]:
    rough = _steps(linear, slopes, state, span, n_steps)
    while n_steps <= MAX_STEPS:
        fine = _steps(linear, slopes, state, span, 2 * n_steps)
        size = float(np.abs(fine).max())
        if np.isfinite(size) and float(np.abs(fine - rough).max()) <= TOLERANCE * size:
            return fine, max(n_steps if np.abs(fine - rough).max() > 0.02 * TOLERANCE * size else n_steps // 2, 1)
        rough, n_steps = fine, 2 * n_steps
    raise DataError(f"the fields blow up or change too fast within {span:g} of time; simulate a shorter time")


def _steps(linear: Complexes, slopes: Slopes, state: Complexes, span: float, n_steps: int) -> Complexes:
    """So many exponential Runge–Kutta steps of fourth order; their weights are means over a circle: nothing cancels."""
    h = span / n_steps
    z = h * linear
    circle = np.exp(1j * np.pi * (np.arange(1, N_CONTOUR + 1) - 0.5) / N_CONTOUR)
    q = f1 = f2 = f3 = np.zeros_like(z)
    for turn in (*circle, *circle.conj()):
        w = z + turn
        e = np.exp(w)
        q = q + (np.exp(w / 2.0) - 1.0) / w
        f1 = f1 + (-4.0 - w + e * (4.0 - 3.0 * w + w**2)) / w**3
        f2 = f2 + (2.0 + w + e * (w - 2.0)) / w**3
        f3 = f3 + (-4.0 - 3.0 * w - w**2 + e * (4.0 - w)) / w**3
    scale = h / (2 * N_CONTOUR)
    q, f1, f2, f3 = scale * q, scale * f1, scale * f2, scale * f3
    whole, half = np.exp(z), np.exp(z / 2.0)
    for _ in range(n_steps):
        n0 = slopes(state)
        a = half * state + q * n0
        na = slopes(a)
        b = half * state + q * na
        nb = slopes(b)
        c = half * a + q * (2.0 * nb - n0)
        state = whole * state + f1 * n0 + 2.0 * f2 * (na + nb) + f3 * slopes(c)
    return state


def _symbol(term: Term, waves: Sequence[Floats], shape: tuple[int, ...]) -> Complexes:
    """What the derivative multiplies Fourier's coefficients with; odd ones leave out the highest frequency."""
    symbol = np.ones(shape, dtype=complex)
    for wave, order in zip(waves, term.orders, strict=True):
        if order:
            odd = wave.copy()
            if order % 2 and wave.size % 2 == 0:
                odd.flat[wave.size // 2] = 0.0
            symbol = symbol * (1j * odd) ** order
    return symbol


def _unaliased(waves: Sequence[Floats], shape: tuple[int, ...], factor: int) -> Floats:
    """1 for the frequencies that a product of ``factor − 1`` fields does not fold back onto, 0 for the others."""
    keep = np.ones(shape)
    for wave in waves:
        limit = np.abs(wave).max() * 2.0 / factor
        keep = keep * (np.abs(wave) <= limit)
    return keep
