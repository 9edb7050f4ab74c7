"""One value of the target that lies far beyond all others: no formula goes through it, and a note says so."""

from typing import Any

import numpy as np
import pytest

from unisymnet import Formula, UniSymNetRegressor
from unisymnet.regressor.notes import slip_note
from unisymnet.regressor.rows import slip_rows

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 3.0, (60, 2))
Y = 2.0 * X[:, 0] * X[:, 1]
UNSEEN = "the search did not see its row"
SLIPPED = np.where(np.arange(60) == 17, 1e12, Y)


def small(**settings: Any) -> UniSymNetRegressor:
    return UniSymNetRegressor(**{"max_time": 20, "n_jobs": 1, "proposers": ["monomial"]} | settings)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_slip_of_the_pen_gets_no_pole(noise: float) -> None:
    y = SLIPPED + noise * RNG.normal(size=60)
    model = small().fit(X, y)
    np.testing.assert_allclose(np.delete(model.predict(X), 17), np.delete(Y, 17), rtol=0.05)
    assert "1e+12, lies 10000 times further out than any other: treated as a mistake" in model.notes_[0]
    assert model.n_train_ + model.n_valid_ == 59


def test_who_says_what_a_row_is_worth_decides() -> None:
    equal = small().fit(X, SLIPPED, sample_weight=np.full(60, 2.0))
    assert "treated as a mistake" in equal.notes_[0]
    for given in ({"sample_weight": np.linspace(1.0, 2.0, 60)}, {"sigma": np.linspace(1.0, 2.0, 60)}):
        model = small(max_evaluations=3).fit(X, SLIPPED, **given)
        assert model.n_train_ + model.n_valid_ == 60
    assert small(loss="huber", max_evaluations=3).fit(X, SLIPPED).n_train_ == 48


@pytest.mark.parametrize(
    "y",
    [
        10.0 ** (4.0 * np.arange(12)),
        np.exp(2.0 ** np.arange(9)),
        1.0 / (np.linspace(-1.0, 1.0, 101) - 1e-3),
        np.exp(3.0 * RNG.normal(size=300)),
        np.tan(RNG.uniform(0.0, 3.0, 500)),
        np.where(np.arange(40) == 7, 1e12, 0.0),
        np.where(np.arange(40) < 4, 1e12, np.arange(40)),
        np.array([1.0, 2.0, 1e12]),
    ],
)
def test_steep_laws_have_no_slips(y: Any) -> None:
    assert not len(slip_rows(y))


def test_two_slips_of_a_hundred_rows_are_slips_too() -> None:
    y = RNG.normal(size=100)
    y[[3, 50]] = 1e9, -1e30
    assert slip_rows(y).tolist() == [3, 50]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x0", "treated as a mistake and left out; the formula gives 2 there"),
        ("1/(x0 - 2)", f"{UNSEEN}, and the formula has no value there: a mistake, or a pole of the law"),
        ("1e12*x0/2", f"{UNSEEN}, and the formula gives it all the same"),
    ],
)
def test_what_is_said_about_a_value_that_no_search_has_seen(text: str, words: str) -> None:
    note = slip_note(Formula.parse(text), np.array([[2.0]]), np.array([1e12]))
    assert note == f"one value of the target, 1e+12, lies 10000 times further out than any other: {words}"
