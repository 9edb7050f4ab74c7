"""Names for arrays of numpy and for what float64 can tell apart, so that every file says the same word for a thing."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "DIGITS_9", "DIGITS_12", "DIGITS_15", "Floats", "Ints", "MAX_LOG", "TINY", "evenly", "power_of_two"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

# Relative: numbers that agree to so many digits.  Fits of clean data agree to nine, sums of a few terms to twelve, and
# fifteen is all there is.
DIGITS_9, DIGITS_12, DIGITS_15 = 1e-9, 1e-12, 1e-15
TINY = 1e-300  # beside any number nothing; keeps a division defined
MAX_LOG = 300.0  # exp beyond it overflows soon


def power_of_two(values: Floats) -> float:
    """A power of two near the largest of these: dividing by it is exact, and squares of what is left can be stored."""
    most = float(np.max(np.abs(values), initial=0.0))
    return float(2.0 ** np.frexp(most)[1]) if 0.0 < most < np.inf else 1.0


def evenly(n: int, most: int) -> Ints:
    """Places among ``n``: all of them, or about ``most`` at even steps, the first and the last among them."""
    return np.unique(np.linspace(0, n - 1, most).astype(np.intp))
