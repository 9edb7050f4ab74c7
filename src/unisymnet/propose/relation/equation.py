"""Σ_k t^k·P_k(x) = 0 with t a view of y and small polynomials P_k, as a null vector of the columns t^k·φ(x).

Two polynomials make a quotient, t = −P_0/P_1, three the root of a quadratic equation.  First null vectors themselves:
which few columns of a table are bound by one linear relation, if any are.  Clean data only: fit.py looks at noisy ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import DIGITS_12, Floats, Ints
from ...fit.eliminate import triangle
from ...problem import Problem
from ...symbolic.expr import Expr
from ..linear.basis import Basis, Sample
from ..pool import TOLERANCES, Task
from ..view.views import View
from ..write.polynomial import Poly
from ..write.write import write_ratio

__all__ = ["Equation", "NULL", "Scan", "exact_quotient", "quotients", "single", "unit_rows"]

# Relative singular values: below the first a vector is a null vector; a law stands out from the next one, and
# loses its null vector (second) when any of its terms is left out.
NULL, LEAST_TERM = DIGITS_12, 1e-8
MOST_COLUMNS = 80
GAP = 1e-4  # many columns are nearly bound without a law; a law stands out from these


def unit_rows(matrix: Floats) -> Floats:
    """Finite rows, scaled to count alike: a large target must not drown the others."""
    sizes = np.linalg.norm(matrix, axis=1)
    good = np.isfinite(sizes) & (sizes > 0)
    return matrix[good] / sizes[good, None]


def _singular(table: Floats) -> Floats:
    return np.asarray(np.linalg.svd(table, compute_uv=False), dtype=np.float64)


def _has_null(table: Floats) -> bool:
    values = _singular(table)
    return bool(values[-1] < NULL * values[0])


def single(table: Floats, prices: Sequence[float], fewest: int = 3) -> Ints | None:
    """Columns with exactly one null vector, in which none is idle; None if the null vector is no law."""
    if not np.isfinite(table).all():
        return None  # columns so small that their squares vanish have no length to be divided by
    keep = np.arange(table.shape[1])
    if len(keep) > 1:
        values = _singular(table)
        if values[-2] < min(NULL * 1e3 * values[0], values[-1] / GAP):
            if len(keep) > MOST_COLUMNS:
                return None  # smaller degrees have been tried, and the elimination would take long
            # Several null vectors: leave out dear columns as long as one vector remains.
            for k in sorted(keep, key=lambda k: -prices[int(k)]):
                rest = keep[keep != k]
                if _has_null(triangle(table[:, rest])):
                    keep = rest
    for _ in range(6):
        vector = np.linalg.svd(table[:, keep])[2][-1]
        small = np.abs(vector) < 1e-7 * np.max(np.abs(vector))
        if not small.any():
            break
        keep = keep[~small]
    if not fewest <= len(keep) or not _has_null(triangle(table[:, keep])):
        return None
    for k in keep[::-1]:
        rest = keep[keep != k]
        values = _singular(triangle(table[:, rest]))
        if values[-1] < LEAST_TERM * values[0]:
            return None
    return keep


VIEWS = ("y", "y**2", "sqrt(y)", "ln(y)", "exp(y)", "sin(y)", "cos(y)", "logit(y)")
MOST_TERMS = 24


@dataclass(frozen=True)
class Equation:
    """A view and the bases of P_0, P_1, …"""

    view: View
    bases: tuple[Basis, ...]

    def __len__(self) -> int:
        return sum(map(len, self.bases))

    def matrix(self, problem: Problem, rows: Ints) -> Floats:
        """The columns t^k·φ(x)."""
        t = self.view.values(problem.y[rows])[:, None]
        return np.concatenate([basis.columns(problem.X[rows]) * t**k for k, basis in enumerate(self.bases)], axis=1)

    def holds(self, problem: Problem, rows: Ints) -> bool:
        """Is there a null vector, on as many rows as that needs?"""
        table = unit_rows(self.matrix(problem, rows[: len(self) + max(12, len(self) // 4)]))
        norms = np.linalg.norm(table, axis=0)
        if len(table) < len(self) + 2 or not norms.all():
            return False
        values = np.linalg.svd(table / norms, compute_uv=False)
        return bool(values[-1] < 10 * NULL * values[0])

    def law(self, task: Task, fewest: int = 3) -> list[Poly] | None:
        """P_0, P_1, … if the null vector is a law of at least ``fewest`` terms."""
        problem = task.problem
        table = unit_rows(self.matrix(problem, task.some_rows(max(3 * len(self), 200))))
        if len(table) <= len(self) + 2 or not np.all(np.any(table != 0.0, axis=0)):
            return None
        dearer = 2 if len(self.bases) > 2 else 0  # every power of t
        prices = np.concatenate([basis.tokens() + dearer * k for k, basis in enumerate(self.bases)])
        keep = single(triangle(table / np.linalg.norm(table, axis=0)), prices.tolist(), fewest)
        if keep is None or len(keep) > min(MOST_TERMS, problem.n_rows // 2):
            return None
        table = unit_rows(self.matrix(problem, np.arange(problem.n_rows))[:, keep])
        norms = np.linalg.norm(table, axis=0)
        return self.polynomials(keep, np.linalg.svd(triangle(table / norms))[2][-1] / norms)

    def polynomials(self, keep: Ints, coefficients: Floats) -> list[Poly]:
        """P_0, P_1, … from the kept columns and their coefficients."""
        found, start = [], 0
        for basis in self.bases:
            mine = (keep >= start) & (keep < start + len(basis))
            found.append(basis.poly(keep[mine] - start, coefficients[mine]))
            start += len(basis)
        return found


def exact_quotient(task: Task, view: View, num: Basis, den: Basis, fewest: int = 3) -> bool:
    """Add view(y) = P/Q over these bases to the pool, if it is a law."""
    law = Equation(view, (num, den)).law(task, fewest)
    if law is None or not len(law[0]) or not len(law[1]):
        return False
    return any(map(task.pool.found, quotients(task.problem, view, law, TOLERANCES)))


def quotients(problem: Problem, view: View, law: Sequence[Poly], tols: Sequence[float]) -> Iterator[Expr | None]:
    """t = −P_0/P_1 solved for y, written with each tolerance."""
    return (write_ratio(problem, view, law[0], law[1].scaled(-1.0), tol) for tol in tols)


class Scan(Sample):
    """The cheap test for quotients: which views have a null vector over a pair of bases, all views at once."""

    def __init__(self, task: Task, max_columns: int) -> None:
        super().__init__(task, max_columns, VIEWS)

    def hits(self, num: Basis, den: Basis) -> list[View]:
        """Project P out of view(y)·Q for all views; what is left has a small singular value."""
        count = len(num) + len(den)
        n_rows = min(self.targets.shape[1], count + max(12, count // 4))
        if n_rows < count + 2 or not len(self.views):
            return []
        top, bottom = self.grid.columns(num, (), n_rows), self.grid.columns(den, (), n_rows)
        with np.errstate(all="ignore"):
            top = top / np.linalg.norm(top, axis=0)
            products = self.targets[:, :n_rows, None] * bottom
            products = products / np.linalg.norm(products, axis=1)[:, None, :]
        if not np.isfinite(top).all() or not np.isfinite(products).all():
            return []
        span = np.linalg.qr(top)[0]
        left = products - span @ (span.T @ products)
        least = np.linalg.svd(left, compute_uv=False)[:, -1]
        return [view for view, value in zip(self.views, least, strict=True) if value < 10 * NULL]
