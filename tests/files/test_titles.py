"""Lines above a table are left out with a word, and never taken for the names of columns."""

from pathlib import Path

import pytest

from unisymnet.files.read import read_frame
from unisymnet.files.table import read_table
from unisymnet.files.titles import n_titles, separator_line

AB = {"a": [1.0, 4.0, 7.0], "b": [2.0, 5.0, 8.5]}


def read(tmp_path: Path, text: str):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    frame, _ = read_frame(str(path))
    return {str(name): frame[name].tolist() for name in frame.columns}, frame.attrs["notes"]


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_the_line_of_excel_names_the_delimiter(sign: str, tmp_path: Path) -> None:
    body = f"a{sign}b\r\n1{sign}2\r\n4{sign}5\r\n7{sign}8.5\r\n"
    for head in (f"sep={sign}\r\n", f"\ufeffsep={sign}\r\n", f'"sep={sign}"\n', f"SEP={sign}\n"):
        found, notes = read(tmp_path, head + body)
        assert found == AB and not notes
    assert separator_line("sep=;\r\na;b") == ("sep=;\r\n", ";")
    assert separator_line("separation,b\n1,2\n") == ("", "")


@pytest.mark.parametrize(
    "head",
    ["Report of 2024\n\n", "Report of 2024,\n,\n", "Report\nby hand\n", '"Report, by hand"\n'],
)
def test_a_title_is_left_out_and_told(head: str, tmp_path: Path) -> None:
    found, notes = read(tmp_path, head + "a,b\n1,2\n4,5\n7,8.5\n")
    assert found == AB and len(notes) == 1 and notes[0].startswith("above the names stands 'Report")
    found, notes = read(tmp_path, head + "a,b\ns,m/s\n1,2\n4,5\n7,8.5\n")
    assert found == AB and "holds units (s, m/s)" in notes[1]


def test_settings_of_an_instrument(tmp_path: Path) -> None:
    head = "Instrument;ACME 3000\nDate;2024-03-01\n\n"
    found, notes = read(tmp_path, head + "t;U;I;P\n" + "1,5;2;3;6\n2,5;4;5;20\n" * 5)
    assert list(found) == ["t", "U", "I", "P"] and found["t"][:2] == [1.5, 2.5]
    assert "Instrument ACME 3000; Date 2024-03-01" in notes[0]


@pytest.mark.parametrize(
    "text",
    ["a,\n1,2\n4,5\n", ",b\n1,2\n", "a\n1\n2\n", "1,2\n3,4\n", "a,b\n1,\n2,\n3,4\n", "a,b,c\n1,2,3\n"],
)
def test_a_row_of_names_is_no_title(text: str, tmp_path: Path) -> None:
    assert not any("above the names" in note for note in read(tmp_path, text)[1])
    assert n_titles([["", ""], ["", ""]], str.isdigit) == 0


@pytest.mark.parametrize("gap", [" ", "\u00a0", "\u202f", "\u2009", "'", "\u2019"])
def test_thousands_with_a_space_or_an_apostrophe(gap: str, tmp_path: Path) -> None:
    found, notes = read(tmp_path, f"a;b\n1{gap}234,5;2\n-12{gap}345{gap}678,25;3\n0,5;4\n")
    assert found == {"a": [1234.5, -12345678.25, 0.5], "b": [2.0, 3.0, 4.0]}
    assert "234,5 is read as 1234,5" in notes[0] and "{" not in notes[0]
    found, _ = read(tmp_path, f"a;b\n12{gap}34;2\n1{gap}2345;3\n")  # no thousands: not for us to join
    assert isinstance(found["a"][0], str)


def test_a_word_among_decimal_commas_is_what_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x;z;y\n" + "".join(f"{i},5;{i},25;{2 * i},5\n" for i in range(9)) + "9,5;<0,1;19,5\n")
    notes = read_table(str(path)).notes
    assert any("z holds text ('<0,1' in row 9)" in note for note in notes)
