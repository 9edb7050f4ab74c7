"""Files as people have them: nothing is misread in silence, nothing ends in a traceback."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unisymnet.errors import DataError
from unisymnet.files.dialect import detect
from unisymnet.files.read import clean_names, read_frame
from unisymnet.files.table import joined, near, read_table


def frame_of(tmp_path: Path, text: str | bytes, name: str = "t.csv", delimiter: str | None = None):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    frame, dialect = read_frame(str(path), delimiter)
    return frame, dialect, frame.attrs["notes"]


def values(frame: pd.DataFrame) -> dict[str, list[float]]:
    return {str(name): frame[name].tolist() for name in frame.columns}


AB = {"a": [1.0, 4.0, 7.0], "b": [2.0, 5.0, 8.5]}


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("a,b\n1,2\n4,5\n7,8.5\n", None),
        ("a,b\n1,2,\n4,5,\n7,8.5,\n", None),  # rows end with the delimiter: nothing shifts
        ("a,b,\n1,2,\n4,5,\n7,8.5,\n", None),  # the header too
        ("a,b\n1,2,,\n4,5,,\n7,8.5,,\n", None),
        ("a;b\n1;2\n4;5\n7;8,5\n", None),
        ("a\tb\r\n1\t2\r\n4\t5\r\n7\t8.5\r\n", None),
        ("a\tb\r1\t2\r4\t5\r7\t8.5", None),  # an old Mac
        (" a   b\n 1   2 \n 4   5\n 7   8.5\n", None),
        ("a|b\n1|2\n4|5\n7|8.5\n", None),
        ('"a","b"\n"1","2"\n"4","5"\n"7","8.5"\n', None),
        ("# made by hand\na,b\n1,2\n# half way\n4,5\n7,8.5\n", None),
        ("# a,b\n1,2\n4,5\n7,8.5\n", "names of the columns: the comment 'a,b'"),
        ("# a b\n1 2\n4 5\n7 8.5\n", "names of the columns: the comment 'a b'"),
        ("a,b\ns,m/s\n1,2\n4,5\n7,8.5\n", "holds units (s, m/s) and is left out"),
        ("a,b\n,m/s\n1,2\n4,5\n7,8.5\n", "holds units (, m/s) and is left out"),
        ('\ufeffa,b\n1,2\n4,5\n7,8.5\n', None),
        ("\n\na,b\n\n1,2\n4,5\n\n7,8.5\n", None),
        ('"a\n",b\n1,2\n4,5\n7,8.5\n', None),  # a name over two lines
        ('"1","a","b"\n', None),
    ],
)  # fmt: skip
def test_one_table_in_many_spellings(text: str, note: str | None, tmp_path: Path) -> None:
    if text == '"1","a","b"\n':  # R writes the names of rows without a name above them
        text = '"a","b"\n"one",1,2\n"two",4,5\n"three",7,8.5\n'
        note = "read as the name of the row"
    frame, _, notes = frame_of(tmp_path, text)
    assert {name: frame[name].tolist() for name in ("a", "b")} == AB
    assert len(frame.columns) == (3 if "one" in text else 2)
    assert (note is None and not notes) or (note is not None and note in " ".join(notes))
    for encoding in ("utf-16", "utf-16-le"):
        again, _, _ = frame_of(tmp_path, text.lstrip("\ufeff").encode(encoding), "u.csv")
        pd.testing.assert_frame_equal(frame, again)


def test_numbers_with_commas(tmp_path: Path) -> None:
    frame, _, notes = frame_of(tmp_path, "a;b\n1,234;5,678\n2,345;6,789\n")
    assert values(frame) == {"a": [1.234, 2.345], "b": [5.678, 6.789]}
    assert "1,234 is read as 1.234, with a decimal comma" in notes[0]
    frame, _, notes = frame_of(tmp_path, "a;b\n1,234;5,6\n2,345;6,7\n")  # 5,6 leaves no doubt
    assert values(frame) == {"a": [1.234, 2.345], "b": [5.6, 6.7]} and not notes
    frame, _, notes = frame_of(tmp_path, 'a,b\n"1,000",2\n"12,500",3\n"1,234,567.5",4\n')
    assert values(frame) == {"a": [1000.0, 12500.0, 1234567.5], "b": [2, 3, 4]}
    assert "1,000 is read as 1000, with commas between thousands" in notes[0]
    frame, _, _ = frame_of(tmp_path, "a;b\n1.234,5;1\n2.345.678,25;2\n")
    assert values(frame)["a"] == [1234.5, 2345678.25]
    frame, _, _ = frame_of(tmp_path, 'a,b\n"1,000,000",2\n"1,5",3\n')  # both at once: not for us to decide
    assert not pd.api.types.is_numeric_dtype(frame["a"])


def test_a_header_of_years_and_a_first_row_of_numbers(tmp_path: Path) -> None:
    frame, _, notes = frame_of(tmp_path, "2019,2020\n1.5,2.5\n3.5,4.5\n")
    assert values(frame) == {"2019": [1.5, 3.5], "2020": [2.5, 4.5]} and "taken as column names" in notes[0]
    frame, _, notes = frame_of(tmp_path, "2019,1.5\n2020,2.5\n")
    assert values(frame) == {"x0": [2019, 2020], "x1": [1.5, 2.5]}
    assert "the first row (2019, 1.5) counts as data" in notes[0]


def test_rows_that_do_not_fit_the_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there are 2 names, but a row of 4 cells \(1, 5, 2, 5\)"):
        frame_of(tmp_path, "a,b\n1,5,2,5\n3,5,4,5\n")
    with pytest.raises(DataError, match="there are 2 names, but a row of 3 cells"):
        frame_of(tmp_path, "a,b\n1.5,2,3\n4.5,5,6\n")
    late = "a,b\n" + "1,2,\n" * 100 + "1,2,3\n"
    with pytest.raises(DataError, match="row 100 has more cells than there are names"):
        frame_of(tmp_path, late)
    with pytest.raises(DataError, match="Expected 2 fields in line 101, saw 3"):
        frame_of(tmp_path, "a,b\n" + "1,2\n" * 100 + "1,2,3\n")


@pytest.mark.parametrize("sign", [";;", "é", "\\x", "1", "", "\n", '"', "\0"])
def test_a_delimiter_is_one_sign(sign: str, tmp_path: Path) -> None:
    if sign == "":
        return
    with pytest.raises(DataError, match="the delimiter must be one character"):
        frame_of(tmp_path, "a,b\n1,2\n", delimiter=sign)


@pytest.mark.parametrize("sign", ["\\", "\\t", "tab", "~", "^"])
def test_unusual_delimiters(sign: str, tmp_path: Path) -> None:
    real = {"\\t": "\t", "tab": "\t"}.get(sign, sign)
    frame, _, _ = frame_of(tmp_path, f"a{real}b\n1{real}2\n4{real}5\n7{real}8.5\n", delimiter=sign)
    assert values(frame) == AB


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n \n", "is empty"),
        (b"# only\n# comments\n", "nothing but comments"),
        (b"a,b\n", "names but no rows"),
        (b"\x1f\x8b\x08\x00abc", "is a gzip file"),
        (b"\x00\x01\x02\x03" * 50, "is not text"),
        (b"%PDF-1.7\n", "is a PDF file"),
        (b"PK\x03\x04 broken", "cannot be read"),
        (b"PAR1 broken", "cannot be read"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        frame_of(tmp_path, content)


def test_names_are_printable_and_distinct() -> None:
    given = ["a ", " a", "Length\n(m)", "", None, float("nan"), "\x1b[2J", 2020, "x" * 999]
    found = clean_names(given)
    assert found[:8] == ["a", "a_2", "Length (m)", "column_4", "column_5", "column_6", "\\u{1b}[2J", "2020"]
    assert len(found[8]) == 200 and len(set(found)) == len(given)


def test_odd_cells(tmp_path: Path) -> None:
    frame, _, _ = frame_of(tmp_path, f"a,b,c\n{'9' * 400},1,x\n-,2,y\n?,NA,z\n")
    assert frame["a"].tolist()[0] == float("inf") and frame["a"].isna().tolist() == [False, True, True]
    assert frame["b"].isna().tolist() == [False, False, True] and frame["c"].tolist() == ["x", "y", "z"]


def test_excel_and_parquet_with_odd_columns(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.xlsx"
    pd.DataFrame({2019: [1.0, 2.0], 2020: [3.0, 5.0]}).to_excel(path, index=False)
    assert values(read_frame(str(path))[0]) == {"2019": [1.0, 2.0], "2020": [3.0, 5.0]}
    pd.DataFrame([["t", "v"], ["s", "m/s"], [1, 2.5], [2, 3.5], [3, 4.5]]).to_excel(path, index=False, header=False)
    frame, notes = read_frame(str(path))[0], read_frame(str(path))[0].attrs["notes"]
    assert values(frame) == {"t": [1.0, 2.0, 3.0], "v": [2.5, 3.5, 4.5]} and "units (s, m/s)" in notes[0]
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"a": [1.0], "when": pd.to_datetime(["2020-01-01"])}).to_excel(book, sheet_name="one", index=False)
        pd.DataFrame({"b": [1.0]}).to_excel(book, sheet_name="two", index=False)
    frame, notes = read_frame(str(path))[0], read_frame(str(path))[0].attrs["notes"]
    assert list(frame.columns) == ["a", "when"] and "the first of 2 sheets is read, 'one'" in notes[0]
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"about": ["made by hand", "see below"]}).to_excel(book, sheet_name="Readme", index=False)
        pd.DataFrame({"t": [1.0, 2.0], "v": [3.0, 5.0]}).to_excel(book, sheet_name="Data", index=False)
    frame, notes = read_frame(str(path))[0], read_frame(str(path))[0].attrs["notes"]
    assert values(frame) == {"t": [1.0, 2.0], "v": [3.0, 5.0]}
    assert notes[0].startswith("the first with numbers of 2 sheets is read, 'Data'")
    rows = [["Growth of batch 12", None], [None, None], ["t", "v"], [1, 2.5], [2, 3.5], [3, 4.5]]
    pd.DataFrame(rows).to_excel(path, index=False, header=False)
    frame, notes = read_frame(str(path))[0], read_frame(str(path))[0].attrs["notes"]
    assert values(frame) == {"t": [1.0, 2.0, 3.0], "v": [2.5, 3.5, 4.5]} and "'Growth of batch 12'" in notes[0]
    pd.DataFrame().to_excel(path)
    with pytest.raises(DataError, match="no columns"):
        read_frame(str(path))
    path = tmp_path / "t.parquet"
    odd = pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "l": [[1], [2]], "s": ["1", "2"], "b": [True, False]})
    odd.to_parquet(path)
    frame = read_frame(str(path))[0]
    assert frame["s"].tolist() == [1.0, 2.0] and not pd.api.types.is_numeric_dtype(frame["l"])
    table = read_table(str(path), target="s")
    assert list(table.X.columns) == ["n", "b"] and len(table.y) == 1
    pd.DataFrame({"a": []}).to_parquet(path)
    with pytest.raises(DataError, match="names but no rows"):
        read_frame(str(path))


def test_mistakes_in_names_are_answered_with_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('rho,v_m_s,"T, K",F\n1,2,3,4\n2,3,4,6\n')
    with pytest.raises(DataError, match=r"has no column 'v_ms' \(did you mean 'v_m_s'\?\); it has rho, v_m_s, T, K, F"):
        read_table(str(path), features=["v_ms"])
    assert near("zzz", ["rho"]) == ""
    table = read_table(str(path), features=["T", "K", "rho"])  # as the command cuts them
    assert list(table.X.columns) == ["T, K", "rho"] and table.columns == ("rho", "v_m_s", "T, K", "F")
    assert joined(["a", "b", "c"], ["a,b", "c"]) == ("a,b", "c")
    for arguments, message in (
        ({"features": ["F"]}, "'F' is the target and cannot be in --features too"),
        ({"weights": "F"}, "'F' is the target and cannot be in --weights too"),
        ({"features": ["rho"], "weights": "rho"}, "holds the weights and cannot be in --features"),
    ):
        with pytest.raises(DataError, match=message):
            read_table(str(path), target="F", **arguments)


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    for path in ("x" * 300, "a\0b", str(tmp_path), "/dev/zero", str(tmp_path / "none.csv")):
        with pytest.raises(DataError):
            read_frame(path)


def test_an_index_without_a_name_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    data = pd.DataFrame({"a": [1.5, 2.5, 4.0], "y": [3.0, 5.0, 8.0]})
    data.to_csv(path)  # as pandas writes it, with the numbers of the rows
    table = read_table(str(path))
    assert list(table.X.columns) == ["a"] and "counts the rows" in " ".join(table.notes)
    np.testing.assert_array_equal(table.y, data["y"])


def test_a_wide_header_is_read_whole() -> None:
    names = [f"a_rather_long_name_of_a_column_{i}" for i in range(5000)]
    text = ",".join(names) + "\n" + ",".join("1" for _ in names) + "\n" + ",".join("2" for _ in names) + "\n"
    found = detect(text.encode())
    assert found.names == tuple(names) and found.width == 5000
    assert io.BytesIO(text.encode()[found.start :]).readline().count(b"1") == 5000


def test_a_late_row_with_more_cells_loses_nothing_in_silence(tmp_path: Path) -> None:
    for text in ("a,b\n" + "1,2,\n" * 100 + "1,2,3,4\n", "a,b\n" + "1,2\n" * 70 + "1,2,3,4,5,6\n" + "1,2\n" * 70):
        with pytest.raises(DataError, match=r"more cells|saw"):
            frame_of(tmp_path, text)


def test_messages_stay_short(tmp_path: Path) -> None:
    for text in ("a,b\n" + ",".join("9" * 400 for _ in range(30)) + "\n" + "1,2,3\n" * 4, "x" * 5000 + ",b\n1,2\n"):
        try:
            read_table(str(tmp_path / "t.csv")) if frame_of(tmp_path, text) else None
        except DataError as error:
            assert len(str(error)) < 1000


def test_columns_beside_inputs_and_target(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,site,err,w,y\n1,a,0.1,1,2\n2,b,,1,4\n3,a,0.2,2,6\n4,b,0.1,1,8\n")
    found = read_table(str(path), target="y", groups="site", sigma="err", weights="w")
    assert list(found.X.columns) == ["x"] and found.y.tolist() == [2.0, 6.0, 8.0]
    assert found.sigma is not None and found.sigma.tolist() == [0.1, 0.2, 0.1]
    assert list(found.with_groups.columns) == ["x", "site"] and found.with_groups["site"].tolist() == ["a", "a", "b"]
    for role in ("groups", "sigma", "weights"):
        with pytest.raises(DataError, match=f"cannot be in --{role} too"):
            read_table(str(path), target="y", **{role: "y"})
        with pytest.raises(DataError, match="cannot be in --features too"):
            read_table(str(path), target="y", features=["x"], **{role: "x"})
    with pytest.raises(DataError, match="must be numbers"):
        read_table(str(path), target="y", sigma="site")


def test_errors_of_inputs(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x [m],dx [m],v,y,dy\n1,0.1,5,2,0.3\n2,0.1,6,4,0.3\n3,0.2,7,6,\n4,0.1,9,8,0.3\n")
    found = read_table(str(path), target="y", sigma="x=dx [m], v=0.5, target=dy")
    assert list(found.X.columns) == ["x", "v"] and found.y.tolist() == [2.0, 4.0, 8.0]
    assert isinstance(found.sigma, dict) and list(found.sigma) == ["x", "v", "y"]
    assert found.sigma["x"].tolist() == [0.1, 0.1, 0.1] and found.sigma["v"] == 0.5
    assert found.sigma["y"].tolist() == [0.3, 0.3, 0.3]
    number = read_table(str(path), target="y", sigma="0.2", drop=["dx", "dy"])
    assert number.sigma == {"y": 0.2} and len(number.y) == 4
    alone = read_table(str(path), target="y", sigma={"y": "dy"})
    assert alone.sigma is not None and not isinstance(alone.sigma, dict) and "dy" not in alone.X.columns
    for wrong, message in (
        ("z=dx", "no column 'z'"),
        ("x=", "cannot be read"),
        ("x=much", "neither a column nor a number"),
        ("x=-1", "not negative"),
    ):
        with pytest.raises(DataError, match=message):
            read_table(str(path), target="y", sigma=wrong)
    with pytest.raises(DataError, match="not among the columns to learn from"):
        read_table(str(path), target="y", sigma="v=0.1", drop=["v"])


@pytest.mark.parametrize("first", ["<0.1,2", "5%,2", "~3,4.5", "12:30,1.5"])
def test_a_row_of_measurements_is_not_taken_for_units(first: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n{first}\n0.6,3\n0.7,4\n0.8,5\n0.9,6\n")
    frame, _ = read_frame(str(path))
    assert len(frame) == 5 and not any("units" in note for note in frame.attrs["notes"])
    path.write_text("a,b,c\n1/s,1,%\n0.6,3,1\n0.7,4,2\n0.8,5,3\n")
    assert any("holds units (1/s, 1, %)" in note for note in read_frame(str(path))[0].attrs["notes"])


def test_odd_texts_are_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    import zipfile

    path = tmp_path / "t.csv"
    path.write_text("a,b\n\u22121.5,2\n2,\u22123e\u22122\n", encoding="utf-8")
    assert read_frame(str(path))[0].to_numpy().tolist() == [[-1.5, 2.0], [2.0, -0.03]]
    for encoding in ("utf-32", "utf-16", "utf-8-sig"):
        path.write_bytes("a,b\n1,2\n2,3\n".encode(encoding))
        assert read_frame(str(path))[0].to_numpy().tolist() == [[1.0, 2.0], [2.0, 3.0]]
    path.write_bytes(b"a\0,b\n1,2\n2,3\n3,4\n4,5\n5,6\n")
    with pytest.raises(DataError, match="the file is not text"):
        read_frame(str(path))
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as packed:
        packed.writestr("t.csv", "a,b\n1,2\n")
    with pytest.raises(DataError, match="it is a zip file, not a table; unpack it first"):
        read_frame(str(tmp_path / "t.zip"))


def test_cells_around_numbers_are_not_called_names(tmp_path: Path) -> None:
    from unisymnet import read_table

    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{i}%,{i},{2 * i}\n" for i in range(30)))
    notes = read_table(str(path)).notes
    assert any("not plain numbers" in note or "holds text ('0%'" in note for note in notes)
    assert not any("list of names" in note for note in notes)
