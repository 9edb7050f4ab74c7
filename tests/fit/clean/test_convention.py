"""Peaks, waves and denominators as laws are usually written, with the same values."""

from __future__ import annotations

import re

import numpy as np
import pytest

from unisymnet.fit.clean.convention import (
    centred,
    conventional,
    levelled,
    normalised,
    phased,
    unscaled,
    without_half_angles,
)
from unisymnet.symbolic.expr import evaluate
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.text import to_text

ROWS = np.random.default_rng(0).uniform(1.0, 2.0, (60, 4)) + [0.0, 0.0, 4.0, 0.0]


@pytest.mark.parametrize(
    ("written", "usual"),
    [
        ("x0/(0.25*x0 + 0.5*x1 + 0.375)", "4*x0/(x0 + 2*x1 + 1.5)"),
        ("1/(0.5*exp(-0.42*x0) + 0.125)", "8/(4*exp(-0.42*x0) + 1)"),
        ("x0/(x0 + 2.5*x1)", "x0/(x0 + 2.5*x1)"),
        ("1/(2*x0 + 3.5*x1)", "1/(2*x0 + 3.5*x1)"),
        ("1/(0.5*exp(x0) + 0.125*sin(x1))", "1/(0.5*exp(x0) + 0.125*sin(x1))"),
    ],
)
def test_denominators_as_laws_are_written(written: str, usual: str) -> None:
    expr = parse(written)
    assert to_text(normalised(expr)) == usual
    assert evaluate(normalised(expr), ROWS) == pytest.approx(evaluate(expr, ROWS), rel=1e-12)


@pytest.mark.parametrize(
    ("written", "usual"),
    [
        ("8192*(x0/2048 - 0.125)**3", "9.536743e-07*(x0 - 256)**3"),
        ("6*sqrt(0.25*x0 + 0.75)", "3*sqrt(x0 + 3)"),
        ("5*(0.5 - 0.25*x0)**2", "0.3125*(x0 - 2)**2"),
        ("5*sqrt(9.5 - 0.25*x0)", "5*sqrt(9.5 - 0.25*x0)"),  # a negative number has no root
        ("6.4*(2.5 - 0.25*x0)**5.2", "750.7028*(1 - 0.1*x0)**5.2"),
        ("6.4/(2.5 - 0.25*x0*x1)**1.5", "1.619086/(1 - 0.1*x0*x1)**1.5"),
        ("6.4*(2.5 - 0.25*x0 - 0.1*x1)**1.5", "6.4*(2.5 - 0.25*x0 - 0.1*x1)**1.5"),
        ("(0.25*x0 + 0.75)**2", "(0.25*x0 + 0.75)**2"),  # no factor in front: nothing is saved
        ("6*sqrt(3*x0 + 0.75)", "6*sqrt(3*x0 + 0.75)"),
        ("6*sqrt(0.3*x0 + 0.7*x1)", "6*sqrt(0.3*x0 + 0.7*x1)"),
        ("6/(1e-200*x0 + 0.7)**2", "6/(1e-200*x0 + 0.7)**2"),  # the square of such a scale is no number
    ],
)
def test_a_factor_and_a_scale_are_one_number(written: str, usual: str) -> None:
    expr = parse(written)
    assert to_text(unscaled(expr), digits=7) == usual
    assert evaluate(unscaled(expr), ROWS) == pytest.approx(evaluate(expr, ROWS), rel=1e-12)


def test_levels_can_be_seen() -> None:
    hidden = parse("7 - 6.103515625e-05/(exp(-0.42*x0) + 3.0517578125e-05)")
    assert to_text(levelled(hidden)) == "7 - 2/(32768*exp(-0.42*x0) + 1)"
    seen = parse("1/(exp(-0.42*x0) + 0.125)")
    assert to_text(levelled(seen)) == to_text(seen)


