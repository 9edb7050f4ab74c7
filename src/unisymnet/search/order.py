"""The order of a search, as lists to be read from top to bottom: who is tried, on which data, for how long.

First the cheapest exact stages, whatever the data; then one of two lists, by whether there is noise; networks and
evolution last.  Stages that look for exact laws come before the same stages looking for the best description of noisy
data, which costs more.  How a proposer gets its turns is the loop's affair.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from ..candidate import Proposal
from ..protocols import Proposer
from .places import NoiseJudge, OnlyIf, Part
from .stages import PROPOSERS, Place, at, loaded

# Budgets: seconds for one stage at one place, where it is not the stage's own.
BLINK, GLANCE, HALF, BRIEF, LOOK, LONGER, WHILE = 0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 3.0
SMALLER_QUICK, SMALLER_NOISY, SMALLER_DEEP = 5.0, 6.0, 12.0  # for one smaller problem
SCATTER = 3.0  # standard deviations, about, of the ratio of two residual variances
# What evolution finds it often finds soon, so it has several places (ADR 23, 58): shares of the time left, and seconds.
# The first epochs, which are short, propose so much that their turn ends before its time: a second one follows at once.
EARLY, SOON, MIDWAY, LATER, REST = (0.2, 4.0), (0.15, 3.0), (0.6, math.inf), (0.6, math.inf), (1.0, math.inf)
# What looks like noise may be a law that no polynomial follows, which evolution has in its first epochs if at all.  Of
# one input known and short forms are all tried, and what evolution adds there mostly follows the noise.
BRIEFLY = (0.05, 1.0, 2)

MIXED: dict[str, Any] = {"mixed": True, "terms": (2, 3), "starts": 16}
FEW_INPUTS: dict[str, Any] = {"views": ("y", "1/y", "ln(y)"), "most_inputs": 3, "seconds": GLANCE}
BEAM_ONLY: dict[str, Any] = {"n_candidates": 0, "n_bags": 1, "n_samples": 0, "n_frequent": 0, "brief": 8}

# The cheapest exact stages need not know whether there is noise; finding out takes longer than they do.
FIRST = (
    at("monomial"),
    at("factors", noisy=False),
    at("offset"),
    at("bases", noisy=False),
    at("rational", noisy=False),
    at("roots"),
)
DESCRIBING = (
    at("factors", exact=False),
    at("bases", exact=False),
    at("rational", exact=False),
    at("extended", exact=False),
)
POWER_LAWS = (at("monomial"), at("offset"))
NOISY_CURVES = (at("oscillations", noisy=True), at("peaks", noisy=True))
# Sums of a few terms, for y and other views of it, grown from below: a twentieth of a second.
SHORT_SUMS = at("subsets")
TEXTBOOK = at("textbook", most_inputs=1, factors=True)
# A power law times one inner function, whose argument inputs were merged into.
INNER = at("features", noisy=True, n_arguments=24, seconds=HALF)
# Linear in a function of one input: what multiplies it and what is beside it are power laws, short sums, or become
# known forms once inputs are stripped and merged.
AFFINE = at(
    "affine",
    stages=(
        *(*POWER_LAWS, TEXTBOOK),
        at("reduce", stages=(*POWER_LAWS, TEXTBOOK, SHORT_SUMS), noisy=True, max_time=LOOK),
        SHORT_SUMS,
    ),
)
# Asked about smaller problems, which are easier than the whole: each kind of stage before it is asked about the whole.
QUICK = (
    *(at("monomial"), at("factors", noisy=False), at("offset")),
    at("bases", noisy=False, max_columns=250),
    at("rational", noisy=False, seconds=LOOK),
    at("roots", max_columns=60, seconds=BLINK),
    at("outer", beside=False, seconds=BLINK),
    at("features", n_arguments=24, seconds=HALF),
    AFFINE,
    at("signomial", seconds=HALF),
    at("extended", noisy=False, seconds=LOOK),
    *(at("oscillations"), at("peaks"), at("modulated"), at("joined"), at("stretched")),
)
# Known forms of y and of its views, the best few of them: of the whole, and of what is left when inputs are stripped
# and merged.  Half a second, and most laws of several inputs.
KNOWN_FORMS = (at("joined"), TEXTBOOK)
SEEN = at("seen", stages=KNOWN_FORMS, seconds=LONGER)
SEEN_TOO = at("seen", stages=KNOWN_FORMS, views=("y", "y**2", "1/y", "sqrt(y)", "ln(y)"), seconds=LONGER)
# Where columns are angles in degrees: through their sines, cosines and tangents; where the target is one, its own.
# Where columns are in °C: in kelvin.
IN_OWN_UNITS = (
    at("units", stages=(*POWER_LAWS, SHORT_SUMS), kelvin=(*POWER_LAWS, SHORT_SUMS, *KNOWN_FORMS), seconds=LONGER),
    at(
        "seen",
        stages=(*POWER_LAWS, SHORT_SUMS, *KNOWN_FORMS, at("units", stages=POWER_LAWS)),
        views=("sin(y)", "cos(y)", "tan(y)"),
        seconds=LONGER,
        angles=True,
    ),
)
# The same of a number that inputs were merged into, or of its inverse.
INVERTED = at("textbook", most_inputs=1, inverted=True)
# Quotients of a few terms, of the inputs and of these with a function of one of them.
FEW = at("rational", exact=False, noisy=False, few=True, seconds=BRIEF)
WIDE = at("rational", exact=False, noisy=False, wide=True, seconds=LONGER)
REDUCED = at(
    "reduce",
    stages=QUICK,
    noisy_stages=(*POWER_LAWS, SEEN_TOO, INNER, SHORT_SUMS, AFFINE, *DESCRIBING),
    max_time=SMALLER_QUICK,
)
# Of many rows only sure reductions first: a power that nearly fits hides the number that two inputs make.
REDUCED_SOON = at(
    "reduce",
    stages=(*POWER_LAWS, SEEN_TOO, INVERTED, INNER, SHORT_SUMS, AFFINE, FEW, WIDE),
    max_time=SMALLER_QUICK,
    scatter=SCATTER,
    noisy=True,
)
REDUCED_NOISY = at(
    "reduce",
    stages=(*POWER_LAWS, SHORT_SUMS, at("joined"), *NOISY_CURVES, *DESCRIBING, FEW, WIDE, at("stretched")),
    max_time=SMALLER_NOISY,
)
# Two groups of inputs, added or multiplied, each of which is then looked at alone.
IN_GROUPS = at("joined", stages=(*POWER_LAWS, SHORT_SUMS), seconds=LONGER)
# Columns that do not matter leave no room for full bases where rows are few: what is left is searched before the whole.
RELEVANT = at(
    "relevant",
    stages=(
        *FIRST,
        *(at("outer"), at("signomial"), at("extended", noisy=False)),
        *(at("stretched"), at("oscillations"), at("peaks"), at("joined")),
        *(REDUCED, at("features")),
    ),
    noisy_stages=(
        *(*POWER_LAWS, SHORT_SUMS, at("joined"), *NOISY_CURVES, *DESCRIBING),
        *(at("signomial"), REDUCED_NOISY, at("stretched")),
    ),
)

ALWAYS = (*FIRST, RELEVANT)
IF_CLEAN = (
    at("outer"),
    at("signomial"),
    at("extended", noisy=False),
    at("modulated"),
    at("coupled"),
    at("boltzmann"),
    at("stretched"),
    at("oscillations"),
    at("peaks"),
    # Curves of one input each, added or multiplied: hundredths of a second where the rows show no such law.
    at("joined"),
    at("planewaves", seconds=HALF),
    # Exponentials are found at once or seldom: a quick look early where inputs are few, a longer one late.
    at("exponentials", **FEW_INPUTS),
    at("exponentials", **MIXED, **FEW_INPUTS),
    *IN_OWN_UNITS,
    Place("evolve", part=EARLY),
    Place("evolve", part=SOON),
    # A dozen measured rows do not show their noise: known forms must not wait.
    at("textbook"),
    IN_GROUPS,
    REDUCED,
    at("features"),
    Place("evolve", part=MIDWAY),
    SEEN,
    AFFINE,
    # A brief look at its likeliest structures costs a second, and some are laws that only it knows; the rest come late.
    at("transformer", **BEAM_ONLY, seconds=LONGER),
    # Roots and outer functions with free constants: quick enough to be asked whatever the noise test says.
    at("roots", exact=False, noisy=True),
    at("outer", exact=False, noisy=True),
    Place("evolve", part=LATER),
    *DESCRIBING,
    at("transformer", **BEAM_ONLY, width=60, n_skipped=12, seconds=WHILE),
    at("reduce", stages=DESCRIBING, max_time=SMALLER_DEEP),
    at("exponentials"),
    at("exponentials", **MIXED),
)
# What looks for exact laws only is left out.
IF_NOISY = (
    *IN_OWN_UNITS,
    REDUCED_SOON,
    at("textbook"),
    at("joined"),
    Place("evolve", part=BRIEFLY),
    SEEN,
    # A few hundredths of a second each.
    at("modulated", noisy=True),
    at("factors", exact=False),
    AFFINE,
    # Every short formula must be tried before a search may say that nothing shorter exists.
    at("short", most=15.0, seconds=WHILE),
    # Among columns that hardly differ, too: a full basis cannot tell them apart.
    SHORT_SUMS,
    FEW,
    IN_GROUPS,
    # What polynomials cannot follow on few rows looks like noise: one exact look at wider bases costs little.
    at("extended", noisy=False, seconds=BRIEF),
    at("outer"),
    at("modulated"),
    at("planewaves", noisy=True),
    *NOISY_CURVES,
    at("bases", exact=False),
    at("rational", exact=False),
    at("roots", exact=False, noisy=True),
    at("outer", exact=False, noisy=True),
    WIDE,
    at("signomial"),
    at("extended", exact=False),
    at("boltzmann"),
    at("stretched"),
    at("exponentials", **FEW_INPUTS),
    at("exponentials", **MIXED, **FEW_INPUTS),
    REDUCED_NOISY,
    at("transformer", **BEAM_ONLY, seconds=LONGER),  # what is not smooth looks like noise, too
    at("short", least=16.0, most=20.0),
)
# For a quick answer about few inputs, one guess among several: what takes a tenth of a second first, nothing that grows
# with the time it is given.
BRIEF_IF_CLEAN = (
    *(at("modulated"), at("boltzmann"), at("oscillations"), at("peaks"), at("joined")),
    *(at("stretched"), at("exponentials", **FEW_INPUTS)),
    at("outer", beside=False, seconds=BLINK),
    at("signomial", seconds=HALF),
    at("extended", noisy=False, seconds=BRIEF),
    *(IN_GROUPS, REDUCED, at("textbook")),
)
BRIEF_IF_NOISY = (
    *IN_OWN_UNITS,
    *(SHORT_SUMS, AFFINE, at("boltzmann"), at("stretched")),
    *(at("factors", exact=False), at("bases", exact=False), at("rational", exact=False)),
    *(*NOISY_CURVES, at("joined"), at("textbook"), at("short", most=15.0, seconds=LOOK)),
)
# A long look at each likely structure.  Without noise evolution makes more of them; where it follows, it gets the time.
LATE, LATE_IF_NOISY = (at("transformer", width=60, brief=16, **limit) for limit in ({}, {"seconds": WHILE}))
# Parts of structures that the transformer holds for likely are better units than random ones (ADR 22).
HINTS = (at("transformer", **BEAM_ONLY, width=40),)
# Asked what could stand in a hole of a formula that evolution has found.
FINISHERS = (
    *(at("monomial"), at("factors", noisy=False)),
    at("bases", noisy=False, max_columns=60),
    at("rational", noisy=False, max_columns=60),
)


def default_proposers(
    names: Sequence[str] | None = None, trained: Sequence[Proposer] = (), evolution: dict[str, Any] | None = None
) -> tuple[Proposer, ...]:
    """The proposers called ``names``, or all of them, and networks, which come before evolution: that uses all the time
    that is left, with these settings.  Whether the data are noisy decides between two orders; that is judged when the
    first stages have not found an exact law."""
    unknown = [name for name in names or () if name not in PROPOSERS]
    if unknown:
        raise ValueError(f"unknown proposers {', '.join(unknown)}; known are {', '.join(PROPOSERS)}")
    judge = NoiseJudge()
    wanted = set(PROPOSERS if names is None else names)
    begun: list[Iterator[Proposal]] = []
    hints = {"hints": HINTS} if "transformer" in wanted else {}
    settings = {"finishers": FINISHERS, **hints, **(evolution or {})}
    evolve = [loaded(at("evolve", **settings))] if "evolve" in wanted else []

    def ordered(places: Sequence[Place]) -> Iterator[Proposer]:
        for place in places:
            if place.part is not None:
                yield from (Part(stage, begun, *place.part) for stage in evolve)
            elif place.name in wanted:
                yield loaded(place)

    return (
        *ordered(ALWAYS),
        *(OnlyIf(proposer, False, judge) for proposer in ordered(IF_CLEAN)),
        *(OnlyIf(proposer, True, judge) for proposer in ordered(IF_NOISY)),
        *([OnlyIf(p, True, judge) for p in ordered((LATE_IF_NOISY,))] if evolve else ordered((LATE,))),
        *trained,
        *ordered((Place("evolve", part=REST),)),
    )


def brief_proposers(names: Sequence[str] | None = None) -> tuple[Proposer, ...]:
    """A short list for a problem that may be a wrong guess: those called ``names``, or all on it."""
    judge = NoiseJudge()
    wanted = set(PROPOSERS if names is None else names)
    lists = ((None, FIRST), (False, BRIEF_IF_CLEAN), (True, BRIEF_IF_NOISY))
    return tuple(
        loaded(place) if noisy is None else OnlyIf(loaded(place), noisy, judge)
        for noisy, places in lists
        for place in places
        if place.name in wanted
    )


def dno_proposers(strategy: str) -> tuple[Proposer, ...]:
    """Networks trained as the strategy says: "dno-p" and "dno-np" always, "auto" the dense ones where torch is at hand
    and the formulas found so far explain too little, "sfo" none."""
    if strategy in ("sfo", "literal") or (strategy == "auto" and find_spec("torch") is None):
        return ()
    from ..fit.dno.dno import DNO, DNOProposer, require_torch
    from ..model.proposer import TransformerProposer

    sources = (TransformerProposer(n_candidates=5, n_bags=1, n_samples=0, n_frequent=5),)
    if strategy == "auto":
        return (DNOProposer(DNO(pruning=False), sources, enough=0.99, share=0.3, min_time=5.0),)
    require_torch()
    return (DNOProposer(DNO(pruning=strategy == "dno-p"), sources),)
