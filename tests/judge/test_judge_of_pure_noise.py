"""Where nothing can be predicted, a constant is the shortest description, whatever the noise looks like."""

import numpy as np
import pytest

from unisymnet.fit.settle import shortest
from unisymnet.formula.constants import settle
from unisymnet.judge.judge import make_judge
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse


def _picked(texts, x, y):
    judge = make_judge(x, y)
    found = {text: judge.lengths(settle(parse(text), x, y)) for text in texts}
    return min((lengths.total, text) for text, lengths in found.items() if lengths is not None)[1]


def test_pure_noise_is_a_constant():
    lost = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = rng.uniform(0.5, 3.0, (15, 1))
        y = rng.normal(size=15)
        texts = ["0.1", "0.3*x0 + 0.1", "0.2*x0**1.3", "0.1*ln(x0) + 0.2", "0.3*exp(-0.5*x0)", "0.3*sin(2.1*x0 + 1)"]
        lost += _picked(texts, x, y) != "0.1"
    assert lost <= 1


@pytest.mark.parametrize("shape", ["skewed", "heavy tails"])
def test_a_constant_has_every_noise_model_too(shape):
    """Else any line under noise by a factor beats the mean of values that scatter over powers of ten."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.uniform(0.5, 3.0, (60, 1))
        y = np.exp(rng.normal(0.0, 1.5, 60)) if shape == "skewed" else 10.0 + rng.standard_t(1.5, 60)
        texts = ["1.1", "0.3*x0 + 1.1", "1.2*x0**0.3", "0.1*ln(x0) + 1.2"]
        assert _picked(texts, x, y) == "1.1"


def test_a_constant_far_from_the_middle_finds_it_under_noise_by_a_factor():
    y = np.exp(1.9 * np.random.default_rng(3).normal(size=60))
    found = shortest(parse(repr(float(np.mean(y)))), make_judge(np.ones((60, 1)), y))
    assert found is not None and found[1].model.kind == "factor"
    assert evaluate(found[0], np.ones((1, 1))) == pytest.approx(float(np.exp(np.mean(np.log(y)))), rel=1e-3)
