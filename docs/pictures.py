"""Draws the pictures of README and of "How it works" from the package itself: python docs/pictures.py

Every number and formula in them is computed here: the fit, the network, the label, the beam. Needs the core only.
"""

from __future__ import annotations

import re
import sys
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd

from unisymnet import UniSymNetRegressor, parse
from unisymnet.model.beam import Found, beam_search, vocabulary_of
from unisymnet.model.proposer import bag, load_weights, weights_for
from unisymnet.problem import make_problem
from unisymnet.report.charts import response_chart
from unisymnet.report.parts import network_picture
from unisymnet.report.rows import read_rows, slice_of
from unisymnet.symbolic.expr import Call, Expr
from unisymnet.symbolic.network.draw import SETTINGS, draw_svg
from unisymnet.symbolic.network.identify import identify
from unisymnet.symbolic.network.skeleton import to_skeleton
from unisymnet.symbolic.operators import OPERATORS, UNARY_LIBRARY
from unisymnet.symbolic.text import number_text, to_text

OUT = Path(__file__).parent / "_static"
EXAMPLE = "3*x0*x1 + sin(x1)"
FONT = 'font-family="DejaVu Sans, Helvetica, Arial, sans-serif"'
LAYERS = ("#dbe7fb", "#fdebd0", "#d5f5e3", "#f3dcf2", "#e8e3d3", "#d8eef0")
INK, SOFT = "#222222", "#59636f"


def main() -> None:
    OUT.mkdir(exist_ok=True)
    pictures = {"psi": psi, "structure": structure, "label": label, "beam": beam, "overview": overview}
    for name in sys.argv[1:] or pictures:
        draw = pictures[name]
        (OUT / f"{name}.svg").write_text(draw(), encoding="utf-8")
        print(f"written: {OUT / name}.svg")


def psi() -> str:
    """A formula as a tree, and what Ψ makes of it."""
    expr = parse(EXAMPLE)
    tree, wide, tall = _tree(expr)
    network, width, height = _inner(draw_svg(identify(expr), ["x0", "x1"]))
    total = max(tall, height) + 30
    return _svg(
        wide + 110 + width,
        total,
        [
            _text(wide / 2, 16, f"y = {EXAMPLE}", 13),
            _moved(tree, 0, 30 + (total - 30 - tall) / 2),
            _text(wide + 50, 30 + (total - 30) / 2 - 10, "Ψ", 24),
            _arrow(wide + 20, 30 + (total - 30) / 2 + 8, wide + 82),
            _text(wide + 100 + width / 2, 16, "the same function with id, sin, cos, exp, ln only", 13),
            _moved(network, wide + 100, 30 + (total - 30 - height) / 2),
        ],
    )


def structure() -> str:
    """The network without its numbers."""
    body, width, height = _inner(draw_svg(identify(parse(EXAMPLE)).structure, ["x0", "x1"]))
    return _svg(width, height, [body])


def label() -> str:
    """The label of the example, each number with what it stands for."""
    vocabulary = SETTINGS[0]
    shape = identify(parse(EXAMPLE)).structure
    tokens = vocabulary.encode(shape)
    parts = [_text(8, 18, "the structure as rising numbers: every number is one open place of a mask", 13, "start")]
    for at, token in enumerate(tokens):
        x, y = 8 + 68 * at, 34
        meaning, colour = _meaning(tokens, at)
        parts.append(f'<rect x="{x}" y="{y}" width="60" height="34" rx="6" fill="{colour}" stroke="#34495e"/>')
        parts.append(_text(x + 30, y + 22, str(token), 14))
        parts += [_text(x + 30, y + 52 + 14 * line, words, 11, colour=SOFT) for line, words in enumerate(meaning)]
    return _svg(16 + 68 * len(tokens), 120, parts)


