"""`DynamicsRegressor` and `System`: systems are found again, simulated, inspected, exported and stored."""

import ctypes
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from unisymnet import DynamicsRegressor, System, UniSymNetRegressor
from unisymnet.dynamics import DynamicsEvent
from unisymnet.dynamics.propose import RateSearch
from unisymnet.errors import CheckpointError, DataError

HUNT = System.parse({"prey": "1.1*prey - 0.4*prey*hunter", "hunter": "0.1*prey*hunter - 0.4*hunter"})
T = np.linspace(0.0, 20.0, 150)


@pytest.fixture(scope="module")
def hunt() -> DynamicsRegressor:
    rng = np.random.default_rng(0)
    x = HUNT.simulate([10.0, 5.0], T)
    frame = pd.DataFrame(x * (1.0 + 0.03 * rng.normal(size=x.shape)), columns=["prey", "hunter"])
    frame["hour"] = T
    return DynamicsRegressor(max_time=300).fit(frame, time="hour", states=["prey", "hunter"])


def _terms(system: System) -> list[int]:
    return [len(constants) for constants in system.constants]


def test_noisy_predators_and_prey_are_found(hunt: DynamicsRegressor) -> None:
    system = hunt.system_
    rows = np.random.default_rng(1).uniform(1.0, 9.0, (50, 2))
    assert system.rhs(rows) == pytest.approx(HUNT.rhs(rows), rel=0.05, abs=0.1)
    assert _terms(system) == [2, 2]
    for formula, truth in zip(system.formulas, [(1.1, 0.4), (0.1, 0.4)]):
        for constant in formula.constants:
            near = min(truth, key=lambda value, c=constant: abs(value - abs(c.value)))
            assert constant.stderr is not None and abs(abs(constant.value) - near) < 5.0 * constant.stderr
    assert hunt.score() > 0.98
    assert "prey'" in str(hunt) and "hour" not in str(hunt.system_)
    assert set(hunt.equations_) == {"prey", "hunter", "system"}
    assert len(hunt.equations_["system"]) >= 1


def test_drawn_runs_start_where_the_fit_does(hunt: DynamicsRegressor) -> None:
    (drawn, *_), shot = hunt.drawn_runs(), hunt.found_.systems[0].shot
    assert len(shot.starts) == len(hunt.course_.smooths)
    assert drawn.simulated[0] == pytest.approx(shot.starts[0])


def test_saved_models_and_systems_come_back(hunt: DynamicsRegressor, tmp_path: Path) -> None:
    hunt.save(tmp_path / "model.json")
    again = DynamicsRegressor.load(tmp_path / "model.json")
    assert again.system_ == hunt.system_
    assert list(again.equations_["system"]["system"]) == list(hunt.equations_["system"]["system"])
    hunt.system_.save(tmp_path / "system.json")
    assert System.load(tmp_path / "system.json") == hunt.system_ == System.load(tmp_path / "model.json")
    (tmp_path / "bad.json").write_text(json.dumps({"schema": "unisymnet-system", "version": 99}))
    with pytest.raises(CheckpointError, match="version 99"):
        System.load(tmp_path / "bad.json")


def test_second_order_with_gaps_missing_values_and_two_runs() -> None:
    truth = System.parse({"x": "v", "v": "-2*x - 0.3*v"})
    rng = np.random.default_rng(3)
    frames = []
    for run, start in enumerate([[1.0, 0.0], [0.0, -2.0]]):
        t = np.sort(rng.uniform(0.0, 10.0, 120))
        x = truth.simulate(start, t)[:, 0] + 0.01 * rng.normal(size=120)
        x[rng.random(120) < 0.1] = np.nan
        frames.append(pd.DataFrame({"t": t, "x": x, "run": f"r{run}"}))
    model = DynamicsRegressor(max_time=300, order=2).fit(pd.concat(frames), trajectory="run", states="x")
    assert model.system_.states == ("x", "x_dot")
    found = model.system_.rhs([[1.0, 0.0], [0.0, 1.0]])
    assert found[:, 0] == pytest.approx([0.0, 1.0])
    assert found[:, 1] == pytest.approx([-2.0, -0.3], abs=0.05)


def test_inputs_are_part_of_the_equations() -> None:
    truth = System.parse({"T": "0.5*u - 0.2*T"}, inputs=["u"])
    t = np.linspace(0.0, 30.0, 200)
    u = np.where((t % 10.0) < 5.0, 1.0, 0.0)
    x = truth.simulate([0.3], t, u)
    model = DynamicsRegressor(max_time=200).fit(
        pd.DataFrame({"t": t, "T": x[:, 0], "u": u}), states=["T"], inputs=["u"]
    )
    assert model.system_.rhs([[1.0], [2.0]], inputs=[[1.0], [0.0]])[:, 0] == pytest.approx([0.3, -0.4], abs=0.02)
    with pytest.raises(DataError, match="has inputs"):
        model.system_.simulate([1.0], t)


