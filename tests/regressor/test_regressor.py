"""The estimator as a user meets it: fit, table, formulas, guesses, storage, printing."""

import json
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from unisymnet import CheckpointError, Formula, ParseError, UniSymNetRegressor
from unisymnet.candidate import ParetoFront, Proposal
from unisymnet.deadline import Deadline
from unisymnet.problem import Problem
from unisymnet.regressor import fit_formula
from unisymnet.symbolic import parse


class Script:
    """A proposer that puts forward what a test wants."""

    def __init__(self, *lines: str) -> None:
        self.lines = lines

    @property
    def name(self) -> str:
        return "script"

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        for line in self.lines:
            yield Proposal(parse(line), "script")


RNG = np.random.default_rng(0)
X = RNG.uniform(1.0, 5.0, (120, 3))
Y = 0.5 * X[:, 0] * X[:, 1] ** 2
NOISY = Y + np.random.default_rng(1).normal(0.0, 0.5, len(Y))
LINES = ("x0*1.1", "x0*x1*1.1", "x0*x1**2*1.1", "x0*x1**2*1.1 + 0.01*sin(x2)")


def scripted(*lines: str, **settings: object) -> UniSymNetRegressor:
    return UniSymNetRegressor(max_time=20, proposers=[Script(*(lines or LINES))], **settings)


def test_the_public_contract() -> None:
    model = UniSymNetRegressor(max_time=60, random_state=0, n_jobs=2)
    assert repr(model) == "UniSymNetRegressor()" == str(model)
    assert model.get_params()["max_time"] == 60
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        _ = model.equations_


def test_a_law_without_noise_is_exact() -> None:
    table = pd.DataFrame(X, columns=["m", "v", "T"])
    model = scripted().fit(table, pd.Series(Y, name="E"))
    assert str(model.formula_) == "0.5*m*v**2"
    assert model.formula_.target == "E"
    assert model.stopped_ == "exact" and not model.interrupted_
    assert model.score(table, Y) == 1.0
    np.testing.assert_allclose(model.predict(table), Y, rtol=1e-14)
    assert list(model.feature_names_in_) == ["m", "v", "T"] and model.n_features_in_ == 3
    assert (model.n_train_, model.n_valid_) == (96, 24)


def test_the_table_of_a_noisy_fit() -> None:
    model = scripted().fit(X, NOISY)
    table = model.equations_
    wanted = ["complexity", "loss", "r2", "r2_valid", "score", "equation", "source", "domain", "picked"]
    assert list(table.columns) == wanted
    assert table["complexity"].is_monotonic_increasing and table["loss"].is_monotonic_decreasing
    assert table["picked"].sum() == 1 and bool(table["picked"][model.picked_])
    chosen = table["equation"][model.picked_]
    assert chosen == str(model.formula_) and re.fullmatch(r"0\.\d+\*x0\*x1\*\*2", chosen)
    for index, entry in enumerate(model.front_):
        assert str(model[index]) == table["equation"][index]
        np.testing.assert_array_equal(model.predict(X, index=index), entry.formula(X))
    assert str(model[-1]) == table["equation"].iloc[-1]
    with pytest.raises(IndexError, match="there is no formula 99; the table has"):
        model.predict(X, index=99)
    np.testing.assert_allclose(model.score_equations(X, NOISY), table["r2"], atol=1e-12)


def test_constants_are_those_of_all_rows() -> None:
    model = scripted("x0*x1**2*1.1").fit(X, NOISY)
    inputs = X[:, 0] * X[:, 1] ** 2
    best = float(inputs @ NOISY / (inputs @ inputs))
    (constant,) = model.formula_.constants
    if constant.snapped_to is None:
        assert constant.value == pytest.approx(best, rel=1e-9)
    assert constant.fitted == pytest.approx(best, rel=1e-9)
    # HC3: every row by its own residual, larger by the pull that it has on the fit.
    left = (NOISY - best * inputs) / (1.0 - inputs**2 / (inputs @ inputs))
    assert constant.stderr == pytest.approx(float(np.linalg.norm(inputs * left) / (inputs @ inputs)), rel=1e-3)


