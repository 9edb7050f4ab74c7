"""The page as text: what it shows, that it needs nothing else, and that no name in it can do harm."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from report.models import energy, made
from unisymnet import DataError, Formula, UniSymNetRegressor
from unisymnet.report import report_html
from unisymnet.report.parts import _constants

EVIL = "<script>alert('x')</script>"
VOID = {"meta", "image", "br"}


class Tags(HTMLParser):
    """Elements and their attributes; notes what is not closed as it was opened."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.faults: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.words.append(data)


@pytest.fixture(scope="module")
def page() -> str:
    return report_html(*energy())


def test_the_page_is_well_formed_and_ids_are_unique(page: str) -> None:
    tags = Tags(page)
    assert tags.faults == [] and tags.open == []
    ids = [attrs["id"] for _, attrs in tags.seen if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_the_page_loads_nothing(page: str) -> None:
    for _, attrs in Tags(page).seen:
        for name in ("src", "href", "action"):
            assert (attrs.get(name) or "data:").startswith("data:")
        assert not [name for name in attrs if name.startswith("on")]
    assert "default-src 'none'" in page
    assert "@import" not in page and "url(http" not in page


def test_everything_is_on_the_page(page: str) -> None:
    words = " ".join(" ".join(Tags(page).words).split())
    for word in (
        *("From simple to exact", "The formula", "Be careful", "Constants", "Prediction and truth", "Symbolic network"),
        *("Response, inside the data and beyond", "The data", "How it was found", "monomial", "unisymnet 0"),
        *("along m", "over v_1 and m", "not needed", "LaTeX", "Python", "Excel", "1/2", "0.5*m*v_1**2", "1.25 s"),
        *(
            "of the target's spread is unexplained",
            "Constant columns not used: nothing",
            r"0.5 \, m \, v_{1}^{2}",
            "=0.5*A2*B2^2",
        ),
    ):
        assert word in words, word
    assert re.search(r"0\.\d+ ± 0\.\d+", words)
    assert page.count("data-formula=") == 3 + page.count('data-formula="${')
    assert page.count('class="outside"') >= 4


def test_without_data_the_page_says_what_is_missing() -> None:
    model, _, _ = energy()
    words = " ".join(Tags(report_html(model)).words)
    assert "A saved model does not contain its data" in words
    assert "Prediction and truth" not in words


def test_a_saved_run_is_read(tmp_path: Path) -> None:
    model, X, y = energy()
    model.save(tmp_path / "model.json")
    loaded = UniSymNetRegressor.load(tmp_path / "model.json")
    assert report_html(loaded, X, y) == report_html(model, X, y)
    loaded.fitted_with_ = "0.0.7"
    loaded.save(tmp_path / "again.json")
    assert "unisymnet 0.0.7" in report_html(UniSymNetRegressor.load(tmp_path / "again.json"))
    with pytest.raises(DataError, match="fitted model, got str"):
        report_html(str(tmp_path))


def test_names_cannot_become_markup() -> None:
    x = pd.DataFrame({EVIL: np.linspace(1.0, 2.0, 12), 'a"b': np.ones(12)})
    y = pd.Series(3.0 * x[EVIL], name="</title><img src=x>")
    model = made(x, y, ["4", f"3*`{EVIL}`"], valid=False)
    model.notes_ = (f"a note on {EVIL}",)
    tags = Tags(report_html(model, x, y))
    assert tags.faults == [] and tags.open == []
    assert sum(tag == "script" for tag, _ in tags.seen) == 1
    assert not any(tag == "img" for tag, _ in tags.seen)
    assert EVIL in "".join(tags.words)
    shown = model._repr_html_()
    assert "<script" not in shown and "&lt;script" in shown


@pytest.mark.parametrize(
    ("texts", "y"),
    [
        (["2.5"], np.full(10, 2.5)),  # nothing to explain
        (["1/x"], 1.0 / np.linspace(-1.0, 3.0, 10)),  # a pole between the rows
        (["sqrt(x - 1)"], np.linspace(0.0, 1.0, 10)),  # no value on some rows
        (["asin(x/4)"], np.arcsin(np.linspace(-1.0, 3.0, 10) / 4)),  # no network
        (["1e-300*x"], 1e-300 * np.linspace(-1.0, 3.0, 10)),
        (["1e300*exp(x)"], 1e300 * np.exp(np.linspace(-1.0, 3.0, 10))),
    ],
)
def test_hard_cases_make_a_page_with_finite_pictures(texts: list[str], y: np.ndarray) -> None:
    x = pd.DataFrame({"x": np.linspace(-1.0, 3.0, 10)})
    with np.errstate(all="ignore"):
        model = made(x, pd.Series(y, name="y"), texts, valid=False)
    text = report_html(model, x, y)
    assert Tags(text).faults == []
    drawn = " ".join(v or "" for _, attrs in Tags(text).seen for k, v in attrs.items() if k in ("d", "cx", "cy", "x"))
    assert "nan" not in drawn and "inf" not in drawn


def test_one_row_and_a_constant_column() -> None:
    x = pd.DataFrame({"x": [2.0], "c": [1.0]})
    y = pd.Series([4.0], name="y")
    assert Tags(report_html(made(x, y, ["x**2*c"], valid=False), x, y)).faults == []


def test_mistakes_are_named() -> None:
    model, X, y = energy()
    with pytest.raises(DataError, match="both X and y"):
        report_html(model, X)
    with pytest.raises(DataError, match="column 'v_1'"):
        report_html(model, X.drop(columns="v_1"), y)
    with pytest.raises(DataError, match="one value per row"):
        report_html(model, X, y[:-1])
    with pytest.raises(DataError, match="fitted model"):
        report_html(UniSymNetRegressor())


def test_rows_with_missing_values_are_left_out_and_named() -> None:
    model, X, y = energy()
    X = X.copy()
    X.loc[0, "m"] = np.nan
    assert "1 rows were left out" in report_html(model, X, y)


def test_warnings_about_few_rows_and_what_lies_beyond() -> None:
    x = pd.DataFrame({"x": np.linspace(0.1, 2.0, 8)})
    y = pd.Series(np.log(x.x), name="y")
    text = report_html(made(x, y, ["ln(x)"], valid=False), x, y)
    assert "Only 8 rows" in text and "Holds where x &gt; 0" in text
    assert "undefined for some values of x" not in text  # below zero, where nobody measures a length
    x, y = x + 1.0, pd.Series(np.log(x.x), name="y")
    assert "undefined for some values of x below the data" in report_html(made(x, y, ["ln(x - 1)"], valid=False), x, y)


def test_notebooks_show_formulas_when_there_are_any() -> None:
    model, _, _ = energy()
    shown = model._repr_mimebundle_()
    assert shown["text/html"] == model._repr_html_()
    assert shown["text/html"].count("<math") == 4 and "note: constant" in shown["text/html"]
    assert "<math" not in UniSymNetRegressor()._repr_html_()


def test_the_page_needs_no_plotting_library() -> None:
    code = "import sys, unisymnet.report; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"


def test_long_names_that_begin_alike_stay_apart_in_the_network() -> None:
    x = pd.DataFrame({f"column_{i}": np.linspace(1.0, 2.0 + i, 12) for i in range(2)})
    y = pd.Series(x.column_0 * np.exp(x.column_1), name="y")
    text = report_html(made(x, y, ["column_0*exp(column_1)"], valid=False), x, y)
    assert ">co…n_0</text>" in text and ">co…n_1</text>" in text and "Inputs from the top: column_0, column_1" in text


def test_a_pole_breaks_the_line() -> None:
    x = pd.DataFrame({"x": np.linspace(1.0, 5.0, 30)})
    y = pd.Series(1.0 / x.x, name="y")
    text = report_html(made(x, y, ["1/x"], valid=False), x, y)
    beyond = re.search(r'class="curve beyond" d="([^"]*)"', text)
    assert beyond is not None and beyond[1].count("M") == 3


def test_constants_that_nobody_asked_about_are_not_called_fixed() -> None:
    plain = Formula.parse("2.5*a", ["a"])  # as all but the pick of goal="predict"
    assert "held fixed" not in _constants(plain) and "<td>–</td>" in _constants(plain)
    x = np.arange(1.0, 9.0)
    doubled = Formula.parse("2.52*(1.53*a)", ["a"]).with_errors(x[:, None], 3.86 * x + 0.1 * np.cos(5.0 * x))
    assert "held fixed" in _constants(doubled)
