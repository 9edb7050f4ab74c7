"""Bands hold as many new measurements as they say, whatever the noise depends on, and live on in JSON."""

from dataclasses import replace

import numpy as np
import pytest

from unisymnet.errors import CheckpointError, DataError
from unisymnet.fit.settle import shortest
from unisymnet.formula import Formula
from unisymnet.formula.band import make_band
from unisymnet.judge.judge import make_judge
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse

LAW = parse("7.13*x0/(2.31 + x0) + 0.53")
SIZES = {
    "equal": lambda f: 0.2 + 0.0 * f,
    "relative": lambda f: 0.06 * np.abs(f),
    "counts": lambda f: 0.12 * np.sqrt(np.abs(f)),
}


def _formula(kind, n, seed):
    rng = np.random.default_rng([seed, n])
    X = rng.uniform(0.1, 12.0, (n, 1))
    clean = evaluate(LAW, X)
    y = clean + SIZES[kind](clean) * rng.normal(size=n)
    found = shortest(LAW, make_judge(X, y))
    assert found is not None
    expr, lengths = found
    values = evaluate(expr, X)
    band = make_band(expr, X, y, lengths.model.roots(values, y - values), lengths.model.kind, lengths.model.ratio)
    assert band is not None
    return Formula(expr, ("x",), band=band), rng


@pytest.mark.parametrize("kind", list(SIZES))
@pytest.mark.parametrize("n", [15, 60])
def test_new_measurements_fall_into_the_band(kind, n):
    inside = []
    for seed in range(25):
        formula, rng = _formula(kind, n, seed)
        X = rng.uniform(0.1, 12.0, (60, 1))
        clean = evaluate(LAW, X)
        y = clean + SIZES[kind](clean) * rng.normal(size=60)
        low, high = formula.predict_interval(X)
        inside.append(np.mean((y >= low) & (y <= high)))
    assert 0.92 < np.mean(inside) < 0.98


def test_a_wider_band_for_more_measurements():
    formula, _ = _formula("equal", 40, 1)
    X = np.linspace(0.5, 10.0, 9)[:, None]
    narrow, wide = (np.subtract(*formula.predict_interval(X, level)[::-1]) for level in (0.5, 0.99))
    assert (wide > 3.0 * narrow).all()


def test_doubt_about_the_constants_grows_outside_the_data():
    formula, _ = _formula("equal", 15, 2)
    low, high = formula.predict_interval(np.array([[6.0], [400.0]]))
    assert (high - low)[1] > 1.2 * (high - low)[0]


def test_a_band_lives_on_in_json():
    formula, _ = _formula("relative", 30, 3)
    again = Formula.from_json(formula.to_json())
    X = np.linspace(0.5, 10.0, 9)[:, None]
    assert again.band == formula.band
    assert np.array_equal(again.predict_interval(X), formula.predict_interval(X))


@pytest.mark.parametrize("change", [{"kind": "loud"}, {"spread": [1.0]}, {"middle": 0.0}, {"level": -1.0}])
def test_a_damaged_band_is_refused(change):
    formula, _ = _formula("equal", 30, 4)
    data = formula.to_dict()
    data["band"] |= change
    with pytest.raises(CheckpointError, match="damaged"):
        Formula.from_dict(data)


def test_without_noise_there_is_no_band():
    formula = Formula.parse("2*x", ["x"])
    with pytest.raises(DataError, match="nothing is known about the noise"):
        formula.predict_interval([[1.0]])
    banded, _ = _formula("equal", 30, 5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        banded.predict_interval([[1.0]], level=95)
    assert replace(banded, band=None).band is None


@pytest.mark.parametrize(("kind", "said"), [("equal", "the same for every row, ±0.2"), ("relative", "±6 %")])
def test_the_noise_is_told_in_words(kind, said):
    formula, _ = _formula(kind, 400, 6)
    band = replace(formula.band, kind=kind, level=0.2 if kind == "equal" else 0.3, middle=5.0)
    assert said in band.words()


def test_the_report_draws_the_band_of_the_noise_model():
    from unisymnet.report.rows import Rows, slice_of

    formula, rng = _formula("relative", 200, 7)
    X = np.linspace(0.3, 12.0, 50)[:, None]
    piece = slice_of(formula, Rows(X, formula.predict(X) * (1.0 + 0.06 * rng.normal(size=50))), 0)
    low, high = formula.predict_interval(piece.x[:, None])
    assert piece.below == pytest.approx(low, rel=1e-6) and piece.above == pytest.approx(high, rel=1e-6)
    near, far = np.interp([0.3, 11.0], piece.x, piece.above - piece.below)
    assert far > 2.0 * near


def test_the_band_of_noise_by_a_factor_stays_positive_and_covers():
    from unisymnet.judge.noise import models_called

    rng = np.random.default_rng(3)
    X = np.exp(rng.uniform(-3.0, 6.0, (300, 1)))
    y = 4.0 * X[:, 0] ** 0.75 * np.exp(0.6 * rng.normal(size=300))
    model, expr = models_called("factor")[0], parse("4.01*x0^0.7501")
    values = evaluate(expr, X)
    left = model.residuals(values, y)
    band = make_band(expr, X, values + left, model.roots(values, left), "factor")
    low, high = band.limits(expr, X, 0.95)
    assert (low > 0.0).all()
    assert 0.92 <= np.mean((y > low) & (y < high)) <= 0.98
    assert "a factor of 1.8" in band.words()
