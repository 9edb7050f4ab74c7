"""Words and gaps as numbers: what becomes a column, what is said, and that new rows are treated alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from unisymnet import UniSymNetRegressor, read_table
from unisymnet.errors import DataError
from unisymnet.tables.encoding import MAX_LEVELS, Encoding, encode, is_words


def kinds(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.uniform(1.0, 4.0, n), "metal": np.array(["brass", "iron", "zinc"])[np.arange(n) % 3]})


def target(frame: pd.DataFrame) -> pd.Series:
    return (2.0 * frame["x"] + 5.0 * (frame["metal"] == "iron")).rename("y")


def quick(**given: object) -> UniSymNetRegressor:
    return UniSymNetRegressor(max_time=None, max_evaluations=40, proposers=["monomial", "bases"], n_jobs=1, **given)


def test_each_level_becomes_a_column_of_zeros_and_ones() -> None:
    frame = kinds()
    found = encode(frame, None, None)
    assert list(found.frame.columns) == ["x", "metal_brass", "metal_iron", "metal_zinc"]
    assert (found.frame["metal_iron"] == (frame["metal"] == "iron")).all()
    assert "metal holds 3 words" in found.notes[0] and "groups='metal'" in found.notes[0]


def test_two_levels_need_one_column() -> None:
    frame = pd.DataFrame({"smoker": ["yes", "no"] * 10})
    assert list(encode(frame, None, None).frame.columns) == ["smoker_yes"]


def test_a_list_of_names_and_a_faulty_number_are_no_categories() -> None:
    names = pd.DataFrame({"who": [f"person {i}" for i in range(40)], "z": np.arange(40.0)})
    assert "list of names" in encode(names, None, None).refused["who"]
    assert not is_words(pd.Series(["1", "2", "3", "oops"]))
    assert not is_words(pd.Series([1.0, 2.0]))
    assert not is_words(pd.Series([{"a": 1}, "b", "c"], dtype=object))


def test_only_the_commonest_levels_get_columns() -> None:
    words = [f"w{i}" for i in range(30) for _ in range(4)] + ["often"] * 200
    found = encode(pd.DataFrame({"w": words}), None, None)
    assert len(found.encoding.categories[0].shown) == MAX_LEVELS
    assert "the 11 rarest words have none" in found.notes[0]


def test_names_stay_apart() -> None:
    frame = pd.DataFrame({"a": ["x y", "x-y", "z"] * 5, "a_z": np.arange(15.0)})
    names = list(encode(frame, None, None).frame.columns)
    assert len(set(names)) == len(names) == 4 and "a_z" in names


def test_numbers_that_are_kinds_are_named_by_the_user() -> None:
    frame = pd.DataFrame({"region": [1, 2, 3] * 10, "x": np.arange(30.0)})
    assert list(encode(frame, ["region"], None).frame.columns) == ["region_1", "region_2", "region_3", "x"]
    with pytest.raises(DataError, match="no column 'city'"):
        encode(frame, ["city"], None)
    with pytest.raises(DataError, match='list of columns, or "drop"'):
        encode(frame, "region", None)


def test_gaps_are_filled_and_shown() -> None:
    frame = pd.DataFrame({"x": [1.0, np.nan, 3.0, 8.0], "w": ["a", None, "a", "b"]})
    frame = pd.concat([frame] * 3, ignore_index=True)
    found = encode(frame, None, "indicator")
    assert found.frame["x"].tolist()[:4] == [1.0, 3.0, 3.0, 8.0]
    assert found.frame["x_missing"].tolist()[:4] == [0.0, 1.0, 0.0, 0.0]
    assert found.frame["w_missing"].tolist()[:4] == [0.0, 1.0, 0.0, 0.0]
    assert "3 of 12 cells of x are missing" in " ".join(found.notes)


def test_an_encoding_survives_json_and_warns_of_new_words() -> None:
    found = encode(kinds(), None, None)
    again = Encoding.from_dict(found.encoding.to_dict())
    assert again == found.encoding
    new = pd.DataFrame({"x": [1.0, 2.0], "metal": ["iron", "gold"]})
    with pytest.warns(UserWarning, match="'gold', which the fit never saw"):
        values = again.apply(new)
    assert values["metal_iron"].iloc[0] == 1.0 and values["metal_iron"].isna().iloc[1]


def test_fit_takes_words_says_so_and_predicts_from_words(tmp_path) -> None:  # type: ignore[no-untyped-def]
    frame = kinds()
    model = quick().fit(frame, target(frame))
    assert any("metal holds 3 words" in note for note in model.notes_)
    assert model.score(frame, target(frame)) > 0.999
    assert set(model.formula_.columns) == {"x", "metal_iron"}
    model.save(tmp_path / "m.json")
    again = UniSymNetRegressor.load(tmp_path / "m.json")
    assert np.array_equal(again.predict(frame), model.predict(frame))
    with pytest.warns(UserWarning, match="gold"):
        assert np.isnan(again.predict(frame.assign(metal="gold"))).all()


def test_words_may_be_left_out() -> None:
    frame = kinds()
    model = quick().fit(frame, 2.0 * frame["x"], categories="drop")
    assert any("column left out: metal" in note for note in model.notes_)
    assert model.predict(frame).shape == (len(frame),)


def test_gaps_are_an_error_until_the_user_says_what_to_do() -> None:
    frame = kinds()
    y = target(frame)
    frame.loc[[3, 7], "x"] = np.nan
    with pytest.raises(DataError, match=r"column .x. holds NaN in row 3.*missing"):
        quick().fit(frame, y)
    dropped = quick().fit(frame, y, missing="drop", sample_weight=np.ones(len(y)))
    assert any("2 of 60 rows left out: a value is missing (first: row 3)" in note for note in dropped.notes_)
    values = dropped.predict(frame)
    assert np.isnan(values[[3, 7]]).all() and np.isfinite(np.delete(values, [3, 7])).all()
    filled = quick().fit(frame, y, missing="indicator")
    assert any("x_missing is 1 there" in note for note in filled.notes_)
    assert np.isfinite(filled.predict(frame)).all()
    with pytest.raises(DataError, match='"drop" or "indicator"'):
        quick().fit(frame, y, missing="mean")


def test_gaps_of_an_array_and_of_the_target() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(1.0, 2.0, (40, 2))
    y = 3.0 * X[:, 0]
    X[5, 1] = np.nan
    y[9] = np.nan
    model = quick().fit(X, y, missing="drop")
    assert any("2 of 40 rows left out" in note for note in model.notes_)
    assert model.predict(X)[0] == pytest.approx(y[0])


def test_a_missing_word_is_named() -> None:
    frame = kinds()
    y = target(frame)
    frame.loc[4, "metal"] = None
    with pytest.raises(DataError, match="column 'metal' holds nothing in row 4; use missing="):
        quick().fit(frame, y)
    assert np.isnan(quick().fit(frame, y, missing="drop").predict(frame)[4])


def test_files_take_the_same_options(tmp_path) -> None:  # type: ignore[no-untyped-def]
    frame = kinds()
    path = tmp_path / "t.csv"
    frame.assign(note=[f"n{i}" for i in range(len(frame))], y=target(frame)).to_csv(path, index=False)
    table = read_table(str(path))
    assert list(table.X.columns) == ["x", "metal_brass", "metal_iron", "metal_zinc"]
    assert any("column left out: note holds text" in note for note in table.notes)
    assert list(read_table(str(path), categories="drop").X.columns) == ["x"]
    assert list(read_table(str(path), features=["metal"]).X.columns) == ["metal_brass", "metal_iron", "metal_zinc"]
    frame.loc[2, "x"] = np.nan
    frame.assign(y=target(frame).fillna(1.0)).to_csv(path, index=False)
    assert len(read_table(str(path)).y) == 59
    assert "x_missing" in read_table(str(path), missing="indicator").X.columns
    again = read_table(str(path), encoding=table.encoding, features=["x", "metal_iron"])
    assert list(again.X.columns) == ["x", "metal_iron"]
