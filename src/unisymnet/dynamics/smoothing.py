"""Smooth curves through measured states: values, slopes, their errors, and the noise level and model of the data.

Noisy states get a smoothing spline of degree 5 with a penalty on the third derivative, its strength by restricted
maximum likelihood over one eigendecomposition; clean ones an interpolating spline of degree 7.  Which of the two is
decided by divided differences: they shrink from order to order where the data are smooth, and stay where there is
noise.  Knows no equation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline
from scipy.linalg import eigh

from ..arrays import Floats
from .trajectory import Trajectory

DEGREE, ORDER = 5, 3
MAX_KNOTS = 160
N_STRENGTHS = 100
LEAST_SPACING = 0.6  # of knots, over that of even ones
EXACT = 1e-6  # share of the spread that simulated data are wrong by anyway: closer fits are not better
CLEAN = 1e-5  # a noise level below this share of the spread is none
ROUNDING = 1e-12
JUMP = 0.2  # of its range: a rough input that straight lines through every other row miss by more is one of steps


@dataclass(frozen=True)
class Noise:
    """Standard deviation of the error of one state: ``level`` and, beside it, ``share`` of the state itself.

    ``least`` is what the state would be wrong by even if it were measured exactly.
    """

    level: float
    share: float = 0.0
    clean: bool = False
    least: float = 0.0

    def deviation(self, x: Floats) -> Floats:
        """At these values of the state."""
        return np.asarray(np.hypot(max(self.level, self.least), self.share * x))


def noise_of(left: Floats, size: Floats, scale: float = 1.0) -> Noise:
    """Level and share by maximum likelihood from residuals ``left`` at states of some ``size``.

    The share is dropped where a constant level explains them as well.  ``scale`` makes up for constants fitted.
    """
    typical = float(np.sqrt(np.mean(size**2))) or 1.0
    constant = max(float(np.sqrt(np.mean(left**2))), 1e-9 * typical)
    plain = len(left) * (math.log(constant) + 0.5)
    best, found = plain - 2.0, (constant, 0.0)
    # Around the constant noise on a grid: the likelihood is smooth, and a few per cent do not matter.
    for level in constant * np.geomspace(1.0, 1e-3, 13):
        for share in constant / typical * np.geomspace(0.1, 4.0, 24):
            deviation = np.hypot(level, share * size)
            length = float(np.sum(np.log(deviation) + 0.5 * (left / deviation) ** 2))
            if length < best:
                best, found = length, (float(level), float(share))
    return Noise(found[0] * scale, found[1] * scale)


@dataclass(frozen=True)
class Curve:
    """One state of one piece: the spline, the values it goes through or near, its degrees of freedom."""

    spline: Any
    t: Floats
    x: Floats
    freedom: float
    sigma: float

    def value(self, t: Floats, order: int = 0) -> Floats:
        return np.asarray(self.spline(t, nu=order), dtype=np.float64)


@dataclass(frozen=True)
class Smooth:
    """All states of one piece as curves, with the known inputs interpolated between their times."""

    run: Trajectory
    curves: tuple[Curve, ...]

    def states(self, t: Floats, order: int = 0) -> Floats:
        return np.column_stack([curve.value(t, order) for curve in self.curves])

    def inputs(self, t: Floats, width: float = 0.0) -> Floats:
        columns = [driven(self.run.t, column, t, width) for column in self.run.u.T]
        return np.column_stack(columns) if columns else np.empty((len(t), 0))


def driven(times: Floats, values: Floats, t: Floats, width: float = 0.0) -> Floats:
    """An input between its rows: along a smooth curve where it has one, else along straight lines.

    One that jumps has no values between those measured: a ramp through them would be a place where anything may happen.
    With a `width`, it is averaged over that much time around each moment: a table of samples would move its jumps.
    """
    degree, _ = _degree(times, values)
    if degree == 0 and width > 0.0:
        jumps = 0.5 * (times[1:] + times[:-1])
        ends = np.concatenate([[times[0] - width], jumps, [times[-1] + width]])
        passed = np.concatenate([[0.0], np.cumsum(values * np.diff(ends))])
        return np.diff(np.interp([t - 0.5 * width, t + 0.5 * width], ends, passed), axis=0)[0] / width
    if degree == 0:
        return values[np.searchsorted(0.5 * (times[1:] + times[:-1]), t)]
    if degree == 1:
        return np.interp(t, times, values)
    return np.asarray(make_interp_spline(times, values, k=degree)(np.clip(t, times[0], times[-1])))


def _degree(times: Floats, values: Floats) -> tuple[int, float]:
    """The degree of the splines that suits an input best, and the share of its range that it leaves unknown.

    Tried where the truth is known: every other row from the rest.  The error between rows grows with their distance to
    the power of the order, so the longest step decides.
    """
    width = float(np.ptp(values))
    if width == 0.0 or len(times) < 12:
        return 1, 0.0
    inner = np.arange(3, len(times) - len(times) % 2 - 3, 2)

    def errors(guess: Floats) -> Floats:
        return np.asarray(np.abs(guess - values[inner]) / width)

    plain = errors(np.interp(times[inner], times[::2], values[::2]))
    best, left = 1, plain
    for degree in (3, 5):
        found = errors(make_interp_spline(times[::2], values[::2], k=degree)(times[inner]))
        if found.max() < min(left.max(), 0.5 * plain.max()):
            best, left = degree, found
    spans = times[inner + 1] - times[inner - 1]
    usual = spans >= np.median(spans)  # between close rows only rounding is left
    longest = float(np.max(np.diff(times)))
    unknown = float(np.max(left[usual] * (longest / spans[usual]) ** (best + 1)))
    return (0 if best == 1 and plain.max() > JUMP else best), min(unknown, float(left.max()), 1.0)


def smooth_all(runs: list[Trajectory]) -> tuple[list[Smooth], list[Noise]]:
    """Curves through every state of every piece, and the noise of every state, pooled over the pieces."""
    n_states = runs[0].x.shape[1]
    clean = [_is_clean([(run.t, run.x[:, k]) for run in runs]) for k in range(n_states)]
    inputs = [_degree(run.t, column) for run in runs for column in run.u.T]
    if any(unknown > EXACT for _, unknown in inputs):
        clean = [None] * n_states  # when an input jumped between two rows nobody knows: no state is exact
    found = [Smooth(run, tuple(_curve(run, k, clean[k] is not None) for k in range(n_states))) for run in runs]
    noises = []
    for k in range(n_states):
        level = clean[k]
        noises.append(_noise([smooth.curves[k] for smooth in found]) if level is None else _none(runs, k, level))
    # A state follows its inputs: without a floor, terms were found in what a smooth input is wrong by in a gap.  Jumps
    # and corners are wrong for a moment only, and say nothing about the rest.
    wrong = max((unknown for degree, unknown in inputs if degree > 1 and unknown > EXACT), default=0.0)
    return found, [replace(noise, least=wrong * _spread(runs, k)) for k, noise in enumerate(noises)]


def _none(runs: list[Trajectory], k: int, level: float) -> Noise:
    """What a fit to clean data may leave: the error of the data as far as it shows, or that of integrating."""
    return Noise(max(3.0 * level, EXACT * _spread(runs, k)), clean=True)


def _spread(runs: list[Trajectory], k: int) -> float:
    values = np.concatenate([run.x[:, k] for run in runs])
    return float(np.nanstd(values)) or float(np.nanmax(np.abs(values))) or 1.0


def difference_noise(t: Floats, x: Floats, order: int) -> float:
    """Size of the noise as seen in normalised divided differences, for which polynomials vanish (median of |.|)."""
    if len(t) <= order + 1:
        return math.inf
    windows = np.lib.stride_tricks.sliding_window_view(np.asarray(t), order + 1)
    spans = windows[:, -1:] - windows[:, :1]
    centred = (windows - windows[:, :1]) / spans
    gaps = centred[:, :, None] - centred[:, None, :] + np.eye(order + 1)
    weights = 1.0 / np.prod(gaps, axis=2)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    values = np.lib.stride_tricks.sliding_window_view(np.asarray(x), order + 1)
    return float(np.median(np.abs(np.sum(weights * values, axis=1))) / 0.6745)


def _is_clean(parts: list[tuple[Floats, Floats]]) -> float | None:
    """The error that differences of high order still show if the data are clean, else None."""
    sizes = []
    for order in (4, 6, 8, 10):
        levels = [difference_noise(t[np.isfinite(x)], x[np.isfinite(x)], order) for t, x in parts]
        sizes.append(float(np.median(levels)))
    values = np.concatenate([x[np.isfinite(x)] for _, x in parts])
    spread = float(np.std(values))
    if not math.isfinite(sizes[-1]) or spread == 0.0:
        return None if spread else 0.0
    falling = sizes[3] < 0.4 * sizes[1] and sizes[1] < 0.4 * sizes[0]
    if sizes[-1] < CLEAN * spread or (falling and sizes[-1] < 0.01 * spread):
        return max(sizes[-1], ROUNDING * float(np.max(np.abs(values))))
    return None


def _curve(run: Trajectory, k: int, clean: bool) -> Curve:
    good = np.isfinite(run.x[:, k])
    t, x = run.t[good], run.x[good, k]
    if len(t) < 2:
        flat = float(x[0]) if len(x) else 0.0
        spline = BSpline(np.array([run.t[0] - 1.0, run.t[-1] + 1.0]), np.array([flat]), 0)
        return Curve(spline, t, x, 1.0, 0.0)
    if clean or len(t) < DEGREE + 3:
        degree = min(7 if clean else 3, len(t) - 1)
        degree -= 1 - degree % 2
        spline = make_interp_spline(t, x, k=max(degree, 1))
        return Curve(spline, t, x, float(len(t)), 0.0)
    return smoothing_spline(t, x)


def smoothing_spline(t: Floats, x: Floats) -> Curve:
    """The smoothing spline through one noisy state, its strength by restricted maximum likelihood."""
    n = len(t)
    centre, scale = float(t[0]), float(t[-1] - t[0])
    s = (t - centre) / scale
    n_inner = min(n - ORDER - 1, MAX_KNOTS)
    inner = _spaced(np.quantile(s, np.linspace(0.0, 1.0, max(n_inner, 2)))[1:-1], LEAST_SPACING / max(n_inner, 2))
    knots = np.concatenate([np.zeros(DEGREE + 1), inner, np.ones(DEGREE + 1)])
    basis = BSpline.design_matrix(s, knots, DEGREE).toarray()
    penalty = _penalty(knots)
    gram = basis.T @ basis
    gram += 1e-10 * np.trace(gram) / len(gram) * np.eye(len(gram))
    prices, vectors = eigh(penalty, gram)  # vectors.T @ gram @ vectors = 1
    prices = np.maximum(prices, 0.0)
    prices[:ORDER] = 0.0
    parts = vectors.T @ (basis.T @ x)
    outside = max(float(x @ x - parts @ parts), 0.0)
    strength = _best_strength(prices, parts, outside, n)
    shares = 1.0 / (1.0 + strength * prices)
    coefficients = vectors @ (shares * parts)
    freedom = float(shares.sum())
    left = x - basis @ coefficients
    sigma = math.sqrt(float(left @ left) / max(n - freedom, 1.0))
    return Curve(BSpline(knots * scale + centre, coefficients, DEGREE), t, x, freedom, sigma)


def _spaced(places: Floats, least: float) -> Floats:
    """Those of ascending places in (0, 1) that keep their distance.

    The penalty grows with the fifth power of how close two knots are: where uneven times put knots upon each other,
    its small values, which tell noise from signal, were lost in rounding.
    """
    kept: list[float] = []
    last = 0.0
    for place in places:
        if place - last >= least and 1.0 - place >= least:
            kept.append(float(place))
            last = float(place)
    return np.array(kept)


def _best_strength(prices: Floats, parts: Floats, outside: float, n: int) -> float:
    """The penalty's factor with the largest restricted likelihood."""
    bent = prices > 0.0
    positive = prices[bent]
    strengths = np.exp(np.linspace(-math.log(positive.max()) - 12.0, -math.log(positive.min()) + 6.0, N_STRENGTHS))
    loads = strengths[:, None] * positive
    rest = outside + np.sum(parts[bent] ** 2 * loads / (1.0 + loads), axis=1)
    score = (n - ORDER) * np.log(np.maximum(rest, 1e-300)) + np.sum(np.log1p(1.0 / loads), axis=1)
    return float(strengths[int(np.argmin(score))])


def _penalty(knots: Floats) -> Floats:
    """Integral of the squared third derivative, exact by Gauss's rule on every interval between knots."""
    edges = np.unique(knots)
    places, weights = np.polynomial.legendre.leggauss(DEGREE - ORDER + 1)
    widths = np.diff(edges)
    points = (edges[:-1, None] + 0.5 * widths[:, None] * (places + 1.0)).ravel()
    loads = (0.5 * widths[:, None] * weights).ravel()
    n_basis = len(knots) - DEGREE - 1
    third = BSpline(knots, np.eye(n_basis), DEGREE)(points, nu=ORDER)
    return np.asarray(third.T @ (third * loads[:, None]))


def _noise(curves: list[Curve]) -> Noise:
    """From what the smoother leaves."""
    left = np.concatenate([curve.x - curve.value(curve.t) for curve in curves])
    size = np.abs(np.concatenate([curve.value(curve.t) for curve in curves]))
    share = sum(len(curve.t) - curve.freedom for curve in curves) / len(left)
    return noise_of(left, size, 1.0 / math.sqrt(max(share, 0.1)))
