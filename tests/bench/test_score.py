import numpy as np
import pytest

from unisymnet.bench.problems import find_problem, load_suite
from unisymnet.bench.score import score_run
from unisymnet.symbolic import parse


def _score(name, text, **options):
    problem = find_problem(name)
    X, y = problem.sample(100, rng=np.random.default_rng(0), part="test")
    return score_run(problem, None if text is None else parse(text), X, y, **options)


@pytest.mark.parametrize("suite", ["nguyen*", "keijzer", "strogatz"])
def test_the_truth_passes_both_judges(suite):
    for problem in load_suite(suite):
        scores = _score(problem.name, problem.expression)
        assert scores["strict"] and scores["srbench"] and scores["r2"] == 1.0, problem.name


def test_a_near_miss_fails_the_strict_judge_only():
    scores = _score("Constant-1", "3.3901*x0**3+2.12*x0**2+1.78*x0")
    assert (scores["strict"], scores["srbench"]) == (False, True)


def test_the_form_is_judged_with_refitted_constants():
    scores = _score("Constant-1", "3.3*x0**3+2.1*x0**2+1.8*x0+0.02")
    assert (scores["strict"], scores["srbench"], scores["form"]) == (False, False, True)
    scores = _score("Constant-1", "3.3*x0**3+2.1*x0**2")
    assert (scores["strict"], scores["form"]) == (False, False)
    assert _score("Constant-6", "1.01*x0**0.4294")["form"] is True  # an exponent that is a constant
    assert _score("Koza-2", "x0**5-2*x0**2+x0")["form"] is False  # an exponent that is part of the form
    assert _score("Nguyen-1", None)["form"] is False and _score("diabetes", "x0")["form"] is None


def test_what_has_no_formula_or_no_truth_has_no_verdict():
    scores = _score("Nguyen-1", None)
    assert (scores["strict"], scores["srbench"], scores["r2"], scores["complexity"]) == (False, False, None, None)
    scores = _score("Nguyen-1", None, y_pred=np.zeros(100))
    assert scores["r2"] < 0.1
    scores = _score("diabetes", "x0 + 1")
    assert (scores["strict"], scores["srbench"], scores["true_complexity"]) == (None, None, None)


def test_an_undefined_prediction_has_no_accuracy():
    scores = _score("Nguyen-1", "sqrt(x0 - 0.5)")
    assert scores["r2"] is None and scores["strict"] is False


def test_a_roundabout_truth_does_not_excuse_a_long_answer():
    assert _score("feynman_I_6_2a", "0.3989422804014327*exp(-0.5*x0**2)")["true_complexity"] == 8
