"""Fits of constants after a search end with its time, with the best that they have."""

import numpy as np
import pytest

from unisymnet.deadline import Deadline
from unisymnet.formula.constants import free, report, settle
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 3.0, (200, 1))
Y = 2.5 * np.exp(0.7 * X[:, 0]) + RNG.normal(0.0, 0.05, 200)
FAR = parse("1.31234567*exp(1.10567891*x0)", ["x0"])
OVER = Deadline(-1.0)


class Counted(Deadline):
    """Over after so many looks at the clock."""

    looks = 0

    def expired(self) -> bool:
        Counted.looks += 1
        return Counted.looks > self.moment


def _left(expr: object) -> float:
    return float(np.mean((evaluate(expr, X) - Y) ** 2))  # type: ignore[arg-type]


def test_without_time_constants_stay_and_their_errors_are_told() -> None:
    assert settle(FAR, X, Y, deadline=OVER) == FAR
    constants = report(FAR, X, Y, deadline=OVER)
    assert [c.value for c in constants] == [c.fitted for c in constants] == list(free(FAR)[1])
    assert all(c.stderr is not None and c.stderr > 0.0 for c in constants)


@pytest.mark.parametrize("looks", range(1, 40))
def test_a_fit_that_is_cut_short_anywhere_keeps_the_best_so_far(looks: int) -> None:
    Counted.looks = 0
    cut = settle(FAR, X, Y, deadline=Counted(float(looks)))
    assert Counted.looks <= looks + 1  # nothing goes on behind the deadline
    assert _left(settle(FAR, X, Y)) * (1 - 1e-9) <= _left(cut) <= _left(FAR)
