"""Operators that are Python functions: further columns for the search, computed again for every prediction.

A formula cannot hold a Python function, so its values stand in the table as columns called "j0(x)" or "j0(2.4*x)".
The factor of the argument is fitted beforehand, with the derivative: the one with which a + b·j0(k·x), a and b smooth
in the other columns, leaves least.  Does not search for formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays import Floats, evenly
from ...errors import DataError
from ...symbolic.own import Operator
from ...tables.encoding import Computed, as_frame

MAX_COLUMNS = 8  # of the table on which a function is tried
MAX_OTHERS = 4  # columns that may change what the function is multiplied with and added to
MAX_ROWS = 2000
FACTORS = np.concatenate([np.geomspace(0.05, 20.0, 61), -np.geomspace(0.05, 20.0, 31)])  # over the rms of the column
STEPS = 20
EARNED = 0.9  # a factor must leave less than this share of what 1 leaves


def computed_columns(X: Any, y: Any, operators: Sequence[Operator]) -> tuple[Computed, ...]:
    """Which columns are worth computing; a function that is undefined on some rows of a column is not tried there."""
    frame = as_frame(X)
    names = [str(name) for name in frame.columns if frame[name].dtype.kind in "iufb"]
    few = evenly(len(frame), MAX_ROWS)
    table = frame[names].to_numpy(dtype=np.float64)[few]
    target = np.asarray(y, dtype=np.float64).ravel()[few]
    good = np.isfinite(table).all(axis=1) & np.isfinite(target)
    found: list[Computed] = []
    for operator in operators:
        own = [
            Computed(f"{operator.name}({_product(factor, name)})", operator.name, name, factor)
            for place, name in enumerate(names[:MAX_COLUMNS])
            for factor in _factors(operator, table[good], target[good], place)
        ]
        if not own:
            raise DataError(f"the operator {operator.name} is not defined in every row of any column")
        found += own
    return tuple(found)


def with_computed(frame: Any, computed: Sequence[Computed], operators: Sequence[Operator]) -> Any:
    """The table with the further columns; the functions are those of the estimator."""
    known = {operator.name: operator for operator in operators}
    missing = next((item.function for item in computed if item.function not in known), None)
    if missing is not None:
        raise DataError(
            f"the formula holds your Python function {missing}, which is not stored with a model; give it again: "
            f"model.set_params(operators=[Operator({missing!r}, your_function, derivative=…)])"
        )
    frame = as_frame(frame)
    added = {}
    for item in computed:
        if item.argument not in frame.columns:
            raise DataError(f"the rows have no column {item.argument!r}, which {item.name} needs")
        x = np.asarray(frame[item.argument], dtype=np.float64)
        added[item.name] = known[item.function].values(item.factor * x)
    return frame.assign(**added)


def _factors(operator: Operator, table: Floats, y: Floats, place: int) -> list[float]:
    """1 and, if it explains y clearly better, the best factor of the argument; none where 1 has no values."""
    x = table[:, place]
    others = [column for k, column in enumerate(table.T) if k != place][:MAX_OTHERS]
    smooth = [np.ones(len(x)), *(column**power for column in others for power in (1, 2))]
    plain = _left(operator.values(x), smooth, y)
    if not len(x) or not np.isfinite(operator.values(x)).all():
        return []
    size = float(np.sqrt(np.mean(x**2))) or 1.0
    losses = [_left(operator.values(k / size * x), smooth, y) for k in FACTORS]
    best = _refined(operator, float(FACTORS[int(np.nanargmin(losses))]) / size, x, smooth, y)
    loss = _left(operator.values(best * x), smooth, y)
    return [1.0, best] if loss < EARNED * plain else [1.0]


def _refined(operator: Operator, factor: float, x: Floats, smooth: Sequence[Floats], y: Floats) -> float:
    """Gauss-Newton steps on the factor, everything linear solved along."""
    damping = 0.0
    for _ in range(STEPS):
        values = operator.values(factor * x)
        design = np.column_stack([*smooth, *(values * column for column in smooth)])
        solution = np.linalg.lstsq(design, y, rcond=None)[0]
        amplitude = sum(c * column for c, column in zip(solution[len(smooth) :], smooth, strict=True))
        slope = amplitude * operator.slopes(factor * x) * x
        whole = np.column_stack([design, slope])
        if not np.isfinite(whole).all():
            break
        step = float(np.linalg.lstsq(whole, y - design @ solution, rcond=None)[0][-1])
        before = float(np.sum((y - design @ solution) ** 2))
        while damping < 1.0 and _left(operator.values((factor + (1.0 - damping) * step) * x), smooth, y) > before:
            damping = 0.5 + 0.5 * damping if damping < 0.99 else 1.0
        if damping >= 1.0 or abs(step) <= 1e-15 * abs(factor):
            break
        factor, damping = factor + (1.0 - damping) * step, 0.0
    return factor


def _left(values: Floats, smooth: Sequence[Floats], y: Floats) -> float:
    design = np.column_stack([*smooth, *(values * column for column in smooth)])
    if not np.isfinite(design).all():
        return float("inf")
    return float(np.sum((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2))


def _product(factor: float, name: str) -> str:
    return name if factor == 1.0 else f"{factor:.6g}*{name}"
