"""What is known about rates: units, constraints and forms decide which terms and systems may be found."""

import numpy as np
import pytest

from unisymnet import DynamicsRegressor, System
from unisymnet.deadline import Deadline
from unisymnet.dynamics.course import Course, make_course
from unisymnet.dynamics.known.form import read_form
from unisymnet.dynamics.known.rates import Known
from unisymnet.dynamics.propose import RateSearch
from unisymnet.dynamics.proposers.slaved import slaved_rates
from unisymnet.dynamics.rate import terms_of
from unisymnet.dynamics.ties import find_ties
from unisymnet.dynamics.trajectory import read_runs
from unisymnet.errors import DataError
from unisymnet.knowledge.units.unit import Unit
from unisymnet.symbolic.expr import Const, Var
from unisymnet.symbolic.parse import parse

T = np.linspace(0.0, 10.0, 150)
SPRING = System.parse({"x": "v", "v": "-2*x - 0.3*v"})
NAMES = ["x", "v", "t"]


@pytest.fixture(scope="module")
def spring() -> Course:
    noise = np.random.default_rng(0).normal(0, 0.02, (len(T), 2))
    return make_course(read_runs(T, SPRING.simulate([1.0, 0.0], T) + noise, states=["x", "v"]))


def test_rates_have_the_unit_of_the_state_over_that_of_the_time(spring: Course) -> None:
    known = Known(units={"x": "m", "v": "m/s", "t": "s"}).of(spring)
    exprs = [parse("v", NAMES), parse("-2.5*x - 0.3*v", NAMES)]
    assert known.allows(exprs) and [str(unit) for unit in known.units_of(exprs) or ()] == ["1/s^2", "1/s"]
    assert known.tokens(exprs) == 0  # powers of the time need no explanation
    assert known.tokens([parse("v", NAMES), parse("-2.5*x**2", NAMES)]) > 0
    assert not known.of(1).takes(parse("sin(x)", NAMES)) and known.of(1).takes(parse("sin(0.7*x)", NAMES))
    assert not known.of(0).allows(parse("x", NAMES))  # x' = x without a constant


def test_velocities_of_second_order_get_units() -> None:
    course = make_course(read_runs(T, SPRING.simulate([1.0, 0.0], T)[:, 0], states=["x"]), 2)
    known = Known(units={"x": "cm", "t": "s"}).of(course)
    (unit,) = known.of(1).units.read(parse("-2.5*x", list(course.names))).constants  # type: ignore[union-attr]
    assert str(unit) == "1/s^2"


def test_ties_need_equal_units(spring: Course) -> None:
    from unisymnet.dynamics.program import free_system
    from unisymnet.dynamics.shooting import shoot

    forms, params = free_system([parse("1.0001*v", NAMES), parse("-2.0*x - 2.0001*v", NAMES)])
    shot = shoot(spring, forms, params, max_trials=0)
    free, bound = find_ties(shot, 1e4), find_ties(shot, 1e4, [Unit()] * 3)
    assert free.units == bound.units and free.pairs == bound.pairs
    second = Unit((Unit().powers[0] + 1, *Unit().powers[1:]))
    apart = find_ties(shot, 1e4, [Unit(), second, second * second])
    assert set(apart.units) <= {0} and not apart.pairs


def test_notes_say_which_rate_breaks_its_constraints(spring: Course) -> None:
    """The note named no rate, and nothing said that the system contradicts what was asked for."""
    known = Known(constraints=["y >= 0"]).of(spring)
    notes = known.notes([Var(1), Const(1.0)])
    assert notes[0].startswith("constraints of x': y >= 0: violated at v =")
    assert notes[1] == "no x' that keeps its constraints fits the data: check the constraints"
    assert notes[2:] == ["constraints of v': y >= 0: proved"]


def test_constraints_choose_terms_and_refuse_rates(spring: Course) -> None:
    known = Known(constraints=["v'(x=0, v=0) = 0", "dx'/dv >= 0", "x': without x"]).of(spring)
    assert not known.of(1).takes(parse("1", NAMES)) and known.of(1).takes(parse("x*v", NAMES))
    assert not known.of(0).takes(parse("x*v", NAMES)) and not known.of(0).allows(parse("-0.5*v", NAMES))
    assert known.of(0).allows(parse("0.5*v", NAMES)) and known.of(1).allows(parse("-2*x - 0.3*v", NAMES))
    for wrong in ({"y": "y >= 0"}, ["x' goes up"], [3]):
        with pytest.raises(DataError, match="constraint"):
            Known(constraints=wrong).of(spring)  # type: ignore[arg-type]


def test_known_terms_are_in_every_rate_and_unknown_functions_see_their_columns_only(spring: Course) -> None:
    known = Known(template={"v": "-k*x + f(v)"}).of(spring).of(1)
    search = RateSearch(spring, 1, [0, 1], Deadline.after(30.0), known)
    search.run()
    best = search.ranked()[0]
    assert {term for _, term in terms_of(best.expr)} == {Var(0), Var(1)}
    for rate in search.ranked():
        assert known.form is not None and known.form.is_in(rate.expr)


def test_a_form_without_unknown_functions_is_fitted() -> None:
    truth = System.parse({"s": "-1.4*s/(0.6 + s)"})
    x = truth.simulate([3.0], T[:60])
    model = DynamicsRegressor(max_time=20, template={"s": "-v*s/(K + s)"}).fit(T[:60], x, states=["s"])
    assert model.system_.rhs([[0.3], [2.0]]) == pytest.approx(truth.rhs([[0.3], [2.0]]), rel=1e-4)


def test_forms_that_cannot_be_used_say_why() -> None:
    with pytest.raises(DataError, match="must stand alone"):
        read_form("sin(f(x))", NAMES, "x")
    with pytest.raises(DataError, match="derivatives"):
        read_form("f(x) + D(f, x)", NAMES, "x")
    with pytest.raises(DataError, match="no state z"):
        Known(template={"z": "f(x)"}).of(make_course(read_runs(T, np.exp(-T), states=["x"])))
    with pytest.raises(DataError, match="no column 'y'"):
        Known(units={"y": "m"}).of(make_course(read_runs(T, np.exp(-T), states=["x"])))


def test_a_fast_state_is_regressed_on_what_it_follows() -> None:
    truth = System.parse({"x": "-0.4*y", "y": "0.6*x", "z": "40*(0.5 + x*y - z)"})
    t = np.linspace(0.0, 20.0, 250)
    x = truth.simulate([1.0, 0.0, 0.5], t)
    x[:, 2] += 0.01 * np.random.default_rng(1).normal(size=len(t))
    course = make_course(read_runs(t, x, states=["x", "y", "z"]))
    terms = RateSearch(course, 2, [0, 1, 2], Deadline.after(1.0)).libraries[0].terms
    names = ["x", "y", "z"]
    wanted = {parse("1", names), parse("x*y", names), parse("z", names)}
    assert wanted in [{term for _, term in terms_of(rate)} for rate in slaved_rates(course, 2, terms)]
