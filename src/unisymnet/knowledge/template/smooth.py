"""All unknown functions of a template at once as smooth curves and surfaces, before any form is known.

Every function is a sum of products of Chebyshev polynomials of its columns, and a constant to fit is a function of no
column; damped Gauss-Newton steps fit all coefficients together.  This also works where the known form cannot be solved
for a function: in several places, inside a sine, under a derivative.  What is left shows how well the values of
each function are known.  Does not search for formulas.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.polynomial import chebyshev

from ...arrays import Floats
from ...symbolic.expr import Expr, Param, Var, evaluate, n_params, rebuild, variables
from ..shape.differ import derivative
from .text import Slot, Template, with_columns

DEGREES = (2, 4, 6, 8)
MAX_ROWS, MAX_COEFFICIENTS = 400, 120
ROWS_EACH = 2  # rows that a coefficient needs
N_STARTS, N_STEPS, N_ATTEMPTS = 12, 25, 4
SWEEPS, BEST_STARTS, BRIEF_STEPS = 2, 3, 3  # of constants, over many values each
BESIDE = (0.03, 0.3)  # widths of a column from its ends
GOOD = 0.05  # of the spread of y: a first fit that leaves no more need not be tried from elsewhere
WIDE = 1.5  # ratio of the largest to the smallest value from which logarithms make a difference
SETTLED = 1e-9  # of the spread of y: what is left is rounding
ROUNDED = 1e-6  # of the spread of y: no measurement has so little noise
WORSE = 0.7  # a higher degree must leave less than this share, or the lower one is kept
CUT = 0.4  # where the last one has left less than this share, the next would do so again: it is not noise that is left


@dataclass(frozen=True)
class Box:
    """Lowest and highest value of every column, and which columns enter by their logarithm.

    In logarithms roots and reciprocals need few terms; without them polynomials do.
    """

    low: Floats
    high: Floats
    logs: tuple[bool, ...]


@dataclass(frozen=True)
class Smooth:
    """Coefficients of every function; `error` is the rms of what they leave of y, in its unit, and `clean` says that
    this is not noise, but what is missing for want of higher degrees."""

    template: Template
    box: Box
    coefficients: Mapping[str, Floats]
    degree: int
    constants: tuple[float, ...]
    error: float
    clean: bool = False

    def values(self, slot: Slot, X: Floats) -> Floats:
        """The function of a slot on these rows."""
        return np.asarray(_basis(self.template, slot, X, self.box, self.degree) @ self.coefficients[slot.name])


def fit_smooth(
    template: Template, X: Floats, y: Floats, weights: Floats, rng: np.random.Generator, fixed: Mapping[str, Expr]
) -> Smooth | None:
    """The functions that are not `fixed` as smooth ones; None where nothing could be fitted."""
    rows = _some(X, y, weights)
    low, high = rows[0].min(axis=0), rows[0].max(axis=0)
    logs = (low > 0.0) & (high > WIDE * low)
    best: Smooth | None = None
    for chosen in (np.zeros_like(logs), logs):
        task = _Task(template, *rows, Box(low, high, tuple(map(bool, chosen))), fixed)
        found = _best_degree(task, rng)
        if found is not None and (best is None or found.error < best.error):
            best = found
        if not logs.any() or (best is not None and best.error <= SETTLED * task.spread):
            break
    return best


def refitted(smooth: Smooth, X: Floats, y: Floats, weights: Floats, fixed: Mapping[str, Expr]) -> Smooth | None:
    """The same degrees with more functions fixed, from the coefficients that the others had: quicker than anew."""
    task = _Task(smooth.template, *_some(X, y, weights), smooth.box, fixed)
    start = [np.asarray(smooth.constants), *(smooth.coefficients[name] for name in task.free)]
    return task.fitted(smooth.degree, np.concatenate(start))


def _some(X: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    few = np.unique(np.linspace(0, len(y) - 1, MAX_ROWS).astype(int))
    return X[few], y[few], np.sqrt(weights[few])


def _best_degree(task: _Task, rng: np.random.Generator) -> Smooth | None:
    """What is left may be noise, or the end of a path that was no good: then other starts are tried."""
    best: Smooth | None = None
    for attempt in range(N_ATTEMPTS):
        found = _climbed(task, rng, attempt)
        if found is not None and (best is None or found.error < best.error):
            best = found
        if best is None or best.clean:
            break
    return best


def _climbed(task: _Task, rng: np.random.Generator, attempt: int) -> Smooth | None:
    """Degree after degree, as long as it helps."""
    best: Smooth | None = None
    for degree in DEGREES:
        if task.size(degree) > min(MAX_COEFFICIENTS, len(task.y) // ROWS_EACH):
            break
        found = task.first(degree, rng, attempt) if best is None else task.fitted(degree, task.raised(best, degree))
        if found is None or (best is not None and found.error > WORSE * best.error):
            return None if best is None else replace(best, clean=best.error <= ROUNDED * task.spread)
        clean = found.error <= ROUNDED * task.spread or (best is not None and found.error < CUT * best.error)
        best = replace(found, clean=clean)
        if best.error <= SETTLED * task.spread:
            break
    return best


class _Task:
    """One template on some rows."""

    def __init__(
        self, template: Template, X: Floats, y: Floats, roots: Floats, box: Box, fixed: Mapping[str, Expr]
    ) -> None:
        self.template, self.X, self.y, self.roots = template, X, y, roots
        self.box, self.fixed = box, fixed
        self.spread = float(np.std(y)) or 1.0
        n = template.n_columns + len(template.slots)
        # A constant to fit is a further column, the same on every row.
        self.outer = rebuild(template.outer, lambda e: Var(n + e.index) if isinstance(e, Param) else e)
        self.n_constants = n_params(template.outer)
        self.free = [name for name in template.functions if name not in self.fixed]
        self.slopes = {k: derivative(self.outer, k) for k in range(template.n_columns, n + self.n_constants)}

    def size(self, degree: int) -> int:
        return self.n_constants + sum(len(_powers(len(self.template.functions[f]), degree)) for f in self.free)

    def first(self, degree: int, rng: np.random.Generator, skipped: int) -> Smooth | None:
        """The best of several starts: 1 everywhere, then random slopes and signs."""
        best: Smooth | None = None
        scanned = self.constant_starts
        for number in range(skipped, N_STARTS + len(scanned) - 1):
            start = scanned[number % len(scanned)]
            for name in self.free:
                powers = _powers(len(self.template.functions[name]), degree)
                own = np.array([1.0 if not sum(p) else 0.0 for p in powers])
                if number >= len(scanned):
                    near = np.array([1.0 / (1.0 + sum(p)) ** 2 for p in powers])
                    own = rng.uniform(0.3, 4.0) * own * rng.choice([1.0, 1.0, -1.0]) + rng.normal(0.0, 1.0) * (
                        rng.normal(0.0, 0.6, len(powers)) * near
                    )
                start = np.concatenate([start, own])
            found = self.fitted(degree, start)
            if found is not None and (best is None or found.error < best.error):
                best = found
            if best is not None and best.error <= GOOD * self.spread:
                break
        return best

    @cached_property
    def constant_starts(self) -> list[Floats]:
        """Where the constants of the template may start, the best first; 1 everywhere is among them.

        No step leads across a pole, so the b of 1/(x - b) must start on its side; which one that is, a few steps from
        many values tell, with the functions fitted along.
        """
        ones = np.ones(self.n_constants)
        if not self.n_constants:
            return [ones]
        values = self._scanned_values()
        found: dict[tuple[float, ...], float] = {tuple(ones): self._brief_error(ones)}
        for _ in range(SWEEPS if self.n_constants > 1 else 1):
            for k in range(self.n_constants):
                here = np.array(min(found, key=lambda start: found[start]))
                for value in values:
                    here[k] = value
                    if tuple(here) not in found:
                        found[tuple(here.tolist())] = self._brief_error(here)
        ranked = sorted(found, key=lambda start: found[start])[:BEST_STARTS]
        return [np.array(start) for start in dict.fromkeys([*ranked, tuple(ones)])]

    def _scanned_values(self) -> list[float]:
        """Zero, powers of ten of both signs, and places on either side of the columns."""
        sizes = 10.0 ** np.arange(-3.0, 3.5, 0.5)
        columns = sorted(i for i in variables(self.outer) if i < self.template.n_columns)
        ends = [(float(self.box.low[i]), float(self.box.high[i])) for i in columns]
        beside = [
            end + sign * share * (high - low)
            for low, high in ends
            for share in BESIDE
            for end, sign in ((low, -1), (high, 1))
        ]
        return list(dict.fromkeys([0.0, *sizes.tolist(), *(-sizes).tolist(), *beside]))

    def _brief_error(self, constants: Floats) -> float:
        """What a few steps from these constants leave, with functions that are 1 at first."""
        degree = next(
            (d for d in reversed(DEGREES[:2]) if self.size(d) <= min(MAX_COEFFICIENTS, len(self.y) // ROWS_EACH)),
            DEGREES[0],
        )
        parts = [constants]
        for name in self.free:
            powers = _powers(len(self.template.functions[name]), degree)
            parts.append(np.array([0.0 if sum(p) else 1.0 for p in powers]))
        found = self.fitted(degree, np.concatenate(parts), BRIEF_STEPS)
        return math.inf if found is None or not math.isfinite(found.error) else found.error

    def raised(self, found: Smooth, degree: int) -> Floats:
        """Coefficients as the start for a higher degree."""
        parts = [np.asarray(found.constants)]
        for name in self.free:
            n = len(self.template.functions[name])
            known = dict(zip(_powers(n, found.degree), found.coefficients[name], strict=True))
            parts.append(np.array([known.get(powers, 0.0) for powers in _powers(n, degree)]))
        return np.concatenate(parts)

    def fitted(self, degree: int, start: Floats, n_steps: int = N_STEPS) -> Smooth | None:
        """Damped Gauss-Newton steps from these coefficients."""
        template, places = self.template, dict[str, slice]()
        begin = self.n_constants
        for name in self.free:
            end = begin + len(_powers(len(template.functions[name]), degree))
            places[name], begin = slice(begin, end), end
        bases = [
            None if s.name in self.fixed else _basis(template, s, self.X, self.box, degree) for s in template.slots
        ]
        theta, damping = start, 1e-2
        rest = self._rest(theta, bases, places)
        if rest is None:
            return None
        cost = float(rest @ rest)
        for _ in range(n_steps):
            jacobian = self._jacobian(theta, bases, places)
            if not np.isfinite(jacobian).all() or cost <= (SETTLED * self.spread) ** 2 * len(rest):
                break
            gram, slope = jacobian.T @ jacobian, jacobian.T @ rest
            before = cost
            for _ in range(6):
                scale = np.diag(gram) + 1e-12 * (np.trace(gram) / len(gram) + 1e-300)
                step = np.linalg.lstsq(gram + damping * np.diag(scale), slope, rcond=1e-14)[0]
                moved = self._rest(theta + step, bases, places)
                if moved is not None and float(moved @ moved) < cost:
                    theta, rest, cost = theta + step, moved, float(moved @ moved)
                    damping = max(0.1 * damping, 1e-12)
                    break
                damping *= 8.0
            if cost > 0.999 * before:
                break
        freedom = max(len(rest) - len(theta), 1)
        constants = tuple(map(float, theta[: self.n_constants]))
        coefficients = {name: theta[place] for name, place in places.items()}
        return Smooth(template, self.box, coefficients, degree, constants, math.sqrt(cost / freedom))

    def _table(self, theta: Floats, bases: Sequence[Floats | None], places: Mapping[str, slice]) -> Floats:
        columns = []
        for slot, basis in zip(self.template.slots, bases, strict=True):
            if basis is None:
                columns.append(slot_values(self.template, slot, self.fixed[slot.name], self.X))
            else:
                columns.append(basis @ theta[places[slot.name]])
        constants = np.tile(theta[: self.n_constants], (len(self.y), 1))
        return np.column_stack([self.X, *columns, constants])

    def _rest(self, theta: Floats, bases: Sequence[Floats | None], places: Mapping[str, slice]) -> Floats | None:
        with np.errstate(all="ignore"):
            rest: Floats = self.roots * (self.y - evaluate(self.outer, self._table(theta, bases, places)))
            return rest if np.isfinite(rest @ rest) else None

    def _jacobian(self, theta: Floats, bases: Sequence[Floats | None], places: Mapping[str, slice]) -> Floats:
        table = self._table(theta, bases, places)
        found = np.zeros((len(self.y), len(theta)))
        first = self.template.n_columns
        with np.errstate(all="ignore"):
            for k, (slot, basis) in enumerate(zip(self.template.slots, bases, strict=True)):
                if basis is not None:
                    found[:, places[slot.name]] += evaluate(self.slopes[first + k], table)[:, None] * basis
            for k in range(self.n_constants):
                found[:, k] = evaluate(self.slopes[first + len(bases) + k], table)
        return np.asarray(self.roots[:, None] * found)


def slot_values(template: Template, slot: Slot, part: Expr, X: Floats) -> Floats:
    """A formula for the function of a slot, or its derivative, on these rows."""
    part = derivative(part, slot.by) if slot.by is not None else part
    return evaluate(with_columns(part, dict(zip(template.functions[slot.name], slot.columns, strict=True))), X)


def _powers(n_columns: int, degree: int) -> list[tuple[int, ...]]:
    """Exponents of the columns; a function of one column can have more for the same number of coefficients."""
    degree = _degree(n_columns, degree)
    every = itertools.product(range(degree + 1), repeat=n_columns)
    return [powers for powers in every if sum(powers) <= degree]


def _degree(n_columns: int, degree: int) -> int:
    return 3 * degree // 2 if n_columns == 1 else degree


def _basis(template: Template, slot: Slot, X: Floats, box: Box, degree: int) -> Floats:
    """Products of Chebyshev polynomials of the columns of a slot, or their derivatives.

    The range is that of all columns at which the function is asked for.
    """
    own = template.functions[slot.name]
    highest = _degree(len(own), degree)
    every = [s.columns for s in template.slots if s.name == slot.name]
    tables = []
    for place, column in enumerate(slot.columns):
        low = min(float(box.low[columns[place]]) for columns in every)
        high = max(float(box.high[columns[place]]) for columns in every)
        x, inner = X[:, column], np.ones(len(X))
        if all(box.logs[columns[place]] for columns in every):
            low, high, x, inner = math.log(low), math.log(high), np.log(x), 1.0 / x
        half = 0.5 * (high - low) or 1.0
        t = (x - 0.5 * (low + high)) / half
        table = chebyshev.chebvander(t, highest)
        if slot.by is not None and own[place] == slot.by:
            slopes = [chebyshev.chebval(t, chebyshev.chebder(row)) for row in np.eye(highest + 1)]
            table = np.column_stack([np.broadcast_to(slope, t.shape) * inner / half for slope in slopes])
        tables.append(table)
    return np.column_stack(
        [
            np.prod([table[:, p] for table, p in zip(tables, powers, strict=True)], axis=0)
            for powers in _powers(len(own), degree)
        ]
    )
