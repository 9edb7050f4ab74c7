"""Templates: their text, the known form solved for an unknown function, and laws found with them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.errors import DataError
from unisymnet.knowledge.template.invert import smooth_table, solved, wanted
from unisymnet.knowledge.template.plain import simplified
from unisymnet.knowledge.template.smooth import fit_smooth
from unisymnet.knowledge.template.text import holes_of, read_template
from unisymnet.symbolic import evaluate, parse

NAMES = ["x1", "x2", "x3"]


def test_a_template_is_put_together() -> None:
    template = read_template("a*sin(f(x1, x2)) + D(g, x3)*f(x2, x3)/g(x3)", NAMES)
    assert template.functions == {"f": (0, 1), "g": (2,)}
    whole = template.whole({"f": parse("3*x0 + x1"), "g": parse("x2**2")})
    X = np.random.default_rng(0).uniform(0.5, 2.0, (10, 3))
    a, b, c = X.T
    expected = 1.5 * np.sin(3 * a + b) + 2 * c * (3 * b + c) / c**2
    assert np.allclose(evaluate(whole, X, [1.5]), expected)


def test_the_known_form_is_solved_for_a_function() -> None:
    template = read_template("exp(-f(x1))*x2/(1 + x3)", NAMES)
    X = np.random.default_rng(0).uniform(0.5, 2.0, (20, 3))
    y = np.exp(-(X[:, 0] ** 2)) * X[:, 1] / (1 + X[:, 2])
    (hole,) = holes_of(template, "f")
    values = wanted(template.outer, hole, np.column_stack([X, np.ones(20)]), y)
    assert values is not None and np.allclose(values, X[:, 0] ** 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f(x9) + x1", "'x9' is none"),
        ("2*x1", "no unknown function"),
        ("f(x1) + f(x1, x2)", "same number"),
        ("D(f, x2) + f(x1)", "needs f as a function of x2"),
        ("", "must be text"),
        ("f(g(x1)*x2)", "can be of columns only"),
        ("f(f(x1))", "can be of columns only"),
        ("f(x1", "1 opening and 0 closing brackets"),
        ("D(g, x1)", "needs g as a function of x1"),
        ("D(f) + f(x1)", "must name a column"),
        ("y - f(x1)", "holds the target 'y'"),
    ],
)
def test_mistakes_are_told(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_template(text, NAMES, target="y")


@pytest.mark.parametrize(
    ("template", "law"),
    [
        ("f(x1) + g(x2, x3)", "2*sqrt(x0) + x1/(1 + x2)"),
        ("D(f, x1)*x2 + f(x1)", "3*x0**2*x1 + x0**3"),
        ("f(x1)/(1 + f(x1)*x2)", "x0**2/(1 + x0**2*x1)"),
        ("f(x1)*x3 - f(x2)", "sqrt(x0)*x2 - sqrt(x1)"),
        ("x3*cos(f(x1, x2))", "x2*cos(x0**2*x1)"),
    ],
)
def test_laws_are_found_with_a_template(template: str, law: str) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0.5, 2.0, (120, 3)), columns=NAMES)
    y = evaluate(parse(law), X.to_numpy())
    model = UniSymNetRegressor(max_time=120, max_evaluations=400, template=template).fit(X, y)
    assert model.formula_.score(X, y) > 1 - 1e-12


@pytest.mark.parametrize(
    ("template", "law"),
    [
        ("f(x0)*g(x1, x2)", "(1 + x0**2)*exp(0.3*x1*x2)"),
        ("sin(f(x0, x1)) + g(x2)", "sin(x0*x1) + x2**2"),
        ("f(x0)*x2 - f(x1)", "sqrt(x0)*x2 - sqrt(x1)"),
        ("D(f, x0)*x1 + f(x0)", "2*x0*x1 + x0**2"),
        ("k*f(x0)/(f(x0) + x1)", "3*x0**2/(x0**2 + x1)"),
    ],
)
def test_all_functions_are_first_fitted_together_as_smooth_ones(template: str, law: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (150, 3))
    y = evaluate(parse(law), X)
    read = read_template(template, ["x0", "x1", "x2"])
    smooth = fit_smooth(read, X, y, np.ones(150), rng, {})
    assert smooth is not None and smooth.clean and smooth.error < 1e-3 * np.std(y)
    table = smooth_table(read, smooth, {}, X)
    rest = y - evaluate(read.outer, table[:, : 3 + len(read.slots)], smooth.constants)
    assert np.sqrt(np.mean(rest**2)) < 1e-3 * np.std(y)


@pytest.mark.parametrize(
    ("template", "law", "place", "b"),
    [
        ("0.082*x0/(x1 - b) + f(x1)", "0.082*x0/(x1 - 0.043) - 3.6/x1**2", 0, 0.043),
        ("x0/(b - x1) + f(x1)", "x0/(1.2 - x1) + sqrt(x1)", 0, 1.2),
        ("a*x0/(x1 + b) + f(x2)", "70*x0/(x1 + 25) + x2**2", 1, 25.0),
        ("f(x2)/(x1 - b)", "exp(x2)/(x1 - 0.03)", 0, 0.03),
    ],
)
def test_a_constant_may_start_on_the_other_side_of_a_pole(template: str, law: str, place: int, b: float) -> None:
    """It had started at 1, and no step leads across a pole."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.uniform(280, 400, 200), np.exp(rng.uniform(np.log(0.06), 0.0, 200))])
        X = np.column_stack([X, rng.uniform(0.5, 2.0, 200)])
        y = evaluate(parse(law), X)
        y += 0.01 * y.std() * rng.standard_normal(200)
        smooth = fit_smooth(read_template(template, ["x0", "x1", "x2"]), X, y, np.ones(200), rng, {})
        assert smooth is not None and smooth.error < 0.015 * np.std(y)
        assert smooth.constants[place] == pytest.approx(b, rel=0.1)


