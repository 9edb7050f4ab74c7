"""Islands that see 1/y or ln(y): what they tell is of y, and numbers below a fraction line come by projection."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from joblib import Parallel

from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.evolve.islands import Island, Islands, can_see
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse

X = np.random.default_rng(2).uniform(0.5, 3.0, (120, 2))


def seeing(view: str, law: str, noise: float = 0.0) -> Islands:
    y = evaluate(parse(law), X) * (1.0 + noise * np.random.default_rng(0).normal(size=len(X)))
    islands = Islands(make_problem(X, y, weights=1.0 + X[:, 0]), seed=3, n_islands=1, work=5_000_000)
    islands.islands = [Island(islands.world(0, view=view), apart=view != "y")]
    return islands


@pytest.mark.parametrize(
    ("view", "law"),
    [("1/y", "1/(1.3 + 0.7*x0*x1 + 2.1*sin(x1))"), ("ln(y)", "exp(0.3 - 0.7*x0*x1 + 0.4*sin(x1))")],
)
def test_what_is_told_is_of_y(view: str, law: str) -> None:
    islands = seeing(view, law)
    for _ in range(30):  # on most processors three are enough; sums in another order take other ways
        found = islands.step(Parallel(n_jobs=1), Deadline.never())
        assert found
        for one in found:
            left = evaluate(one.expr, X) - islands.problem.y
            assert one.loss == pytest.approx(float(np.average(left**2, weights=islands.problem.weights)))
        if min(one.loss for one in found) < 1e-20 * islands.problem.spread**2:
            return
    raise AssertionError("the law was not found through its own view")


def test_losses_of_a_view_are_nearly_those_of_y() -> None:
    islands = seeing("1/y", "1/(1 + x0)", noise=0.01)
    found = islands.step(Parallel(n_jobs=1), Deadline.never())
    assert found
    inside = float(islands.islands[0].state.losses.min())
    assert inside == pytest.approx(min(one.loss for one in found), rel=0.1)


def test_a_new_life_may_see_something_else() -> None:
    law = evaluate(parse("1/(1.3 + 0.7*x0*x1)"), X)
    islands = Islands(make_problem(X, law), seed=3, work=1_000_000)
    seen = []
    for number, island in enumerate(islands.islands):
        lives = [island]
        for _ in range(3):
            lives.append(islands._reborn(number, lives[-1]))
        seen.append([life.world.view for life in lives])
        assert all(life.apart == (life.world.view != "y") for life in lives)
    assert seen[0] == ["y"] * 4
    assert seen[1] == ["y", "1/y", "y", "1/y"]
    assert seen[3] == ["y", "1/y", "ln(y)", "y"]


def test_only_what_is_defined_everywhere_is_seen() -> None:
    y = evaluate(parse("x0 - 1.5"), X)
    mixed, positive = make_problem(X, y), make_problem(X, np.abs(y) + 0.1)
    assert not can_see(mixed, "1/y") and not can_see(mixed, "ln(y)") and can_see(mixed, "y")
    assert can_see(positive, "1/y") and can_see(positive, "ln(y)")
    assert can_see(make_problem(X, -positive.y), "1/y") and not can_see(make_problem(X, -positive.y), "ln(y)")
    plain = replace(positive, operators=frozenset({"add", "mul"}))
    assert not can_see(plain, "1/y") and not can_see(plain, "ln(y)")
