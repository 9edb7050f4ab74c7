"""Parts of the page: its frame, and what belongs to one formula, large, with constants, charts, network and source.

Every text that comes from the user is escaped here. Does not know which parts a page has.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from itertools import combinations
from typing import Any

import numpy as np

from .. import __version__
from ..errors import EncodingError
from ..formula import Constant, Formula
from ..formula.constants import ALL_DIGITS, SIMPLE_DIGITS, rounded, simple_name, with_error
from ..symbolic.expr import renumbered, variables
from ..symbolic.network.draw import draw_svg
from ..symbolic.network.identify import identify
from ..symbolic.writers.mathml import mathml
from .cautions import cautions
from .charts import field_chart, prediction_chart, residual_chart, response_chart
from .rows import Rows, Slice, field_of, influence, predictions, slice_of

DIGITS = 5
MAX_SLICES, MAX_FIELDS = 6, 3
MAX_NETWORK = 60  # nodes; a larger drawing helps nobody
MAX_NODE_NAME = 6  # letters
LANGUAGES = (("latex", "LaTeX"), ("python", "Python"), ("excel", "Excel"), ("c", "C"))


def formula_part(model: Any, index: int, rows: Rows | None) -> str:
    """Everything about formula `index`; hidden unless it is the picked one."""
    hidden = "" if index == model.picked_ else " hidden"
    inner = "".join(formula_sections(model, index, rows).values())
    return f'<div data-formula="{index}" id="part-{index}"{hidden}>{inner}</div>'


def formula_sections(model: Any, index: int, rows: Rows | None) -> dict[str, str]:
    """The cards about formula `index` by name, in the order of the page; empty where there is nothing to say."""
    entry = model.front_[index]
    slices = []
    if rows is not None:
        rows = rows.of(entry.formula)
        columns = influence(entry.formula, rows)[:MAX_SLICES]
        slices = [slice_of(entry.formula, rows, column) for column in columns]
    careful = cautions(model, entry, rows, slices)
    if rows is not None:
        careful.append("Nothing is known outside the range of the data: see the shaded parts of the curves below.")
    careful += [f"{note[:1].upper()}{note[1:]}." for note in model.notes_]
    return {
        "head": _head(model, entry, index),
        "cautions": cautions_card(careful),
        "constants": _constants(entry.formula),
        "fit": "".join(_fit(entry.formula, rows)) if rows is not None else "",
        "responses": "".join(_responses(entry.formula, rows, slices, index)) if rows is not None else "",
        "network": _network(entry.formula),
    }


def shown(formula: Formula, *, digits: int = DIGITS, block: bool = False, equation: bool = False) -> str:
    """The formula in mathematical type, each constant with the digits that the data give it, as in the table in text.

    With the same few digits for all, 0.999991 would be a factor of 1.
    """
    target = formula.target if equation else None
    expr = rounded(formula.expr, formula.constants, ALL_DIGITS)
    digits, expr = (digits, formula.expr) if expr is None else (SIMPLE_DIGITS, expr)
    return mathml(expr, formula.names, digits, target=target, spell=simple_name, block=block)


def r2_shown(value: float | None) -> str:
    if value is None:
        return "–"
    if not np.isfinite(value):
        return "undefined"
    if value > 0.9999:
        return "1" if value > 1.0 - 1e-15 else f"1 − {1.0 - value:.0e}".replace("e-0", "e-").replace("e-", "e−")
    return f"{round(value, 4) + 0.0:.4f}" if value > -10.0 else f"{value:.1e}"


def _head(model: Any, entry: Any, index: int) -> str:
    formula = entry.formula
    title = "The formula" if index == model.picked_ else f"Formula {index} of the table"
    facts = [f"size {entry.complexity}", f"R² {r2_shown(entry.r2)}"]
    if entry.r2_valid is not None:
        facts.append(f"R² on rows kept back {r2_shown(entry.r2_valid)}")
    if entry.source:
        facts.append(f"found by {escape(entry.source)}")
    domain = ""
    if formula.domain:
        domain = f'<p class="hint">Holds where {escape(" and ".join(formula.domain))}.</p>'
    return (
        f'<section class="card"><h2>{title}</h2>'
        f'<div class="formula" tabindex="0" role="region" aria-label="Formula">'
        f"{shown(formula, block=True, equation=True)}</div>"
        f'<p class="lead">{" · ".join(facts)}</p>{domain}{_copies(formula, index)}</section>'
    )


def _copies(formula: Formula, index: int) -> str:
    buttons, texts = [], []
    for language, label in LANGUAGES:
        source = formula.latex(DIGITS) if language == "latex" else formula.to(language)
        key = f"source-{index}-{language}"
        buttons.append(f'<button type="button" data-copy="{key}" aria-label="Copy as {label}">{label}</button>')
        texts.append(f'<h3>{label}</h3><pre id="{key}" tabindex="0">{escape(source.rstrip())}</pre>')
    places = ", ".join(f"{escape(formula.names[i])} in column {_letter(i)}" for i in variables(formula.expr)[:8])
    note = f'<p class="hint">The Excel formula reads row 2: {places}.</p>' if places else ""
    return (
        f'<div class="copies" role="group" aria-label="Copy the formula"><span class="hint">Copy as</span>'
        f"{''.join(buttons)}</div><details><summary>Show the source</summary>{''.join(texts)}{note}</details>"
    )


def _letter(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else _letter(index // 26 - 1) + _letter(index % 26)


def cautions_card(found: Sequence[str]) -> str:
    """A card with what to be careful about; empty where there is nothing."""
    items = "".join(f"<li>{escape(text)}</li>" for text in found)
    return f'<section class="card caution"><h2>Be careful</h2><ul>{items}</ul></section>' if items else ""


def whole_page(title: str, lead: str, body: str, script: str = "", picked: int | None = None) -> str:
    """A page that loads nothing: style and script stand in it, and its policy allows no other script."""
    folder = files(__package__)
    style = "".join(folder.joinpath(name).read_text("utf-8") for name in ("page.css", "charts.css", "phone.css"))
    policy, head, begin, end = "default-src 'none'; style-src 'unsafe-inline'; img-src data:", "", "<body>", ""
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
        policy += f"; script-src 'sha256-{digest}'"
        head = "<noscript><style>[data-formula][hidden]{display:block !important}</style></noscript>"
        begin = f'<body data-picked="{picked}">'
        end = '<div id="said" class="visually-hidden" role="status" aria-live="polite"></div>'
        end += f"<script>{script}</script>"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style>{head}</head>"
        f'{begin}<header><h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p></header>'
        f"<main>{body}</main>"
        f"<footer>Made by unisymnet {escape(__version__)}. This page needs no network.</footer>{end}</body></html>\n"
    )


def _constants(formula: Formula) -> str:
    lines = "" if formula.groups is None else "".join(f"<li>{escape(t)}</li>" for t in str(formula.groups).splitlines())
    own = f'<section class="card"><h2>Constants of the groups</h2><ul>{lines}</ul></section>' if lines else ""
    if not formula.constants:
        return own
    asked = any(c.fitted is not None or c.step is not None for c in formula.constants)
    rows = "".join(_constant_row(constant, asked) for constant in formula.constants)
    return own + (
        '<section class="card"><h2>Constants</h2><div class="scroll constants"><table><thead><tr>'
        '<th class="number">value</th><th>free fit</th><th>simple number</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
        '<p class="hint">± is one standard error of a fit in which every constant is free.</p></section>'
    )


def _constant_row(constant: Constant, asked: bool) -> str:
    """`asked`: did anybody ask the data? Of the tables of goal="predict" only the pick is fitted again."""
    if not asked:
        said = "–"
    elif constant.fitted is None or constant.stderr is None:
        said = "held fixed: the data cannot separate it from the others"
    else:
        said = with_error(constant.fitted, constant.stderr)
    return (
        f'<tr><td class="number">{constant.value:.8g}</td><td>{escape(said)}</td>'
        f"<td>{escape(constant.snapped_to or '–')}</td></tr>"
    )


def _fit(formula: Formula, rows: Rows) -> list[str]:
    found = predictions(formula, rows.X)
    rest = (rows.y - found)[np.isfinite(found)]
    if not len(rest):
        return []
    numbers = (
        f"Typical error {np.sqrt(np.mean(rest**2)):.3g}, largest {np.abs(rest).max():.3g}, mean {rest.mean():.2g}, "
        f"on {len(rest)} rows."
    )
    band = formula.band
    noise = None if band is None else band.noise(formula.expr, rows.X)
    if band is not None:
        numbers += f" {band.words()}"
    return [
        '<section class="card"><h2>Prediction and truth</h2>'
        f'<p class="hint">{escape(numbers)}</p><div class="pair">'
        f"{_figure('Predicted against true', prediction_chart(formula.target, rows.y, found))}"
        f"{_figure('Residuals', residual_chart(formula.target, rows.y, found, noise))}</div></section>"
    ]


def _responses(formula: Formula, rows: Rows, slices: list[Slice], index: int) -> list[str]:
    if not slices:
        return []
    names, target = formula.names, formula.target
    figures = []
    for piece in slices:
        chart = response_chart(piece, rows, names[piece.column], target, f"frame-{index}-{piece.column}")
        figures.append(_figure(f"along {names[piece.column]}", chart))
    for pair in list(combinations([piece.column for piece in slices], 2))[:MAX_FIELDS]:
        chart = field_chart(field_of(formula, rows, pair), rows, names, target)
        figures.append(_figure(f"over {names[pair[0]]} and {names[pair[1]]}", chart))
    used = variables(formula.expr)
    held = ", ".join(f"{names[c]} = {rows.centre[c]:.4g}" for c in used) if len(used) > 1 else ""
    note = f" Other columns are held at their medians ({held}); the fainter a dot, the further away it is."
    return [
        '<section class="card"><h2>Response, inside the data and beyond</h2><p class="hint">'
        "The line is the formula, the band holds 95 of 100 new rows, the dots are rows of the data. "
        f"Shaded and dashed: outside the data.{escape(note) if held else ''}</p>"
        f'<div class="charts">{"".join(figures)}</div></section>'
    ]


def _network(formula: Formula) -> str:
    return (
        '<section class="card"><h2>Symbolic network</h2><p class="hint">The same formula as a unified network: '
        "weighted sums into id, sin, cos, exp and ln. Numbers on lines are weights, below nodes biases.</p>"
        f"{network_picture(formula)}</section>"
    )


def network_picture(formula: Formula) -> str:
    """The network with its weights, or a word why there is none."""
    used = variables(formula.expr)
    packed = renumbered(formula.expr, {column: i for i, column in enumerate(used)})
    try:
        network = identify(packed)
    except EncodingError as error:
        return f'<p class="hint">This formula has no such network: {escape(str(error))}.</p>'
    if network.structure.n_nodes > MAX_NETWORK:
        return f'<p class="hint">The network has {network.structure.n_nodes} nodes, too many to draw.</p>'
    target = formula.target if len(formula.target) <= 6 else formula.target[:5] + "…"
    names = [formula.names[i] for i in used]
    picture = draw_svg(network, _node_names(names))
    picture = picture.replace(">y</text></svg>", f">{escape(target)}</text></svg>")
    body = f'<div class="network" tabindex="0" role="region" aria-label="Symbolic network">{picture}</div>'
    if any(len(name) > MAX_NODE_NAME for name in names):
        body += f'<p class="hint">Inputs from the top: {escape(", ".join(names))}.</p>'
    return body


def _node_names(names: list[str]) -> list[str]:
    """What fits into a node; of long names that begin alike, begin and end."""
    cut = [name[: MAX_NODE_NAME - 1] if len(name) > MAX_NODE_NAME else name for name in names]
    return [
        f"{name[:2]}…{name[-3:]}" if len(name) > MAX_NODE_NAME and cut.count(short) > 1 else name
        for name, short in zip(names, cut)
    ]


def _figure(caption: str, chart: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{chart}</figure>" if chart else ""