def beam(width: int = 6) -> str:
    """The labels that the shipped transformer finds likeliest for data of 2*exp(x0/2) + 1, as a tree of prefixes."""
    x = np.random.default_rng(0).uniform(-3.0, 3.0, (200, 1))
    problem = make_problem(x, 2.0 * np.exp(0.5 * x[:, 0]) + 1.0)
    folder = weights_for(1)
    if folder is None:
        raise SystemExit("no weights are shipped, so there is no beam to draw")
    runtime = load_weights(folder)
    rows = bag(problem, [0], runtime, 200, rng=np.random.default_rng(0))
    found = beam_search(runtime, rows, 1, width=20)[:width]
    longest = max(len(item.label) for item in found)
    step, left = 46, 20
    right = left + step * longest + 18
    parts = [
        _text(8, 18, "the beam for 200 points of y = 2*exp(x0/2) + 1: labels, skeletons, probabilities", 13, "start"),
        *_trie(found, left, step),
    ]
    for at, item in enumerate(found):
        y = 56 + 34 * at
        chance = float(np.exp(item.log_probability))
        parts.append(_text(right, y + 4, f"y = {to_text(to_skeleton(item.structure).expr)}", 13, "start"))
        size = f'width="{max(200 * chance, 1):.1f}" height="14"'
        parts.append(f'<rect x="{right + 300}" y="{y - 8}" {size} fill="#7fb0ff"/>')
        parts.append(_text(right + 306 + 200 * chance, y + 4, f"{100 * chance:.2g} %", 11, "start", SOFT))
    assert vocabulary_of(runtime) == SETTINGS[0]
    return _svg(right + 560, 70 + 34 * len(found), parts)


def overview() -> str:
    """Noisy data, the formula that a short search finds in them, and its network."""
    with files("unisymnet").joinpath("data", "pendulum.csv").open("rb") as file:
        table = pd.read_csv(file)
    X, y = table[["time_s"]], table["angle_rad"]
    model = UniSymNetRegressor(max_time=None, noise=0.005, proposers=["oscillations"]).fit(
        X, y
    )  # the same on any machine
    formula = model.formula_
    rows = read_rows(formula.names, X, y)
    assert rows is not None
    chart, width, height = _inner(response_chart(slice_of(formula, rows, 0), rows, "time_s", "angle_rad", "frame"))
    network, wide, tall = _inner(network_picture(formula).split("</svg>")[0] + "</svg>")
    scale = min(1.0, 430 / wide)
    total = max(height, tall * scale + 90)
    return _svg(
        width + 60 + wide * scale,
        total,
        [
            f"<style>{_style()}</style>",
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            f'<g class="chart">{chart}</g>',
            _arrow(width + 8, total / 2, width + 44),
            _text(width + 56 + wide * scale / 2, 44, f"{formula.target} = {formula.text(3)}", 14),
            _text(
                width + 56 + wide * scale / 2,
                66,
                f"R² {model.front_[model.picked_].r2:.4f} on {len(y)} noisy rows",
                11,
                colour=SOFT,
            ),
            f'<g transform="translate({width + 56} {80 + (total - 80 - tall * scale) / 2:.1f}) scale({scale:.3f})">'
            f"{network}</g>",
        ],
    )


def _meaning(tokens: tuple[int, ...], at: int) -> tuple[list[str], str]:
    """What a number of a label says, in three short lines, and the colour of its layer."""
    if at < 2:
        return (["layers"], "#ffffff") if at == 0 else (["separator"], "#ffffff")
    vocabulary = SETTINGS[0]
    layer, row, column = vocabulary.layouts[tokens[0]].place(tokens[at])
    last = layer == tokens[0] - 1

    def node(row: int, layer: int) -> str:
        if layer < 0:
            return f"x{row}"
        return f"{UNARY_LIBRARY[row // vocabulary.repeats]} {row % vocabulary.repeats + 1}"

    to = "y" if last else node(row, layer)
    words = ["bias of", to] if column is None else [f"{node(column, layer - 1)} →", to]
    return [f"layer {layer + 1}", *words], LAYERS[layer % len(LAYERS)]


