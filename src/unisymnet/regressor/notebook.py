"""A fitted estimator as a notebook shows it: the picked formula in mathematical type, and the table of formulas.

Plain HTML with inline style and MathML: no script, no network. The charts are in unisymnet.report.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..formula.constants import simple_name
from ..symbolic.mathml import mathml
from .entry import Entry
from .table import r2_text

DIGITS = 4
_CELL = "padding:2px 12px 2px 0;text-align:{}"


def notebook_html(entries: Sequence[Entry], picked: int, notes: Sequence[str]) -> str:
    """The formula, the table, the notes; every name escaped."""
    chosen = entries[picked].formula
    shown = mathml(chosen.expr, chosen.names, DIGITS + 1, target=chosen.target, spell=simple_name)
    valid = any(entry.r2_valid is not None for entry in entries)
    heads = ["", "size", *(["R² valid"] if valid else []), "R² train", "formula"]
    rows = "".join(_row(index, entry, index == picked, valid) for index, entry in enumerate(entries))
    said = "".join(f"<div>note: {escape(note)}</div>" for note in notes)
    return (
        f'<div class="unisymnet"><div style="font-size:140%;padding:6px 0;overflow-x:auto">{shown}</div>'
        f"<table><thead><tr>{''.join(_cell(head, 'left', 'th') for head in heads)}</tr></thead>"
        f"<tbody>{rows}</tbody></table>{said}</div>"
    )


def _row(index: int, entry: Entry, picked: bool, valid: bool) -> str:
    formula = entry.formula
    numbers = [str(entry.complexity), *([r2_text(entry.r2_valid)] if valid else []), r2_text(entry.r2)]
    cells = [_cell(f"{index} ★" if picked else str(index), "left"), *(_cell(text, "right") for text in numbers)]
    cells.append(_cell(mathml(formula.expr, formula.names, DIGITS, spell=simple_name), "left"))
    return f"<tr{' style=font-weight:bold' if picked else ''}>{''.join(cells)}</tr>"


def _cell(content: str, side: str, tag: str = "td") -> str:
    return f'<{tag} style="{_CELL.format(side)}">{content}</{tag}>'
