"""What goes into one fit and what comes out of it, as types: options, the call, events, outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..candidate import Candidate
from ..deadline import now
from ..fit.kernels.robust import Loss
from ..formula import Formula
from ..knowledge.known import Knowledge, Known
from ..problem import Problem
from ..protocols import Fitter, Proposer
from ..search.loop import SearchSettings
from ..search.trace import TraceRow
from ..symbolic.expr import Expr
from .interrupt import Interrupts
from .table import Entry
from .warm import warm_all


@dataclass(frozen=True)
class Options:
    """What the estimator's parameters mean for one fit."""

    settings: SearchSettings
    proposers: Callable[[Problem], tuple[Proposer, ...]]
    fitter: Fitter
    brief: Callable[[Problem], tuple[Proposer, ...]] = lambda problem: ()  # for a quick look at a smaller problem
    operators: frozenset[str] = frozenset()
    noise: float | None = None
    noise_kind: str | None = None  # how the noise depends on the value, if told
    selection: str = "best"
    validation_fraction: float = 0.2
    max_rows: int = 2000
    max_columns: int = 10
    checkpoint: str | None = None
    callback: Callable[[FitEvent], Any] | None = None
    verbose: bool = False
    fingerprinted: dict[str, Any] = field(default_factory=dict)
    loss: tuple[str, Any] = ("mse", None)  # name and parameter
    fitter_for: Callable[[Loss], Fitter] | None = None  # for other losses than mean squares
    known: Known = field(default_factory=Known)
    knowledge: Knowledge | None = None  # what is known, for the columns of the data
    goal: str = "law"  # or "predict"


@dataclass(frozen=True)
class Call:
    """One call of `fit`: formulas to begin with, in the caller's columns and units, randomness, who may stop it, and
    the moment of `deadline.now` from which its time counts (None: when the search begins)."""

    guesses: Sequence[Expr]
    start: Sequence[Formula]
    rng: np.random.Generator
    interrupts: Interrupts
    called: float | None = None

    def began(self) -> float:
        """The clock starts with the call; compiling the kernels of a new installation is not the data's time."""
        return max(now() if self.called is None else self.called, warm_all())


@dataclass(frozen=True)
class FitEvent:
    """What a callback is told: the stage at work, time, formulas tried, the best formula, and the front so far.

    The candidates of the front are in the columns of `best`, simple ones first.
    """

    kind: str
    stage: str
    seconds: float
    n_evaluations: int
    best: Formula
    n_formulas: int
    front: tuple[Candidate, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A finished fit."""

    entries: tuple[Entry, ...]
    picked: int
    notes: tuple[str, ...]
    trace: tuple[TraceRow, ...]
    stopped: str
    seconds: float
    n_evaluations: int
    n_train: int
    n_valid: int
    beside: tuple[Entry, ...] = ()  # what fits better but contradicts what is known
    proven: bool = False  # nothing shorter than the pick was left untried
