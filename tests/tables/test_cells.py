"""What keeps a column from being numbers is told with what to do about it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.errors import DataError
from unisymnet.files.table import read_table
from unisymnet.tables.cells import cure, number_fault
from unisymnet.tables.encoding import encode


@pytest.mark.parametrize(
    "cell",
    ["2024-03-01", "2024-03-01 08:15:00", "2024-03-01T08:15:00Z", "01.03.2024", "3/1/24", "08:15", "8:15:02.5",
     "1-Mar-2024", "01 Mar 2024 08:15"],
)  # fmt: skip
def test_dates_and_times_are_called_so(cell: str) -> None:
    assert "holds dates or times" in number_fault([cell]) and "hours since the first" in cure([cell, cell, cell])


@pytest.mark.parametrize("cell", ["50%", "$5", "<0.1", "3±0.1", "12.5 cm", "1-2"])
def test_numbers_with_something_around_them(cell: str) -> None:
    assert "remove what is around the numbers" in number_fault([cell])


def test_words_are_words() -> None:
    assert number_fault(["iron", "zinc"]) == "" and cure(["iron", "zinc", "tin"]) == "" and cure([1.0, 2.0]) == ""
    assert cure(["yes", "no", "yes"]) == "write 1 for 'yes' and 0 for 'no', or the other way round"


def test_a_few_words_among_numbers() -> None:
    assert cure([1.0, "2", "<0.01", 4]).startswith("1 cell is not a number; write one there, or leave the cell empty")
    assert cure([1.0, "2", "low", "high", 5]).startswith("2 of 5 cells are not a number")


def test_a_table_without_numbers_says_why(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("when,y\n" + "".join(f"2024-01-{i:02} 10:00,{i}\n" for i in range(1, 20)))
    with pytest.raises(DataError, match=r"besides .*'y'; when: it holds dates or times \('2024-01-01 10:00'\)"):
        read_table(str(path))
    path.write_text("c,y\n" + "".join(f"{i} ,{i}.5\n" for i in range(9)) + "9,<0.1 \n10,n/a \n")
    with pytest.raises(DataError, match=r"y holds text \('<0.1 ' in row 9\); .*: 1 cell is not a number"):
        read_table(str(path))
    frame = pd.DataFrame({"when": [f"{i}:30" for i in range(20)]})
    assert "dates or times" in encode(frame, None, None).refused["when"]
    with pytest.raises(DataError, match=r"nothing to learn from: .*; when: it holds dates or times"):
        UniSymNetRegressor().fit(frame, np.arange(20.0))


def test_a_target_of_dates_is_refused() -> None:
    X = np.arange(10.0)[:, None]
    when = pd.Series(pd.date_range("2024", periods=10), name="when")
    for y in (when, when.to_numpy(), when.dt.tz_localize("UTC"), when - when[0]):
        with pytest.raises(DataError, match=r"the target '(when|y)' holds"):
            UniSymNetRegressor().fit(X, y)


def test_a_table_that_is_not_computed_yet() -> None:
    pl = pytest.importorskip("polars")
    with pytest.raises(DataError, match=r"X is a LazyFrame, .* give X.collect\(\)"):
        UniSymNetRegressor().fit(pl.DataFrame({"a": [1.0, 2.0, 3.0]}).lazy(), [1.0, 2.0, 3.0])
