"""The judge: the length of a formula and of the data it leaves, in nats; the smallest wins (ADR 25).

    L = structure + constants + data + noise model

Structure is the price of the tree (prior.py) or of a whole textbook form (forms.py), constants cost the digits that
the data determine, data cost what the residuals say about them.  A formula with numbers goes in, four numbers come
out; nothing is fitted here, except that each noise model is tried on the same residuals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Floats
from ..formula.derivative import independent, value_and_jacobian
from ..problem import NOTHING_TOLD, Told
from ..symbolic.expr import Expr, evaluate, variables
from ..symbolic.rewrite.simplify import simplify
from .data import ROUNDING, data_nats, last_digit, spread_nats, squares
from .forms import form_share, many_share
from .noise import MODELS, NoiseModel
from .prior import FREE_EXPONENT, Prior, load_prior
from .scales import assumed_nats
from .special import canonical
from .told import in_units_of_laws, turning_units
from .tree import EXPONENT, NUMBER, Node, Reading, plane_places, read
from .unseen import unseen_nats

# Nats for what a formula and its tree take for granted about units; below zero where units narrow down the formulas.
UnitPrice = Callable[[Expr, Node], float]

CONSTANT_SHARE = 0.5  # of the belief: that nothing matters and y is a constant
FORM_SHARE = 0.5  # of the rest, on whole textbook forms
LEAST_CONSTANT = 1.0  # nats
OFFSET = 0.7  # sign, and that no prior is as wide as it should be
USUAL_EXPONENT, TINY_EXPONENT = 3.0, 0.2
USUAL_SIZE = 13.8  # ln of a million
DEPENDENT = 1e-7  # share of a column of the Jacobian that the others leave unexplained
MAX_CONSTANTS = 40
FEW_ROWS = 40  # with more of them no formula that a search finds goes through all by chance
LARGEST = 1e140  # of values and derivatives: their squares must be numbers
MAX_REPEATED = 20_000  # rows


@dataclass(frozen=True)
class Lengths:
    """What a formula costs, in nats."""

    structure: float
    constants: float
    data: float
    model: NoiseModel
    free: frozenset[int]  # places of the constants that are fitted; the others are written down

    @property
    def n_free(self) -> int:
        return len(self.free)

    @property
    def formula(self) -> float:
        return self.structure + self.constants

    @property
    def evidence(self) -> float:
        """The data's part: residuals and which noise model they obey."""
        return self.data + self.model.nats

    @property
    def total(self) -> float:
        return self.formula + self.evidence


