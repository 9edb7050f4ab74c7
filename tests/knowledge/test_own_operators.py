"""Own operators: written as formulas, used by the parser, templates, the search, the command line and files."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

from unisymnet import DataError, Operator, ParseError, UniSymNetRegressor, evaluate, parse
from unisymnet.cli.app import app
from unisymnet.knowledge.operator.stage import small_forms
from unisymnet.knowledge.template.text import read_template
from unisymnet.regressor.own import fit_formula, fit_named
from unisymnet.regressor.validation import operator_set, own_operators
from unisymnet.symbolic.expr import n_params
from unisymnet.symbolic.own import read_operator

HILL = Operator("hill", "x^n/(1 + x^n)")
TEXT = "hill(x) = x^n/(1 + x^n)"


@pytest.fixture(scope="module")
def doses():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0.2, 5.0, (120, 2)), columns=["dose", "temp"])
    response = X.dose**2.5 / (1.0 + X.dose**2.5)
    return X, pd.Series(3.0 * response * X.temp + rng.normal(0.0, 0.02, 120), name="y")


class TestDefinition:
    def test_arguments_and_open_constants(self):
        assert HILL.arguments == ("x",) and HILL.open == ("n",)
        two = Operator("mix", "a*x + b*y", constants={"b": 2})
        assert two.arguments == ("x", "y") and two.open == ("a",)
        assert Operator("rate", "k*t", arguments=("t",)).open == ("k",)

    def test_written_out_it_has_the_values_of_the_formula(self):
        X = np.array([[0.5, 2.0], [3.0, 1.0]])
        expr = parse("hill(x0*x1)", own={"hill": Operator("hill", "x^n/(1 + x^n)", constants={"n": 2})})
        u = X[:, 0] * X[:, 1]
        np.testing.assert_allclose(evaluate(expr, X), u**2 / (1 + u**2))

    def test_every_use_has_constants_of_its_own(self):
        expr = parse("hill(a)*hill(b) + hill_n", ["a", "b"], free=True, own={"hill": HILL})
        assert n_params(expr) == 2  # hill_n is the constant of the first use, and may be named
        assert n_params(parse("hill(a)*hill(b) + c", ["a", "b"], free=True, own={"hill": HILL})) == 3

    def test_text_and_back(self):
        assert read_operator(TEXT) == Operator("hill", "x^n/(1 + x^n)", arguments=("x",))
        stated = Operator("hill", "x^n/(1 + x^n)", constants={"n": 2.5})
        again = read_operator(str(stated))
        np.testing.assert_allclose(evaluate(again.body, np.array([[1.7]])), evaluate(stated.body, np.array([[1.7]])))

    @pytest.mark.parametrize(
        ("make", "told"),
        [
            (lambda: Operator("sin", "x"), "already an operator"),
            (lambda: Operator("2x", "x"), "must be a word"),
            (lambda: Operator("f", "a + b"), "one to 3 different arguments, got none"),
            (lambda: Operator("f", "x", arguments=("x", "t")), "does not use its argument t"),
            (lambda: Operator("f", "a*x", constants={"b": 1}), "has no constant 'b'"),
            (lambda: Operator("f", "a*x", constants={"a": "2"}), "must be a number"),
            (lambda: Operator("f", "x +"), "ends too early"),
            (lambda: read_operator("f(x) == x"), "is written as"),
            (lambda: own_operators([HILL, TEXT]), "defined twice"),
            (lambda: operator_set("+,hil"), "is not known"),
        ],
    )
    def test_mistakes_are_told(self, make, told):
        with pytest.raises((ValueError, ParseError), match=told):
            make()

    def test_an_open_constant_needs_a_fit(self):
        with pytest.raises(ParseError, match="open constant 'n'"):
            parse("hill(x0)", own={"hill": HILL})
        with pytest.raises(ParseError, match="takes 1 arguments"):
            parse("hill(x0, x1)", free=True, own={"hill": HILL})

    def test_alone_they_forbid_nothing_among_others_they_do(self):
        assert operator_set([HILL]) == frozenset() and operator_set(TEXT) == frozenset()
        assert operator_set(["+", "*", HILL]) == operator_set("+,*") == operator_set(f"+,*,{TEXT}")
        assert own_operators("+,mix(x, y) = a*x + y") == (Operator("mix", "a*x + y", arguments=("x", "y")),)


class TestUse:
    def test_in_an_own_formula(self, doses):
        X, y = doses
        found, named = fit_named("k*temp*hill(dose)", X, y, operators=[HILL])
        assert named["hill_n"].value == pytest.approx(2.5, abs=0.05)
        assert named["k"].value == pytest.approx(3.0, abs=0.02)
        assert found.score(X, y) > 0.999
        with pytest.raises(ParseError, match="unknown function 'hill'"):
            fit_formula("hill(dose)", X, y)

    def test_in_a_template(self):
        template = read_template("hill(f(a)) + g(b)", ["a", "b"], {"hill": HILL})
        assert set(template.functions) == {"f", "g"} and n_params(template.outer) == 1

    def test_forms_hold_open_constants_and_stay_short(self):
        forms = [form for form, _ in small_forms((HILL,), 2)]
        assert len(forms) == len(set(forms)) > 10
        assert all(1 <= n_params(form) <= 5 for form in forms)

    def test_the_search_finds_it_with_its_constant(self, doses):
        X, y = doses
        model = UniSymNetRegressor(max_time=None, max_evaluations=60, n_jobs=1, operators=[HILL]).fit(X, y)
        exponents = [c.value for c in model.formula_.constants]
        assert any(abs(abs(v) - 2.5) < 0.05 for v in exponents), str(model.formula_)
        assert model.formula_.score(X, y) > 0.999
        assert "dose" in model.formula_.latex() and "dose" in model.formula_.to("python")

    def test_guesses_may_hold_it(self, doses):
        X, y = doses
        model = UniSymNetRegressor(max_evaluations=1, max_time=None, n_jobs=1, operators=[HILL], proposers=["monomial"])
        model.fit(X, y, guesses=["a*temp*hill(dose)"])
        assert model.formula_.score(X, y) > 0.999


class TestContract:
    def test_clone_pickle_and_files(self, doses, tmp_path):
        X, y = doses
        model = UniSymNetRegressor(max_time=None, max_evaluations=5, n_jobs=1, operators=["+", "*", HILL])
        assert clone(model).get_params()["operators"] == ["+", "*", HILL]
        assert pickle.loads(pickle.dumps(HILL)) == HILL
        model.fit(X, y)
        model.save(tmp_path / "m.json")
        again = UniSymNetRegressor.load(tmp_path / "m.json")
        assert own_operators(again.operators) == (read_operator(TEXT),)
        np.testing.assert_allclose(again.predict(X), model.predict(X))

    def test_an_operator_that_cannot_be_read_is_told_before_the_search(self, doses):
        with pytest.raises((ValueError, DataError), match="operator hill"):
            UniSymNetRegressor(operators="hill(x) = x^").fit(*doses)

    def test_command_line(self, doses, tmp_path):
        X, y = doses
        X.assign(y=y).to_csv(tmp_path / "d.csv", index=False)
        scored = CliRunner().invoke(
            app, ["score", str(tmp_path / "d.csv"), "k*temp*hill(dose)", "--target", "y", "--operator", TEXT, "--json"]
        )
        assert scored.exit_code == 0, scored.output
        named = json.loads(scored.stdout)["named"]
        assert named["hill_n"]["value"] == pytest.approx(2.5, abs=0.05)
        wrong = CliRunner().invoke(app, ["score", str(tmp_path / "d.csv"), "k", "--target", "y", "--operator", "hill"])
        assert wrong.exit_code != 0
