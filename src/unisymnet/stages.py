"""The proposers by name, cheapest first: what a search runs unless the user says otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from .protocols import Proposer


def all_proposers() -> tuple[Proposer, ...]:
    """Every stage with its default settings, in the order in which a search asks them."""
    from .propose.bases import Bases
    from .propose.evolve import Evolve
    from .propose.features import Features
    from .propose.monomial import Monomial
    from .propose.pairs import Pairs
    from .propose.products import Products
    from .propose.rational import Rational
    from .propose.reduce import Reduce
    from .propose.signomial import Signomial

    cheap: tuple[Proposer, ...] = (Monomial(), Bases(), Rational(), Signomial())
    inner: tuple[Proposer, ...] = (Features(), Pairs(), Products())
    return (*cheap, Reduce(stages=(*cheap, *inner)), *inner, Evolve())


def default_proposers(names: Sequence[str] | None = None) -> tuple[Proposer, ...]:
    """The proposers called ``names`` in the usual order, or all of them."""
    proposers = all_proposers()
    if names is None:
        return proposers
    known = {proposer.name: proposer for proposer in proposers}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"unknown proposers {', '.join(unknown)}; known are {', '.join(known)}")
    return tuple(known[name] for name in known if name in names)
