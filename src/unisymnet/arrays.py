"""Names for arrays of numpy, so that every file says the same word for the same thing."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Floats", "Ints"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
