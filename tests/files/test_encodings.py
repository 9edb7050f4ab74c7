"""Older encodings: the most likely one is taken, and said."""

from pathlib import Path

import pytest

from unisymnet.files.encodings import encoding_of
from unisymnet.files.table import read_table

NAMES = {
    "cp1252": ["größe", "Höhe", "température", "Größe (µm)", "naïve", "señal", "Fläche m²", "Ångström"],
    "cp1251": ["время", "Скорость", "температура", "ВРЕМЯ"],
    "cp932": ["温度", "時間", "電圧(V)", "おんど", "テスト", "日付（℃）"],
    "euc_jp": ["温度と圧力", "おんど", "テスト"],
    "gb18030": ["温度", "时间", "速度", "质量"],
    "big5": ["溫度", "時間", "電壓", "質量"],
    "cp949": ["온도", "시간", "전압"],
}


@pytest.mark.parametrize(("encoding", "name"), [(code, name) for code, names in NAMES.items() for name in names])
def test_names_in_older_encodings(encoding: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(f"{name},y\n1,2\n2,4\n3,6\n5,9\n".encode(encoding))
    found = read_table(str(path), heads=False)
    assert list(found.X.columns) == [name]
    assert found.y.tolist() == [2.0, 4.0, 6.0, 9.0]
    assert any("not UTF-8" in note for note in found.notes)


def test_bytes_that_no_encoding_knows_shift_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\x81\x8d\x8f\x90\x9d,y\n1,2\n2,4\n3,6\n5,9\n")  # none of these is a sign of Windows-1252
    found = read_table(str(path), heads=False)
    assert found.X.iloc[:, 0].tolist() == [1.0, 2.0, 3.0, 5.0] and found.y.tolist() == [2.0, 4.0, 6.0, 9.0]


def test_what_is_certain_is_not_called_a_guess() -> None:
    for raw in ("größe".encode(), "größe".encode("utf-16"), b"plain"):
        assert encoding_of(raw)[2] is None
