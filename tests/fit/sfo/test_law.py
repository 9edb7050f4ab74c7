"""One skeleton, one law: the right exponents and clean constants under noise."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.candidate import Status
from unisymnet.deadline import Deadline
from unisymnet.fit.sfo.law import fit_law
from unisymnet.fit.sfo.sfo import SFO
from unisymnet.problem import make_problem
from unisymnet.symbolic import evaluate, parse

QUICK = SFO(n_steps=5, sweep=100, deepen=0)


@pytest.mark.parametrize(
    ("truth", "skeleton", "low", "n"),
    [
        ("sin(x0**2)*cos(x0) - 1", "c0*sin(c1*x0**c2)**c3*cos(c4*x0)**c5 + c6", -1.0, 20),
        ("x0/(2*(x1 + 1))", "c0*x0**c1*(c2*x1 + c3)**c4", 1.0, 200),
        ("sqrt(x0**2 + x1**2)", "c0*(c1*x0**c2 + c3*x1**c4)**c5", 1.0, 200),
    ],
)
def test_the_law_comes_back_from_noisy_rows(truth: str, skeleton: str, low: float, n: int) -> None:
    X = np.random.default_rng(0).uniform(low, low + 2.0, (n, 2))
    y = evaluate(parse(truth), X)
    noisy = y + 0.01 * np.std(y) * np.random.default_rng(1).normal(size=n)
    law = fit_law(
        parse(skeleton), make_problem(X, noisy), rng=np.random.default_rng(0), deadline=Deadline.after(60), sfo=QUICK
    )
    assert evaluate(law.expr, X) == pytest.approx(y, rel=1e-9)


def test_extreme_units_come_back_in_the_callers_units() -> None:
    X = np.random.default_rng(0).uniform(1.0, 3.0, (100, 1)) * 1e12
    problem = make_problem(X, 2e-30 * X[:, 0] ** 2)
    law = fit_law(parse("c0*x0**c1"), problem, rng=np.random.default_rng(0), deadline=Deadline.after(20), sfo=QUICK)
    assert evaluate(law.expr, X) == pytest.approx(2e-30 * X[:, 0] ** 2, rel=1e-9)


def test_what_is_undefined_is_a_status() -> None:
    X = np.linspace(-2.0, -1.0, 20)[:, None]
    law = fit_law(
        parse("ln(x0) + c0"), make_problem(X, X[:, 0]), rng=np.random.default_rng(0), deadline=Deadline.after(5)
    )
    assert law.status is Status.NON_FINITE
