"""Two or three inner functions at once: all pairs, then all triples of cheap columns, then joint refinement.

Columns are inner functions with coarse constants, multipliers included.  Every pair is scored by the 2×2 formula on
the Gram matrix; the best structures have all their constants refined together by variable projection.  It does not
multiply two inner functions (see features.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import TINY, Floats, Ints
from ...candidate import Proposal
from ...deadline import Deadline
from ...fit.kernels.gram import best_pairs, best_triples
from ...fit.kernels.scan import OFFSET, inner
from ...problem import Problem
from ...symbolic.expr import Var
from ..pool import Pool, Task
from ..view.views import View, views_of
from .dictionary import ONE, Family, arguments, families
from .features import SMOOTH_VIEWS, Screen, sensible
from .group import NICE, OSCILLATING, SOLVED, Group, groups_of, term_rows
from .spaces import Part, Space, crosses_zero, log_basis, polynomial_basis, weightings

__all__ = ["Pairs"]


# Starts beside the simple numbers, in units of 1/range(t): monotone functions and waves.
MONOTONE, WAVES, RATIOS = (0.5, 2.0, 6.0), (1.5, 3.0, 4.5, 6.0, 9.0, 13.0, 20.0), (0.1, 0.5, 2.0, 10.0)


@dataclass(frozen=True)
class Columns:
    """Candidate columns: terms (N, 7), one constant each (nan: none), unit vectors beside the outer basis (N, n)."""

    terms: Ints
    kappas: Floats
    units: Floats
    b: Floats  # (N, T)


@dataclass(frozen=True)
class Pairs(Screen):
    """Settings: numbers of arguments, of columns in pairs and in triples, of refinements a target."""

    name: str = "pairs"
    n_arguments: int = 500
    n_columns: int = 7000
    n_triple_columns: int = 250
    n_refined: int = 120

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, rng, deadline = task.problem, task.rng, task.deadline
        args = arguments(problem, limit=self.n_arguments)
        for weighted in weightings(problem):
            n_rows = self.n_noisy_rows if weighted else self.n_rows
            prepared: list[tuple[Group, Columns]] = []
            for spaces in _plans(problem, weighted=weighted):
                if deadline.expired():
                    return
                group = Group.start(spaces, args, n_rows=n_rows, n_few=n_rows, rng=rng)
                prepared.append((group, self.columns(group)))
            for combine in (_pairs, _triples):
                for group, columns in prepared:
                    few = columns if combine is _pairs else _cut(columns, self.n_triple_columns)
                    pool = Pool(problem, self.name)
                    self._refine(group, few, combine(few), pool, deadline)
                    yield from pool.proposals(self.keep)
                    if pool.exact() or deadline.expired():
                        return

    def columns(self, group: Group) -> Columns:
        """The cheapest columns of a group's dictionary."""
        terms, kappas, costs = _listed(group)
        order = np.argsort(costs, kind="stable")[: 2 * self.n_columns]
        terms, kappas = terms[order], kappas[order]
        units, owner = _unit_columns(group, terms, kappas)
        keep = owner[: self.n_columns]
        units = units[: self.n_columns]
        return Columns(terms[keep], kappas[keep], units, units @ group.targets.T)

    def _refine(
        self, group: Group, columns: Columns, found: tuple[Ints, Ints, Floats], pool: Pool, deadline: Deadline
    ) -> None:
        """Joint refinement of the best combinations, each structure once."""
        members, which, shares = found
        # Columns come by cost, so that of equally good combinations the cheaper is first.
        order = np.lexsort((members.sum(axis=1), -np.round(shares, 9)))
        count = np.zeros(len(group.targets), dtype=np.int64)
        chosen: list[int] = []
        seen: set[tuple[int, bytes]] = set()
        for i in order:
            key = (int(which[i]), np.sort(columns.terms[members[i]], axis=0).tobytes())
            if shares[i] <= 0 or count[which[i]] >= self.n_refined or key in seen:
                continue
            seen.add(key)
            count[which[i]] += 1
            chosen.append(int(i))
            if np.all(count >= self.n_refined):
                break
        if not chosen:
            return
        terms = columns.terms[members[chosen]]
        kappas = np.zeros((len(chosen), members.shape[1]))
        for row, i in enumerate(chosen):
            starts = columns.kappas[members[i]]
            starts = starts[np.isfinite(starts)]
            kappas[row, : len(starts)] = starts
        entries = group.refined(terms, kappas, which[chosen], deadline, batch=100)
        solved = [e for e in entries if e.rss < SOLVED][:30]
        if not any(s.exact for s in group.finished(solved, pool)):
            group.choose(entries, pool, self.keep)


