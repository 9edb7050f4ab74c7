"""The unknown functions of a template, searched one after the other; what is found is fitted as a whole.

For one function the known form is solved for it on every row, given what is known of the others, and a whole search
looks for it there; at first the others are polynomials that were fitted beside it.  Where the form cannot be solved
(sines, a function in several places), small forms with open constants are tried.  Rounds go on while there is time; the
best few of every function are also combined.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...candidate import ParetoFront, Proposal, Status, description_length
from ...deadline import Deadline
from ...fit.constants import fit_constants
from ...problem import Problem, make_problem
from ...symbolic.expr import Const, Expr, Param, Var, bind, call, evaluate, n_params, product, rebuild, total, variables
from ..reduced import Solve
from .invert import PERIODIC, wanted
from .text import Template, holes_of, with_columns

Floats = NDArray[np.float64]

ROUNDS = 4
KEPT = 6  # formulas of each function that are combined
LEAST_DEFINED = 0.6  # share of the rows on which a function must be known to be searched
MAX_COMBINED = 40
FIRST_SECONDS = 1.0  # for one function in the first round; three times as many in the next
MAX_ROWS, MAX_CONSTANTS, N_STARTS = 300, 40, 6  # of the polynomials that the first round begins with


@dataclass(frozen=True)
class Fill:
    """A proposer of formulas that follow a template, in all columns of the problem."""

    template: Template
    solve: Solve
    name: str = "template"

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        X, y = problem.X * problem.x_scales, problem.y * problem.y_scale
        # Functions that the known form can be solved for come first; the others then have less to explain.
        names = sorted(self.template.functions, key=self._is_hard)
        known = {name: [part] for name, part in self._rough(X, y, problem.weights, rng).items()}
        rounds = 1 if len(names) == 1 else ROUNDS
        for number in range(rounds):
            for place, name in enumerate(names):
                left = (rounds - number) * len(names) - place
                seconds = deadline.whole().remaining() / (left + 0.5)
                # Early rounds know little of the other functions: what they cannot find soon, they cannot find.
                limit = deadline.whole().sooner(min(seconds, FIRST_SECONDS * 3.0**number) if rounds > 1 else seconds)
                found = self._searched(name, known, X, y, problem, rng, limit)
                known[name] = [*found, *(e for e in known[name] if e not in found)][:KEPT] or known[name]
                for part in found or ():
                    yield self._proposal({**{n: e[0] for n, e in known.items()}, name: part}, problem)
                if deadline.whole().expired():
                    return
            combined = itertools.islice(itertools.product(*(known[name][:3] for name in names)), MAX_COMBINED)
            for parts in combined:
                yield self._proposal(dict(zip(names, parts, strict=True)), problem)
        yield from self._small(names, known, problem)

    def _rough(self, X: Floats, y: Floats, weights: Floats, rng: np.random.Generator) -> dict[str, Expr]:
        """Every function as the polynomial that fits best beside the others; 1 where none can be fitted."""
        forms = {name: polynomial(columns) for name, columns in self.template.functions.items()}
        plain: dict[str, Expr] = {name: Const(1.0) for name in forms}
        few = np.unique(np.linspace(0, len(y) - 1, MAX_ROWS).astype(int))
        whole = self.template.whole(forms)
        if len(forms) == 1 or n_params(whole) > MAX_CONSTANTS or 2 * n_params(whole) > len(few):
            return plain
        with np.errstate(all="ignore"):
            fit = fit_constants(whole, X[few], y[few], rng=rng, weights=weights[few], n_starts=N_STARTS)
        if fit.status is not Status.OK:
            return plain
        values, start = list(map(float, fit.params)), n_params(self.template.outer)
        for name, form in forms.items():
            plain[name] = bind(form, values[start : start + n_params(form)])
            start += n_params(form)
        return plain

    def _proposal(self, parts: dict[str, Expr], problem: Problem, brief: int = 0) -> Proposal:
        whole = self.template.whole(parts)
        if brief == 0 and n_params(whole):
            brief = 8
        return Proposal(problem.to_scaled(whole), self.name, brief)

    def _searched(
        self,
        name: str,
        known: dict[str, list[Expr]],
        X: Floats,
        y: Floats,
        problem: Problem,
        rng: np.random.Generator,
        limit: Deadline,
    ) -> list[Expr]:
        """Formulas of one function, given the best of the others."""
        holes = holes_of(self.template, name)
        slots = [self.template.slots[hole - self.template.n_columns] for hole in holes]
        if len(holes) != 1 or slots[0].by is not None:
            return []
        outer = rebuild(self.template.outer, lambda n: Const(1.0) if isinstance(n, Param) else n)
        table = self._table({n: e[0] for n, e in known.items()}, X)
        columns = list(slots[0].columns)
        values = wanted(outer, holes[0], table, y)
        if values is None:
            return []
        good = np.isfinite(values) & np.isfinite(X[:, columns]).all(axis=1)
        if good.sum() < LEAST_DEFINED * len(y) or np.ptp(values[good]) == 0.0:
            return []
        slope = self._slope(outer, holes[0], table, values)
        weight = np.where(np.isfinite(slope), slope**2, 0.0)[good] * problem.weights[good]
        if not weight.sum() > 0.0:
            return []
        part = make_problem(X[good][:, columns], values[good], weights=weight, operators=problem.operators)
        front, spread = self.solve(part, rng, limit), part.spread * part.y_scale
        ranked = sorted(front, key=lambda c: description_length(c, part.n_rows, spread))
        exprs = [candidate.expr for candidate in ranked[:KEPT]]
        return [with_columns(expr, dict(enumerate(columns))) for expr in exprs]

    def _slope(self, outer: Expr, hole: int, table: Floats, values: Floats) -> Floats:
        """How much y changes with the function, row by row."""
        step = 1e-6 * (np.abs(values) + 1e-3)
        high, low = table.copy(), table.copy()
        high[:, hole], low[:, hole] = values + step, values - step
        with np.errstate(all="ignore"):
            slope = (evaluate(outer, high) - evaluate(outer, low)) / (2.0 * step)
        cap = np.nanquantile(np.abs(slope[np.isfinite(slope)]), 0.9) if np.isfinite(slope).any() else 1.0
        return np.asarray(np.clip(np.abs(slope), 0.0, cap))

    def _table(self, parts: dict[str, Expr], X: Floats) -> Floats:
        """Columns and, behind them, the values of all slots."""
        from ..shape.differ import derivative

        columns = []
        for slot in self.template.slots:
            part = parts[slot.name]
            part = derivative(part, slot.by) if slot.by is not None else part
            given = dict(zip(self.template.functions[slot.name], slot.columns, strict=True))
            columns.append(evaluate(with_columns(part, given), X))
        return np.column_stack([X, *columns])

    def _small(self, names: list[str], known: dict[str, list[Expr]], problem: Problem) -> Iterator[Proposal]:
        """Small forms with open constants for functions that could not be solved for."""
        hard = [name for name in names if self._is_hard(name)]
        for name in hard:
            others = {n: e[0] for n, e in known.items() if n != name}
            for form in small_forms(self.template.functions[name]):
                if len(hard) == 1:
                    yield self._proposal({**others, name: form}, problem, brief=16)
        if len(hard) > 1:
            lists = [small_forms(self.template.functions[name])[:8] for name in hard]
            for forms in itertools.islice(itertools.product(*lists), 4 * MAX_COMBINED):
                parts = {n: e[0] for n, e in known.items() if n not in hard} | dict(zip(hard, forms, strict=True))
                yield self._proposal(parts, problem, brief=16)

    def _is_hard(self, name: str) -> bool:
        """In several places, in a derivative, or inside a wave: its values are not given by y."""
        holes = holes_of(self.template, name)
        if len(holes) != 1 or self.template.slots[holes[0] - self.template.n_columns].by is not None:
            return True
        return _inside_wave(self.template.outer, holes[0])


def _inside_wave(expr: Expr, hole: int) -> bool:
    if hole not in variables(expr) or isinstance(expr, Var):
        return False
    op, args = getattr(expr, "op", ""), getattr(expr, "args", ())
    return op in PERIODIC or any(_inside_wave(arg, hole) for arg in args)


def polynomial(columns: Sequence[int]) -> Expr:
    """A polynomial of these columns with open constants, cubic in one or two of them and square in more."""
    degree = 3 if len(columns) <= 2 else 2
    terms: list[Expr] = []
    for n in range(degree + 1):
        for chosen in itertools.combinations_with_replacement(columns, n):
            terms.append(product([Param(len(terms)), *(Var(i) for i in chosen)]))
    return total(terms)


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
