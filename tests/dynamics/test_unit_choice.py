"""Nobody's units are better than another's: states and times counted otherwise give the same system."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unisymnet import DynamicsRegressor, System
from unisymnet.dynamics.course import make_course
from unisymnet.dynamics.library import finite_terms
from unisymnet.dynamics.program import free_system
from unisymnet.dynamics.shooting import shoot
from unisymnet.dynamics.trajectory import read_runs
from unisymnet.symbolic.parse import parse

T = np.linspace(0.0, 14.0, 90)
EATEN = System.parse({"x": "1.3*x - 0.45*x*y", "y": "0.27*x*y - 0.72*y"})
X = EATEN.simulate([2.0, 1.5], T) * (1.0 + 0.01 * np.random.default_rng(5).normal(size=(90, 2)))
FORMS, FIRST = free_system([parse(text, ["x", "y", "t"]) for text in ("0.9*x + (-0.5)*(x*y)", "0.3*(x*y) + (-0.9)*y")])
PLAIN = shoot(make_course(read_runs(T, X)), FORMS, FIRST)


def _factors(x: float, y: float, t: float) -> np.ndarray:
    """By what the constants of FORMS change with the units of states and time."""
    return np.array([1.0, 1.0 / y, 1.0 / x, 1.0]) / t


@given(st.tuples(*[st.integers(-40, 40)] * 3))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_fit_is_the_same_in_all_units(powers: tuple[int, int, int]) -> None:
    x, y, t = (2.0**power for power in powers)
    other = shoot(make_course(read_runs(T * t, X * [x, y])), FORMS, FIRST * _factors(x, y, t))
    assert other.params == pytest.approx(PLAIN.params * _factors(x, y, t), rel=1e-6)
    assert other.errors() == pytest.approx(PLAIN.errors() * _factors(x, y, t), rel=1e-3)
    assert other.starts == pytest.approx(PLAIN.starts * [x, y], rel=1e-6)
    assert PLAIN.params == pytest.approx([1.3, -0.45, 0.27, -0.72], rel=0.02)


@pytest.mark.parametrize("units", [(1e9, 50.0, 1.0), (1e-9, 1.0, 1.0), (1.0, 1e6, 1e-12), (1e-6, 1e7, 1e9)])
def test_a_search_is_the_same_in_all_units(units: tuple[float, float, float]) -> None:
    x, y, t = units
    model = DynamicsRegressor(max_time=300, search=False).fit(T * t, X * [x, y], states=["x", "y"])
    found = [float(c.value) for constants in model.system_.constants for c in constants]
    shapes = [sorted(text.count(name) for name in ("x", "y")) for text in model.system_.lines(3)]
    assert len(found) == 4 and shapes == [[1, 3], [1, 3]]
    assert sorted(np.abs(found)) == pytest.approx(sorted([1.3, 0.45, 0.27, 0.72] * _factors(x, y, t)), rel=0.02)


def test_sines_that_the_data_cannot_tell_are_no_terms() -> None:
    terms = [parse(text, ["x", "t"]) for text in ("sin(x)", "cos(x)", "exp(-x)", "x")]
    wide = np.column_stack([np.linspace(0.0, 1.0, 200), np.zeros(200)])
    assert finite_terms(terms, [wide * 3.0]) == terms
    assert finite_terms(terms, [wide * 1e-9]) == terms[3:]
    assert finite_terms(terms[:2] + terms[3:], [wide * 1e9]) == terms[3:]


def test_simulations_are_the_same_in_all_units() -> None:
    tiny = System.parse({"c": "4e7*f*g - 0.03*c", "f": "0.03*c - 4e7*f*g", "g": "0.03*c - 4e7*f*g"})
    large = System.parse({"c": "0.04*f*g - 0.03*c", "f": "0.03*c - 0.04*f*g", "g": "0.03*c - 0.04*f*g"})
    times = np.linspace(0.0, 60.0, 20)
    found = tiny.simulate([0.0, 3e-9, 2e-9], times)
    assert found == pytest.approx(1e-9 * large.simulate([0.0, 3.0, 2.0], times), rel=1e-5)
