"""`score --run`: the user's formula in the table of a fit; and what a result warns about."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from report.models import energy
from unisymnet import UniSymNetRegressor
from unisymnet.cli import main
from unisymnet.cli.screen import print_result


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    model, X, y = energy()
    X[["junk", "v_1", "m"]].assign(E=y).to_csv("data.csv", index=False)  # in another order than in the run
    model.save("run/model.json")

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["unisymnet", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run


def test_a_better_formula_takes_its_place_on_the_front(call) -> None:
    code, out, err = call("score", "data.csv", "a*v_1**2", "--run", "run")
    assert code == 0, err
    assert "yours is 1: nothing shorter fits as well" in out and "unisymnet export run --pick 1 --to latex" in out
    model = UniSymNetRegressor.load("run/model.json")
    assert [entry.source for entry in model.front_] == ["monomial", "yours", "monomial", "monomial"]
    assert str(model.formula_) == "0.5*m*v_1**2" and model.picked_ == 3
    assert model[1].columns == ("v_1",) and model[1].constants[0].stderr is not None
    # Again: nothing is doubled.
    assert json.loads(call("score", "data.csv", "a*v_1**2", "--run", "run", "--json")[1])["pick"] == 1
    assert len(UniSymNetRegressor.load("run/model.json").front_) == 4


def test_a_worse_formula_is_compared_all_the_same(call) -> None:
    out = call("score", "data.csv", "a*m*v_1 + b*junk", "--run", "run/model.json")[1]
    assert "yours is 3; 2 is no longer and fits at least as well" in out
    assert len(UniSymNetRegressor.load("run/model.json").front_) == 4


def test_a_needless_constant_does_not_make_a_formula_better(call) -> None:
    """On noisy rows one more free constant always gains a little; that is no reason to prefer it."""
    table = pd.read_csv("data.csv")
    table["E"] += np.random.default_rng(0).normal(0.0, 0.1, len(table))
    table.to_csv("noisy.csv", index=False)
    kept = UniSymNetRegressor(proposers=["monomial"], max_time=None, n_jobs=1).fit(table[["m", "v_1"]], table["E"])
    kept.save("noisy/model.json")
    assert str(kept.formula_) == "0.5*m*v_1**2"
    _, out, err = call("score", "noisy.csv", "a*m**b*v_1**c", "--run", "noisy")
    assert f"; {kept.picked_} is shorter and fits about as well" in out, out + err


def test_columns_that_the_run_does_not_know_are_named(call) -> None:
    Path("data.csv").write_text("m,w,E\n1,2,3\n2,3,4\n3,5,9\n")
    code, _, err = call("score", "data.csv", "a*m + w", "--run", "run")
    assert code == 3 and "without the column 'w'; it has m, v_1, junk" in err


def test_a_result_says_what_it_does_without_and_what_is_doubtful(capsys: pytest.CaptureFixture[str]) -> None:
    model, X, y = energy()
    model._drawn = (X.to_numpy()[:12], y.to_numpy()[:12])
    print_result(model)
    out = capsys.readouterr().out
    assert "not used: junk" in out and "note: constant columns" in out
    assert "careful: Only 12 rows" in out and "rows kept back" in out
    assert "is unexplained" not in out  # noise of a percent is nothing to be careful about


def test_json_has_no_infinities(call) -> None:
    Path("data.csv").write_text("m,v_1,junk,E\n-1,2,1,3\n2,3,1,4\n3,5,1,9\n")
    out = call("refit", "run", "data.csv", "--pick", "0", "--json")[1]
    assert json.loads(out, parse_constant=pytest.fail)["rows"] == 3


def test_a_search_that_goes_on_keeps_my_formula(call) -> None:
    """A front drops what is worse than others; the user wanted to compare."""
    fit = ("fit", "data.csv", "--target", "E", "--max-time", "0.5", "-q", "--out", "mine")
    assert call(*fit)[0] == 0
    assert call("score", "data.csv", "a*junk + b", "--run", "mine")[0] == 0
    assert call(*fit, "--resume")[0] == 0
    model = UniSymNetRegressor.load("mine/model.json")
    assert [entry.formula.columns for entry in model.front_ if entry.source == "yours"] == [("junk",)]
    assert "junk" not in model.formula_.columns
    assert call(*fit)[0] == 0
    assert all(entry.source != "yours" for entry in UniSymNetRegressor.load("mine/model.json").front_)


def test_names_that_are_no_columns_are_told(call) -> None:
    Path("odd.csv").write_text("x-1,who,y\n" + "".join(f"{i},w{i},{2 * i}\n" for i in range(1, 20)))
    for text, told in (
        ("a*y", "warning: y is the target, which its own formula cannot contain; here it is a constant to fit"),
        ("a*who", "warning: who is a column that is left out; here it is a constant to fit"),
        ("a*x-1", "warning: write the column x-1 as `x-1`"),
    ):
        code, _, err = call("score", "odd.csv", text)
        assert code == 0 and told in err and "did you mean" not in err
    assert "warning" not in call("score", "odd.csv", "a*`x-1`")[2]
    code, _, err = call(
        *("fit", "data.csv", "--target", "E", "--guess", "a*v_2**2", "--max-evaluations", "2", "--quiet"),
        *("--jobs", "1", "--max-time", "20"),
    )
    assert code == 0 and "fitted constants: a, v_2" in err and "v_2 is not a column (did you mean 'v_1'?)" in err


@pytest.mark.filterwarnings("default::UserWarning")
def test_a_warning_is_one_line_without_code(call) -> None:
    Path("words.csv").write_text("x,kind,y\n" + "".join(f"{i},{'ab'[i % 2]},{2 * i + i % 2}\n" for i in range(1, 20)))
    Path("new.csv").write_text("x,kind\n1,a\n2,c\n")
    code, _, err = call("fit", "words.csv", "--out", "w", "--max-time", "5", "--max-evaluations", "3", "--jobs", "1")
    assert code == 0, err
    code, out, err = call("predict", "w", "new.csv")
    assert code == 0 and len(out.splitlines()) == 3
    assert "warning: column 'kind' holds 'c', which the fit never saw" in err and ".py" not in err