def _plans(problem: Problem, *, weighted: bool) -> Iterator[list[Space]]:
    views = views_of(problem, SMOOTH_VIEWS if weighted else None)
    in_log = [view for view in views if view.name == "y"]
    inputs = [Part(Var(i)) for i in range(problem.n_features)]
    order: list[tuple[list[View], bool, list[Part]]] = [
        (views, False, [Part(ONE)]),
        (in_log, True, log_basis(problem)),
        ([v for v in views if not weighted or v.name in ("y", "1/y", "ln(y)")], False, [Part(ONE), *inputs]),
        (in_log, False, polynomial_basis(problem)),
    ]
    dips = weighted or crosses_zero(problem)
    for chosen, log, basis in order:
        yield from groups_of(problem, chosen, log=log, basis=basis, weighted=dips if log else weighted)


def _listed(group: Group) -> tuple[Ints, Floats, Floats]:
    """All columns of the dictionary with their costs: bare arguments, inner functions, multiplied inner functions."""
    rows = np.arange(1, len(group.args) + 1)
    cost = np.array([a.cost for a in group.args])
    bare = term_rows(-1, np.full(len(rows), -1))
    bare[:, 0] = rows + group.one
    parts = [(bare, np.full(len(rows), np.nan), cost)]
    multipliers = [] if group.log else [i for i, a in enumerate(group.args) if a.plain and a.cost <= 3.0][:40]
    for family in families(group.problem, log=group.log):
        fits = np.array([i for i, a in enumerate(group.args) if sensible(a, family)], dtype=np.int64)
        grid, extra = _starts(family, group.table[fits + 1])
        terms = np.repeat(term_rows(family.code, fits + 1), grid.shape[1], axis=0)
        costs = (cost[fits][:, None] + family.cost + extra).ravel()
        parts.append((terms, grid.ravel(), costs))
        cheap = costs <= 4.5
        for i in multipliers:
            multiplied = terms[cheap].copy()
            multiplied[:, 0] = group.as_multiplier(i + 1)
            parts.append((multiplied, grid.ravel()[cheap], costs[cheap] + cost[i]))
    return (
        np.concatenate([p[0] for p in parts]),
        np.concatenate([p[1] for p in parts]),
        np.concatenate([p[2] for p in parts]),
    )


def _starts(family: Family, t: Floats) -> tuple[Floats, Floats]:
    """Constants (M, G) for arguments t (M, n), and what each costs (G,): simple numbers first."""
    simple = np.array(NICE)
    extra = np.array([0.0, 0.5, 0.5, 1.5])
    if OFFSET[family.code]:
        grid = np.array(RATIOS) / np.maximum(np.median(np.abs(t), axis=1), TINY)[:, None]
    else:
        steps = WAVES if family.code in OSCILLATING else MONOTONE
        grid = np.array(steps) / np.ptp(t, axis=1)[:, None]
    both = np.hstack([np.tile(simple, (len(t), 1)), grid])
    costs = np.concatenate([extra, np.full(grid.shape[1], 2.0)])
    if family.even:
        return both, costs
    return np.hstack([both, -both]), np.concatenate([costs, costs + 0.25])


def _unit_columns(group: Group, terms: Ints, kappas: Floats) -> tuple[Floats, Ints]:
    """Unit vectors beside the outer basis of all finite columns (sin and cos count as two), and their terms."""
    table, owner = _finite_columns(group, terms, kappas)
    energy = np.einsum("ij,ij->i", table, table)
    free = table - (table @ group.outer.T) @ group.outer
    rest = np.einsum("ij,ij->i", free, free)
    good = rest > 1e-10 * energy
    return (free[good] / np.sqrt(rest[good])[:, None]), owner[good]


def _finite_columns(group: Group, terms: Ints, kappas: Floats) -> tuple[Floats, Ints]:
    values: list[Floats] = []
    owners: list[Ints] = []
    for code in np.unique(terms[:, 1]):
        mine = np.flatnonzero(terms[:, 1] == code)
        by = group.table[terms[mine, 0]]
        if code < 0:
            values.append(by)
            owners.append(mine)
            continue
        s = OFFSET[code] + kappas[mine][:, None] * group.table[terms[mine, 2]]
        with np.errstate(all="ignore"):
            columns = [column * by for column in inner(int(code), s)]
        values += columns
        owners += [mine] * len(columns)
    table, owner = np.concatenate(values), np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    table, owner = table[order], owner[order]
    size = np.max(np.abs(table), axis=1)
    good = np.isfinite(size) & (size > 0)  # nan in a row makes its size nan
    return table[good] / size[good][:, None], owner[good]


def _cut(columns: Columns, n: int) -> Columns:
    return Columns(columns.terms[:n], columns.kappas[:n], columns.units[:n], columns.b[:n])


def _pairs(columns: Columns) -> tuple[Ints, Ints, Floats]:
    """Members (P, 2), target and share of the best partner of every column."""
    partner, share = best_pairs(columns.units, columns.b)
    i, target = np.nonzero(partner >= 0)
    return np.column_stack([i, partner[i, target]]), target, share[i, target].astype(np.float64)


def _triples(columns: Columns) -> tuple[Ints, Ints, Floats]:
    third, share = best_triples(columns.units @ columns.units.T, columns.b)
    i, j, target = np.nonzero(third >= 0)
    return np.column_stack([i, j, third[i, j, target]]), target, share[i, j, target].astype(np.float64)
