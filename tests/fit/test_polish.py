"""From proposal to candidate: constants in the space of y, units of the caller, clean numbers at the end."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.candidate import Proposal, Status
from unisymnet.deadline import Deadline
from unisymnet.fit.polish import Polish
from unisymnet.fit.sfo.sfo import SFO
from unisymnet.metrics import complexity
from unisymnet.problem import make_problem
from unisymnet.symbolic import evaluate, parse

X = np.random.default_rng(0).uniform(1.0, 4.0, (200, 2))
RNG = np.random.default_rng(0)


def polished(proposal: str, truth: str, X: np.ndarray = X, y: np.ndarray | None = None):  # type: ignore[no-untyped-def]
    problem = make_problem(X, evaluate(parse(truth), X) if y is None else y)
    fitter = Polish()
    candidate = fitter.fit(Proposal(parse(proposal), "test"), problem, rng=RNG, deadline=Deadline.after(20))
    return problem, fitter, candidate


def test_rough_numbers_become_exact_ones() -> None:
    problem, fitter, candidate = polished("2.2*x0**2 + 0.8*sin(1.1*x1)", "2*x0**2 + sin(x1)")
    assert candidate.loss < 1e-20
    finished = fitter.finish(candidate, problem, deadline=Deadline.after(5))
    assert evaluate(finished.expr, X) == pytest.approx(evaluate(parse("2*x0**2 + sin(x1)"), X), rel=1e-14)
    assert finished.complexity <= complexity(parse("2*x0**2 + sin(x1)"))
    assert finished.n_constants == 0


def test_unknown_constants_are_fitted_too() -> None:
    _, _, candidate = polished("c0*x0**c1/(x1 + c2)", "3*x0**2/(x1 + 0.7)")
    assert candidate.loss < 1e-18


def test_a_brief_look_finds_simple_exponents_and_is_brief() -> None:
    problem = make_problem(X, evaluate(parse("3*x0**2/(x1 + 0.7)"), X))
    asked: list[int] = []

    class Counting(SFO):
        def fit_expr(self, *args, **keywords):  # type: ignore[no-untyped-def]
            result = super().fit_expr(*args, **keywords)
            asked.append(result.n_fits)
            return result

    fitter = Polish(sfo=Counting())
    right, wrong = "c0*x0**c1/(x1 + c2)", "c0*x0**c1 + c2*x1**c3"
    for text, brief in ((right, 8), (wrong, 8), (wrong, 0)):
        candidate = fitter.fit(
            Proposal(parse(text), "test", brief), problem, rng=np.random.default_rng(0), deadline=Deadline.never()
        )
        assert candidate.status is Status.OK and (candidate.loss < 1e-18) == (text is right)
    assert asked[1] <= 12 < 40 < asked[2]


def test_extreme_units_come_back_in_the_callers_units() -> None:
    far = X * np.array([1e-12, 1e15])
    truth = "6.7e-11*x0*x1**2"
    problem = make_problem(far, evaluate(parse(truth), far))
    proposal = Proposal(problem.to_scaled(parse("6e-11*x0*x1**2")), "test")
    candidate = Polish().fit(proposal, problem, rng=RNG, deadline=Deadline.after(20))
    assert evaluate(candidate.expr, far) == pytest.approx(evaluate(parse(truth), far), rel=1e-12)


def test_structures_come_with_the_candidate_where_there_is_one() -> None:
    assert polished("1.1*x0*x1", "x0*x1")[2].structure is not None
    assert polished("1.1*atan(x0)", "atan(x0)")[2].structure is None


def test_failures_are_statuses() -> None:
    assert polished("1.5*ln(x0 - 100)", "x0")[2].status is Status.NON_FINITE
    huge = " + ".join(f"1.{i}*sin({i}.5*x0)" for i in range(1, 90))
    assert polished(huge, "x0")[2].status is Status.NOT_CONVERGED


def test_the_same_proposal_is_fitted_once() -> None:
    problem, fitter, candidate = polished("2.2*x0**2", "2*x0**2")
    again = fitter.fit(Proposal(parse("2.2*x0**2"), "test"), problem, rng=RNG, deadline=Deadline.after(5))
    assert again is candidate
