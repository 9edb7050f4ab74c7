"""Pictures that a fitted model draws itself: `plot` and the display in a notebook."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from report.test_page import Tags
from unisymnet import UniSymNetRegressor
from unisymnet.report import report_html
from unisymnet.report.rows import MAX_CELLS, rows_to_remember


@pytest.fixture(scope="module")
def model() -> UniSymNetRegressor:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"m": rng.uniform(1, 5, 60), "v": rng.uniform(1, 5, 60)})
    y = pd.Series(0.5 * X.m * X.v**2, name="E")
    return UniSymNetRegressor(proposers=["monomial"], max_time=10).fit(X, y)


def test_a_model_draws_its_own_rows(model: UniSymNetRegressor) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is an extra")
    assert len(model.plot().axes) == 4
    drawn = model.plot([[1.0, 2.0], [2.0, 3.0]], [2.0, 9.0], index=-1).axes[1].lines[0].get_xydata()
    assert drawn.tolist() == [[2.0, 2.0], [9.0, 9.0]]
    with pytest.raises(NotFittedError):
        UniSymNetRegressor().plot()


def test_a_notebook_shows_the_charts_of_the_report(model: UniSymNetRegressor) -> None:
    shown = model._repr_html_()
    tags = Tags(shown)
    assert tags.faults == [] and "<script" not in shown
    labels = [attrs.get("aria-label") or "" for tag, attrs in tags.seen if tag == "svg"]
    assert [label.split(" ")[0] for label in labels] == ["Error", "Predicted", "Residuals", "E", ""]
    page = report_html(model)
    chart = shown[shown.index('<svg class="chart" viewBox') :].split("</svg>")[0]
    assert chart in page
    # No rule may reach what else is in the notebook.
    style = shown.split("<style>")[1].split("</style>")[0]
    assert all(rule.strip().startswith(".unisymnet") for rule in style.split("}") if rule.strip())


def test_data_do_not_travel_with_a_model(model: UniSymNetRegressor, tmp_path: Path) -> None:
    model.save(tmp_path / "model.json")
    for other in (pickle.loads(pickle.dumps(model)), UniSymNetRegressor.load(tmp_path / "model.json")):
        assert "Prediction and truth" not in report_html(other)
        assert other._repr_html_().count("<svg") == 2  # the front and the network
    assert "Prediction and truth" in report_html(model)


def test_few_rows_of_a_large_table_are_kept() -> None:
    X, y = rows_to_remember(np.zeros((5000, 3)), np.arange(5000.0))
    assert X.shape == (1000, 3) and y[0] == 0.0 and y[-1] == 4999.0
    assert rows_to_remember(np.zeros((500, 2000)), np.zeros(500))[0].size <= MAX_CELLS
