"""What a new user passes without thinking: other kinds of cells, names, orders and parameters."""

import datetime
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.errors import DataError

RNG = np.random.default_rng(0)
A, B = RNG.uniform(1.0, 3.0, (2, 40))
Y = 2.0 * A * B
WORDS = ["north", "south"] * 20


def small(**settings: Any) -> UniSymNetRegressor:
    return UniSymNetRegressor(**{"max_time": 20, "n_jobs": 1, "proposers": ["monomial", "bases"]} | settings)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.date_range("2020-01-01", periods=40), "the date 2020-01-01.* in row 0; turn it into numbers, such as the"),
        (pd.date_range("2020-01-01", periods=40, tz="UTC"), "the date 2020-01-01.* in row 0"),
        (pd.period_range("2020-01", periods=40, freq="M"), "the date 2020-01 in row 0"),
        (pd.to_timedelta(np.arange(40), unit="s"), "the time 0 days .* in row 0; turn it into numbers, such as sec"),
        ([datetime.date(2020, 1, 1)] * 40, "the date 2020-01-01 in row 0"),
        (A + 1j, "the complex number .* in row 0; Complex data not supported"),
        ([[1]] * 40, r"the list '\[1\]' in row 0; drop the column or turn it into numbers"),
        ([1.0, {}] * 20, r"the dict '\{\}' in row 1"),
        ([b"x"] * 40, "the bytes .* in row 0"),
    ],
)
def test_cells_that_are_no_numbers_are_named(column: Any, message: str) -> None:
    with pytest.raises(DataError, match=f"column 'a' holds {message}"):
        small().fit(pd.DataFrame({"a": column, "b": B}), Y)


def test_complex_arrays_are_named() -> None:
    with pytest.raises(DataError, match="column x0 holds the complex number"):
        small().fit(np.column_stack([A + 1j, B]), Y)
    with pytest.raises(DataError, match="the target 'y' holds the complex number"):
        small().fit(np.column_stack([A, B]), Y + 1j)


def test_what_can_be_a_number_is_one() -> None:
    fractions = [Fraction(i, 3) for i in range(1, 41)]
    table = pd.DataFrame({"a": fractions, "b": B})
    assert str(small().fit(table, 6.0 * np.array(fractions, dtype=float) * B).formula_) == "6*a*b"


def test_masked_values_are_missing() -> None:
    table = np.ma.masked_array(np.column_stack([A, B]), mask=np.arange(80).reshape(40, 2) == 7)
    with pytest.raises(DataError, match="column x1 holds NaN in row 3"):
        small().fit(table, Y)
    with pytest.raises(DataError, match="the target 'y' holds NaN in row 3"):
        small().fit(table.data, np.ma.masked_array(Y, mask=np.arange(40) == 3))
    model = small().fit(table.data, np.ma.masked_array(Y, mask=False))
    assert str(model.formula_) == "2*x0*x1"
    with pytest.raises(DataError, match="column x1 holds NaN in row 3"):
        model.predict(table)
    with pytest.raises(DataError, match="y holds nan in row 3"):
        model.score_equations(table.data, np.where(np.arange(40) == 3, np.nan, Y))


def test_names_that_say_nothing_or_too_much() -> None:
    with pytest.raises(DataError, match="two columns are called 'a'; rename one"):
        small().fit(pd.DataFrame(np.column_stack([A, B]), columns=["a", "a"]), Y)
    table = pd.DataFrame(np.column_stack([A, B, A]), columns=["", "x0", " "])
    model = small().fit(table, Y)
    assert model.formula_.names == ("x0_", "x0", "x2")
    np.testing.assert_allclose(model.predict(table), Y)


def test_rows_in_another_order_are_not_joined_in_silence() -> None:
    table = pd.DataFrame({"a": A, "b": B})
    mixed = pd.Series(Y).sample(frac=1.0, random_state=0)
    with pytest.raises(DataError, match="same row labels in another order"):
        small().fit(table, mixed)
    assert str(small().fit(table.loc[mixed.index], mixed).formula_) == "2*a*b"
    assert str(small().fit(table, pd.Series(Y, index=range(100, 140))).formula_) == "2*a*b"


def test_a_frame_of_another_library_may_hold_words() -> None:
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"site": WORDS, "b": B})
    y = np.where(np.array(WORDS) == "south", 3.0, 1.0) * B
    model = small(proposers=None, max_evaluations=200).fit(table, y)
    assert any("site holds 2 words" in note for note in model.notes_)
    assert model.predict(table).shape == (40,)