def test_a_state_that_never_changes_has_rate_zero() -> None:
    x = np.column_stack([np.exp(-0.5 * T), np.full(len(T), 3.0)])
    model = DynamicsRegressor(max_time=100).fit(T, x)
    assert model.system_.rhs([2.0, 3.0]) == pytest.approx([-1.0, 0.0], abs=1e-4)
    assert any("never changes" in note for note in model.notes_)


def test_nothing_changes_at_all() -> None:
    model = DynamicsRegressor(max_time=5).fit(T, np.ones((len(T), 2)))
    assert str(model.system_) == "x0' = 0\nx1' = 0"
    assert sum("never changes" in note for note in model.notes_) == 2
    assert "constants of" not in str(model) and "2 states (x0, x1)   1 run, " in str(model)


def test_states_of_very_different_size() -> None:
    x = System.parse({"a": "-a", "b": "1e-12 - 0.5*b"}).simulate([1e12, 1e-13], T)
    system = DynamicsRegressor(max_time=20, search=False).fit(T, x).system_
    assert system.rhs([2e12, 1e-12]) == pytest.approx([-2e12, 0.5e-12], rel=1e-3)


def test_one_point_is_told_as_such() -> None:
    for times, states in (([0.0], [[1.0]]), (np.zeros(1), np.ones(1))):
        with pytest.raises(DataError, match="no run has values at 8 different times, of 1 row;"):
            DynamicsRegressor().fit(times, states)


def test_fixed_points_and_the_jacobian() -> None:
    system = System.parse({"x": "y", "y": "-0.2*y + x - x**3"})
    points = system.fixed_points(ranges=[(-2.0, 2.0), (-2.0, 2.0)])
    assert [tuple(round(value, 6) for value in point.state) for point in points] == [(-1, 0), (0, 0), (1, 0)]
    assert [point.kind for point in points] == ["stable focus", "saddle", "stable focus"]
    assert system.jacobian([1.0, 0.0]) == pytest.approx(np.array([[0.0, 1.0], [-2.0, -0.2]]))


def test_a_pole_is_no_fixed_point_and_of_a_line_one_is_told() -> None:
    hunt = {"n": "0.8*n - 0.016*n**2 - 1.5*n*p/(n + 8)", "p": "0.5*n*p/(n + 8) - 0.3*p"}
    points = System.parse(hunt).fixed_points(ranges=[(0.5, 40.0), (0.5, 12.0)])
    assert [tuple(round(value, 3) for value in point.state) for point in points] == [(0, 0), (12, 8.107), (50, 0)]
    epidemic = System.parse({"s": "-0.0004*s*i", "i": "0.0004*s*i - 0.12*i"})
    (line,) = epidemic.fixed_points(ranges=[(30.0, 990.0), (1.0, 300.0)])
    assert line.kind == "one of a line of fixed points" and line.state[1] == pytest.approx(0.0, abs=1e-6)


def test_blow_up_gives_nan_and_stiffness_is_taken() -> None:
    bursting = System.parse({"x": "x**2"}).simulate([1.0], np.linspace(0.0, 2.0, 21))
    assert np.isfinite(bursting[:9]).all() and np.isnan(bursting[-1, 0])
    stiff = System.parse({"x": "-1e5*(x - y)", "y": "-0.5*y"}).simulate([0.0, 1.0], [0.0, 2.0])
    assert stiff[-1] == pytest.approx([np.exp(-1.0)] * 2, rel=1e-3)
    with pytest.raises(DataError, match="times must rise"):
        HUNT.simulate([1.0, 1.0], [0.0, 1.0, 1.0])


