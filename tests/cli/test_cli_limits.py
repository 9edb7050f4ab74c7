"""Limits that make no sense, and what is printed about them."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attacks.tables import command
from unisymnet.dynamics.trajectory import read_runs
from unisymnet.errors import DataError


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,y\n" + "".join(f"{i},{3 * i}\n" for i in range(1, 9)))
    return "t.csv"


@pytest.mark.parametrize("limit", ["-1", "0", "nan"])
def test_no_time_is_refused_before_anything_is_announced(limit: str, table: str) -> None:
    code, said = command("fit", table, "--max-time", limit)
    assert code == 2 and "leaves no time" in said and "at most" not in said


def test_without_a_limit_the_python_runs(table: str) -> None:
    code, said = command("fit", table, "--max-time", "inf", "--max-evaluations", "3", "-q")
    assert code == 0 and "no time limit" in said
    assert "max_time=None" in said and "inf" not in said


def test_one_row_is_one_row(table: str) -> None:
    Path("one.csv").write_text("a,y\n1,2\n")
    code, said = command("fit", "one.csv", "--max-time", "1")
    assert code == 3 and "one.csv: 1 row, " in said


def test_cautions_about_a_constant(table: str) -> None:
    Path("flat.csv").write_text("a,y\n1,9\n2,-8\n3,7\n4,-9\n5,8.5\n6,-7\n7,2\n8,-3\n")
    said = command("fit", "flat.csv", "--max-time", "3", "--max-complexity", "1", "--max-evaluations", "5", "-q")[1]
    assert "1 of the target's" not in said and "hardly determine" not in said


def test_a_pipe_in_the_folder_is_not_waited_for(table: str) -> None:
    Path("run").mkdir()
    os.mkfifo("run/model.json")
    code, said = command("fit", table, "--max-time", "1", "--out", "run")
    assert code == 3 and "was not written by a fit" in said


def test_a_long_constraint_is_quoted_in_part(table: str) -> None:
    code, said = command("fit", table, "--max-time", "1", "--constraint", "(" * 3000 + "y >= 0")
    assert code == 3 and "not understood" in said and len(said) < 1000


@pytest.mark.parametrize("option", [("--max-order", "-1"), ("--max-order", "99"), ("--max-time", "-1")])
def test_fields_with_senseless_options(option: tuple[str, str], tmp_path: Path) -> None:
    x = np.arange(20.0)
    np.savez(tmp_path / "p.npz", u=np.sin(x[:, None] + x), x=x, t=x)
    code, said = command("pde", str(tmp_path / "p.npz"), *option)
    assert code == 2 and "Traceback" not in said


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_states_and_fields_beyond_all_powers(size: float, table: str) -> None:
    Path("d.csv").write_text("t,x\n" + "".join(f"{i},{(i + 1) * size}\n" for i in range(12)))
    assert "cannot be stored" in command("dynamics", "d.csv", "--max-time", "1", "-q")[1]
    x = np.arange(20.0)
    np.savez("p.npz", u=np.sin(x[:, None] + x) * size, x=x, t=x)
    assert "cannot be stored" in command("pde", "p.npz")[1]


def test_a_run_for_every_row_is_refused_at_once() -> None:
    """Rows were looked for once a label, which took minutes for a column of numbers of rows."""
    t = np.arange(50_000.0)
    with pytest.raises(DataError, match="no run has"):
        read_runs(pd.DataFrame({"t": t, "x": t, "id": t}), time="t", states=None, inputs=None, trajectory="id")