@pytest.mark.parametrize(
    ("written", "usual"),
    [
        ("1/(28.2*exp(-0.71*x0) + 0.625)", "1.6/(45.12*exp(-0.71*x0) + 1)"),
        ("1/(5.5e+23*exp(-0.05*x0) + 0.005)", "200/(exp(0.05*(1199.25 - x0)) + 1)"),
        ("0.0355/(exp(-0.71*x0) + 0.02441234)", "1.454183/(40.96289*exp(-0.71*x0) + 1)"),
        ("5.5e+23*exp(-0.05*x0)", "exp(0.05*(1093.284 - x0))"),
        ("5.5e+23*x1*exp(-0.05*x0)", "x1*exp(0.05*(1093.284 - x0))"),
        ("5.5e+23*exp(-0.05/x0)", "5.5e+23*exp(-0.05/x0)"),
        ("1/(4*exp(-0.71*x0) + 3)", "1/(4*exp(-0.71*x0) + 3)"),  # plain numbers stay where they are
        ("3 + x1/(1.3*exp(-0.71*x0) + 1.3)", "0.7692308*x1/(exp(-0.71*x0) + 1) + 3"),
    ],
)
def test_curves_of_growth_show_their_level_and_their_place(written: str, usual: str) -> None:
    expr = parse(written)
    assert to_text(levelled(expr), digits=7) == usual
    rows = ROWS + (1000.0 if "1/(5" in written else 0.0)
    assert evaluate(levelled(expr), rows) == pytest.approx(evaluate(expr, rows), rel=1e-9)


@pytest.mark.parametrize(
    ("written", "usual"),
    [
        ("0.5*exp(3*x0 - x0**2)", "4.743868*exp(-(x0 - 1.5)**2)"),
        ("3*x1*exp(2*x0 - 0.5*x0**2) + 1", "22.16717*x1*exp(-0.5*(x0 - 2)**2) + 1"),
        ("3*exp(2*x0 - x0**2 + 4*x1 - 2*x1**2 - x2)", "60.25661*exp(-(x0 - 1)**2 - 2*(x1 - 1)**2 - x2)"),
        ("exp(4*x0 - x0**2)", "exp(4*x0 - x0**2)"),  # a height would have to be added
        ("2*exp(900*x0 - x0**2)", "2*exp(900*x0 - x0**2)"),
        ("2*exp(-3*x0**2)", "2*exp(-3*x0**2)"),
    ],
)
def test_peaks_by_their_place(written: str, usual: str) -> None:
    expr = parse(written)
    assert re.sub(r"\d+\.\d{7,}", lambda found: f"{float(found[0]):.7g}", to_text(centred(expr))) == usual
    with np.errstate(over="ignore"):
        assert evaluate(centred(expr), ROWS) == pytest.approx(evaluate(expr, ROWS), rel=1e-12)


@pytest.mark.parametrize(
    ("written", "usual"),
    [
        ("0.7*sin(5.3*x0 + 1.5707963267948966) + x1", "x1 + 0.7*cos(5.3*x0)"),
        ("2*cos(x0 + 3.141592653589793)", "-2*cos(x0)"),
        ("cos(x0 - 1.5707963267948966)", "sin(x0)"),
        ("sin(x0 + 1)", "sin(x0 + 1)"),
        ("sin(x0 + 1.2345678)", "sin(x0 + 1.2345678)"),
    ],
)
def test_phases_that_are_none(written: str, usual: str) -> None:
    expr = parse(written)
    assert to_text(phased(expr)) == usual
    assert evaluate(phased(expr), ROWS) == pytest.approx(evaluate(expr, ROWS), rel=1e-12, abs=1e-13)


def test_waves_peaks_and_denominators_together() -> None:
    expr = parse("0.5*exp(3*x0 - x0**2)*sin(x1 + 2.0707963267948966)/(0.2*x1 + 0.3)")
    found = conventional(expr)
    assert re.search(r"cos\(x1 \+ 0\.(5|4999999\d*)\)", to_text(found)) and "(x0 - 1.5)**2" in to_text(found)
    assert "(x1 + 1.5)" in to_text(found).replace("1.4999999999999998", "1.5")
    assert evaluate(found, ROWS) == pytest.approx(evaluate(expr, ROWS), rel=1e-12)


@pytest.mark.parametrize(
    ("written", "usual"),
    [
        ("4*x0*sin(0.5*x1*x2)**2", "x0*(2 - 2*cos(x1*x2))"),  # respell.py takes the 2 out
        ("6*x0*cos(0.5*x1)**2", "x0*(3*cos(x1) + 3)"),
        ("sin(0.5*x1)**2", "sin(0.5*x1)**2"),
        ("4*sin(x1)**2", "4*sin(x1)**2"),
    ],
)
def test_half_angles(written: str, usual: str) -> None:
    expr = parse(written)
    assert to_text(without_half_angles(expr)) == usual
    assert evaluate(without_half_angles(expr), ROWS) == pytest.approx(evaluate(expr, ROWS), rel=1e-12)
