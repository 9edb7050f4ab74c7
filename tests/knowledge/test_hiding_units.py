"""Angles in degrees: who is one, what their formulas cost, and laws in which they stand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from unisymnet import UniSymNetRegressor
from unisymnet.formula.constants import report
from unisymnet.judge.judge import make_judge
from unisymnet.judge.told import DEGREE, as_told, in_units_of_laws, suspected, turning_units
from unisymnet.judge.tree import read
from unisymnet.judge.unseen import unseen_nats
from unisymnet.knowledge.known import Known
from unisymnet.problem import KELVIN, TARGET, Told, make_problem
from unisymnet.symbolic.expr import Const, evaluate, walk
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.rewrite.simplify import simplify


@pytest.mark.parametrize(
    ("name", "angle"),
    [
        *[(name, True) for name in ("angle_deg", "theta (deg)", "2θ [°]", "lat degrees", "azimuth_degree", "phi°")],
        *[(name, False) for name in ("angle", "deg", "t_degC", "T (°C)", "knowledge", "out_deg_2", "x [rad]")],
    ],
)
def test_a_name_that_holds_the_unit_says_that_a_column_is_in_degrees(name, angle):
    assert Known().told(["other", name], "y").degrees == ({1} if angle else set())
    assert Known().told(["other"], name).degrees == ({TARGET} if angle else set())


def test_a_unit_that_is_given_goes_before_the_name():
    assert Known(units={"a_deg": "rad"}).told(["a_deg", "b"], "y").degrees == set()
    assert Known(units={"b": "deg", "target": "°"}).told(["a", "b"], "y").degrees == {1, TARGET}


def test_only_columns_that_are_read_by_name_are_told():
    known = Known(units={"a": "deg"})
    assert known.told_notes(["a"], "y") == ()
    (note,) = known.told_notes(["a", "b_deg", "c_deg"], "y")
    assert note.startswith("b_deg, c_deg are taken for angles in degrees because of their names")


def test_the_search_sees_radians_and_the_caller_degrees():
    angle = np.array([10.0, 20.0, 50.0])
    problem = make_problem(angle[:, None], angle, told=Told(frozenset({0, TARGET})))
    assert np.allclose(problem.X[:, 0], np.deg2rad(angle))
    assert np.allclose(problem.y, np.deg2rad(angle))
    formula = problem.to_original(parse("asin(sin(x0))"))
    assert np.allclose(evaluate(formula, angle[:, None]), angle)


def test_turning_degrees_into_radians_costs_no_constant():
    X = np.linspace(5.0, 40.0, 40)[:, None]
    y = 9.8 * np.sin(np.deg2rad(X[:, 0]))
    law = parse(f"9.8*sin({DEGREE!r}*x0)")
    told, untold = (make_judge(X, y, told=Told(frozenset(degrees))).lengths(law) for degrees in ({0}, ()))
    assert told.n_free == untold.n_free - 1
    assert told.total < untold.total - 10.0
    assert unseen_nats(law, X, {0}) == 0.0 < unseen_nats(law, X)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (f"sin({2 * DEGREE!r}*x0)", [2.0]),
        (f"{1 / DEGREE!r}*asin(0.75*x1)", [1.0]),
        (f"{1 / DEGREE!r}*x1", []),  # no angle: a number like all others
        (f"sin({DEGREE!r}*x1)", []),
        ("sin(0.0175*x0)", []),
    ],
)
def test_which_numbers_only_turn_units(text, values):
    found = turning_units(read(parse(text)).tree, Told(frozenset({0, TARGET})))
    assert [round(value, 9) for value in found.values()] == values


def test_a_fit_that_moved_away_from_a_plain_angle_is_moved_back():
    near, far = (as_told(parse(f"sin({k * DEGREE!r}*x0 + 1)"), Told(frozenset({0}))) for k in (0.51, 0.7))
    numbers = [node.value for node in walk(near) if isinstance(node, Const)]
    assert any(math.isclose(number, 0.5 * DEGREE, rel_tol=1e-12) for number in numbers)
    assert far == parse(f"sin({0.7 * DEGREE!r}*x0 + 1)")


SOON = ("monomial", "factors", "bases", "units", "seen", "textbook")


def fit(X, y, proposers=SOON):
    return UniSymNetRegressor(max_time=None, max_evaluations=200, n_jobs=1, proposers=proposers).fit(X, y)


def test_the_law_of_refraction_and_the_height_of_the_sun():
    rng = np.random.default_rng(0)
    angles = np.arange(5.0, 86.0, 5.0)
    bent = pd.Series(np.rad2deg(np.arcsin(np.sin(np.deg2rad(angles)) / 1.33)), name="refraction_deg")
    model = fit(pd.DataFrame({"incidence_deg": angles}), bent)
    assert model.score(pd.DataFrame({"incidence_deg": angles}), bent) > 1 - 1e-12
    assert "asin" in str(model.formula_)

    sky = pd.DataFrame(rng.uniform(-60.0, 60.0, (80, 2)), columns=["lat_deg", "hour_deg"])
    lat, hour = (np.deg2rad(sky[name]) for name in sky)
    height = pd.Series(np.rad2deg(np.arcsin(0.3 * np.sin(lat) + 0.9 * np.cos(lat) * np.cos(hour))), name="height (deg)")
    model = fit(sky, height, None)
    assert model.score(sky, height) > 1 - 1e-12
    assert any("lat_deg, hour_deg, height (deg) are taken for angles" in note for note in model.notes_)


@pytest.mark.parametrize(
    ("law", "shows"),
    [
        (lambda a, m: 9.81 * m * np.sin(np.deg2rad(a)), "*sin(0.0174532925"),
        (lambda a, m: m / (2.0 * np.sin(np.deg2rad(a / 2.0))), "/sin(0.0087266462"),
    ],
    ids=["slope", "diffraction"],
)
def test_a_piece_of_a_wave_is_believed_where_its_column_is_an_angle(law, shows):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"angle_deg": rng.uniform(8.0, 140.0, 60), "m": rng.uniform(0.5, 2.0, 60)})
    y = law(X["angle_deg"], X["m"]) * (1.0 + rng.normal(0.0, 0.01, 60))
    assert shows in str(fit(X, y).formula_).replace("(2*", "")


def test_a_column_that_seems_to_be_an_angle_is_told():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"angle": rng.uniform(0.0, 180.0, 60), "m": rng.uniform(0.5, 2.0, 60)})
    y = 3.1 * X["m"] * np.sin(np.deg2rad(2.0 * X["angle"])) + rng.normal(0.0, 0.02, 60)
    asked = ("monomial", "features", "modulated", "planewaves", "reduce")
    notes = " ".join(fit(X, y, asked).notes_)
    assert "angle looks like an angle in degrees" in notes and '"angle": "deg"' in notes
    assert suspected(parse("sin(0.01745*x0)"), X.to_numpy() / 100.0) == []


def test_an_angle_as_the_answer():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"v": rng.uniform(5.0, 30.0, 60), "r": rng.uniform(20.0, 200.0, 60)})
    bank = np.rad2deg(np.arctan(X["v"] ** 2 / (9.81 * X["r"]))) + rng.normal(0.0, 0.5, 60)
    model = fit(X, bank.rename("bank_deg"))
    assert "atan(" in str(model.formula_) and "v**2/r" in str(model.formula_)


@pytest.mark.parametrize(
    ("name", "celsius"),
    [
        *[(name, True) for name in ("T (°C)", "temp_degC", "room temperature [°C]", "t_C", "Temp_C", "water celsius")],
        *[(name, False) for name in ("T (K)", "c", "T_c", "vitamin_C", "temp", "T_F", "angle_deg")],
    ],
)
def test_a_name_that_holds_the_unit_says_that_a_column_is_in_celsius(name, celsius):
    assert Known().told(["other", name], "y").celsius == ({1} if celsius else set())


WARM = Told(celsius=frozenset({0}))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("3*(x0 + 273.15)^4", "3*x0^4"),
        ("3*exp(-7/(x0 + 273.15))*x1", "3*exp(-7/x0)*x1"),
        ("x0/(x0 + 273.15)", "x0/(x0 + 273.15)"),  # both zeros in one formula
        ("3*(x1 + 273.15)^4", "3*(x1 + 273.15)^4"),
        ("x0 + 273", "x0 + 273"),
    ],
)
def test_the_form_of_a_law_is_its_form_in_kelvin(text, form):
    assert in_units_of_laws(parse(text), WARM) == simplify(parse(form))


def test_a_fit_that_moved_the_zero_of_celsius_is_moved_back():
    assert as_told(parse("x0 + 268.3"), WARM) == simplify(parse("x0 + 273.15"))
    assert as_told(parse("x0 + 230.0"), WARM) == parse("x0 + 230.0")  # Antoine's constant is another one


@pytest.mark.parametrize(
    ("law", "noise", "shows"),
    [
        (lambda t: 5.67e-8 * (t + KELVIN) ** 4, 0.02, "(`T (°C)` + 273.15)**4"),
        (lambda t: 0.0177 * np.exp(3950.0 / (t + KELVIN)), 0.01, "/(`T (°C)` + 273.15))"),
    ],
    ids=["radiation", "thermistor"],
)
def test_laws_of_kelvin_are_found_in_celsius(law, noise, shows):
    rng = np.random.default_rng(4)
    warm = np.linspace(5.0, 400.0, 40)
    y = law(warm) * (1.0 + rng.normal(0.0, noise, 40))
    assert shows in str(fit(pd.DataFrame({"T (°C)": warm}), y).formula_)


def test_what_rises_with_celsius_needs_no_kelvin():
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"rise_degC": rng.uniform(1.0, 60.0, 60), "mass": rng.uniform(0.1, 3.0, 60)})
    heat = 4.18 * X["mass"] * X["rise_degC"] * (1.0 + rng.normal(0.0, 0.01, 60))
    assert "273" not in str(fit(X, heat).formula_)


def test_numbers_that_turn_units_have_no_errors_of_their_own():
    rng = np.random.default_rng(6)
    warm = np.linspace(0.0, 100.0, 40)
    y = 0.0177 * np.exp(3950.0 / (warm + KELVIN)) * (1.0 + rng.normal(0.0, 0.01, 40))
    size, rate, zero = report(parse(f"0.0177*exp(3950/(x0 + {KELVIN}))"), warm[:, None], y, 1.0 / y**2)
    assert zero.stderr is None and zero.snapped_to == "273.15"
    assert 1.0 < rate.stderr < 15.0  # with a free zero about 70
    assert size.stderr < 0.001
