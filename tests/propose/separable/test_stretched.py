"""Functions of power laws with free exponents, constants and offsets."""

import numpy as np
import pytest
from recover import draw, solve

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import make_problem
from unisymnet.propose.separable.inside import Stretched

ONE, TWO = [(0.1, 5.0)], [(0.1, 5.0), (0.2, 3.0)]


@pytest.mark.parametrize(
    ("law", "ranges"),
    [
        ("1 - exp(-0.36*x0**1.6)", ONE),
        ("0.4 + 2.3*exp(-0.85*x0**0.62)", ONE),
        ("0.05 + 1.7*(1 + 3.1*x0**2)**-0.31", ONE),
        ("3.1*ln(1 + 0.6*x0**1.7)", ONE),
        ("1.2 + 0.7*tanh(0.4*x0**1.3*x1**0.5)", TWO),
        ("2 - 0.7*atan(0.4*x1**2.2)", TWO),
    ],
)
def test_laws_with_an_exponent_inside_a_function(law, ranges):
    X, y = draw(law, ranges)
    assert solve(Stretched(), X, y)[0] < 1e-11


def test_noise_is_borne():
    X, y = draw("1 - exp(-0.36*x0**1.6)", ONE, n=300, noise=0.02)
    assert solve(Stretched(), X, y, noise=0.02)[0] < 0.021


def test_negative_inputs_and_forbidden_operators_are_left_alone():
    X, y = draw("x0**2", [(-1.0, 1.0)])
    assert solve(Stretched(), X, y)[1] is None
    X, y = draw("1 - exp(-0.36*x0**1.6)", ONE)
    allowed = frozenset({"add", "mul", "pow", "ln"})
    found = Stretched().propose(
        make_problem(X, y, operators=allowed), ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never()
    )
    assert all("exp" not in str(p.expr) and "tan" not in str(p.expr) for p in found)


def test_the_same_seed_proposes_the_same():
    X, y = draw("x0*sin(x1) + 1", TWO)
    problem = make_problem(X, y)
    runs = [
        [
            str(p.expr)
            for p in Stretched().propose(
                problem, ParetoFront(), rng=np.random.default_rng(3), deadline=Deadline.never()
            )
        ]
        for _ in range(2)
    ]
    assert runs[0] and runs[0] == runs[1]
