"""The proposers by name, cheapest first: what a search runs unless the user says otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..candidate import ParetoFront, Proposal, select
from ..deadline import Deadline
from ..problem import Problem
from ..protocols import Proposer
from ..symbolic.expr import Expr
from .turns import PROPOSALS_A_TURN

Row = tuple[str, str, dict[str, Any]]

# Name, where it lives, settings.  Modules load when a search needs them: they bring numba.  Stages that look for
# exact laws come before the same stages looking for the best description of noisy data, which costs more.
_CLOSED: tuple[Row, ...] = (
    ("monomial", "propose.linear.monomial:Monomial", {}),
    ("factors", "propose.linear.factors:Factors", {"noisy": False}),
    ("offset", "propose.separable.offset:Offset", {}),
    ("bases", "propose.linear.bases:Bases", {"noisy": False}),
    ("rational", "propose.relation.rational:Rational", {"noisy": False}),
    ("roots", "propose.relation.roots:Roots", {}),
    ("outer", "propose.relation.outer:Outer", {}),
    ("signomial", "propose.separable.signomial:Signomial", {}),
    ("extended", "propose.linear.bases:ExtendedBases", {"noisy": False}),
)
_NOISY: tuple[Row, ...] = (
    ("factors", "propose.linear.factors:Factors", {"exact": False}),
    ("bases", "propose.linear.bases:Bases", {"exact": False}),
    ("rational", "propose.relation.rational:Rational", {"exact": False}),
    ("extended", "propose.linear.bases:ExtendedBases", {"exact": False}),
)
# Roots and outer functions with free constants: quick enough to be asked whatever the noise test says.
_INVERTED: tuple[Row, ...] = (
    ("roots", "propose.relation.roots:Roots", {"exact": False, "noisy": True}),
    ("outer", "propose.relation.outer:Outer", {"exact": False, "noisy": True}),
)
_BOLTZMANN: Row = ("boltzmann", "propose.separable.boltzmann:Boltzmann", {})
_STRETCHED: Row = ("stretched", "propose.separable.stretched:Stretched", {})
_CURVES: tuple[Row, ...] = (
    ("oscillations", "propose.separable.oscillations:Oscillations", {}),
    ("peaks", "propose.separable.peaks:Peaks", {}),
)
_NOISY_CURVES: tuple[Row, ...] = tuple((name, where, {"noisy": True}) for name, where, _ in _CURVES)
_PLANE_WAVES: Row = ("planewaves", "propose.separable.planewaves:PlaneWaves", {"seconds": 0.5})
_COUPLED: Row = ("coupled", "propose.relation.coupled:Coupled", {})
_MODULATED: Row = ("modulated", "propose.separable.modulated:Modulated", {})
_MIXED: dict[str, Any] = {"mixed": True, "terms": (2, 3), "starts": 16}
_GLANCE: dict[str, Any] = {"views": ("y", "1/y", "ln(y)"), "most_inputs": 3, "seconds": 0.3}
# Exponentials are found at once or seldom: a quick look early where inputs are few, a longer one late.
_EXPONENTIALS: tuple[Row, ...] = (
    ("exponentials", "propose.separable.exponentials:Exponentials", _GLANCE),
    ("exponentials", "propose.separable.exponentials:Exponentials", {**_MIXED, **_GLANCE}),
)
_MORE_EXPONENTIALS: tuple[Row, ...] = (
    ("exponentials", "propose.separable.exponentials:Exponentials", {}),
    ("exponentials", "propose.separable.exponentials:Exponentials", _MIXED),
)
_INNER: tuple[Row, ...] = (
    ("features", "propose.screen.features:Features", {}),
    ("pairs", "propose.screen.pairs:Pairs", {}),
    ("products", "propose.screen.products:Products", {}),
)
_QUICK: tuple[Row, ...] = (
    *_CLOSED[:3],
    ("bases", "propose.linear.bases:Bases", {"noisy": False, "max_columns": 250}),
    ("rational", "propose.relation.rational:Rational", {"noisy": False, "seconds": 1.0}),
    ("roots", "propose.relation.roots:Roots", {"max_columns": 60, "seconds": 0.1}),
    ("outer", "propose.relation.outer:Outer", {"beside": False, "seconds": 0.1}),
    ("signomial", "propose.separable.signomial:Signomial", {"seconds": 0.5}),
    ("extended", "propose.linear.bases:ExtendedBases", {"noisy": False, "seconds": 1.0}),
    *_CURVES,
    _MODULATED,
)
# Reductions solve the smaller problems they find with other stages, the cheap ones first.  A smaller problem is easier
# than the whole, so each kind of stage is asked about the reductions before it is asked about the whole.
_POWERS = (_CLOSED[0], _CLOSED[2])
_SHALLOW: Row = (
    "reduce", "propose.smaller.reduce:Reduce", {"stages": _QUICK, "noisy_stages": (*_POWERS, *_NOISY), "max_time": 5.0}
)  # fmt: skip
_MIDDLE: Row = ("reduce", "propose.smaller.reduce:Reduce", {"stages": (_STRETCHED, *_INNER[:1]), "max_time": 8.0})
_DEEP: Row = ("reduce", "propose.smaller.reduce:Reduce", {"stages": (*_NOISY, *_INNER[1:]), "max_time": 12.0})
_TRANSFORMER: Row = ("transformer", "model.proposer:TransformerProposer", {"width": 60, "brief": 16})
_BEFORE_EVOLUTION: Row = (*_TRANSFORMER[:2], {**_TRANSFORMER[2], "seconds": 3.0})  # which makes better use of the rest
# A brief look at its likeliest structures costs a second, and some are laws that only it knows; the others come late.
_BEAM_ONLY: dict[str, Any] = {"n_candidates": 0, "n_bags": 1, "n_samples": 0, "n_frequent": 0, "brief": 8}
_LIKELIEST: Row = ("transformer", "model.proposer:TransformerProposer", {**_BEAM_ONLY, "seconds": 1.5})
_LIKELY: Row = (
    "transformer", "model.proposer:TransformerProposer", {**_BEAM_ONLY, "width": 60, "n_skipped": 12, "seconds": 3.0}
)  # fmt: skip
_EVOLVE: Row = ("evolve", "propose.evolve.evolve:Evolve", {})
# What evolution finds it often finds soon, so it has three places (ADR 23): share of the time left and seconds at most.
EVOLUTION = ((0.2, 4.0), (0.4, math.inf), (1.0, math.inf))
# Parts of structures that the transformer holds for likely are better units than random ones (ADR 22).
_HINTS: Row = ("transformer", "model.proposer:TransformerProposer", {**_BEAM_ONLY, "width": 40})
# Noisy data: what looks for exact laws only is left out.
_NOISY_SHALLOW: Row = (
    "reduce", "propose.smaller.reduce:Reduce", {"stages": (*_POWERS, *_NOISY_CURVES, *_NOISY), "max_time": 6.0}
)  # fmt: skip
# The cheapest exact stages need not know whether there is noise; finding out takes longer than they do.
_FIRST = _CLOSED[:6]
# Without noise, in three parts between which evolution has its places.
_AT_ONCE = (
    *_CLOSED[6:],
    _MODULATED,
    _COUPLED,
    _BOLTZMANN,
    _STRETCHED,
    *_CURVES,
    _PLANE_WAVES,
    *_EXPONENTIALS,
)
_SOON = (_SHALLOW, _MIDDLE, _LIKELIEST, *_INVERTED, *_INNER[:1])
_IN_THE_END = (*_NOISY, *_INNER[1:], _LIKELY, _DEEP, *_MORE_EXPONENTIALS)
_IF_CLEAN = (_AT_ONCE, _SOON, _IN_THE_END)
_IF_NOISY = (
    # What polynomials cannot follow on few rows looks like noise: one exact look at wider bases costs little.
    ("extended", "propose.linear.bases:ExtendedBases", {"noisy": False, "seconds": 0.7}),
    _CLOSED[6],
    _MODULATED,
    ("planewaves", "propose.separable.planewaves:PlaneWaves", {"noisy": True}),
    *_NOISY_CURVES,
    *_NOISY[:3],
    *_INVERTED,
    ("signomial", "propose.separable.signomial:Signomial", {}),
    *_NOISY[3:],
    _BOLTZMANN,
    _STRETCHED,
    *_EXPONENTIALS,
    _NOISY_SHALLOW,
    _MIDDLE,
    *_INNER,
    _LIKELIEST,  # what is not smooth looks like noise, too
    ("reduce", "propose.smaller.reduce:Reduce", {"stages": _INNER[1:], "max_time": 12.0}),
)
# Columns that do not matter leave no room for full bases where rows are few: what is left is searched before the whole.
_RELEVANT: Row = (
    "relevant",
    "propose.smaller.relevant:Relevant",
    {
        "stages": (*_CLOSED, _STRETCHED, *_CURVES, _SHALLOW, _MIDDLE, *_INNER[:2]),
        "noisy_stages": (*_POWERS, *_NOISY_CURVES, *_NOISY, _CLOSED[7], _NOISY_SHALLOW, _STRETCHED),
    },
)

# Long formulas come so near to clean data that what they leave looks like noise; measurements are seldom that good.
LEAST_NOISE = 1e-5

_EVERY: tuple[Row, ...] = (*_FIRST, _RELEVANT, *_AT_ONCE, *_SOON, *_IN_THE_END, _TRANSFORMER, _EVOLVE)
PROPOSERS = tuple(dict.fromkeys(name for name, _, _ in _EVERY))


@dataclass(frozen=True)
class OnlyIf:
    """A proposer that is silent unless the data are noisy, or unless they are clean."""

    proposer: Proposer
    noisy: bool
    judge: Callable[[Problem, ParetoFront], bool]

    @property
    def name(self) -> str:
        return self.proposer.name

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        if self.judge(problem, front) == self.noisy:
            yield from self.proposer.propose(problem, front, rng=rng, deadline=deadline)


@dataclass(frozen=True)
class Part:
    """One of several places of a proposer, which goes on at each of them where it had to stop.

    It ends after a ``share`` of the time left, ``seconds``, or as many proposals as a turn has.
    """

    proposer: Proposer
    begun: list[Iterator[Proposal]]  # shared by all its places
    share: float
    seconds: float

    @property
    def name(self) -> str:
        return self.proposer.name

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        whole = deadline.whole()
        limit = whole.sooner(min(self.share * whole.remaining(), self.seconds))
        if not self.begun:
            self.begun.append(self.proposer.propose(problem, front, rng=rng, deadline=deadline))
        for number, proposal in enumerate(self.begun[0], 1):
            yield proposal
            if limit.expired() or (self.share < 1.0 and number >= PROPOSALS_A_TURN):
                return


def default_proposers(names: Sequence[str] | None = None, trained: Sequence[Proposer] = ()) -> tuple[Proposer, ...]:
    """The proposers called ``names``, or all of them, and networks, which come before evolution: that uses all the time
    that is left.  Whether the data are noisy decides between two orders; that is judged when the first stages have not
    found an exact law."""
    unknown = [name for name in names or () if name not in PROPOSERS]
    if unknown:
        raise ValueError(f"unknown proposers {', '.join(unknown)}; known are {', '.join(PROPOSERS)}")
    judge = _Judge()
    hints = {"hints": (_HINTS,)} if names is None or _TRANSFORMER[0] in names else {}

    def loaded(rows: Sequence[Row]) -> list[Proposer]:
        return [
            _load(name, where, {**settings, **(hints if name == _EVOLVE[0] else {})})
            for name, where, settings in rows
            if names is None or name in names
        ]

    evolution = loaded((_EVOLVE,))
    begun: list[Iterator[Proposal]] = []
    parts = [[Part(stage, begun, *times) for stage in evolution] for times in EVOLUTION]
    ordered = (*loaded(_IF_CLEAN[0]), *parts[0], *loaded(_IF_CLEAN[1]), *parts[1], *loaded(_IF_CLEAN[2]))
    clean = [OnlyIf(proposer, False, judge) for proposer in ordered]
    noisy = [OnlyIf(proposer, True, judge) for proposer in loaded(_IF_NOISY)]
    # Without noise evolution makes more of likely structures than a long look at each.
    late = [OnlyIf(proposer, True, judge) for proposer in loaded((_BEFORE_EVOLUTION,))]
    return (
        *loaded((*_FIRST, _RELEVANT)), *clean, *noisy, *(late if evolution else loaded((_TRANSFORMER,))),
        *trained, *parts[2],
    )  # fmt: skip


class _Judge:
    """Are the data noisy?  They look so, or the best formula so far leaves only noise.  No test is made twice."""

    def __init__(self) -> None:
        self.known: dict[Expr | None, bool] = {}

    def __call__(self, problem: Problem, front: ParetoFront) -> bool:
        from ..propose.view.noise import looks_noisy, only_noise_left

        if True in self.known.values():
            return True
        if None not in self.known:
            self.known[None] = looks_noisy(problem)
            return self(problem, front)
        if len(front):
            spread = problem.spread * problem.y_scale
            best = front[select(front, n_rows=problem.n_rows, spread=spread)].expr
            if best not in self.known:
                self.known[best] = only_noise_left(problem, best, LEAST_NOISE)
                return self.known[best]
        return False


def dno_proposers(strategy: str) -> tuple[Proposer, ...]:
    """Networks trained as the strategy says: "dno-p" and "dno-np" always, "auto" the dense ones where torch is at hand
    and the formulas found so far explain too little, "sfo" none."""
    if strategy == "sfo" or (strategy == "auto" and find_spec("torch") is None):
        return ()
    from ..fit.dno.dno import DNO, DNOProposer, require_torch
    from ..model.proposer import TransformerProposer

    sources = (TransformerProposer(n_candidates=5, n_bags=1, n_samples=0, n_frequent=5),)
    if strategy == "auto":
        return (DNOProposer(DNO(pruning=False), sources, enough=0.99, share=0.3, min_time=5.0),)
    require_torch()
    return (DNOProposer(DNO(pruning=strategy == "dno-p"), sources),)


def _load(name: str, where: str, settings: dict[str, Any]) -> Proposer:
    module, _, kind = where.partition(":")
    for key in settings.keys() & {"stages", "noisy_stages", "hints"}:
        settings = {**settings, key: tuple(_load(*row) for row in settings[key])}
    proposer: Proposer = getattr(import_module(f"unisymnet.{module}"), kind)(**settings)
    return proposer
