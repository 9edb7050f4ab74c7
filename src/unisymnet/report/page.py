"""`report_html`: one self-contained page about a fitted model, to send by mail or open in ten years.

The page loads nothing: style, script and pictures stand in it, and its security policy allows no other script.
It shows the picked formula; the others of the front are one click or key away. Does not search or fit.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from .. import __version__
from ..symbolic.expr import variables
from .charts import front_chart, histogram
from .parts import formula_part, r2_shown, shown, whole_page
from .rows import Rows, rows_to_draw

MAX_COLUMNS = 40
FACTS = ("smallest", "median", "largest", "distinct")  # of a column
IDLE = 0.005  # seconds; whoever had nothing to say and said so at once needs no line


def report_html(model: Any, X: Any = None, y: Any = None) -> str:
    """The page as text, about a fitted estimator.

    With the data `X` and `y` the page also shows predictions, residuals and response curves. A saved model holds no
    data; one that was fitted in this process remembers enough rows to draw.
    """
    rows = rows_to_draw(model, X, y)
    parts = [
        _front(model),
        *(formula_part(model, index, rows) for index in range(len(model.front_))),
        _data(model, rows),
        _found(model),
    ]
    formula = model.formula_
    title = f"{formula.target} = f({', '.join(name for name in formula.columns if name in formula.inputs)})"
    sizes = ((model.n_train_ + model.n_valid_, "row"), (len(formula.inputs), "column"), (len(model.front_), "formula"))
    lead = ", ".join(f"{n} {what}{'' if n == 1 else 's'}" for n, what in sizes) + f" in {model.seconds_:.1f} s"
    script = files(__package__).joinpath("page.js").read_text("utf-8")
    return whole_page(title, lead, "".join(parts), script, model.picked_)


def _front(model: Any) -> str:
    valid = any(entry.r2_valid is not None for entry in model.front_)
    heads = ["", "size", *(["R² kept back"] if valid else []), "R²", "formula"]
    numbers = {"size", "R² kept back", "R²"}
    head = "".join(f'<th class="number">{h}</th>' if h in numbers else f"<th>{h}</th>" for h in heads)
    lines = []
    for index, entry in enumerate(model.front_):
        chosen = index == model.picked_
        held = f'<td class="number">{r2_shown(entry.r2_valid)}</td>' if valid else ""
        lines.append(
            f'<tr data-row="{index}"{" class=current" if chosen else ""}><td><button type="button" '
            f'data-choose="{index}" aria-pressed="{"true" if chosen else "false"}" '
            f'aria-label="Show formula {index}">{index}{" ★" if chosen else ""}</button></td>'
            f'<td class="number">{entry.complexity}</td>{held}<td class="number">{r2_shown(entry.r2)}</td>'
            f'<td class="shown">{shown(entry.formula)}</td></tr>'
        )
    legend = " Dashes: error on rows kept back." if valid else ""
    return (
        '<section class="card"><h2>From simple to exact</h2><div class="two"><div>'
        f'{front_chart(model.front_, model.picked_)}<div id="peek" class="peek"></div>'
        f'<p class="hint">Each point is a formula: point at it to read it, choose it to see all about it. With the '
        f"keyboard: arrows, then Enter.{legend} ★ is the one picked.</p></div>"
        '<div class="scroll formulas" tabindex="0" role="region" aria-label="Table of formulas"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div></div></section>"
    )


def _data(model: Any, rows: Rows | None) -> str:
    formula = model.formula_
    used = set(variables(formula.expr))
    if rows is None:
        names = ", ".join(formula.inputs[:MAX_COLUMNS])
        return (
            f'<section class="card"><h2>The data</h2><p>{model.n_train_ + model.n_valid_} rows; columns '
            f'{escape(names)}; target {escape(formula.target)}.</p><p class="hint">A saved model does not contain '
            "its data. Pass the data to the report to see predictions, residuals and response curves.</p></section>"
        )
    lines = [_column(formula.target, "target", rows.y)]
    for index, name in enumerate(formula.inputs[:MAX_COLUMNS]):
        lines.append(_column(name, "in the formula" if index in used else "not needed", rows.X[:, index]))
    more = len(formula.inputs) - MAX_COLUMNS
    note = f'<p class="hint">and {more} more columns</p>' if more > 0 else ""
    facts = "".join(f'<th class="number">{fact}</th>' for fact in FACTS)
    heads = f"<th>column</th><th>role</th>{facts}<th>values</th>"
    return (
        f'<section class="card"><h2>The data</h2><p>{len(rows.y)} rows.</p><div class="scroll columns" tabindex="0" '
        f'role="region" aria-label="Table of columns"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>{note}</section>"
    )


def _column(name: str, role: str, values: Any) -> str:
    numbers = [f"{value:.5g}" for value in (values.min(), np.median(values), values.max())]
    facts = zip(FACTS, [*numbers, str(len(np.unique(values)))], strict=True)
    # A phone has no room for a head with seven columns: there each number says itself what it is (phone.css).
    cells = "".join(f'<td class="number" data-is="{fact}">{text}</td>' for fact, text in facts)
    return f'<tr><td class="name">{escape(name)}</td><td>{role}</td>{cells}<td>{histogram(values)}</td></tr>'


def _found(model: Any) -> str:
    given, default = model.get_params(deep=False), type(model)().get_params(deep=False)
    changed = ", ".join(f"{key}={given[key]!r}" for key in given if _differs(given[key], default.get(key)))
    facts = {
        "found by": model.front_[model.picked_].source or "–",
        "time": f"{model.seconds_:.2f} s ({model.stopped_})",
        "formulas fitted": str(model.n_evaluations_),
        "seed": repr(model.random_state),
        "selection": model.selection,
        "rows": f"{model.n_train_} searched" + (f", {model.n_valid_} kept back" if model.n_valid_ else ""),
        "settings": changed or "defaults",
        "version": f"unisymnet {getattr(model, 'fitted_with_', __version__)}",
    }
    listed = "".join(f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>" for key, value in facts.items())
    lines = "".join(
        f'<tr><td>{escape(row.stage)}</td><td class="number">{row.seconds:.2f}</td>'
        f'<td class="number">{row.n_proposals}</td><td class="number">{row.n_kept}</td>'
        f'<td class="number">{row.best_loss:.3g}</td></tr>'
        for row in model.trace_
        if row.n_proposals or row.failure or row.seconds >= IDLE
    )
    heads = "".join(f'<th class="number">{h}</th>' for h in ("seconds", "proposals", "kept", "best loss"))
    trace = (
        '<details><summary>What each stage of the search did</summary><div class="scroll"><table><thead><tr>'
        f"<th>stage</th>{heads}</tr></thead><tbody>{lines}</tbody></table></div></details>"
    )
    return f'<section class="card"><h2>How it was found</h2><dl>{listed}</dl>{trace if lines else ""}</section>'


def _differs(value: Any, other: Any) -> bool:
    """Is a parameter set by the user?  Callbacks and arrays are no settings worth printing."""
    plain = isinstance(value, str | int | float | list | tuple)
    return plain and value != other
