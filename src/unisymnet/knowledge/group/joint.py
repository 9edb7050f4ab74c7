"""Constants of one form on many groups at once: shared ones and those of each group, by Levenberg and Marquardt.

The normal equations have the shape of an arrow (a group's constants meet only its own rows and the shared constants),
so a step costs little more than as many small fits.  Which constants are shared is decided in sharing.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...deadline import Deadline
from ...formula.derivative import value_and_jacobian
from ...symbolic.expr import Expr

Rows = tuple[Floats, Floats, Floats]  # X, y, weights of one group

MAX_STEPS = 60
SMALLEST_GAIN = 1e-10  # relative, of the sum of squares
SMALLEST_STEP = 1e-12
LARGEST = 1e100


@dataclass(frozen=True)
class JointFit:
    """Constants (G, k), shared columns being equal in all rows, and the weighted sum of squares."""

    values: Floats
    shared: tuple[int, ...]
    rss: float

    @property
    def own(self) -> tuple[int, ...]:
        return tuple(i for i in range(self.values.shape[1]) if i not in self.shared)


def fit_jointly(
    form: Expr, groups: Sequence[Rows], start: Floats, shared: Sequence[int], deadline: Deadline = Deadline.never()
) -> JointFit:
    """The constants at the optimum near `start` (G, k), of which shared columns begin at their median; when time is
    up, the best so far."""
    values = np.array(start, dtype=np.float64)
    own = [i for i in range(values.shape[1]) if i not in shared]
    for i in shared:
        values[:, i] = np.median(values[:, i])
    best = _measured(form, groups, values)
    damping = 1e-3
    for _ in range(MAX_STEPS):
        if best is None:
            return JointFit(values, tuple(shared), float("inf"))
        if deadline.expired():
            break
        rss, parts = best
        accepted = False
        for _ in range(8):
            step = _step(parts, list(shared), own, damping)
            trial = values + step
            found = _measured(form, groups, trial)
            if found is not None and found[0] < rss:
                size = float(np.max(np.abs(step) / (np.abs(values) + 1e-12)))
                values, best, damping, accepted = trial, found, damping * 0.2, True
                if rss - found[0] < SMALLEST_GAIN * rss or size < SMALLEST_STEP:
                    return JointFit(values, tuple(shared), found[0])
                break
            damping = damping * 6.0 + 1e-12
        if not accepted:
            break
    return JointFit(values, tuple(shared), best[0] if best is not None else float("inf"))


@np.errstate(over="ignore", invalid="ignore")  # a constant that hardly matters has an error beyond all numbers
def standard_errors(form: Expr, groups: Sequence[Rows], fit: JointFit) -> Floats:
    """Standard errors (G, k), nan where the rows cannot tell; those of shared constants are equal in all rows."""
    found = _measured(form, groups, fit.values)
    errors = np.full(fit.values.shape, np.nan)
    n = sum(len(y) for _, y, _ in groups)
    n_free = len(fit.shared) + len(groups) * len(fit.own)
    if found is None or n <= n_free:
        return errors
    shared, own = list(fit.shared), list(fit.own)
    variance = found[0] / (n - n_free)
    whole = np.zeros((len(shared), len(shared)))
    crossed = []
    for J, _ in found[1]:
        inverse = scaled_inverse(J[:, own].T @ J[:, own])
        mixed = J[:, own].T @ J[:, shared]
        whole += J[:, shared].T @ J[:, shared] - mixed.T @ inverse @ mixed
        crossed.append((inverse, inverse @ mixed))
    of_shared = scaled_inverse(whole)
    for g, (inverse, mixed) in enumerate(crossed):
        if own:
            errors[g, own] = np.sqrt(np.maximum(variance * np.diag(inverse + mixed @ of_shared @ mixed.T), 0.0))
        if shared:
            errors[g, shared] = np.sqrt(np.maximum(variance * np.diag(of_shared), 0.0))
    return errors


def scaled_inverse(matrix: Floats) -> Floats:
    """The pseudo-inverse with every constant in its own units: 1e-9 and 1 may stand in one fit."""
    units = np.sqrt(np.where(np.diag(matrix) > 0.0, np.diag(matrix), 1.0))
    return _inverse(matrix / np.outer(units, units)) / np.outer(units, units)


def _measured(form: Expr, groups: Sequence[Rows], values: Floats) -> tuple[float, list[tuple[Floats, Floats]]] | None:
    """Sum of squares, and Jacobian and residuals of each group; None where the form is undefined."""
    total, parts = 0.0, []
    for (X, y, weights), params in zip(groups, values, strict=True):
        found, jacobian = value_and_jacobian(form, X, tuple(params))
        root = np.sqrt(weights)
        rest = (found - y) * root
        jacobian = jacobian * root[:, None]
        # Beyond this, squares overflow; no fit comes back from there.
        if not (np.abs(rest) < LARGEST).all() or not (np.abs(jacobian) < LARGEST).all():
            return None
        total += float(rest @ rest)
        parts.append((jacobian, rest))
    return total, parts


def _step(parts: Sequence[tuple[Floats, Floats]], shared: list[int], own: list[int], damping: float) -> Floats:
    """One damped step, the constants of the groups eliminated first."""
    k = parts[0][0].shape[1]
    step = np.zeros((len(parts), k))
    # Constants of very different size: each in units in which its column has length one.
    units = np.sqrt(sum(np.sum(J**2, axis=0) for J, _ in parts))
    units = np.where(units > 0.0, units, 1.0)
    parts = [(J / units, rest) for J, rest in parts]
    whole, right = np.zeros((len(shared), len(shared))), np.zeros(len(shared))
    kept = []
    for J, rest in parts:
        H, gradient = J.T @ J, J.T @ rest
        H = H + np.diag(damping * np.maximum(np.diag(H), 1e-12))
        inverse = _inverse(H[np.ix_(own, own)])
        mixed = H[np.ix_(own, shared)]
        whole += H[np.ix_(shared, shared)] - mixed.T @ inverse @ mixed
        right += gradient[shared] - mixed.T @ inverse @ gradient[own]
        kept.append((inverse, mixed, gradient[own]))
    common = -_inverse(whole) @ right
    for g, (inverse, mixed, gradient) in enumerate(kept):
        step[g, shared] = common
        if own:
            step[g, own] = -inverse @ (gradient + mixed @ common)
    return step / units


def _inverse(matrix: Floats) -> Floats:
    """Of a symmetric matrix, directions that the rows do not determine left out; zeros where there is none."""
    if not len(matrix) or not np.isfinite(matrix).all():
        return np.zeros(matrix.shape)
    try:
        return np.asarray(np.linalg.pinv(matrix, hermitian=True))
    except np.linalg.LinAlgError:
        return np.zeros(matrix.shape)