def _trie(found: list[Found], left: int, step: int) -> list[str]:
    """Labels line by line; what a label shares with the one above it is drawn once."""
    parts: list[str] = []
    before: tuple[int, ...] = ()
    placed: dict[tuple[int, ...], tuple[float, float]] = {}
    for at, item in enumerate(found):
        y = 56 + 34 * at
        same = 0
        while same < min(len(before), len(item.label)) and before[same] == item.label[same]:
            same += 1
        for depth in range(same, len(item.label)):
            x = left + step * depth
            prefix = item.label[: depth + 1]
            parent = placed.get(item.label[:depth])
            if parent is not None:
                lines = f"M{parent[0] + 17} {parent[1]}C{parent[0] + 32} {parent[1]} {x - 30} {y} {x - 17} {y}"
                parts.append(f'<path d="{lines}" fill="none" stroke="#c0392b" stroke-opacity="0.7"/>')
            placed[prefix] = (x, y)
            parts.append(
                f'<rect x="{x - 17}" y="{y - 11}" width="34" height="22" rx="5" fill="#dbe7fb" stroke="#34495e"/>'
            )
            parts.append(_text(x, y + 4, str(item.label[depth]), 11))
        before = item.label
    return parts


def _tree(expr: Expr) -> tuple[str, float, float]:
    """A formula as a tree: its drawing, width and height."""
    gap_x, gap_y, radius = 62, 58, 19
    parts: list[str] = []
    column = 0
    deepest = 0

    def place(node: Expr, depth: int) -> tuple[float, float]:
        nonlocal column, deepest
        deepest = max(deepest, depth)
        y = 30 + gap_y * depth
        if isinstance(node, Call):
            spots = [place(arg, depth + 1) for arg in node.args]
            x = float(np.mean([spot[0] for spot in spots]))
            for sx, sy in spots:
                lines = f'x1="{x:g}" y1="{y}" x2="{sx:g}" y2="{sy:g}"'
                parts.insert(0, f'<line {lines} stroke="#c0392b" stroke-width="1.4" stroke-opacity="0.75"/>')
            text = OPERATORS[node.op].symbol or node.op
        else:
            x = 30.0 + gap_x * column
            column += 1
            value = getattr(node, "value", None)
            text = f"x{node.index}" if value is None else number_text(value, 3)  # type: ignore[attr-defined]
        fill = "#dbe7fb" if isinstance(node, Call) else "#fdebd0"
        parts.append(f'<circle cx="{x:g}" cy="{y}" r="{radius}" fill="{fill}" stroke="#34495e" stroke-width="1.2"/>')
        parts.append(_text(x, y + 4.5, text, 13))
        return x, y

    place(expr, 0)
    return "".join(parts), 60.0 + gap_x * (column - 1), 60.0 + gap_y * deepest


def _style() -> str:
    """The style of the report's charts, with its colours by day."""
    folder = files("unisymnet").joinpath("report")
    css = folder.joinpath("charts.css").read_text("utf-8")
    light = re.search(r":root \{([^}]*)\}", folder.joinpath("page.css").read_text("utf-8"))
    colours = dict(re.findall(r"(--[a-z-]+): ([^;]+);", light[1] if light else ""))
    return re.sub(r"var\((--[a-z-]+)\)", lambda m: colours[m[1]], css)


def _inner(svg: str) -> tuple[str, float, float]:
    """The content of a drawing, its width and its height."""
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert box is not None
    start, end = svg.index(">", svg.index("<svg")) + 1, svg.rindex("</svg>")
    return svg[start:end].replace('<rect width="100%" height="100%" fill="#ffffff"/>', ""), float(box[1]), float(box[2])


def _svg(width: float, height: float, parts: list[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" {FONT}>'
    ground = f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>'
    return "\n".join([head, ground, *parts, "</svg>"]) + "\n"


def _moved(inner: str, x: float, y: float) -> str:
    return f'<g transform="translate({x:.1f} {y:.1f})">{inner}</g>'


def _arrow(x: float, y: float, end: float) -> str:
    return f'<path d="M{x} {y}H{end}m-8 -5l8 5l-8 5" fill="none" stroke="{INK}" stroke-width="1.6"/>'


def _text(x: float, y: float, words: str, size: int, anchor: str = "middle", colour: str = INK) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="{size}" fill="{colour}">{escape(words)}</text>'


if __name__ == "__main__":
    main()