def test_an_overfitted_formula_is_not_picked() -> None:
    # Of two formulas for noise, the one that the rows kept back refute must lose, whatever its loss.
    rng = np.random.default_rng(3)
    inputs, noise = rng.uniform(0.0, 1.0, (60, 1)), rng.normal(0.0, 1.0, 60)
    # Six waves: with more, their constants hang together so closely that the machine decides what is left of them.
    wild = " + ".join(f"{0.1 * k}*cos({k}*3.1*x0)" for k in range(1, 7))
    model = scripted(wild, max_complexity=500).fit(inputs, noise)
    assert len(model.front_) >= 2 and model.picked_ == 0


def test_selection_rules() -> None:
    picks = {rule: scripted(selection=rule).fit(X, NOISY) for rule in ("best", "accuracy", "simplest")}
    sizes = {rule: model.front_[model.picked_].complexity for rule, model in picks.items()}
    assert sizes["simplest"] <= sizes["best"] <= sizes["accuracy"]
    assert picks["accuracy"].picked_ == len(picks["accuracy"].front_) - 1


def test_guesses_are_fitted_and_join_the_table() -> None:
    table = pd.DataFrame({"s": np.linspace(0.2, 9.0, 40)})
    rate = 4.2 * table["s"] / (1.5 + table["s"])
    model = scripted("x0").fit(table, rate, guesses=["a*s/(b + s)"])
    assert model.score(table, rate) == pytest.approx(1.0, abs=1e-14)
    assert model.equations_["source"][model.picked_] == "guesses"
    with pytest.raises(ParseError, match="unknown function 'f'"):
        model.fit(table, rate, guesses=["f(s)"])


def test_a_guess_keeps_its_column() -> None:
    rng = np.random.default_rng(4)
    wide = pd.DataFrame(rng.uniform(1.0, 2.0, (80, 14)), columns=[f"c{i}" for i in range(14)])
    strong = 9.0 * wide["c3"] * wide["c5"] + 0.01 * wide["c13"]
    model = scripted().fit(wide, strong, guesses=["9*c3*c5 + a*c13"])
    assert model.formula_.columns == ("c3", "c5", "c13") and model.score(wide, strong) == pytest.approx(1.0)


def test_fit_formula_finds_the_constants() -> None:
    table = pd.DataFrame({"s": np.linspace(0.2, 9.0, 60)})
    rate = 4.2 * table["s"] / (1.5 + table["s"]) + np.random.default_rng(5).normal(0.0, 0.01, 60)
    found = fit_formula("a*s/(b + s)", table, rate, target="rate")
    assert found.score(table, rate) > 0.999 and found.target == "rate"
    assert all(c.stderr is not None and c.stderr < 0.05 for c in found.constants)
    again = fit_formula("0.7*x0*x1**2", X, Y)
    assert again.score(X, Y) == pytest.approx(1.0)


def test_printing_shows_the_table_and_the_chosen_one() -> None:
    model = scripted().fit(pd.DataFrame(X, columns=["m", "v", "T"]), NOISY)
    lines = str(model).splitlines()
    assert re.match(r"y = f\(m, v, T\)   96 rows \+ 24 for validation   \d+\.\d of 20 s \(\w+: best found", lines[0])
    assert lines[2].split() == ["pick", "size", "R²", "valid", "R²", "train", "score", "formula"]
    assert sum(">>>" in line for line in lines) == 1
    assert any(line.startswith("y = 0.") for line in lines) and any("±" in line for line in lines)
    assert repr(model).startswith("UniSymNetRegressor(max_time=20,")


def test_save_and_load(tmp_path) -> None:
    model = scripted(operators="+,-,*,sin,^").fit(pd.DataFrame(X, columns=["m", "v", "T"]), NOISY)
    path = tmp_path / "deep" / "model.json"
    model.save(path)
    again = UniSymNetRegressor.load(path)
    table = pd.DataFrame(X, columns=["m", "v", "T"])
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    assert str(again) == str(model) and again.front_ == model.front_ and again.trace_ == model.trace_
    assert again.operators == "+,-,*,sin,^" and again.proposers is None  # an object is not stored
    data = json.loads(path.read_text())
    for change, message in (({"version": 9}, "version 9"), ({"schema": "?"}, "no schema"), ({"fitted": {}}, "damaged")):
        path.write_text(json.dumps(data | change))
        with pytest.raises(CheckpointError, match=message):
            UniSymNetRegressor.load(path)
    path.write_text("{")
    with pytest.raises(CheckpointError, match="not JSON"):
        UniSymNetRegressor.load(path)
    with pytest.raises(CheckpointError, match="cannot read"):
        UniSymNetRegressor.load(tmp_path / "none.json")


