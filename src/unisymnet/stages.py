"""The proposers by name, cheapest first: what a search runs unless the user says otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from .protocols import Proposer

# Name -> where it lives; modules load when a search needs them (they bring numba).
CHEAP = {
    "monomial": "propose.monomial:Monomial",
    "offset": "propose.offset:Offset",
    "bases": "propose.bases:Bases",
}
INNER = {
    "features": "propose.features:Features",
}
LAST = {
    "evolve": "propose.evolve:Evolve",
}
PROPOSERS = (*CHEAP, "reduce", *INNER, *LAST)


def default_proposers(names: Sequence[str] | None = None) -> tuple[Proposer, ...]:
    """The proposers called ``names`` in the usual order, or all of them."""
    unknown = [name for name in names or () if name not in PROPOSERS]
    if unknown:
        raise ValueError(f"unknown proposers {', '.join(unknown)}; known are {', '.join(PROPOSERS)}")
    return tuple(_proposer(name) for name in PROPOSERS if names is None or name in names)


def _proposer(name: str) -> Proposer:
    if name == "reduce":
        # Reductions solve the smaller problems they find with the other stages.
        others = tuple(_load(where) for where in (*CHEAP.values(), *INNER.values()))
        return _load("propose.reduce:Reduce", stages=others)
    return _load({**CHEAP, **INNER, **LAST}[name])


def _load(where: str, **settings: object) -> Proposer:
    module, _, kind = where.partition(":")
    proposer: Proposer = getattr(import_module(f".{module}", __package__), kind)(**settings)
    return proposer
