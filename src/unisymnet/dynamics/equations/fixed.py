"""Fixed points: states at which all rates vanish, found from many starts, and what happens near them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Floats

N_STARTS = 60
ROOM = 0.5  # how far beyond the data to look, in their width
SAME = 1e-5  # of the width: two points that are one
NEUTRAL = 1e-6  # of the largest eigenvalue
NEAR, SLOW = 1e-6, 1e-2  # so near a fixed point, in widths, rates are still small beside the usual ones
MANY = 4  # neutral points from which on they are taken for a line, of which one is told


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
    speeds: list[float] = []
    with np.errstate(all="ignore"):
        for start in [box.mean(axis=1), np.zeros(d), *(low + places * (high - low))]:
            speed = rates(start)
            if not np.isfinite(speed).all():
                continue
            speeds.append(float(np.max(np.abs(speed) / width)))
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
            if np.max(np.abs(rates(point)) / width) > 1e-8 * max(1.0, speeds[-1]):
                continue
            if not any(np.all(np.abs(point - other) < SAME * width) for other in found):
                found.append(np.where(np.abs(point) < 1e-10 * width, 0.0, point))
        usual = float(np.median(speeds)) if speeds else 0.0
        found = [point for point in found if _is_smooth(rates, point, width, usual)]
    points = [FixedPoint(tuple(map(float, point)), *_kind(jacobian(point))) for point in found]
    middle = box.mean(axis=1)
    neutral = [point for point in points if point.kind == "neutral"]
    if len(neutral) >= MANY:
        nearest = min(neutral, key=lambda point: float(np.sum(((np.array(point.state) - middle) / width) ** 2)))
        points = [point for point in points if point.kind != "neutral"]
        points.append(replace(nearest, kind="one of a line of fixed points"))
    return sorted(points, key=lambda point: point.state)


def _is_smooth(rates: Callable[[Floats], Floats], point: Floats, width: Floats, usual: float) -> bool:
    """Are rates small beside the point, too?  Next to a pole 0/0 may pass for a fixed point."""
    aside = [point + sign * NEAR * width * axis for axis in np.eye(len(point)) for sign in (-1.0, 1.0)]
    sizes = [rate for rate in (np.max(np.abs(rates(x)) / width) for x in aside) if np.isfinite(rate)]
    return not sizes or bool(max(sizes) <= SLOW * usual)


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