def test_a_decimal_comma_is_not_called_a_list_of_names() -> None:
    table = pd.DataFrame({"a": [f"{value:.4f}".replace(".", ",") for value in A], "b": B})
    model = small().fit(table, B * 2.0)
    assert any("its numbers have a decimal comma" in note for note in model.notes_)


@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_nothing_left_is_said_in_our_words(missing: str) -> None:
    with pytest.raises(DataError, match="column 'c' is empty; drop it"):
        small().fit(pd.DataFrame({"a": A, "c": np.full(40, np.nan)}), Y, missing=missing)
    with pytest.raises(DataError, match="no row has a value"):
        small().fit(pd.DataFrame({"a": A, "b": B}), np.full(40, np.nan), missing=missing)


@pytest.mark.parametrize("limit", [np.float32(20), np.int64(20), Fraction(20)])
def test_a_limit_of_any_kind_of_number_is_kept(limit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", lost.append)
    assert str(small(max_time=limit).fit(np.column_stack([A, B]), Y).formula_) == "2*x0*x1"
    assert not lost  # a thread that cannot wait so long is no alarm clock


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"operators": 3}, "operators must be names or signs"),
        ({"exponents": 3}, "exponents must be a list of finite numbers"),
        ({"exponents": ["x"]}, "exponents must be a list of finite numbers"),
        ({"exponents": [np.inf]}, "exponents must be a list of finite numbers"),
        ({"proposers": "monomial"}, "proposers must be a list of names"),
        ({"proposers": [3]}, "proposers must be a list of names"),
        ({"units": "m"}, "units must be a dictionary"),
        ({"constants": 5}, "constants must be a dictionary"),
        ({"checkpoint": 5}, "checkpoint must be the name of a folder"),
        ({"checkpoint": ""}, "checkpoint must be the name of a folder"),
        ({"random_state": -1}, "random_state must not be negative"),
        ({"noise": np.inf}, "noise must be a positive number"),
    ],
)
def test_parameters_that_make_no_sense(settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(**settings).fit(np.column_stack([A, B]), Y)


def test_a_warm_start_on_other_columns_uses_what_still_fits() -> None:
    model = small(warm_start=True).fit(pd.DataFrame({"a": A, "b": B}), Y)
    assert str(model.fit(pd.DataFrame({"b": B}), 3.0 * B).formula_) == "3*b"
    model = small(warm_start=True).fit(pd.DataFrame({"a": A, "b": B}), Y)
    moved = model.set_params(max_evaluations=1).fit(pd.DataFrame({"c": A[::-1], "b": B, "a": A}), Y)
    assert str(moved.formula_) == "2*b*a" or str(moved.formula_) == "2*a*b"


def test_one_guess_need_not_be_a_list() -> None:
    model = small(proposers=["bases"]).fit(pd.DataFrame({"a": A, "b": B}), Y, guesses="k*a*b")
    assert sorted(model.formula_.columns) == ["a", "b"] and model.score(pd.DataFrame({"a": A, "b": B}), Y) == 1.0


@pytest.mark.parametrize("index", [1.5, "x", slice(0, 2)])
def test_a_formula_is_chosen_by_a_whole_number(index: Any) -> None:
    model = small().fit(np.column_stack([A, B]), Y)
    with pytest.raises(TypeError, match="chosen by a whole number, counted from 0"):
        model[index]


def test_huge_weights_are_no_counts() -> None:
    y = Y + RNG.normal(0.0, 0.1, 40)
    model = small().fit(np.column_stack([A, B]), y, sample_weight=np.full(40, 1e300))
    assert not any("repeated measurements" in note for note in model.notes_)


@pytest.mark.parametrize("unit", ["m" * 2000, "m/" * 400, "(" * 300], ids="abc")
def test_a_long_text_that_is_no_unit_is_not_repeated_whole(unit: str) -> None:
    with pytest.raises(DataError, match="unit") as told:
        small(units={"a": unit}).fit(pd.DataFrame({"a": A, "b": B}), Y)
    assert len(str(told.value)) < 400


@pytest.mark.parametrize("value", [10**400, 10**5000], ids=["long", "unprintable"])
def test_whole_numbers_that_no_float_can_hold(value: int) -> None:
    with pytest.raises(ValueError, match="max_time must be a positive number or None, got"):
        small(max_time=value).fit(np.column_stack([A, B]), Y)
    with pytest.raises(DataError, match="a known constant must be a number"):
        small(constants={"g": value}).fit(np.column_stack([A, B]), Y)


def test_a_checkpoint_whose_name_is_too_long_is_a_note() -> None:
    model = small(checkpoint="é" * 1000).fit(np.column_stack([A, B]), Y)
    assert str(model.formula_) == "2*x0*x1" and any("File name too long" in note for note in model.notes_)
