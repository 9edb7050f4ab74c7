"""Fixed points: states at which all rates vanish, found from many starts, and what happens near them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

N_STARTS = 60
ROOM = 0.5  # how far beyond the data to look, in their width
SAME = 1e-5  # of the width: two points that are one
NEUTRAL = 1e-6  # of the largest eigenvalue


@dataclass(frozen=True)
class FixedPoint:
    """A state that stays; ``kind`` in words: "stable focus", "saddle", …"""

    state: tuple[float, ...]
    kind: str
    eigenvalues: tuple[complex, ...]

    @property
    def stable(self) -> bool:
        return self.kind.startswith("stable")


def find_fixed_points(
    rates: Callable[[Floats], Floats], jacobian: Callable[[Floats], Floats], box: Floats
) -> list[FixedPoint]:
    """Newton's method, damped, from points all over the box and around it."""
    from scipy.optimize import root
    from scipy.stats import qmc

    width = np.where(np.ptp(box, axis=1) > 0.0, np.ptp(box, axis=1), np.maximum(np.abs(box[:, 0]), 1.0))
    low, high = box[:, 0] - ROOM * width, box[:, 1] + ROOM * width
    d = len(box)
    places = qmc.Halton(d, scramble=False).random(N_STARTS)
    found: list[Floats] = []
    with np.errstate(all="ignore"):
        for start in [box.mean(axis=1), np.zeros(d), *(low + places * (high - low))]:
            speed = rates(start)
            if not np.isfinite(speed).all():
                continue
            try:
                solved = root(
                    lambda x: np.nan_to_num(rates(x), nan=1e6), start, jac=lambda x: np.nan_to_num(jacobian(x))
                )
            except (ValueError, np.linalg.LinAlgError):
                continue
            point = solved.x
            inside = np.all(point >= low) and np.all(point <= high)
            if not (solved.success and inside and np.isfinite(rates(point)).all()):
                continue
            if np.max(np.abs(rates(point)) / width) > 1e-8 * max(1.0, float(np.max(np.abs(speed) / width))):
                continue
            if not any(np.all(np.abs(point - other) < SAME * width) for other in found):
                found.append(np.where(np.abs(point) < 1e-10 * width, 0.0, point))
    points = [FixedPoint(tuple(map(float, point)), *_kind(jacobian(point))) for point in found]
    return sorted(points, key=lambda point: point.state)


def _kind(matrix: Floats) -> tuple[str, tuple[complex, ...]]:
    if not np.isfinite(matrix).all():
        return "unknown", ()
    values = np.linalg.eigvals(matrix)
    scale = float(np.max(np.abs(values))) or 1.0
    real = np.where(np.abs(values.real) < NEUTRAL * scale, 0.0, values.real)
    turning = bool(np.any(np.abs(values.imag) > NEUTRAL * scale))
    shape = "focus" if turning else "node"
    if np.all(real < 0.0):
        kind = f"stable {shape}"
    elif np.all(real > 0.0):
        kind = f"unstable {shape}"
    elif np.any(real > 0.0) and np.any(real < 0.0):
        kind = "saddle"
    elif turning and np.all(real == 0.0):
        kind = "centre"
    else:
        kind = "neutral"
    return kind, tuple(complex(value) for value in values)
