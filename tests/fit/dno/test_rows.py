"""Rows that networks are trained on: scales, splits, bent targets."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unisymnet.fit.dno.rows import Rows  # noqa: E402


def rows(y: np.ndarray, chordal: list[bool] | None = None) -> Rows:
    kinds = None if chordal is None else torch.tensor(chordal)[:, None]
    return Rows(torch.zeros(len(y), 1), torch.tensor(y), torch.ones(len(y)), kinds)


def test_only_targets_with_poles_are_bent() -> None:
    rng = np.random.default_rng(0)
    near = rows(rng.normal(size=200)).scaled(0.3, 8)
    assert near[0].chordal is None and near[2] == pytest.approx(1.0, abs=0.2)
    far, _, scale = rows(1.0 / rng.normal(size=200)).scaled(0.3, 8)
    assert far.chordal is not None and far.chordal[:, 0].tolist() == [True] * 4 + [False] * 4
    assert float(far.y.abs().median()) == pytest.approx(1.0) and scale < 5.0
    assert rows(np.zeros(9)).scaled(0.3, 8)[0].chordal is None


def test_the_two_infinities_are_neighbours_for_chords_only() -> None:
    bent = rows(np.array([1e6]), [True, False])
    chord, asinh = bent.errors(torch.tensor([[-1e6], [-1e6]], dtype=torch.float64))[:, 0].abs().tolist()
    assert chord < 1e-5 and asinh > 20.0


def test_bend_is_the_derivative_of_the_errors() -> None:
    bent = rows(np.array([0.3, -40.0, 5.0]), [True, False])
    values = torch.tensor([[0.1, 7.0, -2.0]] * 2, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(bent.errors(values).sum(), values)
    assert torch.allclose(slope, bent.bend(values).detach())
    straight = bent.straight()
    assert torch.equal(straight.errors(values), values - straight.y) and bool((straight.bend(values) == 1.0).all())


def test_split_keeps_every_row_once() -> None:
    kept, held = rows(np.arange(100.0), [True]).split(0.2, rng=np.random.default_rng(0))
    assert held is not None and held.chordal is not None and len(held.y) == 20
    assert sorted([*kept.y.tolist(), *held.y.tolist()]) == list(range(100))
