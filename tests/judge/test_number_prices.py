"""Numbers written down: one that only rounds to a simple number does not have its price."""

import math

import numpy as np

from unisymnet.judge.judge import make_judge
from unisymnet.judge.numbers import number_key
from unisymnet.judge.prior import load_prior
from unisymnet.symbolic.parse import parse


def test_a_number_near_a_simple_one_does_not_have_its_price():
    prior = load_prior()
    for near, simple in ((0.9999997, 1.0), (2.0000004, 2.0), (0.50000011, 0.5), (9.8100003, 9.81)):
        assert prior.constant_nats(near) > prior.constant_nats(simple) + 5.0
    assert number_key(math.pi) == "3.14159" and number_key(9.81) == "9.81" and number_key(0.5) == "1/2"


def test_a_factor_of_nearly_one_does_not_beat_none():
    axis = np.geomspace(0.3, 40.0, 15)
    y = axis**1.5 * (1.0 + 3e-6 * np.cos(37.0 * np.arange(15)))
    judge = make_judge(axis[:, None], y)
    plain, factor = (judge.lengths(parse(text, ["x"])) for text in ("x**1.5", "0.9999997*x**1.5"))
    assert plain.total < factor.total


def test_a_high_power_on_a_short_range_does_not_pass_for_an_exponential():
    volts = np.linspace(0.45, 0.75, 9)
    current = 5e-8 * np.exp(27.9 * volts) * (1.0 + 0.04 * np.cos(11.0 * np.arange(9)))
    judge = make_judge(volts[:, None], current)
    power, exponential = (judge.lengths(parse(text, ["v"])) for text in ("6400*v**17", "5e-8*exp(27.9*v)"))
    assert exponential.total < power.total
    prior = load_prior()
    assert prior.exponent_nats(17.0) > prior.exponent_nats(6.0) + 11.0 / 1.5
