"""`system_html`: one self-contained page about a system of differential equations and the runs it was found in.

Trajectories over data, what is left in time, the phase portrait with its field and fixed points.  Loads nothing; takes
numbers and a `System`-like object, and does not search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ..arrays import Floats
from .canvas import Canvas, axes, clip, dots, line
from .parts import cautions_card, shown, whole_page

WIDTH, HEIGHT = 380, 270
MAX_RUNS, MAX_DOTS, MAX_PAIRS = 4, 300, 3
N_CURVE, N_ARROWS = 400, 17


@dataclass(frozen=True)
class Run:
    """A run to draw: times, measured states (nan: missing), and the simulated ones at the same times."""

    t: Floats
    x: Floats
    simulated: Floats
    name: str = ""


def system_html(system: Any, runs: Sequence[Run] = (), notes: Sequence[str] = (), lead: str = "") -> str:
    """The page as text."""
    points = _points(system)
    body = [_equations(system), cautions_card(notes)]
    if runs:
        said = "Dots: measured. Line: simulated from the start of the run."
        body.append(_section("Trajectories", said, _courses(system, runs)))
        said = "Measured minus simulated; it should look like noise."
        body.append(_section("Residuals over time", said, _left(system, runs)))
    said = "Arrows: where the system goes. Rings: fixed points."
    body.append(_section("Phase portrait", said, _portraits(system, runs, points)))
    body.append(_fixed(system, points))
    return whole_page("Equations of " + ", ".join(system.states), lead, "".join(body))


def _equations(system: Any) -> str:
    lines = []
    for formula in system.formulas:
        constants = ", ".join(str(constant) for constant in formula.constants)
        lines.append(
            f'<tr><td class="name">{escape(formula.target)}</td><td class="shown">{shown(formula)}</td>'
            f"<td>{escape(constants)}</td></tr>"
        )
    head = "<th>rate</th><th>equation</th><th>constants</th>"
    return (
        '<section class="card"><h2>The equations</h2><div class="scroll" tabindex="0" role="region" '
        f'aria-label="Equations"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
        f"<details><summary>As Python</summary><pre>{escape(system.to('python'))}</pre></details>"
        f"<details><summary>As LaTeX</summary><pre>{escape(system.latex())}</pre></details></section>"
    )


def _section(head: str, hint: str, charts: Sequence[str]) -> str:
    figures = "".join(f"<figure>{chart}</figure>" for chart in charts if chart)
    if not figures:
        return ""
    return (
        f'<section class="card"><h2>{head}</h2><p class="hint">{hint}</p><div class="charts">{figures}</div></section>'
    )


def _label(system: Any, k: int, run: Run) -> str:
    return system.states[k] + (f" ({run.name})" if run.name else "")


def _courses(system: Any, runs: Sequence[Run]) -> list[str]:
    found = []
    for run in runs[:MAX_RUNS]:
        for k in range(run.x.shape[1]):
            measured, curve = run.x[:, k], run.simulated[:, k]
            known = measured[np.isfinite(measured)]
            if not len(known):
                continue
            span = (float(known.min()), float(known.max()))
            x, y = axes(WIDTH, HEIGHT, (float(run.t[0]), float(run.t[-1])), span, (system.time, _label(system, k, run)))
            canvas = Canvas(f"{_label(system, k, run)} over time, measured and simulated", x, y)
            step = max(1, len(run.t) // MAX_DOTS)
            canvas.add(dots(x, y, run.t[::step], measured[::step]), line(x, y, run.t, curve))
            found.append(canvas.svg())
    return found


def _left(system: Any, runs: Sequence[Run]) -> list[str]:
    found = []
    for run in runs[:MAX_RUNS]:
        for k in range(run.x.shape[1]):
            rest = run.x[:, k] - run.simulated[:, k]
            good = np.isfinite(rest)
            if not good.any():
                continue
            spread = float(np.nanstd(run.x[:, k])) or 1.0
            largest = max(float(np.abs(rest[good]).max()), 1e-6 * spread)
            ends = (float(run.t[0]), float(run.t[-1]))
            x, y = axes(
                WIDTH, HEIGHT, ends, (-largest, largest), (system.time, f"residual of {_label(system, k, run)}")
            )
            canvas = Canvas(f"Residuals of {_label(system, k, run)} over time", x, y)
            canvas.add(line(x, y, np.array(ends), np.zeros(2), "guide"), dots(x, y, run.t[good], rest[good]))
            found.append(canvas.svg())
    return found


def _points(system: Any) -> list[Any]:
    try:
        return list(system.fixed_points()) if not system.inputs and len(system.ranges) else []
    except (ValueError, FloatingPointError):
        return []


def _portraits(system: Any, runs: Sequence[Run], points: Sequence[Any]) -> list[str]:
    d = len(system.states)
    if len(system.ranges) != d or system.inputs:
        return []
    if d == 1:
        return [_phase_line(system, points)]
    pairs = [(a, b) for a in range(d) for b in range(a + 1, d)][:MAX_PAIRS]
    return [_portrait(system, runs, points, pair) for pair in pairs]


def _phase_line(system: Any, points: Sequence[Any]) -> str:
    low, high = system.ranges[0]
    states = np.linspace(low - 0.2 * (high - low), high + 0.2 * (high - low), N_CURVE)
    with np.errstate(all="ignore"):
        rates = system.rhs(states[:, None])[:, 0]
    good = np.isfinite(rates)
    if not good.any():
        return ""
    inside = rates[good & (states >= low) & (states <= high)]
    span = (float(inside.min()), float(inside.max())) if len(inside) else (-1.0, 1.0)
    name, reach = system.states[0], (min(span[0], 0.0), max(span[1], 0.0))
    x, y = axes(WIDTH, HEIGHT, (states[0], states[-1]), reach, (name, f"{name}'"))
    canvas = Canvas("Rate against state", x, y)
    canvas.add(
        line(x, y, states[[0, -1]], np.zeros(2), "guide"),
        clip([line(x, y, states, rates)], "phase-line", WIDTH, HEIGHT),
    )
    canvas.add(*_rings(x, y, [(p.state[0], 0.0, p) for p in points]))
    return canvas.svg()


def _portrait(system: Any, runs: Sequence[Run], points: Sequence[Any], pair: tuple[int, int]) -> str:
    a, b = pair
    ranges = np.asarray(system.ranges, dtype=np.float64)
    x, y = axes(WIDTH, HEIGHT, tuple(ranges[a]), tuple(ranges[b]), (system.states[a], system.states[b]))
    canvas = Canvas(f"{system.states[b]} against {system.states[a]}", x, y)
    centre = ranges.mean(axis=1)
    u, v = np.meshgrid(np.linspace(x.low, x.high, N_ARROWS), np.linspace(y.low, y.high, N_ARROWS))
    states = np.tile(centre, (u.size, 1))
    states[:, a], states[:, b] = u.ravel(), v.ravel()
    with np.errstate(all="ignore"):
        rates = system.rhs(states)
    marks = [_arrows(x, y, states[:, a], states[:, b], rates[:, a], rates[:, b])]
    for run in runs[:MAX_RUNS]:
        if run.x.shape[1] > max(pair):
            step = max(1, len(run.t) // MAX_DOTS)
            marks.append(dots(x, y, run.x[::step, a], run.x[::step, b], opacity=0.5))
        marks.append(line(x, y, run.simulated[:, a], run.simulated[:, b]))
    canvas.add(clip(marks, f"portrait-{a}-{b}", WIDTH, HEIGHT))
    canvas.add(*_rings(x, y, [(p.state[a], p.state[b], p) for p in points]))
    return canvas.svg()


def _arrows(x: Any, y: Any, u: Floats, v: Floats, du: Floats, dv: Floats) -> str:
    """Short lines of one length along the field, thick at their heads' end by a dot."""
    across = (x.end - x.start) / (x.high - x.low) * du
    up = (y.end - y.start) / (y.high - y.low) * dv
    size = np.hypot(across, up)
    good = np.isfinite(size) & (size > 0.0)
    pieces = []
    length = 8.0
    for px, py, ax, ay, s in zip(x.at(u[good]), y.at(v[good]), across[good], up[good], size[good]):
        cx, cy = ax / s, ay / s
        ex, ey = px + length * cx, py + length * cy
        left = f"{ex - 2.2 * (cx + cy):.1f} {ey - 2.2 * (cy - cx):.1f}"
        right = f"{ex - 2.2 * (cx - cy):.1f} {ey - 2.2 * (cy + cx):.1f}"
        pieces.append(f"M{px:.1f} {py:.1f}L{ex:.1f} {ey:.1f}M{left}L{ex:.1f} {ey:.1f}L{right}")
    return f'<path class="guide" style="stroke-dasharray:none;opacity:.55;fill:none" d="{"".join(pieces)}"/>'


def _rings(x: Any, y: Any, places: Sequence[tuple[float, float, Any]]) -> list[str]:
    found = []
    for u, v, point in places:
        if x.low <= u <= x.high and y.low <= v <= y.high:
            fill = "var(--curve)" if point.stable else "var(--card)"
            found.append(
                f'<circle cx="{float(x.at(u)):.1f}" cy="{float(y.at(v)):.1f}" r="5" stroke="var(--curve)" '
                f'stroke-width="2" '
                f'fill="{fill}"><title>{escape(point.kind)}</title></circle>'
            )
    return found


def _fixed(system: Any, points: Sequence[Any]) -> str:
    if not points:
        return ""
    head = "".join(f'<th class="number">{escape(name)}</th>' for name in system.states) + "<th>kind</th>"
    lines = []
    for point in points:
        cells = "".join(f'<td class="number">{value:.5g}</td>' for value in point.state)
        lines.append(f"<tr>{cells}<td>{escape(point.kind)}</td></tr>")
    return (
        '<section class="card"><h2>Fixed points</h2><div class="scroll"><table><thead><tr>'
        f"{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div></section>"
    )
