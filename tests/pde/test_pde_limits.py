"""Fields that are too large for their time limit, fits that are stopped, and systems that overflow."""

import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unisymnet import PDERegressor, PDESystem
from unisymnet.errors import DataError
from unisymnet.pde import estimator, open_form
from unisymnet.pde.system import Equation
from unisymnet.pde.terms import Term

ROOT = Path(__file__).parents[2]


def waves(*shape: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """A field without a short equation of polynomials."""
    axes = {name: np.linspace(0.0, 6.0, n) for name, n in zip(("x", "t"), shape, strict=True)}
    x, t = axes["x"][:, None], axes["t"]
    u = np.exp(-0.3 * t) * np.sin(x) + 0.5 * np.cos(2.0 * x - t)
    return {"u": u + 0.01 * np.random.default_rng(0).normal(size=u.shape)}, axes


@pytest.mark.parametrize("number", [1e306, 1e5])
def test_a_system_that_leaves_every_bound_is_refused_without_a_warning(number: float) -> None:
    terms = (Term((4,), (1,)), Term((0,), (2,)))
    system = PDESystem(("u",), ("x",), "t", (Equation("u", terms, (number, 1.0), (0.0, 0.0), 1.0),))
    nodes = {"x": np.linspace(0.0, 6.0, 16), "t": np.linspace(0.0, 1.0, 3)}
    with warnings.catch_warnings(), pytest.raises(DataError, match=r"too large for|blow up"):
        warnings.simplefilter("error")
        system.simulate(np.sin(nodes["x"]), nodes)


def test_a_large_field_ends_in_time_and_says_what_is_missing() -> None:
    fields, axes = waves(1500, 1500)
    began = time.process_time()
    model = PDERegressor(max_time=0.3, order="auto").fit(fields, axes)
    assert time.process_time() - began < 1.0  # all terms of both orders take 4 s
    assert model.system_.equations == ()
    assert "there was no time for an equation for u" in str(model)
    assert not model.interrupted_


def test_the_first_fit_of_a_process_does_not_load_what_it_has_no_time_for() -> None:
    code = (
        "import sys, time; sys.path[:0] = ['src', 'tests']\n"
        "from pde.test_pde_limits import PDERegressor, waves\n"
        "given, began = waves(64, 64), time.process_time()\n"
        "model = PDERegressor(max_time=2.5).fit(*given)\n"
        "print(model.equations_.shape[0] > 1, time.process_time() - began < 2.0, 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "False"]


def test_a_signal_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    fields, axes = waves(64, 64)
    both = {"u": fields["u"], "v": fields["u"] ** 2}
    reached: list[Any] = []

    def stopped(*given: Any) -> None:
        reached.append(given)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(estimator, "best_curve", stopped)
    before = signal.getsignal(signal.SIGTERM)
    model = PDERegressor(max_time=30).fit(both, axes)
    assert len(reached) == 1
    assert model.interrupted_ and [e.field for e in model.system_.equations] == ["u"]
    assert "the search was stopped" in model.notes_[0] and "for v" in model.notes_[1]
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_search_inside_that_takes_all_the_time_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    fields, axes = waves(64, 64)
    both = {"u": fields["u"], "v": fields["u"] ** 2}

    def long(curve: Any, n_fields: int, seconds: float) -> list[Any]:
        time.sleep(seconds + 0.1)
        return []

    monkeypatch.setattr(estimator, "best_curve", lambda *_: open_form.Curve((0,), 0, *(np.zeros(3),) * 2, (), 0.0))
    monkeypatch.setattr(estimator, "open_terms", long)
    model = PDERegressor(max_time=4).fit(both, axes)
    assert [e.field for e in model.system_.equations] == ["u"]
    assert "no time for an equation for v" in model.notes_[0]


def test_a_signal_to_the_search_inside_ends_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped:
        interrupted_ = True
        front_ = ()

        def __init__(self, **_: Any) -> None:
            pass

        def fit(self, *_: Any) -> None:
            pass

    fields, axes = waves(64, 64)
    monkeypatch.setattr(open_form, "UniSymNetRegressor", Stopped)
    model = PDERegressor(max_time=30).fit(fields, axes)
    assert model.interrupted_ and len(model.system_.equations) == 1
