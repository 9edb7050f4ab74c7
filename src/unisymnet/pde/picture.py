"""A figure of a PDE: the field that was measured, what the equation makes of its start, and the difference."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from ..errors import DataError
from .system import PDESystem


def draw(system: PDESystem, fields: Mapping[str, ArrayLike], axes: Mapping[str, ArrayLike], path: Path | str) -> None:
    """Write the figure; in two dimensions of space it shows the last time. Needs matplotlib (extra `plot`)."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise DataError("pictures need matplotlib: pip install 'unisymnet[plot]'") from error
    measured = {name: np.asarray(fields[name], dtype=float) for name in system.fields}
    found = _followed(system, measured, axes)
    figure = Figure(figsize=(9.0, 2.6 * len(system.equations)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(system.equations), 3 if found else 1, squeeze=False)
    for row, equation in zip(panels, system.equations, strict=True):
        shown: list[tuple[str, Floats]] = [("measured", measured[equation.field])]
        if found:
            other = found[equation.field]
            shown += [("simulated from its start", other), ("difference", measured[equation.field] - other)]
        for panel, (title, values) in zip(row, shown, strict=True):
            _panel(panel, f"{equation.field}: {title}", values, system, axes)
    figure.suptitle("\n".join(system.lines()), fontsize=9)
    figure.savefig(path, dpi=130)


def _followed(system: PDESystem, measured: Mapping[str, Floats], axes: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """The simulation, where there can be one: first order, every field with an equation, a grid that repeats itself."""
    if system.order != 1 or len(system.equations) < len(system.fields):
        return {}
    try:
        return system.simulate({name: values[..., 0] for name, values in measured.items()}, axes)
    except DataError:
        return {}


def _panel(panel: Any, title: str, values: Floats, system: PDESystem, axes: Mapping[str, ArrayLike]) -> None:
    flat = values if values.ndim == 2 else values[..., -1]
    names = (system.space[0], system.time) if values.ndim == 2 else system.space[:2]
    first, second = (np.asarray(axes[name], dtype=float) for name in names)
    image = panel.imshow(
        flat.T, origin="lower", aspect="auto", extent=(first[0], first[-1], second[0], second[-1]), cmap="RdBu_r"
    )
    panel.set(xlabel=names[0], ylabel=names[1])
    panel.set_title(title, fontsize=9)
    panel.figure.colorbar(image, ax=panel)
