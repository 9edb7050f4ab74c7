"""A model that is not loaded yet is not loaded where the time left is shorter than loading takes."""

from __future__ import annotations

import sys

import numpy as np

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.model import proposer
from unisymnet.problem import make_problem
from unisymnet.tables.boosting import boosting_errors
from unisymnet.tables.folds import make_folds


def test_nothing_is_loaded_when_the_time_is_nearly_over(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    loads: list[object] = []
    monkeypatch.setattr(proposer, "LOADED", set())
    monkeypatch.setattr(proposer, "load_weights", lambda folder: loads.append(folder) or _never())
    X = np.random.default_rng(0).uniform(1, 2, (30, 2))
    problem, rng = make_problem(X, X[:, 0] * X[:, 1]), np.random.default_rng(0)
    stage = proposer.TransformerProposer()
    assert list(stage.propose(problem, ParetoFront(), rng=rng, deadline=Deadline.after(0.4))) == []
    assert loads == []


def test_boosting_is_not_loaded_either(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)  # importing it would fail
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, (60, 2))
    folds = make_folds(60, rng)
    assert len(boosting_errors(X, X[:, 0], np.ones(60), folds, Deadline.after(0.4))) == 0


def _never() -> None:
    raise AssertionError("loaded")
