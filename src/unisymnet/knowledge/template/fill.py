"""The unknown functions of a template, searched one after the other; what is found is fitted as a whole.

All functions are first fitted together as smooth ones (smooth.py).  Given the others, a function then has a wanted
value on every row, and a whole search looks for it there; once all have a formula, the best few of each are combined.
A formula that is as good as the smooth function takes its place.  Where the values are known to a few digits only, a
formula that has these digits ends the search of that function.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Floats
from ...candidate import ParetoFront, Proposal, description_length
from ...deadline import Deadline
from ...problem import Problem, make_problem
from ...symbolic.expr import Expr, Param, Var, call, n_params
from ..reduced import Solve
from .invert import is_single_valued, near_a_fold, slope_of, smooth_table, solved, wanted
from .plain import simplified, without_constant
from .smooth import fit_smooth
from .text import Template, holes_of, with_columns

ROUNDS = 5
KEPT = 6  # formulas of each function that are combined
COMBINED = 3  # of these, with as many of every other
MAX_COMBINED = 40
LEAST_DEFINED = 0.5  # share of the rows on which a function must be known to be searched
FIRST_SECONDS = 0.3  # for one function in the first round; three times as many in the next
DIGITS = 3.0  # times the error of the wanted values: a formula that leaves no more has all their digits
STEEP = 0.1  # of the median slope of y by the function; flatter rows are left out
USELESS = 0.7  # and those that leave more show nothing


@dataclass(frozen=True)
class Fill:
    """A proposer of formulas that follow a template, in all columns of the problem."""

    template: Template
    solve: Solve
    name: str = "template"
    remember: Callable[[Mapping[str, Expr]], None] | None = None  # told what the functions of a proposal are

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        X, y = problem.X * problem.x_scales, problem.y * problem.y_scale
        names = sorted(self.template.functions, key=lambda name: len(self.template.functions[name]))
        known: dict[str, list[Expr]] = {name: [] for name in names}
        seen: set[tuple[Expr, ...]] = set()
        rounds = 1 if len(names) == 1 else ROUNDS
        rows = X, y, problem.weights
        first = None if rounds == 1 else fit_smooth(self.template, *rows, rng, {})
        for number in range(rounds):
            for place, name in enumerate(names):
                left = (rounds - number) * len(names) - place
                seconds = deadline.whole().remaining() / (left + 0.5)
                # Early rounds know little of the other functions: what they cannot find soon, they cannot find.
                limit = deadline.whole().sooner(min(seconds, FIRST_SECONDS * 3.0**number) if rounds > 1 else seconds)
                # The others are smooth unless a formula is as good: a wrong one would spoil the wanted values.
                others = {n: e[0] for n, e in known.items() if n != name and e}
                others = {} if first is None else simplified(first, others, rows)
                part = wanted_part(self.template, name, others, problem, rng)
                found = [] if part is None else self._searched(part, name, rng, limit)
                known[name] = [*found, *(e for e in known[name] if e not in found)][:KEPT]
                for parts in _combined([known[n] for n in names], seen):
                    yield self._proposal(dict(zip(names, parts, strict=True)), problem)
                if deadline.whole().expired():
                    return
        yield from self._small([name for name in names if not known[name]], known, problem)

    def _proposal(self, parts: dict[str, Expr], problem: Problem, brief: int = 0) -> Proposal:
        whole = self.template.whole(parts)
        if self.remember is not None:
            self.remember(parts)
        if brief == 0 and n_params(whole):
            brief = 8
        return Proposal(problem.to_scaled(whole), self.name, brief)

    def _searched(self, part: Problem, name: str, rng: np.random.Generator, limit: Deadline) -> list[Expr]:
        """Formulas of one function, in its own columns, the best first."""
        front, spread = self.solve(part, rng, limit), part.spread * part.y_scale
        ranked = sorted(front, key=lambda c: description_length(c, part.n_rows, spread))
        columns = dict(enumerate(self.template.functions[name]))
        return [with_columns(candidate.expr, columns) for candidate in ranked[:KEPT]]

    def _small(self, hard: list[str], known: dict[str, list[Expr]], problem: Problem) -> Iterator[Proposal]:
        """Small forms with open constants for functions whose values could not be found."""
        if not hard:
            return
        several = len(hard) > 1
        lists = [small_forms(self.template.functions[name])[: 8 if several else None] for name in hard]
        for forms in itertools.islice(itertools.product(*lists), 4 * MAX_COMBINED):
            others = {n: e[0] for n, e in known.items() if n not in hard}
            yield self._proposal(others | dict(zip(hard, forms, strict=True)), problem, brief=16)


def wanted_part(
    template: Template,
    name: str,
    others: Mapping[str, Expr],
    problem: Problem,
    rng: np.random.Generator,
) -> Problem | None:
    """The search for one function as a problem of its own: its columns, its wanted values, what each row counts."""
    X, y = problem.X * problem.x_scales, problem.y * problem.y_scale
    slots = [template.slots[hole - template.n_columns] for hole in holes_of(template, name)]
    alone = len(template.functions) == 1 and len(slots) == 1 and slots[0].by is None and not n_params(template.outer)
    ones = np.column_stack([X, np.ones((len(X), len(template.slots)))])
    values = wanted(template.outer, template.n_columns, ones, y) if alone else None
    if values is not None and is_single_valued(template.outer, template.n_columns):
        table = np.column_stack([X, values])
        return _problem(X[:, slots[0].columns], values, slope_of(template, name, table), problem)
    smooth = fit_smooth(template, X, y, problem.weights, rng, others)
    spread = float(np.std(y))
    if smooth is None or not smooth.error < USELESS * spread:
        return None
    table = smooth_table(template, smooth, others, X)
    slope = slope_of(template, name, table)
    if any(slot.by is not None or slot.columns != slots[0].columns for slot in slots):
        # No row has one wanted value: the smooth function itself stands for it, wherever it is asked for.
        plain = [slot for slot in slots if slot.by is None]
        rows = np.vstack([X[:, slot.columns] for slot in plain])
        values = np.concatenate([smooth.values(slot, X) for slot in plain])
        slope = np.full(len(values), np.sqrt(np.mean(slope**2)))
    else:
        only = len(template.functions) == 1 and not smooth.constants
        rows, values = X[:, slots[0].columns], solved(template, name, table, y, exact=only or smooth.clean)
        folded = near_a_fold(template, name, table, smooth.error) if only or smooth.clean else np.zeros(len(y), bool)
        if folded.mean() < 1.0 - LEAST_DEFINED:
            slope = np.where(folded, np.nan, slope)
        if only:  # nothing else is unknown: the values carry no error of other functions
            return _problem(rows, values, slope, problem)
    return _problem(rows, values, slope, problem, DIGITS * smooth.error if smooth.clean else 0.0)


def _problem(rows: Floats, values: Floats, slope: Floats, problem: Problem, error: float = 0.0) -> Problem | None:
    """Rows on which the function is defined; `error` is what the wanted values carry, in the unit of y."""
    good = np.isfinite(values) & np.isfinite(rows).all(axis=1) & np.isfinite(slope)
    size = float(np.median(np.abs(slope[good]))) if good.any() else 0.0
    good &= np.abs(slope) > STEEP * size  # elsewhere y says nothing about the function
    if good.sum() < LEAST_DEFINED * len(values) or np.ptp(values[good]) == 0.0:
        return None
    given = np.resize(problem.weights, len(values))[good]
    weight = np.minimum(np.abs(slope[good]), np.quantile(np.abs(slope[good]), 0.9)) ** 2 * given
    part = make_problem(rows[good], values[good], weights=weight, operators=problem.operators)
    carried = error / float(np.sqrt(np.average(slope[good] ** 2, weights=given)))
    return replace(part, rounding=max(part.rounding, carried / part.y_scale))


def _combined(lists: Sequence[Sequence[Expr]], seen: set[tuple[Expr, ...]]) -> Iterator[tuple[Expr, ...]]:
    """One formula for every function, the best first, none twice; each also without constants that are added, which
    only the data may want, and not what is known of the law."""
    places = itertools.product(*(range(min(len(one), COMBINED)) for one in lists))
    for chosen in sorted(places, key=sum)[:MAX_COMBINED]:
        parts = tuple(one[k] for one, k in zip(lists, chosen, strict=True))
        bare = tuple(next(without_constant(part), part) for part in parts)
        for tried in (parts, bare):
            if tried not in seen:
                seen.add(tried)
                yield tried


def small_forms(columns: Sequence[int]) -> list[Expr]:
    """Functions of a few columns with open constants, simple ones first."""
    c = [Param(i) for i in range(4)]
    x = [Var(i) for i in columns]
    forms: list[Expr] = [c[0] * v for v in x]
    forms += [c[0] * v + c[1] for v in x] + [c[0] * v**2.0 for v in x] + [c[0] / v for v in x]
    if len(x) > 1:
        forms += [c[0] * a * b for a, b in itertools.combinations(x, 2)]
        forms += [c[0] * a / b for a, b in itertools.permutations(x, 2)]
        forms += [c[0] * a + c[1] * b for a, b in itertools.combinations(x, 2)]
        forms += [c[0] * a + c[1] * b + c[2] for a, b in itertools.combinations(x, 2)]
    for v in x:
        forms += [c[0] * v**2.0 + c[1] * v + c[2], c[0] * call("exp", c[1] * v), c[0] * call("ln", v) + c[1]]
        forms += [c[0] * call("sqrt", v) + c[1], c[0] * call("sin", c[1] * v + c[2]), c[0] * v**3.0 + c[1] * v]
    return forms
