"""`PDERegressor`: governing equations of fields on a uniform grid.

Weak-form columns (weak.py), the best subset of terms by description length (fit/subset.py), coefficients with errors.
Does not differentiate data.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Floats
from ..deadline import now
from ..errors import DataError, quoted
from ..fit.subset import Subset, best_subsets
from ..regressor.interrupt import Interrupts
from ..threads import one_thread
from .findings import Findings
from .grid import Grid, read_fields
from .open_form import EXPLAINED, best_curve, open_terms
from .sharpen import sharpened
from .system import Equation
from .terms import Term, library, spelled
from .weak import MAX_ROWS, WeakForm, bumps_for, noise_level

if TYPE_CHECKING:
    import pandas as pd


NEGLIGIBLE = 1e-3  # a term that moves the rate by less than this share of it is not told from errors of the grid
FLOOR = 1e-4  # share of the rate's size below which what is left is the grid's error
MAX_TERMS = 8
EXACT, CLOSE = 1.0 - 1e-7, 0.999  # R² from which on polynomials suffice, in one and in two dimensions of space
SERIES = 3  # powers of one field under one derivative that look like the beginning of a series
POOR = 0.9  # R² below which a note warns


class PDERegressor:
    """Find ∂_t u = Σ c·∂^α(u^a·v^b) from fields on a uniform grid.

    Parameters
    ----------
    max_order : int, default=4
        Highest derivative in space (in two dimensions: 2).
    max_degree : int, default=3
        Highest power of the fields in a term.
    order : {1, 2, "auto"}, default=1
        Order of the time derivative on the left; "auto" takes the one that leaves less unexplained.
    time : str, default="t"
        Name of the axis of time.
    max_time : float, default=60
        Seconds at most; what has been found by then is returned.
    checkpoint : path or None, default=None
        File for the equations found so far, which survive if the search is killed.

    Attributes
    ----------
    system_ : the `PDESystem` found: prints, saves, simulates.
    equations_ : DataFrame with one row per term: field, term, coefficient, error.
    notes_ : sentences about what the data cannot tell.
    interrupted_ : whether Ctrl-C ended the fit.
    """

    def __init__(
        self,
        *,
        max_order: int = 4,
        max_degree: int = 3,
        order: int | str = 1,
        time: str = "t",
        max_time: float = 60.0,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.max_order = max_order
        self.max_degree = max_degree
        self.order = order
        self.time = time
        self.max_time = max_time
        self.checkpoint = checkpoint

    def fit(
        self,
        field: Any,
        axes: Mapping[str, Any],
        *,
        given: Sequence[str] = (),
    ) -> PDERegressor:
        """Search for the equations of the fields.

        ``field`` is an array, or a dict of arrays by name, whose axes stand in the order of ``axes``
        (``{"x": x, "t": t}``). Fields named in ``given`` may stand in equations but get none of their own: a velocity
        that carries something, a force.
        """
        self._check()
        end = now() + self.max_time
        grid, names, values = read_fields(field, axes, self.time)
        given = [given] if isinstance(given, str) else given
        if not isinstance(given, Sequence):
            raise DataError(f"given must be a list of names of fields, got {quoted(given)}")
        unknown = [name for name in given if name not in names]
        if unknown:
            raise DataError(f"given names {', '.join(map(str, unknown))}, but the fields are {', '.join(names)}")
        orders = [1, 2] if self.order == "auto" else [int(self.order)]
        targets = [i for i, name in enumerate(names) if name not in given]
        kept = None if self.checkpoint is None else Path(self.checkpoint)
        findings, interrupts = Findings(grid, names, [names[i] for i in targets], kept), Interrupts()
        with interrupts.caught(), one_thread():
            with suppress(KeyboardInterrupt), interrupts.watched(end - now()):
                for order in orders:
                    self._search(grid, values, targets, order, _Limit(end, interrupts), findings)
            self.interrupted_ = interrupts.requested
            found = findings.system(()).equations
            self.notes_ = (*findings.notes(interrupted=self.interrupted_), *_notes(names, values, found))
            self.system_ = findings.system(self.notes_)
        return self

    @property
    def equations_(self) -> pd.DataFrame:
        """The terms of the system as a table."""
        import pandas as pd

        system = self.system_
        rows = []
        for equation in system.equations:
            for term, number, error in zip(equation.terms, equation.coefficients, equation.errors, strict=True):
                text = spelled(term, system.fields, system.space)
                found = {"term": text, "coefficient": number, "error": error, "r2": equation.r2}
                rows.append({"field": equation.field, **found})
        return pd.DataFrame(rows, columns=["field", "term", "coefficient", "error", "r2"])

    def __str__(self) -> str:
        if not hasattr(self, "system_"):
            return "PDERegressor()"
        return "\n".join([*self.system_.lines(), *(f"  note: {note}" for note in self.notes_)])

    def _check(self) -> None:
        if not (isinstance(self.max_order, int) and 1 <= self.max_order <= 6):
            raise ValueError(f"max_order must be a whole number from 1 to 6, got {self.max_order!r}")
        if not (isinstance(self.max_degree, int) and 1 <= self.max_degree <= 4):
            raise ValueError(f"max_degree must be a whole number from 1 to 4, got {self.max_degree!r}")
        if self.order not in (1, 2, "auto"):
            raise ValueError(f'order must be 1, 2 or "auto", got {self.order!r}')
        number = isinstance(self.max_time, int | float) and not isinstance(self.max_time, bool)
        if not (number and self.max_time > 0.0):
            raise ValueError(f"max_time must be a positive number of seconds, got {quoted(self.max_time)}")

    def _search(
        self, grid: Grid, values: list[Floats], targets: list[int], order: int, limit: _Limit, findings: Findings
    ) -> None:
        """Put the equation of every field into ``findings``, each better one as soon as it is there."""
        names = findings.fields
        max_order = self.max_order if len(grid.space) == 1 else min(self.max_order, 2)
        max_degree = self.max_degree if len(names) <= 2 else min(self.max_degree, 2)
        terms = library(len(names), len(grid.space), max_order, max_degree)
        noise = tuple(map(noise_level, values))
        form = WeakForm(grid, tuple(values), noise, bumps_for(grid, values, max(max_order, order)))
        columns = form.columns(terms)
        for i in targets:
            if now() > limit.end:  # the alarm does not ring while `_opened` searches
                return
            rate = form.rate(i, order)
            found = _equation(names[i], columns, rate, terms, form.n_rows)
            findings.put(order, found)
            found = _opened(found, form, columns, terms, rate, limit)
            findings.put(order, found)
            findings.put(order, sharpened(found, form, i, order, limit.end))


@dataclass(frozen=True)
class _Limit:
    """When the time is over, and who asks to stop before."""

    end: float
    interrupts: Interrupts


def _equation(name: str, columns: Floats, rate: Floats, terms: list[Term], n_rows: float) -> Equation:
    """The terms with the shortest description of the rate, and their coefficients."""
    rows = np.linspace(0, len(rate) - 1, min(len(rate), MAX_ROWS)).astype(int)
    table, target = columns[rows], rate[rows]
    whole = float(target @ target)
    if whole == 0.0:
        return Equation(name, (), (), (), 1.0)
    subsets = best_subsets(table, target, max_size=MAX_TERMS, beam=20, keep=2)
    scored = [(_length(s, terms, n_rows, whole, len(target)), s) for s in subsets if _all_count(s, table, whole)]
    if not scored:
        return Equation(name, (), (), (), 0.0)
    chosen = list(min(scored, key=lambda pair: pair[0])[1].columns)
    return _with_numbers(name, [terms[j] for j in chosen], columns[:, chosen], rate, n_rows)


def _with_numbers(name: str, terms: Sequence[Term], columns: Floats, rate: Floats, n_rows: float) -> Equation:
    """The coefficients of chosen terms from all rows; rows overlap, so fewer of them are independent."""
    numbers, *_ = np.linalg.lstsq(columns, rate, rcond=None)
    residual = rate - columns @ numbers
    variance = float(residual @ residual) / max(n_rows - len(terms), 1.0)
    inverse = np.linalg.pinv(columns.T @ columns)
    errors = np.sqrt(np.maximum(variance * np.diag(inverse), 0.0))
    r2 = 1.0 - float(residual @ residual) / float(rate @ rate)
    return Equation(name, tuple(terms), tuple(map(float, numbers)), tuple(map(float, errors)), r2)


def _opened(
    found: Equation, form: WeakForm, columns: Floats, terms: list[Term], rate: Floats, limit: _Limit
) -> Equation:
    """The equation, or a shorter one with a function that is no polynomial, where polynomials are long or poor."""
    whole = float(rate @ rate)
    done = found.r2 > (EXACT if len(form.bumps) == 2 else CLOSE)
    if whole == 0.0 or done or now() > limit.end:
        return found
    curve = best_curve(form, terms, columns, rate)
    alone = [(t.orders, tuple(map(bool, t.powers))) for t in found.terms if sum(map(bool, t.powers)) == 1]
    series = max(Counter(alone).values(), default=0) >= SERIES
    if curve is None or (curve.left > EXPLAINED * (1.0 - found.r2) * whole and not series):
        return found

    def length(equation: Equation) -> float:
        loss = max((1.0 - equation.r2) * whole, 0.0)
        subset = Subset(tuple(range(len(equation.terms))), np.array(equation.coefficients), loss)
        library = [*equation.terms, *terms][: max(len(terms), len(equation.terms))]
        return _length(subset, library, form.n_rows, whole, len(rate))

    best = found
    with limit.interrupts.paused():  # the search has a limit of its own, which compiling does not count against
        ideas = open_terms(curve, len(form.fields), limit.end - now())
    for some in ideas:
        if now() > limit.end:
            break
        own = form.columns(some)
        if np.isfinite(own).all() and len(some) <= MAX_TERMS:
            rival = _with_numbers(found.field, some, own, rate, form.n_rows)
            best = min(best, _without_idle(rival, own, rate, form.n_rows, length), key=length)
    return best


def _without_idle(
    equation: Equation, columns: Floats, rate: Floats, n_rows: float, length: Callable[[Equation], float]
) -> Equation:
    """The equation without terms that do not pay: a formula for the curve follows the curve's errors, too."""
    terms, best = list(range(len(equation.terms))), equation
    while len(terms) > 1:
        shorter = [[j for j in terms if j != gone] for gone in terms]
        rivals = [
            _with_numbers(equation.field, [equation.terms[j] for j in kept], columns[:, kept], rate, n_rows)
            for kept in shorter
        ]
        place = min(range(len(rivals)), key=lambda i: length(rivals[i]))
        if length(rivals[place]) >= length(best):
            break
        terms, best = shorter[place], rivals[place]
    return best


