"""PDEs: equations found again from noisy fields, simulated, saved, and refused where the input is none."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisymnet import PDERegressor, PDESystem
from unisymnet.bench.pdes import PDEProblem, burgers, heat, judged, vorticity, wave
from unisymnet.cli import main
from unisymnet.errors import CheckpointError, DataError
from unisymnet.pde.grid import Grid
from unisymnet.pde.spectral import Flow, evolve
from unisymnet.pde.terms import Term, values
from unisymnet.pde.weak import Bump, WeakForm, noise_level


@pytest.fixture(scope="module")
def shock() -> PDEProblem:
    return burgers()


@pytest.mark.parametrize(("noise", "error"), [(0.0, 1e-3), (0.01, 0.01), (0.1, 0.05)])
def test_burgers_is_found_under_noise(shock: PDEProblem, noise: float, error: float) -> None:
    record = judged(shock, noise, seed=3)
    assert record["form"] and record["error"] < error


def test_second_order_in_time_and_fields_that_are_given() -> None:
    assert judged(wave(), 0.01, seed=1)["form"]
    assert judged(vorticity(), 0.01, seed=1)["form"]


def test_the_order_of_time_is_found_out() -> None:
    problem, still = wave(), heat()
    model = PDERegressor(order="auto").fit(problem.fields, problem.axes)
    assert model.system_.order == 2 and str(model).startswith("u_tt = 2.25*u_xx")
    assert PDERegressor(order="auto").fit(still.fields["u"], still.axes).system_.order == 1


def test_axes_may_stand_in_any_order(shock: PDEProblem) -> None:
    turned = PDERegressor().fit(shock.fields["u"].T, {"t": shock.axes["t"], "x": shock.axes["x"]})
    assert str(turned) == str(PDERegressor().fit(shock.fields["u"], shock.axes))


def test_what_was_found_can_be_simulated_saved_and_shown(shock: PDEProblem, tmp_path: Path) -> None:
    model = PDERegressor().fit(shock.fields, shock.axes)
    again = model.system_.simulate(shock.fields["u"][:, 0], shock.axes)["u"]
    assert np.abs(again - shock.fields["u"]).max() < 1e-3
    model.system_.save(tmp_path / "burgers.json")
    assert PDESystem.load(tmp_path / "burgers.json") == model.system_
    assert model.system_.latex().startswith(r"\partial_{t} u = ")
    table = model.equations_
    assert set(table["term"]) == {"(u^2)_x", "u_xx"} and (table["error"] > 0).all()


def test_errors_of_coefficients_are_honest(shock: PDEProblem) -> None:
    """Over several draws of noise the coefficient lies within three standard errors nearly always."""
    rng = np.random.default_rng(5)
    field, hits = shock.fields["u"], 0
    for _ in range(8):
        noisy = field + 0.05 * field.std() * rng.standard_normal(field.shape)
        row = PDERegressor().fit(noisy, shock.axes).equations_.set_index("term").loc["u_xx"]
        hits += abs(row["coefficient"] - 0.1) < 3.0 * row["error"]
    assert hits >= 6


@settings(max_examples=20)
@given(order=st.integers(0, 3), power=st.integers(1, 2))
def test_weak_columns_are_integrals_of_derivatives(order: int, power: int) -> None:
    """Against the integral of the derivative itself, which is known for sin and sin²."""
    x, t = np.linspace(0.0, 6.0, 241), np.linspace(0.0, 1.0, 32)
    grid = Grid(("x", "t"), (x, t))
    bumps = (Bump(30, 8, grid.steps[0]), Bump(8, 6, grid.steps[1]))
    sine = WeakForm(grid, (np.sin(x)[:, None] * np.ones_like(t),), (0.0,), bumps)
    derivative = np.imag((1j) ** order * np.exp(1j * x))
    if power == 2:  # sin² = ½ - ½ cos 2x
        derivative = -0.5 * np.real((2j) ** order * np.exp(2j * x)) + (0.5 if order == 0 else 0.0)
    plain = WeakForm(grid, (derivative[:, None] * np.ones_like(t),), (0.0,), bumps).columns([Term((0,), (1,))])
    found = sine.columns([Term((order,), (power,))])
    assert np.allclose(found, plain, rtol=1e-4, atol=1e-4 * np.abs(plain).max())


def test_powers_lose_what_noise_adds_to_them() -> None:
    noisy = 1.5 + 0.4 * np.random.default_rng(0).standard_normal((400, 500))
    for power in (2, 3, 4):
        assert values((power,), [noisy], [0.4]).mean() == pytest.approx(1.5**power, rel=0.02)
    assert noise_level(noisy) == pytest.approx(0.4, rel=0.03)


def test_heat_decays_as_the_book_says() -> None:
    x, t = np.arange(64) * 2.0 * np.pi / 64, np.linspace(0.0, 1.0, 5)
    flow = Flow(((Term((2,), (1,)),),), ((0.3,),))
    found = evolve(flow, np.sin(2.0 * x)[None], [2.0 * np.pi], t)[0]
    assert np.allclose(found, np.sin(2.0 * x)[:, None] * np.exp(-1.2 * t), atol=1e-6)


ROW = np.arange(40.0)


@pytest.mark.parametrize(
    ("field", "axes", "message"),
    [
        (np.ones((40, 40)), {"x": ROW, "t": ROW}, "every field is constant"),
        (np.ones((40, 30)), {"x": ROW, "t": ROW}, "has shape"),
        (np.eye(40), {"x": ROW**2, "t": ROW}, "rise in equal steps"),
        (np.eye(40), {"x": ROW, "s": ROW}, "needs the time 't'"),
        (np.eye(8), {"x": ROW[:8], "t": ROW[:8]}, "at least 16 nodes"),
        (np.full((40, 40), np.nan), {"x": ROW, "t": ROW}, "missing or infinite"),
        ({"x": np.eye(40)}, {"x": ROW, "t": ROW}, "a field and an axis"),
    ],
)
def test_what_is_no_field_is_refused(field: object, axes: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(DataError, match=message):
        PDERegressor().fit(field, axes)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    for text in ("", "[]", "{}", '{"kind": "unisymnet pde", "version": 1}', "[" * 5000):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(CheckpointError):
            PDESystem.load(tmp_path / "bad.json")


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["unisymnet", *words])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def test_the_command(shock: PDEProblem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    np.savez("field.npz", u=shock.fields["u"], **shock.axes)
    assert run(monkeypatch, "pde", "field.npz", "--picture", "field.png") == 0
    assert capsys.readouterr().out.startswith("u_t = -u*u_x + 0.1*u_xx")
    assert Path("field.png").read_bytes()[:4] == b"\x89PNG"
    assert json.loads(Path("field-pde.json").read_text())["kind"] == "unisymnet pde"
    np.savez("objects.npz", u=np.array([{"a": 1}], dtype=object))
    for words in (("objects.npz",), ("nothing.npz",), ("field.npz", "--axes", "y,t")):
        assert run(monkeypatch, "pde", *words) == 3
