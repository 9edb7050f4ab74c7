"""Textbook forms start themselves: from noisy rows each finds its own constants, whatever the units."""

import numpy as np
import pytest

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.judge.forms import FORMS
from unisymnet.problem import make_problem
from unisymnet.propose.separable.textbook import Textbook
from unisymnet.symbolic.expr import evaluate, variables
from unisymnet.symbolic.parse import parse

LAWS = {
    "cooling": "21.3 + 61.7*exp(-0.083*x0)",
    "enzyme": "8.4*x0/(1.9 + x0)",
    "dose": "96/(1 + (x0/3.2)**-1.8)",
    "growth": "512/(1 + 23*exp(-0.31*x0))",
    "resonance": "5.2/(1 + ((x0 - 8.1)/1.6)**2)",
    "line": "7.1*exp(-((x0 - 9.3)**2)/6.3)",
    "vapour": "exp(11.3 - 38/(x0 + 4.6))",
    "tide": "2.3 + 1.1*sin(0.906*x0 + 0.7)",
    "Gompertz": "83*exp(-4.6*exp(-0.42*x0))",
    "two decays": "30*exp(-0.9*x0) + 12*exp(-0.11*x0)",
}


def _best(X, y):
    problem = make_problem(X, y)
    stage = Textbook().propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never())
    return min(np.mean((evaluate(p.expr, problem.X) - problem.y) ** 2) for p in stage) * problem.y_scale**2


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("name", LAWS)
def test_forms_reach_the_noise(name, scale):
    rng = np.random.default_rng(3)
    X = rng.uniform(0.2, 20.0, (70, 1))
    clean = evaluate(parse(LAWS[name]), X)
    noise = 0.03 * np.std(clean) * rng.normal(size=70)
    assert _best(X * scale, clean + noise) <= 1.05 * np.mean(noise**2)


def test_a_form_times_another_column():
    rng = np.random.default_rng(4)
    X = rng.uniform(0.2, 5.0, (80, 2))
    clean = 6.3 * X[:, 0] * X[:, 1] / (1.0 + 0.8 * X[:, 0])
    noise = 0.05 * rng.normal(size=80)
    assert _best(X, clean + noise) <= 1.05 * np.mean(noise**2)


@pytest.mark.parametrize("law", ["tanh(1/x0)", "tanh(1/x0)/x0", "x0*tanh(x0)", "1/(exp(1.3*x0) + exp(-1.3*x0))"])
def test_a_number_that_inputs_were_merged_into_may_be_the_other_way_round(law):
    rng = np.random.default_rng(5)
    X = rng.uniform(0.3, 4.0, (200, 1))
    clean = evaluate(parse(law), X)
    noise = 0.02 * np.std(clean) * rng.normal(size=200)
    problem = make_problem(X, clean + noise)
    stages = Textbook(most_inputs=1, factors=True), Textbook(most_inputs=1, inverted=True)
    rng, never = np.random.default_rng(0), Deadline.never()
    found = [p for stage in stages for p in stage.propose(problem, ParetoFront(), rng=rng, deadline=never)]
    wanted = "tanh" if "tanh" in law else "exp"
    left = [np.mean((evaluate(p.expr, problem.X) - problem.y) ** 2) for p in found if wanted in str(p.expr)]
    assert min(left) * problem.y_scale**2 <= 1.02 * np.mean(noise**2)


def test_only_allowed_operators():
    X = np.linspace(1.0, 3.0, 20)[:, None]
    problem = make_problem(X, X[:, 0] ** 2, operators=frozenset({"add", "mul", "sub", "neg"}))
    stage = Textbook().propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never())
    assert all("**" not in str(p.expr) and "exp" not in str(p.expr) for p in stage)


def test_every_form_has_a_name_of_its_own():
    assert len({form.name for form in FORMS}) == len(FORMS)


def test_planes_over_few_columns_are_tried_with_and_without_a_constant():
    rng = np.random.default_rng(4)
    X = rng.uniform(1.0, 9.0, (40, 3))
    y = 1.7 * X[:, 0] - 0.4 * X[:, 2] + 5.0
    problem = make_problem(X, y)
    found = [p.expr for p in Textbook().propose(problem, ParetoFront(), rng=rng, deadline=Deadline.after(60.0))]
    planes = [expr for expr in found if len(variables(expr)) == 2 and {0, 2} == set(variables(expr))]
    left = [float(np.max(np.abs(evaluate(expr, problem.X) - problem.y))) for expr in planes]
    assert min(left) < 1e-9
    assert any(len(variables(expr)) == 3 for expr in found)


def test_products_of_columns_are_tried_first():
    rng = np.random.default_rng(5)
    X = rng.uniform(1.0, 4.0, (14, 3))
    y = 1.7 * X[:, 0] ** 2 / X[:, 2] * np.exp(0.2 * rng.normal(size=14))
    problem = make_problem(X, y)
    stage = Textbook().propose(problem, ParetoFront(), rng=rng, deadline=Deadline.never())
    first = [next(stage).expr for _ in range(20)]
    law = evaluate(parse("x0**2/x2"), problem.X)
    ratios = [evaluate(expr, problem.X) / law for expr in first]
    assert any(np.ptp(ratio) < 1e-9 * np.mean(ratio) for ratio in ratios)