@dataclass(frozen=True)
class Judge:
    """Rows in the caller's units.  ``sigma`` is the known noise of a row of weight 1, ``models`` what the noise may be,
    ``floor`` the square that the last written digit leaves open."""

    X: Floats
    y: Floats
    root: Floats  # square root of the weights, mean square 1
    n_columns: int
    floor: float
    models: tuple[NoiseModel, ...] = MODELS
    sigma: float | None = None
    units: UnitPrice = field(default=assumed_nats, repr=False)
    told: Told = NOTHING_TOLD
    prior: Prior = field(default_factory=load_prior, repr=False)

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def structure(self, expr: Expr) -> float:
        """S: nats of the form of a formula, its numbers aside."""
        return self._structure(read(expr), expr)[0]

    def lengths(self, expr: Expr, model: NoiseModel | None = None) -> Lengths | None:
        """All four parts, under one noise model or the one that makes the whole shortest; None for a formula that is
        undefined on some row or has a constant for every row."""
        found = self.each(expr, self.models if model is None else (model,))
        return min(found, key=lambda one: one.total) if found else None

    def each(self, expr: Expr, models: Sequence[NoiseModel]) -> list[Lengths]:
        """All four parts under each noise model; empty where ``lengths`` is None."""
        reading = read(expr)
        if len(reading.values) > MAX_CONSTANTS:
            return []
        values, jacobian = value_and_jacobian(reading.form, self.X, reading.values)
        if not _usable(self.y - values) or not _usable(jacobian):
            return []
        structure, own = self._structure(reading, expr)
        turns = turning_units(reading.tree, self.told)
        numbers = [(node, self._written(node, parent, own, turns), parent) for parent, node in _numbers(reading.tree)]
        found, plane = [], plane_places(reading.tree)
        for one in models:
            residuals = one.residuals(values, self.y)
            if residuals is None:
                continue
            roots = self.root * one.roots(values, self.root * residuals)
            nats, free = self._constants(numbers, jacobian * roots[:, None], residuals, roots, plane)
            if len(free) >= max(self.n_rows, 2):
                return []
            data = data_nats(residuals, self.root if one.kind == "heavy tails" else roots, one, self.floor, self.sigma)
            found.append(Lengths(structure, nats, data + one.excess(values, self.y), one, free))
        return found

    def believes(self, exact: Iterable[Expr], others: Iterable[Expr]) -> bool:
        """Is one of the formulas that leave nothing a law, and not a curve through a few points?  On few rows it must
        be the shortest description, too."""
        if self.n_rows > FEW_ROWS:
            return True
        mine, best = (
            min((found.total for found in map(self.lengths, some) if found is not None), default=math.inf)
            for some in (exact, others)
        )
        return mine <= best and math.isfinite(mine)

    def errors(self, expr: Expr, lengths: Lengths) -> dict[int, float]:
        """Standard errors of the free constants by place, from the Jacobian; inf where the data do not say."""
        reading, places = read(expr), sorted(lengths.free)
        values, jacobian = value_and_jacobian(reading.form, self.X, reading.values)
        residuals = lengths.model.residuals(values, self.y)
        if residuals is None:
            return {place: math.inf for place in places}
        roots = self.root * lengths.model.roots(values, self.root * residuals)
        columns = jacobian[:, places] * roots[:, None]
        sizes = np.linalg.norm(columns, axis=0)
        if not len(places) or not np.isfinite(sizes).all() or not sizes.all():
            return {place: math.inf for place in places}
        inverse = np.linalg.pinv((columns / sizes).T @ (columns / sizes), rcond=1e-14, hermitian=True)
        left = squares(residuals, roots, self.floor) / max(self.n_rows - len(places), 1)
        variance = left if self.sigma is None else self.sigma**2
        found = np.sqrt(np.maximum(np.diag(inverse), 0.0) * variance) / sizes
        return dict(zip(places, map(float, found), strict=True))

    def quick(self, expr: Expr) -> tuple[float, float]:
        """Lower bounds that need no Jacobian: nats of the formula, nats of the data under the best noise model."""
        reading = read(expr)
        with np.errstate(all="ignore"):
            values = evaluate(expr, self.X)
        if not _usable(self.y - values):
            return math.inf, math.inf
        data = math.inf
        for model in self.models:
            residuals = model.residuals(values, self.y)
            if residuals is None:
                continue
            roots = self.root * model.roots(values, self.root * residuals)
            rows = self.root if model.kind == "heavy tails" else roots
            nats = data_nats(residuals, rows, model, self.floor, self.sigma) + model.excess(values, self.y)
            data = min(data, nats + model.nats)
        structure, own = self._structure(reading, expr)
        turns = turning_units(reading.tree, self.told)
        written = (self._written(node, parent, own, turns) for parent, node in _numbers(reading.tree))
        least = sum(min(LEAST_CONSTANT, nats) for nats in written)
        return structure + least, data

    def _structure(self, reading: Reading, expr: Expr) -> tuple[float, frozenset[int]]:
        """Nats of the form, and the places of numbers that a common part has and that cost nothing more."""
        if reading.tree.symbol == NUMBER:
            return -math.log(CONSTANT_SHARE), frozenset()
        form = in_units_of_laws(expr, self.told)
        price = self.prior.price(read(form).tree if self.told else reading.tree, self.n_columns)
        grammar = math.exp(-min(price.structure, 700.0))
        whole = 0.0
        n_used = len(variables(expr))
        known = form_share(canonical(form)) if n_used == 1 and len(reading.values) <= 8 else None
        if known is not None:
            whole = known[1] / self.n_columns
        elif n_used > 1:
            whole = many_share(simplify(form), self.n_columns)
        share = (1.0 - CONSTANT_SHARE) * (FORM_SHARE * whole + (1.0 - FORM_SHARE) * grammar)
        taken = self.units(expr, reading.tree) + unseen_nats(expr, self.X, self.told.degrees)
        # Read as a whole form its numbers are numbers like others; parts count where they make the shorter reading.
        apart = FORM_SHARE * whole < (1.0 - FORM_SHARE) * grammar * math.exp(price.saved)
        # The numbers of a common part stand at other places in other units.
        return taken - math.log(share), price.places if apart and not self.told else frozenset()

    def _written(self, node: Node, parent: str, own: frozenset[int], turns: Mapping[int, float]) -> float:
        if node.place in turns:
            return 0.0 if abs(turns[node.place]) == 1.0 else self.prior.constant_nats(turns[node.place])
        return 0.0 if node.place in own else self.prior.written(node, parent)

    def _constants(
        self,
        numbers: Sequence[tuple[Node, float, str]],
        jacobian: Floats,
        residuals: Floats,
        roots: Floats,
        plane: tuple[int, ...],
    ) -> tuple[float, frozenset[int]]:
        """Nats of all numbers, each written down or free, whichever is shorter, and the places of the free.

        Those of a ``plane`` cost the same wherever its columns have their zero: a line over years must not pay for the
        1950 years before the first row.
        """
        if not numbers:
            return 0.0, frozenset()
        total = squares(residuals, roots, self.floor)
        mean = float(np.average(self.y, weights=roots**2))
        moved = float(np.linalg.norm(roots * (self.y - mean)))
        # A small number costs less written down than any free one; of the others the hardest to write are free first.
        dear = [(written, node.place) for node, written, parent in numbers if written > _least_free(parent)]
        needed = independent(jacobian, [place for _, place in sorted(dear, reverse=True)], DEPENDENT)
        n_free = len(needed)
        sizes = {node.place: abs(node.value) * float(np.linalg.norm(jacobian[:, node.place])) for node, *_ in numbers}
        if len(plane) > 1 and set(plane) <= set(needed):
            values = {node.place: node.value for node, *_ in numbers}
            shares = np.linalg.qr(jacobian[:, plane], mode="r") @ np.array([values[place] for place in plane])
            sizes |= dict(zip(plane, np.abs(shares).tolist(), strict=True))
        for _ in range(2):  # how many are free decides the noise level, and that how many are free
            if self.sigma is None:
                level = 0.5 * spread_nats(total, self.n_rows, n_free)
            else:
                level = 0.5 * math.log(2.0 * math.pi * self.sigma**2)
            nats, free = 0.0, set()
            for node, written, parent in numbers:
                if node.place not in needed:  # one that others can stand in for might as well be 1
                    nats += min(written, math.log(2.0)) if written > _least_free(parent) else written
                    continue
                size = max(sizes[node.place], moved)
                digits = math.log(size) - level if size > 0.0 else 0.0
                digits += OFFSET + _unusual(node.value, parent == EXPONENT)
                own = _least_free(parent) + max(0.0, digits - LEAST_CONSTANT)
                nats += min(own, written)
                if own < written:
                    free.add(node.place)
            n_free = len(free)
        return nats, frozenset(free)


