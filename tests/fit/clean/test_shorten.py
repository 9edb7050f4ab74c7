"""Formulas for noisy data become shorter where the judge gains, and only there."""

import numpy as np
import pytest

from unisymnet.deadline import Deadline
from unisymnet.fit.clean.shorten import shorten
from unisymnet.fit.settle import settled, shortest
from unisymnet.judge.judge import make_judge
from unisymnet.judge.noise import MODELS
from unisymnet.judge.tree import read
from unisymnet.symbolic.constants import free_constants
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.rewrite.simplify import simplify

X = np.linspace(0.3, 8.0, 40)[:, None]
NOISE = np.random.default_rng(5).normal(size=40)


def _shortened(text, y):
    judge = make_judge(X, y)
    found = shortest(parse(text), judge)
    assert found is not None
    return shorten(found, judge, Deadline.never())


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("200.123*x0*sin(0.0101*x0)", "2*x0**2"),  # a sine of a tiny argument
        ("171990.1 - 171985.2*tanh(1.0 - 0.0000123*x0)", "2*x0 + 3"),  # large terms that cancel
        ("200.12/(101.3 - x0) + 1.3*x0", "2*x0 + 3"),  # a pole far away
        ("42.1*x0**0.047 - 39.1", "2*ln(x0) + 3"),  # a power with a tiny exponent
        ("2.0123*x0**2 + 0.0123*x0 - 0.034", "2*x0**2"),  # terms that nobody misses
    ],
)
def test_limits_in_disguise(text, clean):
    y = {"2*x0**2": 2.0 * X[:, 0] ** 2, "2*x0 + 3": 2.0 * X[:, 0] + 3.0}.get(clean, 2.0 * np.log(X[:, 0]) + 3.0)
    expr, _ = _shortened(text, y + 0.1 * NOISE)
    assert free_constants(simplify(expr))[0] == free_constants(simplify(parse(clean)))[0]


def test_what_the_data_need_stays():
    y = 2.0 * np.sin(1.3 * X[:, 0] + 0.4) + 0.05 * NOISE
    expr, lengths = _shortened("1.987*sin(1.3012*x0 + 0.3912)", y)
    assert "sin" in str(expr) and lengths.n_free >= 2


def test_a_constant_far_from_any_simple_number_stays():
    y = 2.7317 * X[:, 0] + 0.02 * NOISE
    expr, _ = _shortened("2.7*x0 + 0.0123", y)
    assert abs(read(expr).values[0] - 2.7317) < 0.01 and read(expr).values[0] not in (2.7, 3.0)


def test_an_exponent_is_written_down_sooner_than_a_factor():
    """What is near to a simple number by chance stays as it was fitted: factors have units, exponents have reasons."""
    exponents, factors = 0, 0
    for seed in range(12):
        noise = np.random.default_rng(seed).normal(size=40)
        squared = _shortened("3.31*x0**2.013", 3.314 * X[:, 0] ** 2 + 0.9 * noise)[0]
        exponents += 2.0 in read(squared).values
        near = _shortened("2.01*sqrt(x0)", 2.012 * np.sqrt(X[:, 0]) + 0.1 * noise)[0]
        factors += 2.0 in read(near).values
    assert exponents >= 10 and factors <= 1


def test_relative_noise_gives_every_row_its_say():
    x = np.geomspace(0.01, 100.0, 60)[:, None]
    y = (3.0 * x[:, 0] + 0.5) * (1.0 + 0.05 * np.random.default_rng(2).normal(size=60))
    judge = make_judge(x, y)
    relative = settled(parse("3.0123*x0 + 0.4123"), judge, [0, 1], MODELS[1])
    equal = settled(parse("3.0123*x0 + 0.4123"), judge, [0, 1])
    assert relative is not None and equal is not None
    assert abs(read(relative).values[1] - 0.5) < 0.02 < abs(read(equal).values[1] - 0.5)
    found = shortest(parse("3.0123*x0 + 0.4123"), judge)
    assert found is not None and found[1].model.kind in ("relative", "both", "factor")


def test_what_starts_from_nothing_has_one_constant_for_both():
    y = 9.13 * (1.0 - np.exp(-0.37 * X[:, 0])) + 0.1 * NOISE
    expr, lengths = _shortened("9.088 - 9.039*exp(-0.3718*x0)", y)
    assert lengths.n_free == 2
    assert abs(evaluate(expr, np.zeros((1, 1)))[0]) < 1e-9


def test_an_offset_that_the_data_show_stays():
    y = 9.13 - 7.5 * np.exp(-0.37 * X[:, 0]) + 0.1 * NOISE
    _, lengths = _shortened("9.088 - 7.539*exp(-0.3718*x0)", y)
    assert lengths.n_free == 3


def test_two_constants_that_lean_on_each_other_become_simple_together():
    """The root of a quadratic: alone neither of its numbers gains enough."""
    rng = np.random.default_rng(4)
    rows = rng.uniform(0.2, 6.0, (200, 2))
    rows[:, 0] = rng.uniform(0.1, 2.0, 200)
    clean = rows[:, 0] * (np.sqrt(rows[:, 1] / rows[:, 0] + 0.25) - 0.5)
    judge = make_judge(rows, clean + 0.01 * np.std(clean) * rng.normal(size=200))
    found = shortest(parse("x0*(sqrt(x1/x0 + 0.26) - 0.51)"), judge)
    assert found is not None and len(found[1].free) == 2
    expr, lengths = shorten(found, judge, Deadline.never())
    assert evaluate(expr, rows) == pytest.approx(clean, rel=1e-12)
    assert not lengths.free and lengths.total < found[1].total - 4.0
