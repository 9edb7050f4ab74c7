"""The stages by name: where each lives, and one place of a stage in the order of a search, with its settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ..protocols import Proposer

# Where each stage lives.  Modules load when a search needs them: they bring numba.
HOMES = {
    "monomial": "propose.linear.monomial:Monomial",
    "factors": "propose.linear.factors:Factors",
    "offset": "propose.separable.offset:Offset",
    "bases": "propose.linear.bases:Bases",
    "rational": "propose.relation.quotients:Rational",
    "roots": "propose.relation.roots:Roots",
    "relevant": "propose.smaller.reduce:Relevant",
    "outer": "propose.relation.outer:Outer",
    "signomial": "propose.separable.signomial:Signomial",
    "extended": "propose.linear.bases:ExtendedBases",
    "modulated": "propose.separable.modulated:Modulated",
    "coupled": "propose.relation.quotients:Coupled",
    "boltzmann": "propose.separable.inside:Boltzmann",
    "stretched": "propose.separable.inside:Stretched",
    "oscillations": "propose.separable.curves:Oscillations",
    "peaks": "propose.separable.curves:Peaks",
    "planewaves": "propose.separable.planewaves:PlaneWaves",
    "exponentials": "propose.separable.exponentials:Exponentials",
    "reduce": "propose.smaller.reduce:Reduce",
    "transformer": "model.proposer:TransformerProposer",
    "features": "propose.separable.features:Features",
    "textbook": "propose.separable.textbook:Textbook",
    "joined": "propose.short.joined:Joined",
    "seen": "propose.smaller.seen:Seen",
    "affine": "propose.smaller.affine:Affine",
    "units": "propose.smaller.seen:InOwnUnits",
    "short": "propose.short.short:Short",
    "subsets": "propose.short.subsets:Subsets",
    "evolve": "propose.evolve.stage:Evolve",
}
PROPOSERS = tuple(HOMES)


@dataclass(frozen=True)
class Place:
    """One place in the order: a stage by name, with its settings.

    A stage that goes on at its next place has a ``part``: the share of the time left and the seconds for this place,
    and from how many inputs on.
    """

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    part: tuple[float, float] | tuple[float, float, int] | None = None


def at(name: str, **settings: Any) -> Place:
    return Place(name, settings)


def loaded(place: Place) -> Proposer:
    module, _, kind = HOMES[place.name].partition(":")
    settings = dict(place.settings)
    for key in settings.keys() & {"stages", "noisy_stages", "kelvin", "hints", "finishers"}:
        settings[key] = tuple(map(loaded, settings[key]))
    proposer: Proposer = getattr(import_module(f"..{module}", __package__), kind)(**settings)
    return proposer
