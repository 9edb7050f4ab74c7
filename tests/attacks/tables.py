# ruff: noqa: E501
"""Tables in odd spellings that must read as what they are, and damaged files that must be refused in one line."""

from __future__ import annotations

import contextlib
import functools
import io
import random
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import typer.main

COLUMNS = ("length", "mass", "time", "y")


def table(rng: random.Random) -> pd.DataFrame:
    """A few rows of plain numbers, four digits each, so that every spelling can hold them exactly."""
    n_rows, n_columns = rng.randint(6, 25), rng.randint(2, 4)
    names = COLUMNS[-n_columns:]
    cells = [[round(rng.uniform(-50, 50), 3) + 0.0005 for _ in names] for _ in range(n_rows)]
    return pd.DataFrame(cells, columns=list(names)).round(4)


def _csv(frame: pd.DataFrame, sep: str = ",", decimal: str = ".", end: str = "\n", tail: str = "") -> str:
    lines = [sep.join(map(str, frame.columns)) + tail]
    for row in frame.to_numpy():
        lines.append(sep.join(f"{cell:.4f}".replace(".", decimal) for cell in row) + tail)
    return end.join(lines) + end


def _commented(frame: pd.DataFrame) -> str:
    return "# measured by hand\n# on a Monday\n" + _csv(frame)


def _header_in_comment(frame: pd.DataFrame) -> str:
    body = _csv(frame).split("\n", 1)
    return f"# {body[0]}\n{body[1]}"


def _units(frame: pd.DataFrame) -> str:
    head, body = _csv(frame).split("\n", 1)
    return f"{head}\n{','.join(['m/s', 'kg', 's', 'K'][: frame.shape[1]])}\n{body}"


def _quoted(frame: pd.DataFrame) -> str:
    return "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in _csv(frame).split("\n") if line)


def _padded(frame: pd.DataFrame) -> str:
    return "\n".join("  ".join(f"{cell:>14}" for cell in line.split(",")) for line in _csv(frame).split("\n") if line)


def _r_rows(frame: pd.DataFrame) -> str:
    head, *rows = _csv(frame).strip().split("\n")
    return "\n".join([head, *(f'"{place + 1}",{row}' for place, row in enumerate(rows))])


def _pandas_rows(frame: pd.DataFrame) -> str:
    return frame.to_csv()


def _gaps(frame: pd.DataFrame) -> str:
    return "\n\n" + _csv(frame).replace("\n", "\n\n", 3)


SPELLINGS: dict[str, Callable[[pd.DataFrame], str | bytes]] = {
    "comma": _csv,
    "comma at the end of rows": lambda f: _csv(f, tail=","),
    "two commas at the end": lambda f: _csv(f, tail=",,"),
    "comma at the end of rows only": lambda f: _csv(f, tail=",").replace(",\n", "\n", 1),
    "semicolon": lambda f: _csv(f, ";"),
    "semicolon, decimal comma": lambda f: _csv(f, ";", ","),
    "semicolon, decimal comma, at the end": lambda f: _csv(f, ";", ",", tail=";"),
    "tab": lambda f: _csv(f, "\t"),
    "tab, decimal comma": lambda f: _csv(f, "\t", ","),
    "tab at the end": lambda f: _csv(f, "\t", tail="\t"),
    "bar": lambda f: _csv(f, "|"),
    "one space": lambda f: _csv(f, " "),
    "aligned": _padded,
    "Windows": lambda f: _csv(f, end="\r\n"),
    "old Mac": lambda f: _csv(f, end="\r"),
    "no last line end": lambda f: _csv(f).rstrip("\n"),
    "empty lines": _gaps,
    "quoted": _quoted,
    "comments": _commented,
    "names in a comment": _header_in_comment,
    "units": _units,
    "names of rows (R)": _r_rows,
    "index (pandas)": _pandas_rows,
    "UTF-8 with mark": lambda f: _csv(f).encode("utf-8-sig"),
    "UTF-16": lambda f: _csv(f).encode("utf-16"),
    "UTF-16 without mark": lambda f: _csv(f).encode("utf-16-le"),
    "Latin-1": lambda f: _csv(f.rename(columns={"y": "größe"})).encode("cp1252"),
    "names with spaces": lambda f: _csv(f.rename(columns=lambda n: f" {n} ")),
    "names over two lines": lambda f: _csv(f).replace("y\n", '"y\n(x)"\n', 1),
    "exponents": lambda f: "\n".join(
        [",".join(f.columns), *(",".join(f"{c:.8e}" for c in row) for row in f.to_numpy())]
    ),
    "plus signs": lambda f: "\n".join(
        [",".join(f.columns), *(",".join(f"{c:+.4f}" for c in row) for row in f.to_numpy())]
    ),
}


