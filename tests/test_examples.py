"""Every example runs; the shipped data are what their script makes."""

import json
import runpy
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from unisymnet import Formula, UniSymNetRegressor

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


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever limit an example has, its search gets three seconds here."""
    real = UniSymNetRegressor.fit

    def hurried(self: UniSymNetRegressor, *args: Any, **named: Any) -> UniSymNetRegressor:
        assert self.max_time is not None and self.max_time >= 10
        return real(self.set_params(max_time=3), *args, **named)

    monkeypatch.setattr(UniSymNetRegressor, "fit", hurried)
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(path), run_name="__main__")
    assert ">>>" in capsys.readouterr().out
