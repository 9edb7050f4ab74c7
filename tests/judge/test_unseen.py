"""A sine without a period is a bend, that of an angle hardly less; so is a peak without its other side."""

import numpy as np
import pytest

from unisymnet.judge.judge import make_judge
from unisymnet.judge.unseen import ANGLE_NATS, FLANK_NATS, WAVE_NATS, unseen_nats
from unisymnet.symbolic.parse import parse

X = np.linspace(0.0, 5.0, 40)[:, None]


@pytest.mark.parametrize(
    ("text", "n_waves", "n_flanks"),
    [
        ("sin(0.71*x0 + 0.2)", 1, 0),
        ("0.3*x0 - 2.1*cos(0.431*x0)", 1, 0),
        ("sin(0.431*x0) + 2.2*cos(0.431*x0)", 1, 0),  # one wave
        ("sin(0.431*x0) + 2.2*cos(0.631*x0)", 2, 0),
        ("sin(3.31*x0 + 0.2)", 0, 0),  # seen whole
        ("2.2*sin(2*x0)", 0, 0),
        ("2.2*sin(29.7*x0)", 1, 0),  # turns between one row and the next
        ("2.2*sin(29*x0)", 1, 0),
        ("2.2*exp(-0.3*(x0 - 2.5)**2)", 0, 0),  # a peak in the middle
        ("2.2*exp(-0.3*(x0 - 4.9)**2)", 0, 1),
        ("2.2 - 1.1*exp(-0.3*(x0 + 1.9)**2)", 0, 1),
        ("exp(-0.3*x0**2 + 2.9*x0)", 0, 1),
        ("exp(-0.3*x0**2 + 1.3*x0)", 0, 0),
        ("3.1/(1.7 + (x0 - 4.9)**2)", 0, 1),
        ("3.1/(1.7 + (x0 - 1.9)**2)", 0, 0),
        ("3.1/(x0 + 1.7)**2", 0, 0),  # an inverse square has no peak
        ("3.1*(x0 - 6.1)**2", 0, 0),
        ("2.2*exp(-0.3*x0**2)", 0, 0),  # from where the column starts
        ("2.2*x0", 0, 0),
        ("25000*exp(-8.5*exp(-0.2*x0))", 0, 1),  # at most a twenty-third of its level is seen
        ("7.1*exp(-8.5*exp(-0.9*x0))", 0, 0),
        ("3.1*exp(-0.4*x0) + 2.2*exp(-1.3*x0)", 0, 0),
    ],
)
def test_shapes_that_the_rows_do_not_show(text, n_waves, n_flanks):
    assert unseen_nats(parse(text), X) == WAVE_NATS * n_waves + FLANK_NATS * n_flanks


@pytest.mark.parametrize("text", ["2.2*sin(x0)", "sin(x0/2)*cos(2*x0)", f"cos({np.pi!r}*x0/4)"])
def test_an_angle_without_a_period_is_a_cheaper_bend(text):
    assert unseen_nats(parse(text), X) == ANGLE_NATS < WAVE_NATS


def test_such_a_wave_is_dearer():
    few, many = (make_judge(X * scale, X[:, 0]) for scale in (1.0, 10.0))
    text = parse("3.3*sin(0.71*x0) + 1.2*x0")
    assert few.structure(text) == pytest.approx(many.structure(text) + WAVE_NATS)