def misread(frame: pd.DataFrame, path: Path) -> str | None:
    """Does the file hold anything but these numbers, as read?  None if all is well."""
    from unisymnet.files.table import read_table

    found = read_table(str(path), heads=False)
    values = np.column_stack([found.X.to_numpy(), found.y.to_numpy()])
    if values.shape != frame.shape:
        return f"{values.shape[0]} x {values.shape[1]} instead of {frame.shape[0]} x {frame.shape[1]}"
    return None if np.array_equal(values, frame.to_numpy()) else "other numbers"


def damaged(rng: random.Random) -> bytes:
    """A table with something wrong in it, from a single letter to pure noise."""
    kind = rng.choice(list(SPELLINGS))
    text = SPELLINGS[kind](table(rng))
    raw = bytearray(text if isinstance(text, bytes) else text.encode())
    for _ in range(rng.choice([1, 1, 2, 5, 40])):
        _damage(raw, rng)
    return bytes(raw)


PIECES = (
    b",", b";", b'"', b"\n", b"\r", b"\t", b"\0", b"#", b" ", b"-", b".", b"e", b"nan", b"inf", b"NA", b"1e999", b"\xff",
    b"'", b"\\", b"%", b"x", b"=1+1", b"\xef\xbb\xbf", b"\xff\xfe", b"PK\3\4", b"PAR1", b"\x1f\x8b", b"9" * 400, b"1,234",
    b"\xe2\x80\xa8", b"y", b"time", b"()", b"\x1b[2J", b"1_000", b"0x1F", b"TRUE", b"2020-01-01", b"--", b"?", b'""', b'"\n',
)  # fmt: skip


def _damage(raw: bytearray, rng: random.Random) -> None:
    place = rng.randrange(len(raw) + 1)
    kind = rng.randrange(7)
    if kind == 0:
        raw[place:place] = rng.choice(PIECES)
    elif kind == 1 and raw:
        del raw[place : place + rng.choice([1, 2, 10, 1000])]
    elif kind == 2 and place < len(raw):
        raw[place] = rng.randrange(256)
    elif kind == 3:
        lines = bytes(raw).split(b"\n")
        rng.shuffle(lines)
        raw[:] = b"\n".join(lines)
    elif kind == 4:
        lines = bytes(raw).split(b"\n")
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines) + rng.choice(PIECES))
        raw[:] = b"\n".join(lines)
    elif kind == 5:
        raw[:] = raw[: rng.randrange(len(raw) + 1)]
    else:
        raw[:] = bytes(raw).replace(rng.choice(PIECES), rng.choice(PIECES), rng.choice([1, 3, -1]))


_built = functools.cache(typer.main.get_command)


def command(*words: str) -> tuple[int, str]:
    """A command in this process: its exit code and what it said; a traceback raises."""
    from unisymnet.cli import main

    said = io.StringIO()
    before = sys.argv
    sys.argv = ["unisymnet", *words]
    try:
        # typer builds all commands anew for every call, which takes four times as long as `check` itself
        once = mock.patch("typer.main.get_command", _built)
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), once:
            main()
        code: object = 0
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
    return int(str(code)) if str(code).lstrip("-").isdigit() else 1, said.getvalue()


def failure(words: tuple[str, ...]) -> str | None:
    """What a command must not do: an exit code of ours (70), more than a few lines, a stray exception."""
    try:
        code, said = command(*words)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if code not in (0, 2, 3):
        return f"exit code {code}: {said[-300:]}"
    # What `predict` writes into a pipe are the cells of the file, as they are.
    if words[0] != "predict" and any(not sign.isprintable() and sign not in "\n\r\t" for sign in said):
        return "printed what a terminal would obey"
    return None


def reader_fault(path: Path) -> str | None:
    """A file is a table, or a DataError says in one short sentence why it is none."""
    from unisymnet.cli.check import describe
    from unisymnet.errors import DataError
    from unisymnet.files.read import read_frame
    from unisymnet.files.table import read_table

    try:
        frame, dialect = read_frame(str(path))
        describe(str(path), frame, dialect, None)
        found = read_table(str(path))
    except DataError as error:
        return None if len(str(error)) < 1500 else "a message longer than a screen"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None if np.isfinite(found.X.to_numpy()).all() and len(found.y) else "not finite, or no rows"
