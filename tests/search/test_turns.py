"""Patience: a search under noise ends when the law has outlived enough turns."""

from __future__ import annotations

import numpy as np

from unisymnet.candidate import Candidate, ParetoFront
from unisymnet.problem import Problem, make_problem
from unisymnet.search.turns import DOUBTFUL, LEAST_TURNS, Patience
from unisymnet.symbolic.expr import Expr, Var

PROBLEM = make_problem(np.linspace(1.0, 2.0, 200)[:, None], np.linspace(1.0, 2.0, 200))


def _front(complexity: int, loss: float) -> ParetoFront:
    return ParetoFront([Candidate(Var(0), loss, complexity, 1)])


def _yes(problem: Problem, expr: Expr) -> bool:
    return True


def _turns_until_over(patience: Patience, front: ParetoFront) -> int:
    return next(turn for turn in range(1, 100) if patience.is_over(front))


def test_longer_formulas_need_more_turns() -> None:
    short = _turns_until_over(Patience(PROBLEM, _yes), _front(3, 1e-5))
    long = _turns_until_over(Patience(PROBLEM, _yes), _front(20, 1e-12))
    assert short == LEAST_TURNS + 1 and long > short


def test_data_that_do_not_look_noisy_need_more() -> None:
    sure = _turns_until_over(Patience(PROBLEM, _yes, lambda problem: True), _front(12, 1e-9))
    doubtful = _turns_until_over(Patience(PROBLEM, _yes, lambda problem: False), _front(12, 1e-9))
    assert doubtful - 1 == DOUBTFUL * (sure - 1)


def test_a_better_formula_starts_the_count_again() -> None:
    patience = Patience(PROBLEM, _yes)
    for _ in range(LEAST_TURNS):
        assert not patience.is_over(_front(3, 1e-5))
    assert not patience.is_over(_front(3, 1e-6))
    assert not patience.is_over(_front(3, 1e-6))


def test_without_a_test_without_noise_or_without_evidence_it_goes_on() -> None:
    for patience, front in (
        (Patience(PROBLEM, None), _front(3, 1e-5)),
        (Patience(PROBLEM, lambda problem, expr: False), _front(3, 1e-5)),
        (Patience(PROBLEM, _yes), _front(3, 0.9 * PROBLEM.spread**2)),
        (Patience(PROBLEM, _yes), ParetoFront()),
    ):
        assert not any(patience.is_over(front) for _ in range(50))


def test_noise_is_tested_once_for_each_formula() -> None:
    asked: list[Expr] = []

    def test(problem: Problem, expr: Expr) -> bool:
        asked.append(expr)
        return False

    patience = Patience(PROBLEM, test)
    for _ in range(20):
        patience.is_over(_front(3, 1e-5))
    assert len(asked) == 1
