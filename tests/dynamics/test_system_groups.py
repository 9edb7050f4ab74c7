"""Groups of runs: one form, shared constants and those of each group."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unisymnet import DynamicsRegressor, System
from unisymnet.dynamics.known.groups import group_labels
from unisymnet.dynamics.trajectory import read_runs
from unisymnet.errors import DataError

T = np.linspace(0.0, 10.0, 50)
RATES = {"oak": 0.8, "elm": 0.5}


def _table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    parts = []
    for site, rate in RATES.items():
        for run, start in enumerate((1.0, 3.0)):
            x = System.parse({"n": f"{rate}*n - 0.05*n**2"}).simulate([start], T)[:, 0]
            x = x * (1.0 + 0.02 * rng.normal(size=len(T)))
            parts.append(pd.DataFrame({"t": T, "n": x, "site": site, "run": f"{site}{run}"}))
    return pd.concat(parts, ignore_index=True)


def test_one_form_with_own_and_shared_constants(tmp_path: Path) -> None:
    model = DynamicsRegressor(max_time=60, search=False)
    model.fit(_table(), time="t", states=["n"], trajectory="run", groups="site")
    assert list(model.systems_) == ["oak", "elm"]
    for site, rate in RATES.items():
        linear, square = (model.systems_[site].rhs([[1.0], [2.0]])[:, 0] @ m for m in ([2.0, -0.5], [1.0, -0.5]))
        assert linear == pytest.approx(rate, rel=0.03) and square == pytest.approx(0.05, rel=0.05)
    constants = [{round(abs(c.value), 9) for c in s.constants[0]} for s in model.systems_.values()]
    assert len(constants[0] & constants[1]) == 1  # the square's factor is the same number
    assert any("shared by all" in note for note in model.notes_) and model.score() > 0.98
    assert "oak:" in str(model) and len(model.drawn_runs()) == 4
    model.save(tmp_path / "model.json")
    assert DynamicsRegressor.load(tmp_path / "model.json").systems_ == model.systems_


def test_labels_that_do_not_fit_the_runs() -> None:
    table = _table()
    runs = read_runs(table, time="t", states=["n"], trajectory="run")
    assert group_labels(runs, "site", table, "run")["elm1"] == "elm"
    assert group_labels(read_runs([T, T], [T, T]), ["a", "b"], None, None) == {"0": "a", "1": "b"}
    with pytest.raises(DataError, match="no column 'wood'"):
        group_labels(runs, "wood", table, "run")
    with pytest.raises(DataError, match="one label for each run"):
        group_labels(read_runs([T, T], [T, T]), ["a"], None, None)
    table.loc[0, "site"] = "fir"
    with pytest.raises(DataError, match="two groups"):
        group_labels(runs, "site", table, "run")
