"""± over the kinds of noise that few rows do not tell apart: as wide as these differ, whatever sign a number has."""

import numpy as np

from unisymnet.fit.clean.verdict import Ruled
from unisymnet.fit.settle import shortest, under_other_noise
from unisymnet.judge.judge import make_judge
from unisymnet.regressor.judged import entry_of
from unisymnet.regressor.validation import Data
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.rewrite.simplify import present


def test_few_rows_widen_the_errors_a_little() -> None:
    rng = np.random.default_rng(2)
    x = np.linspace(4.0, 25.0, 40)
    y = (3.4 * x - 10.0) * (1.0 + 0.25 * rng.normal(size=40) / np.sqrt(x / 10.0))
    X, data = x[:, None], Data(x[:, None], y, None, ("speed",), "distance")
    judge = make_judge(X, y)
    expr, lengths = shortest(parse("3.5*x0 - 10"), judge)
    assert under_other_noise(expr, lengths, judge)
    row = Ruled(present(expr), lengths, "own")
    plain, doubted = (entry_of(row, data, None, judge=one).formula.constants for one in (None, judge))
    for before, after in zip(plain, doubted, strict=True):
        assert before.value == after.value
        assert 0.8 * before.stderr < after.stderr < 2.0 * before.stderr
