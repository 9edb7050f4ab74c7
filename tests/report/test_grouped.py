"""A formula with constants for each group: its report, its figure, and what is said where the groups are missing."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.cli.fitting import Request, fitted, read_request
from unisymnet.cli.reporting import write_report
from unisymnet.errors import DataError
from unisymnet.report import report_html


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sites")
    rng = np.random.default_rng(0)
    parts = []
    for factor, site in ((0.5, "oak"), (0.9, "<elm>"), (1.7, "fir")):
        t = rng.uniform(0.5, 6.0, 30)
        error = rng.uniform(0.005, 0.02, 30)
        n = factor * np.exp(-t / 1.2) + error * rng.normal(size=30)
        parts.append(pd.DataFrame({"t": t, "site": site, "error": error, "n": n}))
    pd.concat(parts).to_csv(folder / "sites.csv", index=False)
    settings = {"max_time": 200.0, "max_evaluations": 30, "proposers": ["boltzmann", "monomial"]}
    request = Request(str(folder / "sites.csv"), "n", None, (), None, None, (), settings, groups="site", sigma="error")
    table = read_request(request)
    assert list(table.X.columns) == ["t"] and table.sigma is not None and table.sigma.max() < 0.02
    fitted(folder / "run", request, table)
    return folder


def test_the_report_of_groups_is_drawn_with_their_constants(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_report(str(run / "run"), None, str(run / "report.html"), None)
    assert "written to" in capsys.readouterr().out
    page = (run / "report.html").read_text("utf-8")
    assert "n = f(t)" in page and "90 rows, 1 column, " in page  # c1 is no column
    assert "Constants of the groups" in page and "site oak: c1 = 0." in page and "Residuals" in page
    assert "<elm>" not in page and "&lt;elm&gt;" in page


def test_without_the_column_of_groups_it_says_so(run: Path) -> None:
    model = UniSymNetRegressor.load(run / "run" / "model.json")
    table = pd.read_csv(run / "sites.csv")
    assert "Residuals" in report_html(model, table, table["n"])
    with pytest.raises(DataError, match="site"):
        report_html(model, table[["t"]], table["n"])
    with pytest.raises(DataError, match="site"):
        report_html(model, table[["t"]].to_numpy(), table["n"])


def test_a_figure_of_groups(run: Path) -> None:
    pytest.importorskip("matplotlib")
    model = UniSymNetRegressor.load(run / "run" / "model.json")
    table = pd.read_csv(run / "sites.csv")
    assert len(model.plot(table, table["n"]).axes) >= 4
