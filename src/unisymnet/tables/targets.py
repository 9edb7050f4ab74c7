"""What kind of number a target is: a measurement, a count, a scale of few steps, yes or no; and what fits it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from ..arrays import Floats

MOST_STEPS = 10
LEAST_ROWS = 30
LARGEST_COUNT = 1000
LEAST_SHARE = 0.05  # of zeros and ones together, for a count
LOW_MEAN, RARE_TOP = 0.4, 0.05  # counts of few levels thin out upwards: their mean and the share of the largest one


def target_kind(y: Floats) -> str:
    """ "yes or no", "steps", "count" or "number"."""
    if len(y) < LEAST_ROWS or not np.isfinite(y).all():
        return "number"
    levels = np.unique(y)
    if len(levels) == 2:
        return "yes or no"
    if (levels != np.round(levels)).any():
        return "number"
    if 2 < len(levels) <= MOST_STEPS and np.ptp(levels) < 2 * MOST_STEPS:
        return "count" if _thins_out(y, levels) else "steps"
    low = levels[0] >= 0.0 and levels[-1] <= LARGEST_COUNT and float(np.mean(y <= 1.0)) >= LEAST_SHARE
    return "count" if low else "number"


def _thins_out(y: Floats, levels: Floats) -> bool:
    """From zero up, the larger the rarer, as counts are and grades are not?"""
    top = float(levels[-1])
    return bool(levels[0] == 0.0 and np.mean(y) <= LOW_MEAN * top and np.mean(y == top) <= RARE_TOP)


def words_cure(values: Iterable[object]) -> str:
    """What to do about a target of words: two can be written as numbers."""
    words = sorted({str(value) for value in values})
    if len(words) != 2:
        return ""
    return f"write 1 for {words[1][:40]!r} and 0 for {words[0][:40]!r}, or the other way round"


def target_note(y: Floats, name: str, losses: Collection[str] = ()) -> str | None:
    """A sentence for a target that is no measurement, or None; `losses` are those that a fit has."""
    kind, levels = target_kind(y), np.unique(y) + 0.0  # no minus zero
    if kind == "yes or no":
        return (
            f"{name} has only two values, {levels[0]:g} and {levels[1]:g}: read the formula as how near a row is "
            f"to the second, and compare it with a classifier{_fitting('logistic', losses)}"
        )
    if kind == "steps":
        return (
            f"{name} has {len(levels)} steps from {levels[0]:g} to {levels[-1]:g}: the formula gives the mean of "
            "similar rows, which lies between steps, and R² cannot reach 1"
        )
    if kind == "count":
        told = f"{name} is a count with small numbers: its noise grows with its size, so small counts say little"
        return f'{told}; noise="counts" weights the rows accordingly{_fitting("poisson", losses)}'
    return None


def _fitting(loss: str, losses: Collection[str]) -> str:
    """The loss made for such a target, where the fit has it."""
    return f'; loss="{loss}" is made for such a target' if loss in losses else ""
