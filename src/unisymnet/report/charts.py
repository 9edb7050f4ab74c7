"""The charts of the report as SVG text: the front, prediction, residuals, responses, histograms.

Each takes numbers and gives one `<svg>`; what is said beside them is page.py's. Loads no plotting library.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from .canvas import BOTTOM, LEFT, RIGHT, TOP, Axis, Canvas, area, axes, clip, colours, dots, line, picture
from .rows import Field, Rows, Slice, thin

WIDTH, HEIGHT = 380, 270
MAX_DOTS = 400
LEAST_ERROR = 1e-16  # what cannot be told from exact
SHADES = (0.9, 0.55, 0.25, 0.1)


def error_share(r2: float | None) -> float | None:
    """The part of the target's spread that is left, sqrt(1 - R²), between exact and useless."""
    if r2 is None or math.isnan(r2):
        return None
    return math.sqrt(min(max(1.0 - r2, LEAST_ERROR**2), 1e4)) if math.isfinite(r2) else 100.0


def front_chart(entries: Sequence[Any], picked: int, *, live: bool = True) -> str:
    """Error against size; every formula a button that page.js listens to or, where no script runs, has a title."""
    width, height = 460, 300
    sizes = np.array([float(entry.complexity) for entry in entries])
    errors = np.array([math.log10(error_share(entry.r2) or LEAST_ERROR) for entry in entries])
    held = np.array([math.log10(error_share(entry.r2_valid) or math.nan) for entry in entries])
    known = np.concatenate([errors, held[np.isfinite(held)]])
    low, high = math.floor(known.min() - 0.2), max(math.ceil(known.max() + 0.05), math.floor(known.min()) + 1)
    reach = (min(sizes.min(), 1.0), max(sizes.max(), sizes.min() + 2.0))
    x, _ = axes(width, height, reach, (0.0, 1.0), ("size of the formula", ""))
    y = Axis(low, high, height - BOTTOM, TOP, "error (share of the spread)", powers=True)
    canvas = Canvas("Error of the formulas against their size", x, y, width, height)
    canvas.add(line(x, y, sizes, errors, "front"))
    for index, entry in enumerate(entries):
        text = f"Formula {index}, size {entry.complexity}, R² {entry.r2:.6g}: {entry.formula.text(4)}"
        place = f'cx="{x.at(sizes[index]):.1f}" cy="{y.at(errors[index]):.1f}"'
        pressed = f'aria-pressed="{"true" if index == picked else "false"}"'
        if live:
            focus = f'tabindex="{0 if index == picked else -1}" data-choose="{index}"'
            start = f'<g class="point" role="button" {focus} {pressed} aria-label="{escape(text)}">'
        else:
            start = f'<g class="point" {pressed}><title>{escape(text)}</title>'
        canvas.add(
            f'{start}<circle class="reach" {place} r="15"/><circle class="ring" {place} r="10"/>'
            f'<circle class="spot" {place} r="5.5"/></g>'
        )
    if np.isfinite(held).any():
        canvas.add(dots(x, y, sizes, held, "held", half=8.0))
    return canvas.svg("chart wide", role="group")


def prediction_chart(target: str, y: Floats, found: Floats) -> str:
    chosen = thin(len(y), MAX_DOTS)
    truth, guess = y[chosen], found[chosen]
    both = np.concatenate([truth, guess[np.isfinite(guess)]])
    span = (float(both.min()), float(both.max()))
    x, axis = axes(WIDTH, HEIGHT, span, span, (f"true {target}", f"predicted {target}"))
    canvas = Canvas(f"Predicted against true {target}", x, axis)
    ends = np.array([x.low, x.high])
    canvas.add(line(x, axis, ends, ends, "guide"), dots(x, axis, truth, guess))
    return canvas.svg()


def residual_chart(target: str, y: Floats, found: Floats, noise: Floats | None = None) -> str:
    """What is left of every row, in units of its own ``noise`` where that is known."""
    chosen = thin(len(y), MAX_DOTS)
    units = np.ones(len(y)) if noise is None else noise
    guess, rest = found[chosen], ((y - found) / units)[chosen]
    good = np.isfinite(guess) & np.isfinite(rest)
    guess, rest = guess[good], rest[good]
    if not len(guess):
        return ""
    largest = float(np.abs(rest).max())
    spread = (float(np.ptp(y)) or 1.0) if noise is None else 1.0
    # An exact fit leaves rounding only; zoomed in, that would look like structure.
    largest = largest if largest > 1e-9 * spread else 1e-3 * spread
    x, axis = axes(
        WIDTH,
        HEIGHT,
        (float(guess.min()), float(guess.max())),
        (-largest, largest),
        (f"predicted {target}", "true − predicted" if noise is None else "(true − predicted) / noise of the row"),
    )
    canvas = Canvas(f"Residuals of {target} against its predicted values", x, axis)
    canvas.add(line(x, axis, np.array([x.low, x.high]), np.zeros(2), "guide"), dots(x, axis, guess, rest))
    return canvas.svg()


