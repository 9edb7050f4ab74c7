"""Errors out of the domain: our own sets, sets in a folder, and what is wrong with a folder."""

from pathlib import Path

import numpy as np
import pytest

from unisymnet.bench.known.outside import MADE, PARTS, ROWS, keys, nmse, perform, read_set, summary
from unisymnet.errors import DataError


@pytest.mark.parametrize("name", MADE)
def test_a_set_has_three_parts_and_leaves_its_domain(name: str) -> None:
    tables = MADE[name](np.random.default_rng(0))
    again = MADE[name](np.random.default_rng(0))
    for part, table, same in zip(PARTS, tables, again, strict=True):
        assert len(table) == ROWS[part] and np.isfinite(table.to_numpy()).all()
        assert table.equals(same)
    # Somewhere the unseen range has values that training never had.
    low, high = tables.train.min(), tables.train.max()
    beyond = ((tables.test_ood < low) | (tables.test_ood > high)).any(axis=1).mean()
    inside = ((tables.test_id < low) | (tables.test_id > high)).any(axis=1).mean()
    assert inside < 0.1
    assert beyond > 0.3


def test_the_measure() -> None:
    y = np.array([1.0, 2.0, 3.0])
    assert nmse(y, y) == 0.0
    assert nmse(y, np.full(3, 2.0)) == pytest.approx(1.0)
    assert nmse(y, np.array([1.0, np.nan, 3.0])) == float("inf")


def test_a_set_in_a_folder_is_fitted(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for part, (low, high) in {"train": (0, 1), "test_id": (0, 1), "test_ood": (1, 3)}.items():
        x = rng.uniform(low, high, 60)
        (tmp_path / "square").mkdir(exist_ok=True)
        lines = ["x,y", *(f"{a!r},{3 * a**2!r}" for a in map(float, x))]
        (tmp_path / "square" / f"{part}.csv").write_text("\n".join(lines) + "\n")
    (key,) = keys(str(tmp_path), None)
    assert key["problem"] == "square" and key["data"] == "given"
    record = perform({"noise": 0.0, "max_time": 5.0, "seed": 0, **key}, str(tmp_path))
    assert record["scores"]["nmse_test_ood"] < 1e-12
    assert len(record["front"]) == len(record["front_ood"])
    assert "square" in summary([{**key, **record}])


def test_a_folder_that_is_not_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no subfolder .* has a train.csv"):
        keys(str(tmp_path), None)
    with pytest.raises(DataError, match="has no 'nothing'; it has growth"):
        keys(None, ["nothing"])
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "train.csv").write_text("x,y\n1,2\n")
    with pytest.raises(DataError, match=r"test_id.csv; a set needs"):
        read_set(tmp_path / "half")
