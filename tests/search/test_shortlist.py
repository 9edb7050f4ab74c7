"""The judge's shortlist, and a stop that waits until nothing shorter is left untried."""

from __future__ import annotations

import numpy as np

from unisymnet.candidate import Candidate, ParetoFront
from unisymnet.formula.constants import settle
from unisymnet.judge.judge import make_judge
from unisymnet.metrics import complexity
from unisymnet.problem import make_problem
from unisymnet.search.shortlist import Shortlist
from unisymnet.search.turns import LEAST_TURNS, Patience
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse

RNG = np.random.default_rng(0)
X = np.linspace(0.3, 8.0, 40)[:, None]
Y = 2.7 * X[:, 0] ** 1.3 + 0.05 * RNG.normal(size=40)


def _candidate(text: str) -> Candidate:
    expr = settle(parse(text), X, Y)
    values = evaluate(expr, X)
    return Candidate(expr, float(np.mean((values - Y) ** 2)), complexity(expr), 2)


def _filled(*texts: str) -> Shortlist:
    shortlist = Shortlist(make_judge(X, Y))
    for text in texts:
        shortlist.offer(_candidate(text))
    return shortlist


def test_the_law_leads_whatever_comes_first() -> None:
    texts = ("9.123", "4.456*x0 - 1.234", "2.7123*x0**1.3123", "2.1234*x0 + 1.2345*x0**2 - 0.3456*x0**3 + 0.4567")
    for order in (texts, texts[::-1]):
        best = _filled(*order).best
        assert best is not None and best.candidate.expr == _candidate("2.7123*x0**1.3123").expr


def test_what_is_longer_and_explains_less_is_not_kept() -> None:
    shortlist = _filled("2.7123*x0**1.3123")
    assert not shortlist.offer(_candidate("0.1234*sin(7.123*x0 + 0.2345)*cos(3.456*x0) + 8.123"))
    assert len(shortlist.members) == 1


def test_a_candidate_is_judged_once() -> None:
    shortlist = _filled("2.7123*x0**1.3123")
    assert not shortlist.offer(_candidate("2.7123*x0**1.3123"))


def _patience(tried: float) -> tuple[Patience, ParetoFront]:
    shortlist = _filled("9.123", "2.7123*x0**1.3123")
    patience = Patience(make_problem(X, Y), lambda problem, expr: True, lambda problem: True, shortlist)
    patience.tried = tried
    return patience, shortlist.front()


def _turns(patience: Patience, front: ParetoFront) -> int | None:
    return next((turn for turn in range(1, 200) if patience.is_over(front)), None)


def test_a_search_ends_soon_when_nothing_shorter_is_left() -> None:
    patience, front = _patience(tried=30.0)
    assert _turns(patience, front) == LEAST_TURNS + 1
    assert patience.proven


def test_else_it_goes_on_and_does_not_claim_a_proof() -> None:
    patience, front = _patience(tried=5.0)
    turns = _turns(patience, front)
    assert turns is not None and turns > LEAST_TURNS + 3
    assert not patience.proven


def test_no_proof_while_something_is_left_to_explain() -> None:
    shortlist = _filled("9.123", "4.456*x0 - 1.234")
    patience = Patience(make_problem(X, Y), lambda problem, expr: False, None, shortlist)
    patience.tried = 50.0
    assert _turns(patience, shortlist.front()) is None and not patience.proven
