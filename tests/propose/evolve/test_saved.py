"""Islands on disk: a killed search goes on with the same epochs, and a damaged file does no harm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import Parallel

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import Problem, make_problem
from unisymnet.propose.evolve import saved
from unisymnet.propose.evolve.islands import Islands
from unisymnet.propose.evolve.saved import kept, load, place_of, save
from unisymnet.propose.evolve.stage import Evolve
from unisymnet.symbolic.parse import parse


def _problem() -> Problem:
    rng = np.random.default_rng(5)
    X = rng.uniform(0.5, 3.0, (80, 2))
    return make_problem(X, X[:, 0] * np.sin(1.7 * X[:, 1]) + rng.normal(0.0, 0.01, 80))


def _islands() -> Islands:
    islands = Islands(_problem(), seed=7, n_islands=3, work=2_000_000)
    islands.welcome(1, [parse("x0*sin(x1)")])
    return islands


def _lived(islands: Islands, n_epochs: int) -> list[np.ndarray]:
    for _ in range(n_epochs):
        assert islands.step(Parallel(n_jobs=1), Deadline.never())
    return [part for island in islands.islands for part in island.state]


def _same(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("n_before", [3, 4])  # the best have just been sent, or not
def test_what_is_read_goes_on_as_if_nothing_had_happened(tmp_path: Path, n_before: int) -> None:
    whole = _islands()
    whole.teach([parse("sin(2*x1)")])
    expected = _lived(whole, 7)
    first, second = _islands(), _islands()
    first.teach([parse("sin(2*x1)")])
    _lived(first, n_before)
    path = place_of(tmp_path, first)
    save(first, path)
    assert load(second, path) and second.n_epochs == n_before
    assert _same(_lived(second, 7 - n_before), expected)
    assert [path.name for path in tmp_path.iterdir()] == [path.name]


def test_other_data_or_another_seed_are_another_file(tmp_path: Path) -> None:
    one, other = _islands(), Islands(_problem(), seed=8, n_islands=3, work=2_000_000)
    assert place_of(tmp_path, one) == place_of(tmp_path, _islands()) != place_of(tmp_path, other)
    assert not load(one, place_of(tmp_path, one))


def _rewritten(path: Path, **changed: Any) -> None:
    with np.load(path) as arrays:
        parts = dict(arrays)
    with open(path, "wb") as file:
        np.savez(file, **(parts | changed))


def test_a_damaged_file_does_no_harm(tmp_path: Path) -> None:
    islands = _islands()
    _lived(islands, 2)
    path = place_of(tmp_path, islands)
    state = islands.islands[0].state
    wild, deep, long = state.tokens.copy(), state.tokens.copy(), state.lengths.copy()
    taken = int(np.argmax(state.lengths))
    wild[taken, 0] = 32 * 1000  # a column that does not exist
    deep[taken, : state.lengths[taken]] = 2  # sums of nothing
    long[taken] = 10_000
    wrong: list[dict[str, Any]] = [
        {"0.tokens": wild},
        {"0.tokens": deep},
        {"0.lengths": long},
        {"0.losses": np.full_like(state.losses, np.nan)},
        {"0.losses": state.losses[:-1]},
        {"0.values": state.values.astype(object).astype(np.float32)},
        {"0.facts": np.array([np.nan, -1.0, 0.0, 0.0, 0.0])},
        {"n_epochs": np.array([-3])},
    ]
    for changed in wrong:
        save(islands, path)
        _rewritten(path, **changed)
        fresh = _islands()
        assert not load(fresh, path) and fresh.n_epochs == 0, changed.keys()
    for content in (b"", b"PK\x03\x04 not a file", path.read_bytes()[:2000]):
        path.write_bytes(content)
        assert not load(_islands(), path)


def test_a_folder_that_cannot_be_written_costs_the_file_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    save(_islands(), tmp_path / "file" / "islands.npz")


def test_the_stage_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "EVERY", 2)
    problem = _problem()

    def run(n_epochs: int, folder: Path | None) -> set[str]:
        stage = Evolve(work=2_000_000, max_epochs=n_epochs, checkpoint=None if folder is None else str(folder))
        rng = np.random.default_rng(0)
        proposals = stage.propose(problem, ParetoFront(), rng=rng, deadline=Deadline.never())
        return {str(proposal.expr) for proposal in proposals}

    run(3, tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    rest, whole = run(5, tmp_path), run(5, None)
    assert rest and whole and not run(5, tmp_path)  # all five epochs have been lived
    assert rest & whole


def test_without_a_folder_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with kept(_islands(), None) as note:
        note()
    assert not list(tmp_path.iterdir())