def test_exports_compute_the_same_rates(tmp_path: Path) -> None:
    awkward = System.parse({"a b": "2*`a b` - exp(-`for`)", "for": "`a b`/3 - `for`**2"})
    state = np.array([0.7, 0.4])
    space: dict[str, object] = {}
    exec(awkward.to("python"), space)  # our own text, to see that it runs
    assert space["rates"](0.0, state) == pytest.approx(awkward.rhs(state))  # type: ignore[operator]
    simulated = space["simulate"](state, [0.0, 0.5])  # type: ignore[operator]
    assert simulated[-1] == pytest.approx(awkward.simulate(state, [0.0, 0.5])[-1], rel=1e-5)
    compiler = shutil.which("cc")
    if compiler:
        source, library = tmp_path / "rates.c", tmp_path / "rates.so"
        source.write_text(awkward.to("c"))
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-lm"], check=True)
        rates = ctypes.CDLL(str(library)).rates
        out = (ctypes.c_double * 2)()
        rates(ctypes.c_double(0.0), (ctypes.c_double * 2)(*state), out)
        assert list(out) == pytest.approx(awkward.rhs(state))
    for language, sign in (("julia", "function rates!"), ("matlab", "function rate = rates"), ("latex", r"\dot{")):
        assert sign in awkward.to(language)
    with pytest.raises(ValueError, match="choose one of"):
        awkward.to("cobol")


def test_a_name_cannot_leave_a_comment() -> None:
    evil = System.parse({'x"""\nimport os\n*/': "1"})
    for language in ("python", "c", "julia", "matlab"):
        text = evil.to(language)
        assert "\nimport os" not in text
        assert text.count("*/") <= 1
    compile(evil.to("python"), "evil", "exec")


def test_ctrl_c_keeps_what_was_found() -> None:
    seen: list[str] = []

    def press(event: DynamicsEvent) -> None:
        seen.append(event.kind)
        if event.kind == "rate" and seen.count("rate") == 1:
            signal.raise_signal(signal.SIGINT)

    model = DynamicsRegressor(max_time=1000, callback=press).fit(T, _noisy())
    assert model.interrupted_ and any("stopped" in note for note in model.notes_)
    assert np.isfinite(model.system_.rhs([5.0, 5.0])).all()
    assert seen.count("rate") == 2 and "noise from the residuals" not in seen


def test_ctrl_c_inside_the_general_search_ends_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RateSearch, "is_poor", lambda self: True)
    stages: list[str] = []

    def press(event: DynamicsEvent) -> None:
        stages.append(event.stage)

    caught = UniSymNetRegressor.fit

    def pressed(self: UniSymNetRegressor, X: Any, y: Any) -> UniSymNetRegressor:
        self.callback = lambda event: signal.raise_signal(signal.SIGINT)
        return caught(self, X, y)

    monkeypatch.setattr(UniSymNetRegressor, "fit", pressed)
    model = DynamicsRegressor(max_time=1000, callback=press).fit(T, _noisy())
    assert model.interrupted_ and "noise from the residuals" not in stages
    assert sum(stage.startswith("formulas for") for stage in dict.fromkeys(stages)) == 1


def test_a_killed_search_leaves_the_best_so_far(tmp_path: Path) -> None:
    code = (
        "import os, sys, numpy as np\nfrom unisymnet import DynamicsRegressor\n"
        "t = np.linspace(0, 5, 60)\n"
        "die = lambda event: os._exit(9) if event.kind == 'system' else None\n"
        "DynamicsRegressor(max_time=100, callback=die, checkpoint=sys.argv[1]).fit(t, 3 * np.exp(-0.7 * t))"
    )
    path = tmp_path / "new" / "system.json"
    assert subprocess.run([sys.executable, "-c", code, str(path)]).returncode == 9
    kept = System.load(path)
    assert kept.rhs([2.0]) == pytest.approx([-1.4], rel=1e-3)
    assert any("had not ended" in note for note in kept.notes)
    assert [file.name for file in path.parent.iterdir()] == ["system.json"]


def test_neither_a_bad_file_nor_a_bad_callback_ends_the_search() -> None:
    def broken(event: DynamicsEvent) -> None:
        raise RuntimeError("no")

    t = np.linspace(0.0, 5.0, 60)
    model = DynamicsRegressor(max_time=300, callback=broken, checkpoint="/dev/null/x").fit(t, 3.0 * np.exp(-0.7 * t))
    assert model.system_.rhs([2.0]) == pytest.approx([-1.4], rel=1e-3)
    assert any("callback raised RuntimeError" in note for note in model.notes_)
    assert any("could not be written" in note for note in model.notes_)


def _noisy() -> np.ndarray:
    noise = 0.05 * np.random.default_rng(5).normal(size=(len(T), 2))
    return np.asarray(HUNT.simulate([10.0, 5.0], T) * (1.0 + noise))


def test_same_data_same_system() -> None:
    x = HUNT.simulate([10.0, 5.0], T)
    first, second = (DynamicsRegressor(max_time=60).fit(T, x, states=["p", "h"]) for _ in range(2))
    assert first.system_.exprs == second.system_.exprs
    assert first.system_.rhs([2.0, 3.0]) == pytest.approx(HUNT.rhs([2.0, 3.0]), rel=1e-4)