def test_noise_is_not_taken_for_missing_degrees() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(0.5, 2.0, (200, 2))
    y = X[:, 0] ** 2 + 1.0 / X[:, 1] + rng.normal(0.0, 0.05, 200)
    smooth = fit_smooth(read_template("f(x0) + g(x1)", ["x0", "x1"]), X, y, np.ones(200), rng, {})
    assert smooth is not None and not smooth.clean and 0.04 < smooth.error < 0.07


def test_values_inside_a_wave_are_those_of_the_right_branch() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (150, 2))
    wave = 3.0 * X[:, 0] * X[:, 1]  # up to 12: several periods of the sine
    template = read_template("sin(f(x0, x1))", ["x0", "x1"])
    table = np.column_stack([X, wave + 0.01 * X[:, 0]])
    values = solved(template, "f", table, np.sin(wave), exact=True)
    steep = np.abs(np.cos(wave)) > 0.2
    assert np.allclose(values[steep], wave[steep], atol=1e-9)


@pytest.mark.parametrize(
    ("template", "law", "found", "plain"),
    [
        ("f(x0) + g(x1)", "sqrt(x0) + 2*x1 + 1", "1.9999999*x1 + 1.0001", "2*x1"),  # the other takes the constant
        ("f(x0)*g(x1)", "sqrt(x0)*(x1**2 + 1)", "0.6082*x1**1.9999998 + 0.6082001", "x1**2 + 1"),  # or the factor
        ("f(x0)*(1 + g(x1))", "sqrt(x0)*(1 + 2.5*x1)", "2.5000001*x1", "2.5*x1"),  # here it can take neither
        ("f(x0) + g(x1)", "sqrt(x0) + exp(x1)", "1.03*x1**2", None),  # not good enough
    ],
)
def test_formulas_become_plain_where_other_functions_allow_it(
    template: str, law: str, found: str, plain: str | None
) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (150, 2))
    rows = X, evaluate(parse(law), X), np.ones(150)
    smooth = fit_smooth(read_template(template, ["x0", "x1"]), *rows, rng, {})
    assert smooth is not None and smooth.clean
    shown = {name: str(expr) for name, expr in simplified(smooth, {"g": parse(found)}, rows).items()}
    assert shown == ({} if plain is None else {"g": plain})


def test_a_template_may_go_with_a_constraint_at_a_point() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"length": rng.uniform(0.05, 0.5, 80)})
    y = pd.Series(12 * X["length"] + 40 * X["length"] ** 3 + rng.normal(0.0, 0.05, 80), name="force")
    model = UniSymNetRegressor(
        max_time=None,
        max_evaluations=1000,
        n_jobs=1,
        template="k*length + f(length)",
        constraints=["force(length=0) = 0"],
    ).fit(X, y)
    assert model.score(X, y) > 0.99 and abs(model.formula_.predict(np.zeros((1, 1)))[0]) < 1e-6


def test_a_function_in_several_places_has_the_same_constants_in_each() -> None:
    """Under noise the constants of each place had been fitted on their own, and the formula was not of the template."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.uniform(0.5, 2.0, (150, 2)), columns=["x1", "x2"])
    f = np.exp(-0.8 * X["x1"])
    y = f - 0.8 * X["x2"] * f + rng.normal(0, 0.005, 150)
    template = "D(f, x1)*x2 + f(x1)"
    model = UniSymNetRegressor(max_time=None, max_evaluations=300, n_jobs=1, template=template).fit(X, y)
    assert model.score(X, y) > 0.99
    for entry in model.front_[1:]:
        x = np.linspace(0.6, 1.9, 40)
        value = entry.formula.predict(np.column_stack([x, np.zeros(40)]))
        slope = entry.formula.predict(np.column_stack([x, np.ones(40)])) - value
        steps = [entry.formula.predict(np.column_stack([x + h, np.zeros(40)])) for h in (1e-5, -1e-5)]
        assert np.allclose(slope, (steps[0] - steps[1]) / 2e-5, atol=1e-5 * np.ptp(y)), str(entry.formula)
