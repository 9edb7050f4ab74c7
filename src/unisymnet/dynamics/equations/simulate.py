"""Numerical solution of a system: scipy's LSODA, which takes stiff systems too, with a limit of time."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ...arrays import Floats
from ...errors import DataError

HUGE = 1e12


def _sizes(start: Floats, course: Floats) -> Floats:
    """What errors are measured by, at most a thousandth beside the start: a state of 1e-12 wants smaller ones.

    ``course`` is how far the states would go at the rates of the start.
    """
    found = np.maximum(np.abs(start), 1e-3 * np.minimum(np.abs(course), 1.0))
    return np.where(found > 0.0, found, 1e-3)


class _Stop(Exception):
    pass


def simulate(
    rhs: Callable[[float, Floats], Floats], start: Floats, times: Floats, *, rtol: float, max_seconds: float
) -> Floats:
    """States at the times; rows after a blow-up, or after the time limit, are nan."""
    from scipy.integrate import LSODA

    if len(times) == 0:
        return np.empty((0, len(start)))
    steps = np.diff(times)
    if not np.isfinite(times).all() or not np.isfinite(start).all():
        raise DataError("times and the start must be finite numbers")
    if len(steps) and not ((steps > 0.0).all() or (steps < 0.0).all()):
        raise DataError("times must rise from row to row (or fall, to go back in time)")
    found = np.full((len(times), len(start)), np.nan)
    found[0] = start
    end = time.monotonic() + max_seconds

    def rates(now: float, x: Floats) -> Floats:
        if time.monotonic() > end:
            raise _Stop
        value = rhs(now, x)
        if not np.isfinite(value).all():
            raise _Stop
        return value

    if len(times) == 1:
        return found
    try:
        with np.errstate(all="ignore"):
            scale = _sizes(start, rates(times[0], start) * (times[-1] - times[0]))
        solver = LSODA(rates, times[0], start, times[-1], rtol=rtol, atol=rtol * scale * 1e-2)
        row = 1
        with np.errstate(all="ignore"):
            while solver.status == "running" and row < len(times):
                solver.step()
                if solver.status == "failed" or not np.all(np.abs(solver.y) < HUGE * np.maximum(scale, 1.0)):
                    break
                dense = solver.dense_output()
                while row < len(times) and (times[row] - solver.t) * solver.direction <= 0.0:
                    found[row] = dense(times[row])
                    row += 1
    except (_Stop, FloatingPointError):
        pass
    return found
