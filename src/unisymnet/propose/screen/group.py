"""Spaces that share rows, weights and basis, searched together: one projection of a candidate serves all targets.

A group holds a random sample of the rows, the arguments of the dictionary on it, and the projected targets.  It scores
candidates on coarse grids (single precision, fewer rows), refines them and finishes the best on all rows.  Which
candidates there are is the business of the stages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import DIGITS_9, DIGITS_12, TINY, Floats, Ints
from ...deadline import Deadline
from ...fit.kernels.scan import COLUMNS, OFFSET, Codes, coarse, inner, refine_many
from ...problem import Problem
from ...symbolic.expr import Expr
from ..pool import EXACT, Pool, Scored, misfit
from ..view.views import View
from .dictionary import ONE, Argument, Family, usable
from .models import MIN_SPAN, Model, finish
from .spaces import Part, Space, make_space

__all__ = ["Group", "Starts", "frequency_bands", "groups_of", "kappa_grids", "term_rows"]

Singles = NDArray[np.float32]

SOLVED = 1e-19  # energy of the residual on the sample that is worth a fit on all rows at once
NICE = (1.0, 2.0, 0.5, math.pi)
OSCILLATING = (Codes.WAVE, Codes.LOG_SIN, Codes.LOG_COS)
BAND, BAND_STEPS = 40.0, 36  # radians over the range of t, and starts in them
CHUNK = 100_000  # numbers a coarse step works on: as many as the cache holds


@dataclass(frozen=True)
class Starts:
    """Candidates, one a row: terms (M, 4), constants, the target meant, the share of it explained."""

    terms: Ints
    kappas: Floats
    which: Ints
    shares: Floats

    @staticmethod
    def joined(parts: Sequence[Starts]) -> Starts:
        width = max(p.kappas.shape[1] for p in parts)
        kappas = [np.pad(p.kappas, ((0, 0), (0, width - p.kappas.shape[1]))) for p in parts]
        return Starts(
            np.concatenate([p.terms for p in parts]),
            np.concatenate(kappas),
            np.concatenate([p.which for p in parts]),
            np.concatenate([p.shares for p in parts]),
        )

    def ranked(self, limit: int) -> Starts:
        """The best ``limit`` for each target, best first."""
        order = np.argsort(-self.shares, kind="stable")
        order = order[self.shares[order] > 0]
        kept = np.zeros(len(order), dtype=bool)
        for target in np.unique(self.which):
            kept[np.flatnonzero(self.which[order] == target)[:limit]] = True
        pick = order[kept]
        return Starts(self.terms[pick], self.kappas[pick], self.which[pick], self.shares[pick])


@dataclass(frozen=True)
class Entry:
    """A refined candidate: energy of its residual on the sample, target, term, constants."""

    rss: float
    target: int
    term: Ints
    kappa: Floats


@dataclass(frozen=True)
class Group:
    """Table rows: 0 the weights (a multiplier of 1), then the arguments, a row of ones, the weighted arguments."""

    spaces: list[Space]
    outer: Floats
    targets: Floats
    args: list[Argument]
    table: Floats
    few: int  # rows used in the coarse part
    outer_few: Singles
    targets_few: Singles

    @staticmethod
    def start(
        spaces: list[Space], args: Sequence[Argument], *, n_rows: int, n_few: int, rng: np.random.Generator
    ) -> Group:
        samples = spaces[0].sample_together(spaces, n_rows, rng)
        projected = [sample.project() for sample in samples]
        first = samples[0]
        X = first.problem.X[first.rows]
        args, values = usable(args, X)
        table = np.vstack([first.weight, values, np.ones(len(X)), values * first.weight])
        few = min(len(X), max(n_few, 4 * first.design.shape[1]))
        # Rows of a sample are sorted, so every k-th row is as random as the sample and spread over a trajectory.
        pick = np.unique(np.linspace(0, len(X) - 1, few).astype(int))
        outer = projected[0][0]
        q = np.linalg.qr(outer[:, pick].T)[0]
        targets = np.array([target for _, target in projected])
        free = targets[:, pick] - (targets[:, pick] @ q) @ q.T
        free /= np.maximum(np.linalg.norm(free, axis=1, keepdims=True), TINY)
        order = np.concatenate([pick, np.setdiff1d(np.arange(len(X)), pick)])
        return Group(
            spaces=spaces,
            outer=np.ascontiguousarray(outer[:, order]),
            targets=np.ascontiguousarray(targets[:, order]),
            args=args,
            table=np.ascontiguousarray(table[:, order]),
            few=len(pick),
            outer_few=np.ascontiguousarray(q.T, dtype=np.float32),
            targets_few=np.ascontiguousarray(free, dtype=np.float32),
        )

    @property
    def problem(self) -> Problem:
        return self.spaces[0].problem

    @property
    def log(self) -> bool:
        return self.spaces[0].log

    @property
    def one(self) -> int:
        """Row of the table that is 1: an argument that makes its constant a shift."""
        return len(self.args) + 1

    def as_multiplier(self, row: int) -> int:
        """The weighted row of argument ``row`` (0 stays: the multiplier 1)."""
        return row + self.one if row else 0

    def exprs(self) -> list[Expr]:
        """Formulas of the table's rows."""
        args = [a.expr for a in self.args]
        return [ONE, *args, ONE, *args]

    def bare(self) -> Starts:
        """The arguments themselves as columns, without any constant."""
        rows = np.arange(1, len(self.args) + 1)
        terms = np.full((len(rows), 4), -1, dtype=np.int64)
        terms[:, 0] = rows + self.one
        scale = np.max(np.abs(self.table[terms[:, 0]]), axis=1, keepdims=True)
        columns = (self.table[terms[:, 0], : self.few] / scale).astype(np.float32)
        return self._kept(terms, np.zeros((len(rows), 1, 0)), coarse([columns], self.outer_few, self.targets_few))

    def scan(self, family: Family, terms: Ints, grids: Floats, multipliers: Sequence[int] = (0,)) -> Starts:
        """Coarse scores of terms (M, 4) with one factor at all starts (M, G, P), with each of the multipliers.

        The best start for each target is kept.  The inner function is computed once for all multipliers.
        """
        shares = np.empty((len(multipliers), *grids.shape[:2], len(self.targets)), dtype=np.float32)
        step = max(1, CHUNK // (grids.shape[1] * self.few))
        weights = [self.table[m, : self.few].astype(np.float32) for m in multipliers]
        for low in range(0, len(terms), step):
            part = slice(low, low + step)
            s = OFFSET[family.code] + self._scaled(terms[part, 2], grids[part, :, 0])
            if grids.shape[2] == 2:
                s += self._scaled(terms[part, 3], grids[part, :, 1])
            with np.errstate(all="ignore"):
                columns = [c.reshape(-1, self.few) for c in inner(family.code, s)]
                for k, weight in enumerate(weights):
                    share = coarse([c * weight for c in columns], self.outer_few, self.targets_few)
                    shares[k, part] = share.reshape(*s.shape[:2], len(self.targets))
        found = []
        for m, share in zip(multipliers, shares):
            multiplied = terms.copy()
            multiplied[:, 0] = m
            found.append(self._kept(multiplied, grids, share))
        return Starts.joined(found)

    def _scaled(self, rows: Ints, kappas: Floats) -> Singles:
        t = self.table[rows, : self.few]
        size = np.max(np.abs(t), axis=1, keepdims=True)
        # The scale moves from t to κ before rounding to single precision, so that neither overflows.
        with np.errstate(all="ignore"):
            return (kappas * size).astype(np.float32)[:, :, None] * (t / size).astype(np.float32)[:, None, :]

    def _kept(self, terms: Ints, grids: Floats, shares: NDArray[np.floating]) -> Starts:
        if not len(terms):
            none = np.zeros(0, dtype=np.int64)
            return Starts(terms, np.zeros((0, grids.shape[2])), none, np.zeros(0))
        shares = shares.reshape(len(terms), -1, len(self.targets))
        best = shares.argmax(axis=1)
        kappas = grids[np.arange(len(terms))[:, None], best]
        which = np.tile(np.arange(len(self.targets)), len(terms))
        return Starts(
            np.repeat(terms, len(self.targets), axis=0),
            kappas.reshape(len(which), grids.shape[2]),
            which,
            shares.max(axis=1).astype(np.float64).ravel(),
        )

    def refined(self, terms: Ints, kappas: Floats, which: Ints, deadline: Deadline, batch: int = 300) -> list[Entry]:
        """Refine candidates (B, 4) in their order, in batches; stops after a batch that holds a solution."""
        found: list[Entry] = []
        for low in range(0, len(which), batch):
            if deadline.expired():
                break
            part = slice(low, low + batch)
            some, kappa = np.ascontiguousarray(terms[part]), np.ascontiguousarray(kappas[part])
            rss = refine_many(some, self.table, kappa, self.outer, self.targets, which[part], 10, 1e-28)
            for i in np.argsort(rss)[:60]:
                used = kappa[i, : int(np.sum(some[i, 2:] >= 0))].copy()
                if rss[i] < 1.0 and self.bent(some[i], used):
                    found.append(Entry(float(rss[i]), int(which[low + i]), some[i], used))
            if any(e.rss < SOLVED for e in found):
                break
        return sorted(found, key=lambda e: e.rss)

    def bent(self, term: Ints, kappa: Floats) -> bool:
        """Is the inner function bent over the data, not a line (or its asymptotes) with huge coefficients?"""
        code, rows = int(term[1]), [int(row) for row in term[2:] if row >= 0]
        if code < 0:
            return True
        if any(abs(k) * np.ptp(self.table[r]) < MIN_SPAN for k, r in zip(kappa, rows) if r != self.one):
            return False
        return bool(COLUMNS[code] != 1 or self._curved(code, rows, kappa))

    def _curved(self, code: int, rows: list[int], kappas: Floats) -> bool:
        """Is a column outside the span of the outer basis and of its own arguments?"""
        weight = self.table[0]
        with np.errstate(all="ignore"):
            column = inner(code, OFFSET[code] + kappas @ self.table[rows])[0] * weight
            column /= np.max(np.abs(column))
            if not np.isfinite(column).all():
                return False
        free = column - self.outer.T @ (self.outer @ column)
        rest = float(free @ free)
        if not rest > DIGITS_12 * float(column @ column):
            return False
        lines = np.vstack([self.outer, *(self.table[r] * weight for r in rows)]).T
        q = np.linalg.qr(lines / np.linalg.norm(lines, axis=0))[0]
        free -= q @ (q.T @ free)
        return float(free @ free) > DIGITS_9 * rest

    def finished(self, entries: Iterable[Entry], pool: Pool) -> list[Scored]:
        """Formulas of y on all rows, added to the pool."""
        exprs = self.exprs()
        found = []
        with np.errstate(all="ignore"):
            for e in entries:
                expr = finish(self.spaces[e.target], Model(e.term, e.kappa, exprs))
                if expr is not None and not self._imitates(expr, e):
                    found.append(pool.add(expr))
        return [scored for scored in found if scored is not None]

    def _imitates(self, expr: Expr, entry: Entry) -> bool:
        """With few rows a constant, a formula that fits to 1e-12 but not to rounding is not believed to be a law."""
        n_free = len(entry.kappa) + 2 + self.outer.shape[0]
        return self.problem.n_rows < 5 * n_free and 2e-14 * self.problem.n_rows < misfit(self.problem, expr) < EXACT

    def search(self, batches: Iterable[Starts], pool: Pool, deadline: Deadline, *, n_refined: int, keep: int) -> None:
        """Refine the best candidates of each batch and add the best of all to the pool; stops at an exact one."""
        entries: list[Entry] = []
        for starts in batches:
            best = starts.ranked(n_refined)
            entries += self.refined(best.terms, best.kappas, best.which, deadline)
            solved = [entry for entry in entries if entry.rss < SOLVED][:30]
            if any(scored.exact for scored in self.finished(solved, pool)):
                return
            if deadline.expired():
                break
        self.choose(entries, pool, keep)

    def choose(self, entries: list[Entry], pool: Pool, keep: int) -> None:
        """Add the entries that explain each target best."""
        for target in range(len(self.spaces)):
            mine = sorted((e for e in entries if e.target == target), key=lambda e: e.rss)
            self.finished(mine[: 2 * keep], pool)


def groups_of(
    problem: Problem, views: Sequence[View], *, log: bool, basis: Sequence[Part], weighted: bool
) -> Iterator[list[Space]]:
    """The spaces of some views, those with the same rows and weights together."""
    groups: dict[tuple[bytes, bytes], list[Space]] = {}
    for view in views:
        space = make_space(problem, view, log=log, basis=basis, weighted=weighted)
        if space is not None:
            groups.setdefault((space.rows.tobytes(), space.weight.tobytes()), []).append(space)
    yield from groups.values()


def kappa_grids(family: Family, t: Floats, n: int = 12) -> Floats:
    """Starts for κ for the arguments t (M, n): simple numbers, then a grid over which u(κt) is bent; (M, G)."""
    low, high = family.span
    largest = np.max(np.abs(t), axis=1)
    if OFFSET[family.code]:
        # 1 + κt: from hardly bent at the largest |t| to dominated by κt at most of them.
        middle = np.maximum(np.median(np.abs(t), axis=1), 1e-3 * largest)
        grid = (low / largest)[:, None] * (high / low * largest / middle)[:, None] ** np.linspace(0, 1, n)
    elif family.code in OSCILLATING:
        grid = np.linspace(low, high, 3 * n) / np.ptp(t, axis=1)[:, None]
    else:
        grid = np.geomspace(low, high, n) / np.ptp(t, axis=1)[:, None]
    grid = np.hstack([np.tile(NICE, (len(t), 1)), grid])
    return grid if family.even else np.hstack([grid, -grid])


def term_rows(code: int, rows: Ints, rows2: Ints | int = -1) -> Ints:
    """Terms (M, 7) with one factor, for many arguments."""
    terms = np.full((len(rows), 4), -1, dtype=np.int64)
    terms[:, 0], terms[:, 1], terms[:, 2], terms[:, 3] = 0, code, rows, rows2
    return terms


def frequency_bands(group: Group, family: Family, rows: Ints, max_periods: float) -> tuple[Ints, Floats]:
    """Terms and grids (M, G, 1) for high frequencies: a band each, so that every band gets its best start.

    The step is a fraction of a period over the range, as dense as a Fourier transform; the rows limit how many
    periods can be told from each other.
    """
    periods = min(max_periods, group.problem.n_rows / 3)
    n_bands = max(0, math.ceil((2 * math.pi * periods - family.span[1]) / BAND))
    starts = family.span[1] + BAND * np.arange(n_bands)
    grid = starts[:, None] + BAND * np.arange(BAND_STEPS) / BAND_STEPS
    scale = np.ptp(group.table[rows], axis=1)
    grids = (grid[None, :, :] / scale[:, None, None]).reshape(-1, BAND_STEPS, 1)
    return term_rows(family.code, np.repeat(rows, n_bands)), grids
