"""Fields on a uniform grid, checked: one or two axes of space, one of time, every field with one value a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats
from ..errors import DataError
from ..formula.given import numbers
from ..problem import check_powers

LEAST_NODES = 16  # on every axis: fewer leave no room for a test function
UNEVEN = 1e-3  # of a step


@dataclass(frozen=True)
class Grid:
    """Names and nodes of the axes, time last, as the axes of every field."""

    names: tuple[str, ...]
    nodes: tuple[Floats, ...]

    @property
    def space(self) -> tuple[str, ...]:
        return self.names[:-1]

    @property
    def time(self) -> str:
        return self.names[-1]

    @property
    def steps(self) -> tuple[float, ...]:
        return tuple(float(nodes[1] - nodes[0]) for nodes in self.nodes)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.nodes))


def read_fields(field: Any, axes: Mapping[str, Any], time: str) -> tuple[Grid, tuple[str, ...], list[Floats]]:
    """The grid with time as its last axis, the fields' names and values; raises DataError for what is no field."""
    if not isinstance(axes, Mapping):
        raise DataError(f'axes must be a dict of arrays by name, {{"x": x, "t": t}}, got {type(axes).__name__}')
    if time not in axes:
        raise DataError(f"axes needs the time {time!r}, got {', '.join(map(repr, axes)) or 'none'}; name it with time=")
    if not 2 <= len(axes) <= 3:
        raise DataError(f"one or two axes of space and one of time are needed, got {', '.join(map(repr, axes))}")
    order = [name for name in axes if name != time] + [time]
    nodes = tuple(_nodes(name, axes[name]) for name in order)
    grid = Grid(tuple(order), nodes)
    fields = dict(field) if isinstance(field, Mapping) else {"u": field}
    if not fields:
        raise DataError("there is no field; give an array, or a dict of arrays by name")
    given = list(axes)
    values = []
    for name, array in fields.items():
        if any("\ud800" <= sign <= "\udfff" for sign in str(name)):
            raise DataError(f"the name {str(name)!r} of a field cannot be written as text; rename it")
        if name in axes:
            raise DataError(f"{name!r} is a field and an axis; rename one of them")
        table = numbers(array, f"the field {name!r}")
        wanted = tuple(len(nodes[order.index(axis)]) for axis in given)
        if table.shape != wanted:
            raise DataError(
                f"the field {name!r} has shape {table.shape}, but the axes {', '.join(given)} have {wanted} nodes; "
                "its axes must be in the order of `axes`"
            )
        if not np.isfinite(table).all():
            n_bad = int((~np.isfinite(table)).sum())
            raise DataError(f"the field {name!r} has {n_bad} missing or infinite values; fill them or cut the field")
        check_powers(table, f"the field {name!r}")
        values.append(np.ascontiguousarray(table.transpose([given.index(axis) for axis in order])))
    if all(np.ptp(table) == 0.0 for table in values):
        raise DataError("every field is constant; nothing changes that an equation could explain")
    return grid, tuple(map(str, fields)), values


def _nodes(name: str, values: Any) -> Floats:
    nodes = numbers(values, f"the axis {name!r}")
    if nodes.ndim != 1 or len(nodes) < LEAST_NODES:
        raise DataError(f"the axis {name!r} needs at least {LEAST_NODES} nodes in one row, got shape {nodes.shape}")
    steps = np.diff(nodes)
    if not np.isfinite(nodes).all() or steps[0] <= 0.0 or np.ptp(steps) > UNEVEN * abs(steps.mean()):
        raise DataError(f"the axis {name!r} must rise in equal steps; interpolate the field to a uniform grid first")
    check_powers(steps, f"the step of the axis {name!r}")
    return nodes
