"""What goes into one fit and what comes out of it: options (what the parameters of the estimator mean for the search:
stages, fitter, limits), the call, events, outcome.

Apart from the estimator, so that a model is made, loaded and asked without loading the search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ..candidate import Candidate
from ..deadline import now
from ..fit.kernels.robust import Loss
from ..fit.polish import Polish
from ..fit.sfo.exponents import EXPONENTS
from ..fit.sfo.sfo import SFO
from ..formula import Formula
from ..judge.noise import read_noise
from ..knowledge.known import Knowledge, Known
from ..problem import Problem
from ..propose.view.noise import looks_noisy, only_noise_left
from ..protocols import Fitter, Proposer
from ..search.literal import literal_proposers, literal_sfo
from ..search.loop import SearchSettings
from ..search.order import brief_proposers, default_proposers, dno_proposers
from ..search.trace import TraceRow
from ..symbolic.expr import Expr
from .interrupt import Interrupts
from .table import Entry
from .validation import operator_set, own_operators, read_loss
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


def options_of(model: Any) -> Options:
    """The options of one fit of this estimator, whose parameters have been checked."""
    operators = operator_set(model.operators)
    given = list(model.proposers or ())
    own = tuple(proposer for proposer in given if not isinstance(proposer, str))
    names = [name for name in given if isinstance(name, str)]
    default_proposers(names)  # an unknown name is told before any work
    # Who names the ways of proposing gets no other unless the strategy asks for it.
    trained = dno_proposers(model.strategy) if not given or model.strategy.startswith("dno") else ()
    literal = model.strategy == "literal"

    def chosen(problem: Problem) -> tuple[Proposer, ...]:
        if literal and not given:
            return literal_proposers()
        if given and not names:
            return (*own, *trained)
        evolution = {"n_jobs": model.n_jobs, "max_epochs": model.max_epochs, "checkpoint": model.checkpoint}
        return (*own, *default_proposers(names or None, trained, evolution))

    def brief(problem: Problem) -> tuple[Proposer, ...]:
        return () if literal or own else brief_proposers(names or None)

    known = Known(model.units, model.constants, model.constraints, model.template, own_operators(model.operators))
    values = EXPONENTS if model.exponents is None else (*map(float, model.exponents), None)
    sfo = SFO(exponents=values, n_threads=effective_n_jobs(model.n_jobs))
    if literal:
        sfo = literal_sfo(sfo)
    return Options(
        settings=SearchSettings(
            max_time=None if model.max_time is None or math.isinf(model.max_time) else float(model.max_time),
            max_evaluations=model.max_evaluations,
            repeatable=model.max_evaluations is not None or model.max_epochs is not None,
            max_complexity=model.max_complexity,
            is_noise=only_noise_left,
            looks_noisy=looks_noisy,
            is_rounding=partial(only_noise_left, least=0.0),
        ),
        proposers=chosen,
        brief=brief,
        fitter=Polish(sfo=sfo),
        fitter_for=lambda loss: Polish(loss=loss, sfo=sfo),
        operators=operators,
        noise=read_noise(model.noise)[0],
        noise_kind=read_noise(model.noise)[1],
        selection=model.selection,
        validation_fraction=model.validation_fraction,
        max_rows=model.max_rows,
        max_columns=model.max_columns,
        checkpoint=model.checkpoint,
        callback=model.callback,
        verbose=model.verbose,
        known=known,
        fingerprinted={
            **known.fingerprinted(),
            "operators": sorted(operators),
            "max_complexity": model.max_complexity,
            **({} if model.loss == "mse" else {"loss": model.loss}),
        },
        loss=read_loss(model.loss),
        goal=model.goal,
    )
