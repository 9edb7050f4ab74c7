"""Kinds of targets, and that they are told."""

import numpy as np
import pytest

from unisymnet import UniSymNetRegressor, read_table
from unisymnet.errors import DataError
from unisymnet.tables.targets import target_kind, target_note

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (RNG.normal(size=100), "number"),
        (RNG.integers(0, 2, 100).astype(float), "yes or no"),
        (RNG.integers(1, 6, 100).astype(float), "steps"),
        (RNG.poisson(4.0, 300).astype(float), "count"),
        (RNG.poisson(1.0, 200).astype(float), "count"),  # few levels, but the larger the rarer
        (RNG.binomial(5, 0.5, 200).astype(float), "steps"),
        (np.round(RNG.normal(500.0, 50.0, 100)), "number"),
        (RNG.integers(0, 2, 10).astype(float), "number"),  # too few rows to tell
    ],
)
def test_kinds(y, kind: str) -> None:
    assert target_kind(y) == kind
    assert (target_note(y, "y") is None) == (kind == "number")


def test_a_fit_says_what_its_target_is() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.clip(np.round(2.0 + X[:, 0] + 0.3 * rng.normal(size=120)), 0.0, 4.0)
    model = UniSymNetRegressor(max_time=60, proposers=["monomial"]).fit(X, y)
    assert any("y has 5 steps from 0 to 4" in note for note in model.notes_)


def test_a_target_of_two_words_is_refused_with_what_to_write(tmp_path) -> None:
    X = np.arange(40.0).reshape(20, 2)
    words = ["no", "yes"] * 10
    with pytest.raises(DataError, match="the text 'no' in row 0; write 1 for 'yes' and 0 for 'no'"):
        UniSymNetRegressor().fit(X, np.array(words))
    with pytest.raises(DataError, match="the text 'a' in row 0; a target must be numbers"):
        UniSymNetRegressor().fit(X, np.array(["a", "b", "c", "d"] * 5))
    path = tmp_path / "admitted.csv"
    path.write_text("score,admitted\n" + "\n".join(f"{i},{word}" for i, word in enumerate(words)), "utf-8")
    with pytest.raises(DataError, match="must be numbers: write 1 for 'yes' and 0 for 'no'"):
        read_table(path, target="admitted")
