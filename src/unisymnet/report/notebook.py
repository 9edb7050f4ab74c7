"""A fitted estimator as a notebook shows it: the formula in mathematical type, the table, and the report's pictures.

Plain HTML with MathML and inline SVG: no script, no network. Notebooks have light and dark themes of their own that
a page cannot ask for, so the pictures stand on white.
"""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from .charts import front_chart, prediction_chart, residual_chart, response_chart
from .parts import network_picture, r2_shown, shown
from .rows import Rows, influence, predictions, rows_to_draw, slice_of

DIGITS = 4
_CELL = "padding:2px 12px 2px 0;text-align:{}"


def notebook_html(model: Any) -> str:
    """The picked formula, the table, the notes and the pictures; every name escaped."""
    entries, picked = model.front_, model.picked_
    valid = any(entry.r2_valid is not None for entry in entries)
    heads = ["", "size", *(["R² valid"] if valid else []), "R² train", "formula"]
    rows = "".join(_row(index, entry, index == picked, valid) for index, entry in enumerate(entries))
    said = "".join(f"<div>note: {escape(note)}</div>" for note in model.notes_)
    large = shown(entries[picked].formula, digits=DIGITS + 1, equation=True)
    return (
        f'<div class="unisymnet"><div style="font-size:140%;padding:6px 0;overflow-x:auto">{large}</div>'
        f"<table><thead><tr>{''.join(_cell(head, 'left', 'th') for head in heads)}</tr></thead>"
        f"<tbody>{rows}</tbody></table>{said}{_pictures(model)}</div>"
    )


def _row(index: int, entry: Any, picked: bool, valid: bool) -> str:
    numbers = [str(entry.complexity), *([r2_shown(entry.r2_valid)] if valid else []), r2_shown(entry.r2)]
    cells = [_cell(f"{index} ★" if picked else str(index), "left"), *(_cell(text, "right") for text in numbers)]
    cells.append(_cell(shown(entry.formula, digits=DIGITS), "left"))
    return f"<tr{' style=font-weight:bold' if picked else ''}>{''.join(cells)}</tr>"


def _cell(content: str, side: str, tag: str = "td") -> str:
    return f'<{tag} style="{_CELL.format(side)}">{content}</{tag}>'


def _pictures(model: Any) -> str:
    formula = model.formula_
    rows = rows_to_draw(model, None, None)
    figures = [front_chart(model.front_, model.picked_, live=False)]
    if rows is not None:
        figures += _with_data(formula, rows)
    charts = "".join(f"<div>{figure}</div>" for figure in figures if figure)
    network = network_picture(formula)
    return (
        f'<style>{_style()}</style><div class="unisymnet-charts"><div class="unisymnet-grid">{charts}</div>'
        f"<details><summary>The formula as a symbolic network</summary>{network}</details></div>"
    )


def _with_data(formula: Any, rows: Rows) -> list[str]:
    found = predictions(formula, rows.X)
    if not np.isfinite(found).any():
        return []
    figures = [prediction_chart(formula.target, rows.y, found), residual_chart(formula.target, rows.y, found)]
    for column in influence(formula, rows)[:1]:
        piece = slice_of(formula, rows, column)
        # All pictures of this kind have the same frame, so one name in a notebook serves them all.
        figures.append(response_chart(piece, rows, formula.names[column], formula.target, "unisymnet-frame"))
    return figures


def _style() -> str:
    """The report's colours by day, and its charts' style for nothing else in the notebook."""
    folder = files(__package__)
    light = re.search(r":root \{([^}]*)\}", folder.joinpath("page.css").read_text("utf-8"))
    colours = "" if light is None else light[1].replace("color-scheme: light dark;", "")
    rules = [
        f".unisymnet-charts {{ {colours} background: #fff; color: var(--ink); padding: 8px; max-width: 860px; }}",
        ".unisymnet-grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(340px, 1fr)); gap: 12px; }",
    ]
    for line in folder.joinpath("charts.css").read_text("utf-8").splitlines():
        selectors, _, body = line.partition("{")
        rules.append(", ".join(f".unisymnet-charts {s.strip()}" for s in selectors.split(",")) + " {" + body)
    return " ".join(" ".join(rule.split()) for rule in rules)
