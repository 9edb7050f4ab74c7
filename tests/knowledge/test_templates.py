"""Templates: their text, the known form solved for an unknown function, and laws found with them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.candidate import ParetoFront
from unisymnet.errors import DataError
from unisymnet.knowledge.template.fill import Fill
from unisymnet.knowledge.template.invert import wanted
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
    ],
)
def test_mistakes_are_told(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_template(text, NAMES)


@pytest.mark.parametrize(
    ("template", "law"),
    [
        ("f(x1) + g(x2, x3)", "2*sqrt(x0) + x1/(1 + x2)"),
        ("D(f, x1)*x2 + f(x1)", "3*x0**2*x1 + x0**3"),
        ("f(x1)/(1 + f(x1)*x2)", "x0**2/(1 + x0**2*x1)"),
    ],
)
def test_laws_are_found_with_a_template(template: str, law: str) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0.5, 2.0, (120, 3)), columns=NAMES)
    y = evaluate(parse(law), X.to_numpy())
    model = UniSymNetRegressor(max_time=120, max_evaluations=400, template=template).fit(X, y)
    assert model.formula_.score(X, y) > 1 - 1e-12


def test_the_first_guesses_of_several_functions_are_fitted_together() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (150, 3))
    y = (1.0 + X[:, 0] ** 2) * np.exp(0.3 * X[:, 1] * X[:, 2])
    template = read_template("f(x0)*g(x1, x2)", ["x0", "x1", "x2"])
    rough = Fill(template, solve=lambda *_: ParetoFront())._rough(X, y, np.ones(150), rng)
    values = evaluate(template.whole(rough), X)
    assert 1.0 - np.var(y - values) / np.var(y) > 0.999  # constants in the place of both would leave nearly all
