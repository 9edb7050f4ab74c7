"""Constants that keep the constraints: a fit with a price on every violation at points of the region.

For a formula whose free fit violates an inequality by its constants only, as noise lets it.  Does not change the form.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from ...formula.constants import free
from ...formula.derivative import value_and_jacobian
from ...symbolic.expr import Expr, bind
from .check import Box, quantity_of, shortfall
from .rules import Between, Constants

POINTS, STEPS = 120, 25
WEIGHTS = (1.0, 30.0, 1000.0)  # of the violations, in units of the misfit
MARGIN = 1e-4  # of the typical size, by which the constraint is kept with room to spare


def repaired(expr: Expr, rules: list[Between], limits: list[Constants], box: Box, X: Floats, y: Floats) -> Expr | None:
    """The formula with constants that keep the constraints at points, or None where none are found."""
    from scipy.optimize import least_squares

    form, values = free(expr)
    if not values or len(values) > 12:
        return None
    parts = [(quantity_of(form, rule), rule, box.points(rule, POINTS)) for rule in rules]
    unit = float(np.std(y)) or 1.0
    scale = np.array([abs(v) if v else 1.0 for v in values])
    lower = max((limit.low for limit in limits), default=-np.inf)
    upper = min((limit.high for limit in limits), default=np.inf)
    z = np.clip(np.array(values), lower, upper) / scale
    sizes = [float(np.nanmedian(np.abs(value_and_jacobian(q, P, values)[0]))) or 1.0 for q, _, P in parts]
    root = 1.0 / np.sqrt(len(y))
    for weight in WEIGHTS:

        def whole(z: Floats, weight: float = weight) -> tuple[Floats, Floats]:
            params = tuple(z * scale)
            found, slopes = value_and_jacobian(form, X, params)
            rows, tables = [(found - y) / unit * root], [slopes * scale / unit * root]
            for (quantity, rule, points), size in zip(parts, sizes, strict=True):
                value, by = value_and_jacobian(quantity, points, params)
                inside = value / size
                low, high = rule.low / size + MARGIN, rule.high / size - MARGIN
                short = np.nan_to_num(np.maximum(np.maximum(low - inside, inside - high), 0.0))
                sign = np.where(low - inside > 0.0, -1.0, 1.0)
                active = (short > 0.0)[:, None]
                factor = weight / np.sqrt(len(points))
                rows.append(short * factor)
                tables.append(np.where(active, by * scale / size * sign[:, None] * factor, 0.0))
            return (
                np.nan_to_num(np.concatenate(rows), nan=1e6, posinf=1e6, neginf=-1e6),
                np.nan_to_num(np.concatenate(tables), posinf=0.0, neginf=0.0),
            )

        box_of = (np.full(len(z), lower) / scale, np.full(len(z), upper) / scale)
        start = np.clip(z, *box_of)
        try:
            best = least_squares(lambda z: whole(z)[0], start, jac=lambda z: whole(z)[1], bounds=box_of, max_nfev=STEPS)
        except (ValueError, np.linalg.LinAlgError):
            return None
        z = best.x
    params = tuple(z * scale)
    if not np.isfinite(params).all():
        return None
    for quantity, rule, points in parts:
        value, _ = value_and_jacobian(quantity, points, params)
        if np.nanmax(shortfall(value, rule), initial=0.0) > 0.0:
            return None
    return bind(form, params)