def _length(subset: Subset, terms: list[Term], n_rows: float, whole: float, n_used: int) -> float:
    """Nats: what is left, the terms' names, their coefficients."""
    left = max(subset.loss, FLOOR**2 * whole)
    names = sum(math.log(len(terms)) + terms[j].price for j in subset.columns)
    return 0.5 * n_rows * math.log(left / whole) + names + 0.5 * subset.size * math.log(n_rows)


def _all_count(subset: Subset, table: Floats, whole: float) -> bool:
    """Does every term move the rate by more than what the grid's errors do?"""
    shares = [abs(c) * np.linalg.norm(table[:, j]) for j, c in zip(subset.columns, subset.coefficients, strict=True)]
    return bool(min(shares) > NEGLIGIBLE * math.sqrt(whole))


def _notes(names: Sequence[str], values: list[Floats], equations: Sequence[Equation]) -> list[str]:
    notes = []
    found = {equation.field: equation for equation in equations}
    for name, table in zip(names, values, strict=True):
        spread = float(np.std(table))
        level = noise_level(table)
        if level > 0.005 * spread:
            notes.append(f"noise in {name} is about {_percent(level / spread)} % of its spread")
        equation = found.get(name)
        if equation is not None and equation.r2 < POOR:
            notes.append(
                f"the equation for {name} explains {100 * equation.r2:.0f} % of its rate; "
                "a field or a term is missing, or the noise is strong"
            )
    return notes


def _percent(share: float) -> str:
    """Two digits, and never 1e+02."""
    return f"{100.0 * share:.0f}" if share >= 0.1 else f"{100.0 * share:.2g}"