def response_chart(piece: Slice, rows: Rows, name: str, target: str, key: str) -> str:
    """The formula along one column with the rows near the slice; outside the data the ground is shaded."""
    inside = (piece.x >= piece.low) & (piece.x <= piece.high)
    low, high = _span(piece.value[inside], rows.y)
    room = 0.25 * ((high - low) or 1.0)
    outer = piece.value[np.isfinite(piece.value)]
    if len(outer):
        low, high = min(low, max(float(outer.min()), low - room)), max(high, min(float(outer.max()), high + room))
    x, axis = axes(WIDTH, HEIGHT, (float(piece.x[0]), float(piece.x[-1])), (low, high), (name, target))
    canvas = Canvas(f"{target} along {name}", x, axis)
    marks = [
        _shade(axis, x.start, float(x.at(piece.low))),
        _shade(axis, float(x.at(piece.high)), x.end),
        area(x, axis, piece.x, piece.below, piece.above),
        *_faded(x, axis, rows.few.X[:, piece.column], rows.few.y, piece.near),
        line(x, axis, piece.x, np.where(inside, piece.value, np.nan)),
        line(x, axis, piece.x, np.where(_outside(inside), piece.value, np.nan), "curve beyond"),
    ]
    canvas.add(clip(marks, key, WIDTH, HEIGHT))
    return canvas.svg()


def field_chart(piece: Field, rows: Rows, names: Sequence[str], target: str) -> str:
    """The formula over two columns as colours, the rows as dots in the same colours."""
    width = WIDTH + 50
    first, second = piece.columns
    low, high = _span(piece.value, rows.y)
    x = Axis(float(piece.u[0]), _after(piece.u), LEFT, WIDTH - RIGHT, names[first])
    y = Axis(float(piece.v[0]), _after(piece.v), HEIGHT - BOTTOM, TOP, names[second])
    canvas = Canvas(f"{target} over {names[first]} and {names[second]}", x, y, width)
    box = f'x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}"'
    address = picture(colours(piece.value[::-1], low, high))
    canvas.add(f'<image {box} preserveAspectRatio="none" href="{address}"/>')
    chosen = thin(len(rows.y), 150)
    shown = colours(rows.y[chosen], low, high)
    for a, b, colour in zip(x.at(rows.X[chosen, first]), y.at(rows.X[chosen, second]), shown):
        fill = "#{:02x}{:02x}{:02x}".format(*colour[:3])
        canvas.add(f'<circle class="sample" cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{fill}"/>')
    canvas.add(_scale(low, high, WIDTH))
    return canvas.svg()


def histogram(values: Floats, n_bins: int = 18) -> str:
    """A small picture of how the values of a column lie."""
    counts, _ = np.histogram(values, bins=n_bins)
    bars = "".join(
        f"M{6 * i} 24v{-22 * count / max(counts.max(), 1):.1f}h5V24z" for i, count in enumerate(counts) if count
    )
    return f'<svg class="bars" viewBox="0 0 {6 * n_bins} 24" aria-hidden="true"><path d="{bars}"/></svg>'


def _shade(axis: Axis, start: float, end: float) -> str:
    low, high = sorted((axis.start, axis.end))
    if end <= start:
        return ""
    return f'<rect class="outside" x="{start:.1f}" y="{low}" width="{end - start:.1f}" height="{high - low}"/>'


def _faded(x: Axis, y: Axis, u: Floats, v: Floats, near: Floats) -> list[str]:
    """Dots in four shades: the further from the slice, the fainter."""
    order = np.argsort(-near, kind="stable")
    chosen = order[: 2 * MAX_DOTS][thin(min(len(u), 2 * MAX_DOTS), MAX_DOTS)]
    limits = (1.01, 0.6, 0.3, 0.1, -0.01)
    found = []
    for shade, high, low in zip(SHADES, limits, limits[1:]):
        part = chosen[(near[chosen] < high) & (near[chosen] >= low)]
        found.append(dots(x, y, u[part], v[part], opacity=shade))
    return found[::-1]


def _outside(inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """What is not inside, and the last points inside: the two lines must meet."""
    outside = ~inside
    return outside | np.roll(outside, 1) | np.roll(outside, -1)


def _span(values: Floats, y: Floats) -> tuple[float, float]:
    good = values[np.isfinite(values)]
    both = np.concatenate([good.ravel(), y])
    # A pole between the rows would press everything else flat.
    width = float(np.ptp(y)) or abs(float(y[0])) or 1.0
    low, high = max(both.min(), y.min() - width), min(both.max(), y.max() + width)
    return float(low), float(high)


def _after(values: Floats) -> float:
    last, first = float(values[-1]), float(values[0])
    return last if last > first else first + (abs(first) or 1.0)


def _scale(low: float, high: float, left: int) -> str:
    steps = colours(np.linspace(1.0, 0.0, 64)[:, None], 0.0, 1.0)
    top, tall = TOP, HEIGHT - TOP - BOTTOM
    return (
        f'<image x="{left}" y="{top}" width="10" height="{tall}" preserveAspectRatio="none" href="{picture(steps)}"/>'
        f'<text x="{left + 14}" y="{top + 8}">{high:.3g}</text><text x="{left + 14}" y="{top + tall}">{low:.3g}</text>'
    )
