"""Functions that are no polynomials: the sine of the sine-Gordon equation."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from unisymnet import PDERegressor, PDESystem, deadline
from unisymnet.errors import CheckpointError
from unisymnet.pde.system import Equation
from unisymnet.pde.terms import Term

SINE = Term((0,), (0,), "sin(x0)")
WAVE = PDESystem(("u",), ("x",), "t", (Equation("u", (Term((2,), (1,)), SINE), (1.0, -1.0), (0.0, 0.0), 1.0),), 2)
X, T = np.arange(128) * np.pi / 16, np.linspace(0.0, 6.0, 121)


@pytest.fixture
def processor_clock() -> Iterator[None]:
    """The search inside has a limit of time, which a busy machine must not use up."""
    before = "processor" if deadline.on_processor() else "wall"
    deadline.count("processor")
    yield
    deadline.count(before)


@pytest.mark.usefixtures("processor_clock")
def test_the_sine_of_sine_gordon_is_found() -> None:
    k = 2.0 * np.pi / 8.0 / np.pi
    u = WAVE.simulate({"u": 2.5 * np.sin(k * X) + np.cos(2.0 * k * X), "u_t": 0.0 * X}, {"x": X, "t": T})["u"]
    noisy = u + 0.01 * np.std(u) * np.random.default_rng(0).normal(size=u.shape)
    model = PDERegressor(order=2, max_time=60).fit(noisy, {"x": X, "t": T})
    (equation,) = model.system_.equations
    assert set(equation.terms) == set(WAVE.equations[0].terms)
    assert sorted(equation.coefficients) == pytest.approx([-1.0, 1.0], abs=0.02)


def test_functions_are_followed_written_and_kept(tmp_path: Path) -> None:
    small = WAVE.simulate({"u": 1e-3 * np.sin(X / 2.0), "u_t": 0.0 * X}, {"x": X, "t": T})["u"]
    # Small waves: sin u is u, so the frequency is √(1 + k²).
    assert small[:, -1] == pytest.approx(1e-3 * np.sin(X / 2.0) * np.cos(np.sqrt(1.25) * T[-1]), abs=2e-6)
    assert str(WAVE) == "u_tt = u_xx - sin(u)" and r"\sin" in WAVE.latex()
    WAVE.save(tmp_path / "wave.json")
    assert PDESystem.load(tmp_path / "wave.json") == WAVE
    damaged = WAVE.to_dict()
    damaged["equations"][0]["terms"][1]["of"] = "sin(x3)"
    with pytest.raises(CheckpointError, match="more fields"):
        PDESystem.from_dict(damaged)
    damaged["equations"][0]["terms"][1]["of"] = "__import__('os')"
    with pytest.raises(CheckpointError):
        PDESystem.from_dict(damaged)
