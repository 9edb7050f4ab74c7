"""Clean constants: right numbers at every noise, extreme scales kept, superfluous terms gone."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.fit.clean.snap import _Data, _standard_errors, snap
from unisymnet.fit.kernels.tape import compile_tape
from unisymnet.symbolic import evaluate, parse
from unisymnet.symbolic.rewrite.simplify import simplify

X = np.random.default_rng(0).uniform(1.0, 5.0, (500, 3))


def noisy(truth: str, noise: float) -> np.ndarray:
    y = evaluate(parse(truth), X)
    return y + noise * np.sqrt(np.mean(y**2)) * np.random.default_rng(1).normal(size=len(y))


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize(
    ("truth", "fitted"),
    [
        ("2*x0**2*x1/3+pi*x2", "2.0001*x0**1.9999*x1*0.33334+3.1415*x2+0.0001"),
        ("exp(-x0**2/2)/sqrt(2*pi)", "0.39894*exp(-0.50001*x0**2)"),
        ("x0/(x1+2.5)", "1.001*x0/(1.002*x1+2.501)"),
        ("sin(2*x0)+x1", "0.999*sin(2.0001*x0+0.0001)+1.0001*x1"),
        ("0.5*x0*(x1**2+x2**2)", "0.50003*x0*x1**2+0.49998*x0*x2**2+0.001*x0"),
    ],
)
def test_the_truth_comes_back_exactly(truth: str, fitted: str, noise: float) -> None:
    snapped = snap(parse(fitted), X, noisy(truth, noise))
    assert evaluate(snapped.expr, X) == pytest.approx(evaluate(parse(truth), X), rel=1e-12)
    assert all(constant.snapped_to for constant in snapped.constants)


def test_arbitrary_constants_stay_and_carry_their_error() -> None:
    snapped = snap(parse("3.39*x0**3 + 2.12*x1"), X, noisy("3.3917*x0**3 + 2.1261*x1", 0.001))
    values = {round(c.value, 1): c for c in snapped.constants}
    cubic = values[3.4]
    assert cubic.snapped_to is None
    assert abs(cubic.value - 3.3917) < 4 * cubic.stderr
    assert 0 < cubic.stderr < 0.01


def test_extreme_scales_are_not_rounded_away() -> None:
    truth = "6.674e-11*x0*x1/x2**2"
    exact = snap(parse(truth), X, noisy(truth, 0.0))
    assert exact.constants[0].snapped_to == "6.674e-11"
    assert evaluate(snap(parse(truth), X, noisy(truth, 0.1)).expr, X).min() > 0


def test_exact_data_stay_exact() -> None:
    truth = "3.1416*x0 + 0.3333*x1"  # near pi and 1/3, but not those
    snapped = snap(parse(truth), X, noisy(truth, 0.0))
    assert evaluate(snapped.expr, X) == pytest.approx(evaluate(parse(truth), X), rel=1e-13)


def test_superfluous_terms_are_dropped_needed_ones_kept() -> None:
    snapped = snap(parse("x0 + 0.001*x1 + 0.3*x2"), X, noisy("x0 + 0.3*x2", 0.01))
    text = str(simplify(snapped.expr))
    assert "x1" not in text
    assert "x2" in text


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_factors_that_hardly_vary_are_dropped_needed_ones_kept(noise: float) -> None:
    snapped = snap(parse("2.01*x0*x1**0.0003"), X, noisy("2*x0", noise))
    assert str(simplify(snapped.expr)) == "2*x0"
    kept = snap(parse("2.01*x0*x1**0.07"), X, noisy("2*x0*x1**0.07", noise))
    assert "x1" in str(kept.expr)


def test_too_few_rows_or_undefined_formulas_come_back_unchanged() -> None:
    expr = parse("1.5*x0 + 2.5*x1 + 3.5")
    assert snap(expr, X[:2], X[:2, 0]).expr == expr
    undefined = parse("1.5*ln(x0 - 100)")
    assert snap(undefined, X, X[:, 0]).expr == undefined


def test_constants_that_stand_in_for_each_other_do_not_hide_simple_ones() -> None:
    truth = "sqrt((x0 - x1)**2 + (x1 - x2)**2)"
    snapped = snap(parse("1.1047*sqrt(0.8163*(x0 - x1)**2 + 0.8177*(x1 - x2)**2)"), X, noisy(truth, 0.01))
    assert evaluate(snapped.expr, X) == pytest.approx(evaluate(parse(truth), X), rel=1e-12)


def test_constants_whose_errors_depend_on_each_other_are_snapped_together() -> None:
    narrow = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 1))
    truth = "x0**4 + x0**3 + x0**2 + x0"
    y = evaluate(parse(truth), narrow)
    y = y + 0.01 * np.std(y) * np.random.default_rng(0).normal(size=20)
    snapped = snap(parse("0.98*x0 + 1.01*x0**2 + 1.02*x0**3 + 0.99*x0**4"), narrow, y)
    assert evaluate(snapped.expr, narrow) == pytest.approx(evaluate(parse(truth), narrow), rel=1e-12)


def test_units_are_held_on_request() -> None:
    y = noisy("sin(x0) + x1", 0.05)
    held = snap(parse("2.1*sin(1*x0 + 1) + x1"), X, y, drop=False, hold_units=True)
    assert "x0 + 1" in str(held.expr)
    free = snap(parse("2.1*sin(1*x0 + 1) + x1"), X, y, drop=False)
    assert free.loss < held.loss


def test_slopes_whose_squares_are_no_numbers_still_have_errors() -> None:
    # The derivative by the first constant is up to 1e160, so its square overflows.
    inputs, params = np.linspace(0.98, 1.0, 60)[:, None], np.array([2e-160, 370.0])
    skeleton = parse("c0*exp(c1*x0)")
    data = _Data(inputs, evaluate(skeleton, inputs, params), None, None)
    errors = _standard_errors(compile_tape(skeleton, 1), data, params, 1e-4)
    assert np.isfinite(errors).all() and (errors > 1e-9 * params).all() and (errors < params).all()
