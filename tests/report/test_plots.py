"""The matplotlib figure: four panels with data, one without, and a clear word where matplotlib is missing."""

import io
import sys

import numpy as np
import pandas as pd
import pytest

from report.models import energy, made
from unisymnet import DataError, UniSymNetRegressor
from unisymnet.report import plot

pytest.importorskip("matplotlib", reason="matplotlib is an extra")


def test_four_panels_with_data_one_without() -> None:
    model, X, y = energy()
    figure = plot(model, X, y)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["Front", "Predicted against true", "Residuals", "Response (grey: outside the data)"]
    assert figure.axes[3].get_xlabel() == "v_1"
    assert len(plot(model).axes) == 1
    for index in range(3):
        with io.BytesIO() as file:
            plot(model, X, y, index).savefig(file, format="png", dpi=40)
            assert file.tell() > 1000


def test_names_with_dollars_are_not_mathematics() -> None:
    x = pd.DataFrame({"$\\bad{$": np.linspace(1.0, 2.0, 9)})
    y = pd.Series(2.0 * x.iloc[:, 0], name="$\\worse{$")
    figure = plot(made(x, y, ["2*`$\\bad{$`"], valid=False), x, y)
    with io.BytesIO() as file:
        figure.savefig(file, format="svg")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="fitted model"):
        plot(UniSymNetRegressor())
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"unisymnet\[plot\]"):
        plot(energy()[0])