def make_judge(
    X: Floats,
    y: Floats,
    weights: Floats | None = None,
    *,
    n_columns: int | None = None,
    models: Sequence[NoiseModel] = MODELS,
    sigma: float | None = None,
    units: UnitPrice = assumed_nats,
    told: Told = NOTHING_TOLD,
) -> Judge:
    """A judge of these rows.  Weights that are whole numbers count how often a row was seen."""
    root = np.ones(len(y))
    if weights is not None and (weights != weights[0]).any():
        X, y, weights = X[weights > 0.0], y[weights > 0.0], weights[weights > 0.0]
        if (weights % 1.0 == 0.0).all() and weights.sum() <= MAX_REPEATED:
            seen = np.repeat(np.arange(len(y)), weights.astype(int))
            X, y, root = X[seen], y[seen], np.ones(len(seen))
        else:
            root = np.sqrt(weights * (len(y) / weights.sum()))
    spread = float(np.std(y))
    floor = max(last_digit(y) ** 2 / 12.0, (ROUNDING * spread) ** 2, 1e-300)
    return Judge(X, y, root, n_columns or X.shape[1], floor, tuple(models), sigma, units, told)


def _usable(values: Floats) -> bool:
    return bool(np.isfinite(values).all() and np.abs(values).max(initial=0.0) < LARGEST)


def _numbers(tree: Node) -> list[tuple[str, Node]]:
    return [(parent, node) for parent, node in tree.walk() if node.symbol == NUMBER]


def _least_free(parent: str) -> float:
    """The least that a free constant costs; that an exponent is free costs more."""
    return LEAST_CONSTANT - math.log(FREE_EXPONENT) if parent == EXPONENT else LEAST_CONSTANT


def _unusual(value: float, is_exponent: bool) -> float:
    """Nats more for a size that constants seldom have."""
    size = abs(value)
    if size == 0.0:
        return 0.0
    if is_exponent:
        return max(0.0, size - USUAL_EXPONENT) / 1.5 + max(0.0, 2.0 * math.log(TINY_EXPONENT / size))
    return math.log1p((math.log(size) / USUAL_SIZE) ** 2)
