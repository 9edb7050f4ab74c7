"""Every example runs; the shipped data are what their script makes."""

import json
import runpy
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unisymnet import Formula

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted(set((ROOT / "examples").glob("*.py")) - {ROOT / "examples" / "gallery.py"})  # tests/test_gallery.py
DATA = files("unisymnet").joinpath("data")


def test_the_data_are_what_the_script_makes(tmp_path: Path) -> None:
    made = runpy.run_path(str(ROOT / "benchmarks" / "make_demo_data.py"))
    made["main"](tmp_path)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == DATA.joinpath(path.name).read_bytes(), path.name


def test_the_index_tells_the_truth() -> None:
    index = json.loads(DATA.joinpath("index.json").read_text(encoding="utf-8"))
    for name, facts in index.items():
        table = pd.read_csv(DATA.joinpath(f"{name}.csv"))
        inputs = table.drop(columns=facts["target"])
        law = Formula.parse(facts["law"], list(inputs.columns))
        assert len(table) == facts["rows"]
        assert law.score(inputs, table[facts["target"]]) > 0.99, name
        assert np.isfinite(table.to_numpy()).all()


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path: Path) -> None:
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert ">>>" in done.stdout