def test_pickle_and_joblib(tmp_path) -> None:
    model = scripted().fit(X, NOISY)
    joblib.dump(model, tmp_path / "model.joblib")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_it_works_inside_scikit_learn() -> None:
    model = scripted("x0*x1**2*1.1")
    assert cross_val_score(model, X, Y, cv=3).min() > 0.999
    pipeline = make_pipeline(FunctionTransformer(np.sqrt), scripted("x0**2*x1**4*1.1")).fit(X, Y)
    assert pipeline.score(X, Y) > 0.999
    grid = GridSearchCV(model, {"selection": ["best", "simplest"]}, cv=2, n_jobs=2).fit(X, Y)
    assert grid.best_score_ > 0.999
    parallel = joblib.Parallel(n_jobs=2)(joblib.delayed(clone(model).fit)(X, Y) for _ in range(2))
    assert [str(fitted.formula_) for fitted in parallel] == ["0.5*x0*x1**2"] * 2


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_tables_with_awkward_names(frame) -> None:
    names = ["N", "E S", "lambda"]
    model = scripted().fit(frame(dict(zip(names, X.T, strict=True))), Y)
    assert str(model.formula_) == "0.5*N*`E S`**2"
    assert model.score(frame(dict(zip(names, X.T, strict=True))), Y) == 1.0


def test_warm_start_keeps_what_was_found() -> None:
    model = scripted("x0*x1**2*1.1", warm_start=True).fit(X, NOISY)
    model.set_params(proposers=[Script("x2")]).fit(X, NOISY)
    assert model.formula_.columns == ("x0", "x1")
    found = str(model.formula_)
    model.set_params(warm_start=False).fit(X, NOISY)
    assert str(model.formula_) != found


def test_callback_hears_of_stages_and_formulas() -> None:
    heard = []
    scripted(callback=heard.append).fit(X, NOISY)
    assert {event.kind for event in heard} >= {"front", "stage"}
    assert all(isinstance(event.best, Formula) for event in heard)
    assert heard[-1].n_evaluations >= 4 and heard[-1].n_formulas >= 2


def test_verbose_writes_lines_to_stderr_only(capsys) -> None:
    scripted(verbose=True).fit(X, NOISY)
    captured = capsys.readouterr()
    assert captured.out == "" and "tried" in captured.err and "x0" in captured.err
    scripted().fit(X, NOISY)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_time": -1}, "max_time must be a positive number or None, got -1"),
        ({"max_time": "60"}, "max_time must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"operators": "+,sni"}, "operators: 'sni' is not known; choose from"),
        ({"selection": "luck"}, "selection must be one of best, accuracy, simplest, got 'luck'"),
        ({"strategy": "magic"}, "strategy must be one of auto, sfo"),
        ({"validation_fraction": 1.0}, "validation_fraction must lie in"),
        ({"max_evaluations": 0}, "max_evaluations must be a whole number"),
        ({"random_state": "now"}, "random_state must be"),
    ],
)
def test_wrong_parameters_are_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        UniSymNetRegressor(**settings).fit(X, Y)  # type: ignore[arg-type]


def test_operators_restrict_the_formulas() -> None:
    from unisymnet.regressor.validation import operator_set

    assert operator_set(None) == operator_set("all") == frozenset()
    assert operator_set("+, -, *") == {"add", "sub", "neg", "mul", "square"}
    assert operator_set(["sin", "log", "**"]) == {"sin", "ln", "pow", "square", "sqrt", "inv"}


def test_a_saved_model_loads_without_the_search(tmp_path) -> None:
    path = tmp_path / "model.json"
    scripted().fit(X, NOISY).save(path)
    code = (
        "import sys; from unisymnet import UniSymNetRegressor; m = UniSymNetRegressor.load(sys.argv[1]);"
        "m.predict([[1.0, 2.0, 3.0]]); str(m); print(*{'numba', 'sympy', 'torch', 'onnxruntime'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
