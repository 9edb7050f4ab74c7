"""Products of simple factors: view(y) = c · exp(Σ κ_j t_j) · ∏ f_k(x)^m_k, linear in log space.

The factors are the cheapest formulas in one or two inputs: x, 1 ± x, x ± x', x² + x'², sin x, cos x, ln x; the
t_j are x, x², 1/x, x·x', x/x'.  One QR holds them all; elimination leaves the few that matter.  Powers m and rates
κ are free.  Constants inside a factor (1 + 2·x) are not found here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...arrays import DIGITS_9, DIGITS_12
from ...candidate import Proposal
from ...fit.eliminate import exact_support, residual_norms
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, call, evaluate
from ..pool import FAR_WORSE, Stage, Task
from ..view.views import View, views_of
from .basis import EXACT_SHARE
from .factorfit import MOST_FACTORS, FactorFit, LogColumns, log_size
from .monomial import VIEWS

__all__ = ["Factors"]


@dataclass(frozen=True)
class Factors(Stage):
    """The stage.  ``exact`` and ``noisy`` switch its two passes."""

    name: str = "factors"
    exact: bool = True
    noisy: bool = True
    max_columns: int = 250
    max_rows: int = 1000
    limit: int = 4

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, pool = task.problem, task.pool
        cap = min(self.max_columns, int(EXACT_SHARE * problem.n_rows))
        if cap < 3:
            return
        tables = _tables(problem, cap, noisy=False) if self.exact else []
        views = views_of(problem, VIEWS)
        if self.exact:
            for columns in tables:
                if task.deadline.expired() or self._exact_pass(task, columns, views):
                    yield from pool.proposals(1)
                    return
        if self.noisy:
            rows = task.some_rows(self.max_rows)
            for columns in _tables(problem, min(cap, problem.n_rows // 4), noisy=True):
                for view in views:
                    if task.deadline.expired():
                        break
                    for expr in FactorFit(problem, view, columns, rows).selected():
                        pool.add(expr)
            yield from pool.proposals(self.limit, worse=FAR_WORSE)

    def _exact_pass(self, task: Task, columns: LogColumns, views: list[View]) -> bool:
        problem, p = task.problem, columns.values.shape[1] + 1
        rows = task.some_rows(p + max(20, p // 4))
        design = columns.logs(rows)
        targets = np.column_stack([log_size(view.values(problem.y[rows])) for view in views])
        good = np.isfinite(design).all(axis=1) & np.isfinite(targets).all(axis=1)
        if good.sum() <= p:
            return False
        design, targets = design[good] / np.linalg.norm(design[good], axis=0), targets[good]
        left = residual_norms(design, targets)
        for view, off, target in zip(views, left, targets.T, strict=True):
            if not off < DIGITS_9:
                continue
            tol = DIGITS_12 * float(np.linalg.norm(target - target.mean()) / np.linalg.norm(target))
            support = exact_support(design, target, tol, MOST_FACTORS)
            if support is None:
                continue
            support = np.unique(np.r_[0, support])
            if view.name == "exp(y)" and support[-1] > len(columns.factors):
                continue  # ln(exp(…)) is a sum, which the bases find
            fit = FactorFit(problem, view, columns, np.arange(problem.n_rows))
            if task.pool.found(fit.exact(support)):
                return True
        return False


def _tables(problem: Problem, cap: int, noisy: bool) -> list[LogColumns]:
    """Small to large: single inputs, then sums of two, then rates; those of up to ``cap`` columns.

    x² − x'² is the product of two other factors: a third, dependent column that only a noisy choice bears.
    """
    d = problem.n_features
    x: list[Expr] = [Var(i) for i in range(d)]
    waves: list[Expr] = [call(op, v) for op in ("sin", "cos") if problem.allows(op) for v in x]
    if problem.allows("ln"):
        waves += [call("ln", v) for i, v in enumerate(x) if np.min(problem.X[:, i]) > 0]
    shifted: list[Expr] = [form for v in x for form in (1.0 + v, 1.0 - v)]
    pairs: list[Expr] = [form for a, b in combinations(x, 2) for form in (a - b, a + b)]
    squares: list[Expr] = [a**2 + b**2 for a, b in combinations([*x, Const(1.0)], 2)]
    if noisy:
        pairs += [a**2 - b**2 for a, b in combinations(x, 2)]
    rates: list[Expr] = []
    if problem.allows("exp"):
        rates = [*x, *(v**2 for v in x), *(1.0 / v for v in x)]
        rates += [form for a, b in combinations(x, 2) for form in (a * b, a / b, b / a)]
        rates += [form for a, b in combinations(x, 2) for form in ((a / b) ** 2, (b / a) ** 2)]
    wishes = [
        (x + shifted + pairs, []),
        (x + waves, rates[:d]),
        (x + shifted + pairs + waves + squares, rates[:d]),
        (x, rates),
        (x + shifted + pairs + waves, rates),
    ]
    found = []
    for factors, some_rates in wishes:
        table = _columns(problem, factors, some_rates)
        if table is not None and table.values.shape[1] + 1 <= cap:
            found.append(table)
    return found


def _columns(problem: Problem, factors: list[Expr], rates: list[Expr]) -> LogColumns | None:
    """Values of the forms that are defined (rates) or seldom zero (factors) and vary."""
    kept_factors, kept_rates, columns = [], [], []
    for factor in factors:
        values = evaluate(factor, problem.X)
        if values.max() <= 0.0 and isinstance(factor, Call) and factor.op == "sub":
            factor, values = Call("sub", factor.args[::-1]), -values
        size = np.abs(values)
        if np.isfinite(values).all() and np.mean(size == 0.0) <= 0.2 and np.ptp(size) > DIGITS_9 * size.max():
            kept_factors.append(factor)
            columns.append(values)
    signs = np.sign(np.column_stack(columns)) if columns else None
    for rate in rates:
        values = evaluate(rate, problem.X)
        if np.isfinite(values).all() and np.ptp(values) > DIGITS_9 * np.max(np.abs(values)):
            kept_rates.append(rate)
            columns.append(values)
    if signs is None:
        return None
    return LogColumns(tuple(kept_factors), tuple(kept_rates), np.column_stack(columns), signs)
