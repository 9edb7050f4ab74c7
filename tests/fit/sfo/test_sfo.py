"""SFO: right exponents and constants from a skeleton, the paper's pure policy included."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.candidate import Status
from unisymnet.deadline import Deadline
from unisymnet.fit.sfo.sfo import SFO, SFOResult
from unisymnet.problem import Problem, make_problem
from unisymnet.symbolic import evaluate, parse

PAPER = SFO(warm=False, climb=False, sweep=0, deepen=0, parsimony=False)


def data(truth: str, *, low: float = 0.5, high: float = 3.0, n: int = 200, d: int = 3) -> Problem:
    X = np.random.default_rng(0).uniform(low, high, (n, d))
    return make_problem(X, evaluate(parse(truth), X))


def fit(settings: SFO, skeleton: str, problem: Problem, seed: int = 0, seconds: float = 20.0) -> SFOResult:
    rng = np.random.default_rng(seed)
    return settings.fit_expr(parse(skeleton), problem, rng=rng, deadline=Deadline.after(seconds))


@pytest.mark.parametrize(
    ("truth", "skeleton"),
    [
        ("2.5*x0**2/x1", "c0*x0**c1*x1**c2"),
        ("x1/(2.3*x2 + 4.6) + sin(x0)", "c0*x1**c1*(c2*x2 + c3)**c4 + c5*sin(c6*x0)"),
        ("3*x0**0.3*x1**-1.7", "c0*x0**c1*x1**c2"),
        ("sqrt(x0**2 + x1**2)", "(c0*x0**c1 + c2*x1**c3)**c4"),
    ],
)
def test_the_law_is_found(truth: str, skeleton: str) -> None:
    problem = data(truth)
    result = fit(SFO(), skeleton, problem)
    assert result.status is Status.OK
    assert np.sqrt(result.loss) < 1e-9 * problem.spread


def test_the_pure_policy_of_the_paper_finds_discrete_exponents() -> None:
    problem = data("2.5*x0**2/x1 + x2", low=-3.0, high=3.0)
    result = fit(PAPER, "c0*x0**c1*x1**c2 + c3*x2", problem)
    assert np.sqrt(result.loss) < 1e-9 * problem.spread
    assert result.choice == (2.0, -1.0)


def test_negative_inputs_need_whole_exponents() -> None:
    problem = data("x0**3*x1", low=-2.0, high=2.0)
    result = fit(SFO(), "c0*x0**c1*x1**c2", problem)
    assert result.choice[0] == 3.0


def test_history_is_kept_on_request_and_never_rises() -> None:
    problem = data("2.5*x0**2/x1 + x2", low=-3.0, high=3.0)
    settings = SFO(warm=False, keep_history=True)
    result = fit(settings, "c0*x0**c1*x1**c2 + c3*x2", problem)
    assert result.losses and list(result.losses) == sorted(result.losses, reverse=True)
    assert list(result.rewards) == sorted(result.rewards)
    assert not fit(SFO(), "c0*x0**c1", problem).losses


def test_repeated_choices_are_not_fitted_again() -> None:
    result = fit(SFO(warm=False, climb=False, sweep=0), "c0*x0**c1", data("sin(x0)"))
    assert result.n_fits <= len(SFO().exponents)


def test_same_seed_same_result_and_the_deadline_holds() -> None:
    problem = data("x0*exp(-x1)")
    first, second = (fit(SFO(), "c0*x0**c1*exp(c2*x1**c3)", problem, seed=3) for _ in range(2))
    assert first.expr == second.expr
    late = fit(SFO(), "c0*x0**c1*exp(c2*x1**c3)", problem, seconds=0.0)
    assert late.status in (Status.OK, Status.TIMED_OUT)


def test_undefined_everywhere_is_a_status() -> None:
    result = fit(SFO(), "c0*ln(0 - x0**2)", data("x0"))
    assert result.status is Status.NON_FINITE
    assert result.loss == np.inf


def test_literal_reward_depends_on_the_unit_the_normalised_one_does_not() -> None:
    problem = data("1000*sin(x0)")
    settings = [SFO(warm=False, reward=kind, keep_history=True) for kind in ("sum", "normalised")]
    literal, normalised = (fit(s, "c0*x0**c1", problem).rewards[-1] for s in settings)
    assert literal < 1e-3 < 0.5 < normalised


def test_under_noise_the_simplest_of_equal_choices_wins() -> None:
    problem = data("sin(x0**2)*cos(x0)", low=-1.0, high=1.0, n=20, d=1)
    noisy = make_problem(problem.X, problem.y + np.random.default_rng(0).normal(0.0, 0.004, 20))
    skeleton = "c0*sin(c1*x0**c2)**c3*cos(c4*x0)**c5"
    simplest = fit(SFO(n_steps=5, deepen=0), skeleton, noisy)
    lowest = fit(SFO(n_steps=5, deepen=0, parsimony=False), skeleton, noisy)
    assert simplest.choice == (2.0, 1.0, 1.0)
    assert lowest.loss < simplest.loss
    assert simplest.others
