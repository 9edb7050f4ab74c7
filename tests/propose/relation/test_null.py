"""Relations between columns: found where there is one, and none where columns are no columns."""

from __future__ import annotations

import numpy as np

from unisymnet.fit.eliminate import triangle
from unisymnet.propose.relation.equation import single, unit_rows


def test_the_columns_of_the_only_relation_are_kept() -> None:
    X = np.random.default_rng(0).uniform(1.0, 2.0, (40, 3))
    table = np.column_stack([X, 2.0 * X[:, 0] - 3.0 * X[:, 1] + 0.5 * X[:, 2], X[:, 0] ** 2])
    keep = single(triangle(unit_rows(table)), [1.0] * 5)
    assert keep is not None and keep.tolist() == [0, 1, 2, 3]


def test_unrelated_columns_have_none() -> None:
    table = np.random.default_rng(1).uniform(1.0, 2.0, (40, 4))
    assert single(triangle(unit_rows(table)), [1.0] * 4) is None


def test_a_column_whose_squares_vanish_is_no_relation() -> None:
    table = np.random.default_rng(2).uniform(1.0, 2.0, (40, 4))
    table[:, 2] *= 1e-200
    with np.errstate(all="ignore"):
        assert single(triangle(table / np.linalg.norm(table, axis=0)), [1.0] * 4) is None
