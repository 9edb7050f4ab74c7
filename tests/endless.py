"""A table without noise and without a law that could be found: only a limit or a wish ends a search for it.

Tests that stop or kill a search use it, so that no machine is fast enough to finish first.
"""

import numpy as np
import pandas as pd

PATIENCE = 240.0  # seconds for what takes a few: kernels may have to be compiled, and the machine may be busy


def bumps(n_rows: int = 2000, seed: int = 0) -> pd.DataFrame:
    """y is forty bumps at random places over a, b and c."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.uniform(-1.5, 1.5, (n_rows, 3)), columns=["a", "b", "c"])
    places, heights = rng.uniform(-1.5, 1.5, (40, 3)), rng.normal(0.0, 1.0, 40)
    far = ((table.to_numpy()[:, None, :] - places[None]) ** 2).sum(axis=2)
    return table.assign(y=np.exp(-2.0 * far) @ heights)
