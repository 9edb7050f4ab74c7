"""Constants that keep the constraints: a fit with a price on every violation at points of the region.

For a formula whose free fit violates a constraint by its constants only, as noise lets it.  Values at a point and
limits are met as closely as rounding allows.  Does not change the form.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Floats
from ...formula.constants import free
from ...formula.derivative import value_and_jacobian
from ...symbolic.expr import Expr, bind
from .check import Box, on_the_way, quantity_of, shortfall
from .rules import Between, Constants, Limit

POINTS, STEPS = 120, 25
WEIGHTS = (1.0, 30.0, 1000.0)  # of the violations, in units of the misfit
EXACT_WEIGHTS = (*WEIGHTS, 1e6)  # a value at a point may be missed by rounding only
EXACT_POINTS = 24
FARTHER = 100.0  # than where a limit is checked
MARGIN = 1e-4  # of the typical size, by which the constraint is kept with room to spare


def repaired(
    expr: Expr,
    rules: list[Between],
    limits: list[Constants],
    box: Box,
    X: Floats,
    y: Floats,
    exact: Sequence[Between | Limit] = (),
) -> Expr | None:
    """The formula with constants that keep the constraints at points, or None where none are found.

    `rules` are inequalities, `exact` are equalities and limits, `limits` bound the constants.
    """
    from scipy.optimize import least_squares

    form, values = free(expr)
    if not values or len(values) > 12:
        return None
    met = [_meant(form, rule, box) for rule in exact]
    parts = [(quantity_of(form, rule), rule, box.points(rule, POINTS)) for rule in rules]
    unit = float(np.std(y)) or 1.0
    scale = np.array([abs(v) if v else 1.0 for v in values])
    lower = max((limit.low for limit in limits), default=-np.inf)
    upper = min((limit.high for limit in limits), default=np.inf)
    z = np.clip(np.array(values), lower, upper) / scale
    sizes = [float(np.nanmedian(np.abs(value_and_jacobian(q, P, values)[0]))) or 1.0 for q, _, P in parts]
    root = 1.0 / np.sqrt(len(y))
    for weight in EXACT_WEIGHTS if met else WEIGHTS:

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
            for quantity, points, number in met:
                value, by = value_and_jacobian(quantity, points, params)
                factor = weight / np.sqrt(len(points)) / unit
                rows.append((value - number) * factor)
                tables.append(by * scale * factor)
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


def _meant(form: Expr, rule: Between | Limit, box: Box) -> tuple[Expr, Floats, float]:
    """What must have which value, and where."""
    if isinstance(rule, Limit):
        # At two distances: a line can have any value at one.
        ends = [on_the_way(rule, box, EXACT_POINTS, farther)[-1] for farther in (1.0, FARTHER)]
        return form, np.concatenate(ends), rule.value
    return quantity_of(form, rule), box.points(rule, EXACT_POINTS), rule.low
