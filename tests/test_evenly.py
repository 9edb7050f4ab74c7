"""Places at even steps, and rows of checked data there."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.arrays import evenly
from unisymnet.regressor.validation import Data


@pytest.mark.parametrize(("n", "most"), [(1, 5), (5, 5), (7, 40), (1000, 30)])
def test_evenly_takes_all_or_about_so_many_places(n: int, most: int) -> None:
    places = evenly(n, most)
    assert len(places) == min(n, most)
    assert places[0] == 0 and places[-1] == n - 1
    assert np.ptp(np.diff(places)) <= 1 if len(places) > 1 else n == 1


def test_thinned_rows_keep_their_weights() -> None:
    x = np.arange(10.0)
    data = Data(x[:, None], 2.0 * x, x + 1.0, ("x",), "y")
    few = data.thinned(4)
    assert data.thinned(10) is data
    np.testing.assert_array_equal(few.y, 2.0 * few.X[:, 0])
    np.testing.assert_array_equal(few.weights, few.X[:, 0] + 1.0)
    assert len(few.y) == 4 and few.X[0, 0] == 0.0 and few.X[-1, 0] == 9.0
