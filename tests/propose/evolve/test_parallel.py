"""The same islands, bit for bit, in one thread, in several, in processes; a lost worker costs its epoch only."""

import numpy as np
import pytest
from joblib import Parallel, parallel_config

from unisymnet import UniSymNetRegressor
from unisymnet.deadline import Deadline
from unisymnet.problem import Problem, make_problem
from unisymnet.propose.evolve.islands import Islands


def _problem() -> Problem:
    rng = np.random.default_rng(5)
    X = rng.uniform(0.5, 3.0, (80, 2))
    return make_problem(X, X[:, 0] * np.sin(1.7 * X[:, 1]) + rng.normal(0.0, 0.01, 80))


def _states(parallel: Parallel, n_epochs: int = 5) -> list[np.ndarray]:
    """All arrays of all islands after some epochs, two of which end with an exchange."""
    islands = Islands(_problem(), seed=7, n_islands=3, work=3_000_000)
    for _ in range(n_epochs):
        assert islands.step(parallel, Deadline.never())
    return [part for island in islands.islands for part in island.state]


def _same(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_any_number_of_threads_gives_the_same_islands() -> None:
    alone = _states(Parallel(n_jobs=1))
    for n_jobs in (2, 4):
        for _ in range(3):
            with Parallel(n_jobs=n_jobs, prefer="threads") as parallel:
                assert _same(alone, _states(parallel))


def test_processes_give_the_same_islands() -> None:
    alone = _states(Parallel(n_jobs=1))
    with parallel_config(backend="loky", n_jobs=2), Parallel(prefer="threads") as parallel:
        assert _same(alone, _states(parallel))


def test_a_lost_worker_costs_its_epoch_only(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = _states(Parallel(n_jobs=1))

    class Dying(Parallel):  # type: ignore[misc]
        calls = 0

        def __call__(self, jobs):  # type: ignore[no-untyped-def]
            Dying.calls += 1
            if Dying.calls % 3 == 1:
                raise RuntimeError("the worker is gone")
            return super().__call__(jobs)

    assert _same(alone, _states(Dying(n_jobs=1)))


def test_max_epochs_gives_the_same_front_for_every_n_jobs() -> None:
    problem = _problem()
    fronts = []
    for n_jobs in (1, 2, 4):
        model = UniSymNetRegressor(max_time=None, max_epochs=6, proposers=["evolve"], n_jobs=n_jobs)
        model.fit(problem.X, problem.y)
        fronts.append([(str(entry.formula), entry.loss) for entry in model.front_])
    assert fronts[0] == fronts[1] == fronts[2]
    assert fronts[0][-1][1] < 0.1 * problem.spread**2


def test_the_time_limit_ends_an_epoch_before_it_begins() -> None:
    islands = Islands(_problem(), seed=7, n_islands=2)
    assert islands.step(Parallel(n_jobs=1), Deadline.after(0.0)) is None
    assert islands.n_epochs == 0
