"""Folds for comparing formulas on rows that they were not fitted to, and the rule by which a longer one must win.

Small tables are cut several times, since one cut of forty rows says little. Only arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, power_of_two

N_FOLDS = 5
SMALL, MEDIUM = 150, 600  # rows
WIN_SHARE = 0.6  # of the folds in which a longer formula must be better
LIKELY, CLEAR = 1.0, 2.0  # standard errors that make a difference likely, and beyond doubt


@dataclass(frozen=True)
class Folds:
    """`held[k]` are the rows left out in fold k; every row is left out once in each of `n_cuts` cuts."""

    n_rows: int
    held: tuple[NDArray[np.intp], ...]
    n_cuts: int

    def weights(self, k: int, weights: Floats) -> Floats:
        """The weights with the rows of fold k set to zero."""
        kept = weights.copy()
        kept[self.held[k]] = 0.0
        return kept


def make_folds(n_rows: int, rng: np.random.Generator) -> Folds:
    n_cuts = 4 if n_rows < SMALL else 2 if n_rows < MEDIUM else 1
    n_folds = min(N_FOLDS, n_rows)
    held: list[NDArray[np.intp]] = []
    for _ in range(n_cuts):
        order = rng.permutation(n_rows)
        held += [np.sort(order[k::n_folds]) for k in range(n_folds)]
    return Folds(n_rows, tuple(held), n_cuts)


def wins(longer: Floats, shorter: Floats, share: float = WIN_SHARE) -> bool:
    """Is the longer formula better in most folds and on the whole?  Arguments are errors fold by fold."""
    return bool(np.sum(longer) < np.sum(shorter) and np.mean(longer < shorter) >= share)


def likely_wins(longer: Floats, shorter: Floats, n_cuts: int, sure: float = LIKELY) -> bool:
    """The same by so many standard errors; cuts of the same rows repeat each other, so they count as one."""
    difference = (shorter - longer).reshape(n_cuts, -1).mean(axis=0)
    difference = difference / power_of_two(difference)  # squares of squares of 1e80 cannot be stored
    error = float(np.std(difference, ddof=1)) / np.sqrt(len(difference)) if len(difference) > 1 else np.inf
    return wins(longer, shorter) and float(np.mean(difference)) > sure * error


def surely_wins(longer: Floats, shorter: Floats, n_cuts: int) -> bool:
    """The same beyond doubt, by errors or by their logarithms: where few rows far out make most of the error of a
    skewed target, errors differ so much from fold to fold that nothing else could win."""
    logs = np.log(np.maximum((longer, shorter), 1e-300))
    return clearly_wins(longer, shorter, n_cuts) or clearly_wins(logs[0], logs[1], n_cuts)


def clearly_wins(longer: Floats, shorter: Floats, n_cuts: int) -> bool:
    """The same beyond doubt."""
    return likely_wins(longer, shorter, n_cuts, CLEAR)
