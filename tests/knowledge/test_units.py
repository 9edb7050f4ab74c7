"""Units: how they are written, what they forbid, what they leave of a law, and that the estimator keeps to them."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from unisymnet import UniSymNetRegressor
from unisymnet.cli.options import pairs
from unisymnet.errors import DataError
from unisymnet.files.heads import without_units
from unisymnet.formula import Constant, Formula
from unisymnet.knowledge.units.homogeneous import read_units
from unisymnet.knowledge.units.pi import choices, group_text
from unisymnet.knowledge.units.spelling import odd_unit, read_head, read_quantity, read_unit
from unisymnet.knowledge.units.strict import without_forbidden
from unisymnet.knowledge.units.system import make_units
from unisymnet.knowledge.units.unit import unit_text
from unisymnet.symbolic import parse


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("kg m/s^2", "N"),
        ("m s⁻¹", "m/s"),
        ("J/(mol K)", "kg m2 s-2 mol-1 K-1"),
        ("kilometres per hour", "km/h"),
        ("kWh", "3.6e6 J"),
        ("m/s/s", "m*s**-2"),
        ("µm", "1e-6 m"),
        ("min", "60 s"),
        ("V", "J/C"),
        ("sqrt", None),
        ("m^(1/2)", "m^(1/2)"),
        ("%", "0.01"),
    ],
)
def test_spellings(text: str, same: str | None) -> None:
    if same is None:
        with pytest.raises(DataError, match="not known"):
            read_unit(text)
    else:
        assert read_unit(text).same(read_unit(same))


def test_pint_knows_more() -> None:
    pytest.importorskip("pint")
    assert read_unit("fortnight").same(read_unit("14 d"))


def test_units_are_written_as_the_user_writes_them() -> None:
    speed = read_unit("km/h")
    assert unit_text(speed, {"km": read_unit("km"), "h": read_unit("h")}) == "km/h"
    assert unit_text(read_unit("kg*m/s^2")) == "N"
    own = {name: read_unit(name) for name in ("eV", "Angstrom", "mmHg", "L")}
    for text in ("eV", "eV^(1/2)", "eV/Angstrom", "eV/Angstrom^2", "1/eV", "mmHg", "mmHg/eV"):
        assert unit_text(read_unit(text), own) == text  # and not 1.60218e-19*J
    assert unit_text(read_unit("mmHg*L/K"), own) in ("mmHg*L/K", "L*mmHg/K")
    assert unit_text(read_unit("m^(1/2)/s")) == "m^(1/2)/s"
    assert unit_text(read_unit("m/s^2"), {"m": read_unit("m"), "s": read_unit("s")}) == "m/s^2"  # not N/kg
    assert unit_text(read_unit("J/(kg*K)"), {"J": read_unit("J")}) == "J/(kg*K)"
    assert unit_text(read_unit("rad")) == "1"


def test_heads_and_options() -> None:
    assert read_head("v [m/s]") == ("v", "m/s")
    assert read_head("R (J/(mol K))") == ("R", "J/(mol K)")
    assert read_head("sales (total)") == ("sales (total)", None)
    frame = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["v [m/s]", "v (km)", "y"])
    assert without_units(frame).units == {}  # both would be called v
    assert pairs(["m=kg, v=m/s"], "--units", "v=m/s") == {"m": "kg", "v": "m/s"}
    with pytest.raises(DataError, match="NAME=VALUE"):
        pairs(["kg"], "--units", "v=m/s")
    assert odd_unit("°C") is not None and odd_unit("K") is None
    assert read_quantity("9.81 m/s^2")[0] == 9.81


@pytest.mark.parametrize(
    ("formula", "columns", "target", "fits", "constants"),
    [
        ("0.5*x0*x1**2", ["kg", "m/s"], "J", True, ["1"]),
        ("x0 + x1", ["m", "s"], "m", False, []),
        ("2*x0 + x1", ["m", "s"], "s", True, ["s/m"]),
        ("2*sqrt(x0)", ["m"], "s", True, ["s/m^(1/2)"]),
        ("exp(x0)", ["m"], "1", False, []),
        ("exp(2*x0)", ["m"], "1", True, ["1/m"]),
        ("x0*sin(x1)", ["m", "deg"], "m", False, []),
        ("x0*sin(0.0174*x1)", ["m", "rad"], "m", True, ["1"]),
        ("x0 + x1", ["cm", "m"], "m", False, []),
        ("0.01*x0 + x1", ["cm", "m"], "m", True, ["100"]),
        ("x0**x1", ["m", "1"], "1", False, []),
    ],
)
def test_what_units_forbid(formula: str, columns: list[str], target: str, fits: bool, constants: list[str]) -> None:
    reading = read_units(parse(formula), [read_unit(c) for c in columns], read_unit(target))
    assert reading.fits is fits
    assert [unit_text(unit) for unit in reading.constants] == constants


@pytest.mark.parametrize("exponent", ["100", "-100", "83.5"])
def test_a_constant_whose_unit_is_beyond_all_numbers_is_no_law(exponent: str) -> None:
    assert read_units(parse("2.5*x0**3"), [read_unit("cm^2")], read_unit("N")).fits
    assert not read_units(parse(f"2.5*x0**{exponent}"), [read_unit("cm^2")], read_unit("N")).fits


def test_groups_have_no_unit_and_the_factor_that_of_the_target() -> None:
    columns = [read_unit(u) for u in ("m3 kg-1 s-2", "kg", "kg", "m", "m")]
    found = choices(columns, read_unit("N"))
    assert len(found) > 3
    for choice in found:
        assert choice.factor is not None
        for powers, wanted in [*((group, "1") for group in choice.groups), (choice.factor, "N")]:
            made = read_unit("1")
            for unit, power in zip(columns, powers, strict=True):
                made = made * unit**power
            assert made.same(read_unit(wanted))
    assert group_text((Fraction(1), Fraction(-1, 2)), ["a", "b"]) == "a/b^(1/2)"


def test_forbidden_terms_are_left_out() -> None:
    units = make_units({"m": "kg", "v": "m/s", "t": "s", "E": "J"}, None, ["m", "v", "t"], "E")
    assert units is not None
    found = without_forbidden(parse("0.5*x0*x1**2 + 0.1*x2 + 3"), units)
    assert str(found) == "0.5*x0*x1**2"
    assert without_forbidden(parse("0.5*x0*x1**2"), units) is None


def _pendulum(noise: float = 0.01) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"length": rng.uniform(0.2, 2, 80), "mass": rng.uniform(0.1, 1, 80)})
    y = 2 * np.pi * np.sqrt(table["length"] / 9.81) + rng.normal(0, noise, 80)
    return table, pd.Series(y, name="period")


def test_the_estimator_keeps_to_units_and_names_known_constants(tmp_path: Path) -> None:
    X, y = _pendulum()
    units = {"length": "m", "mass": "kg", "period": "s"}
    model = UniSymNetRegressor(max_time=None, max_evaluations=60, units=units, constants={"g": "9.81 m/s^2"}).fit(X, y)
    columns = [read_unit("m"), read_unit("kg")]
    assert all(read_units(e.formula.expr, columns, read_unit("s")).fits for e in model.front_)
    assert model.formula_.columns == ("length",)
    (constant,) = model.formula_.constants
    assert constant.unit == "s/m^(1/2)" and constant.meaning == "2π/g^(1/2)"
    assert "units" in str(model) and "s/m^(1/2) = 2π/g^(1/2)" in str(model)
    model.save(tmp_path / "model.json")
    again = UniSymNetRegressor.load(tmp_path / "model.json")
    assert str(again) == str(model) and again.units == units
    assert "units: length in m, period in s" in again.formula_.to("c")
    assert json.loads(again.formula_.to("json"))["units"] == ["m", "kg", "s"]


def test_what_only_turns_units_into_others_is_said_in_si() -> None:
    """A drag in N of cm^2 and km/h had the constant "4.237e-06 ± 8.3e-09 129600"."""
    units = make_units({"A": "cm^2", "v": "cm", "F": "m^3"}, None, ["A", "v"], "F")
    assert units is not None
    law = Formula.parse("0.5*A*v", ["A", "v"], target="F")
    (constant,) = units.dressed(replace(law, constants=(Constant(0.5),))).constants
    assert constant.unit is None and str(constant) == "0.5 = 5e+05 in SI units"


def test_a_wrong_unit_is_noticed() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.uniform(1, 3, 60), "t": rng.uniform(1, 3, 60)})
    y = pd.Series(X["x"] + X["t"], name="y")  # t is a length, the user says time
    units = {"x": "m", "t": "s", "target": "m"}
    model = UniSymNetRegressor(max_evaluations=60, max_time=5, units=units, proposers=["bases"]).fit(X, y)
    assert str(model.formula_) != "x + t"
    (other,) = model.beside_
    assert str(other.formula) in ("x + t", "t + x") and "ruled out" in str(model)


def test_mistakes_are_told() -> None:
    X, y = _pendulum()
    with pytest.raises(DataError, match="no column 'lenght'"):
        UniSymNetRegressor(units={"lenght": "m"}, max_time=1).fit(X, y)
    with pytest.raises(DataError, match="units: length: the unit 'wibble' is not known"):
        UniSymNetRegressor(units={"length": "wibble"}, max_time=1).fit(X, y)
    with pytest.raises(DataError, match="constants: g"):
        UniSymNetRegressor(constants={"g": "fast"}, max_time=1).fit(X, y)
    with pytest.raises(DataError, match="length is a column already"):
        UniSymNetRegressor(units={"length": "m"}, constants={"length": "9.81 m"}, max_time=1).fit(X, y)
    notes = UniSymNetRegressor(units={"length": "°C", "period": "s"}, max_time=1, max_evaluations=3).fit(X, y).notes_
    assert any("kelvin" in note for note in notes) and any("no unit given for mass" in note for note in notes)


def test_it_remains_an_estimator() -> None:
    X, y = _pendulum()
    model = UniSymNetRegressor(max_evaluations=5, max_time=2, proposers=["monomial"], units={"length": "m"})
    assert clone(model).units == {"length": "m"}
    grid = GridSearchCV(model, {"units": [None, {"length": "m", "mass": "kg", "period": "s"}]}, cv=2).fit(X, y)
    assert grid.best_score_ > 0.99
