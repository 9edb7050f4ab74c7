"""What the page shows, as plain data: a table's columns, a run, one formula with everything about it.

Formulas come as MathML and cards as HTML, made and escaped by the report's own code. Knows no HTTP.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from ..cli.check import describe
from ..errors import DataError
from ..files.heads import without_units
from ..files.table import Table, text_fault
from ..formula import Formula
from ..formula.constants import free
from ..knowledge.known import Known
from ..regressor import UniSymNetRegressor
from ..report.parts import LANGUAGES, formula_sections, r2_shown, shown
from ..report.rows import Rows, influence, read_rows, thin
from ..symbolic.expr import Call, Const, Expr, Param, Var, bind, variables
from .commands import result_commands
from .results import Results, entry_index
from .runs import Run
from .systems import system_summary, system_view

N_BINS = 24
MAX_ROWS = 400  # that the page draws and computes with
DIGITS = 5
SECTIONS = ("cautions", "responses", "network")  # of the report; the page draws the others itself
MORE_LANGUAGES = (("numpy", "numpy"), ("julia", "Julia"), ("matlab", "MATLAB"), ("js", "JavaScript"), ("text", "text"))


def table_view(results: Results, name: str, target: str | None) -> dict[str, Any]:
    """Columns with kind, range, missing values and a histogram; what `unisymnet check` says."""
    raw, dialect = results.frame(name)
    read = without_units(raw)
    frame = read.frame
    numbers = [str(column) for column in frame.columns if text_fault(frame[column], str(column)) is None]
    if target is None and numbers:
        target = numbers[-1]  # the last that can be explained
    found = describe(name, frame, dialect, read.short(target))
    for column in found["columns"]:
        column["unit"] = read.units.get(column["name"])
        if column["kind"] == "number":
            values = frame[column["name"]].to_numpy(dtype="float64")
            values = values[np.isfinite(values)]
            if len(values):
                column["bars"] = np.histogram(values, bins=N_BINS)[0].tolist()
                column["median"] = float(np.median(values))
        else:
            column["examples"] = [str(value)[:40] for value in frame[column["name"]].dropna().unique()[:3]]
    return found | {"name": name}


def known_view(wish: dict[str, Any], table: Table) -> list[str]:
    """What the units leave of the law, and rows that break a constraint; a DataError where one cannot be read."""
    settings = wish["settings"]
    given = {field.name: settings.get(field.name) for field in fields(Known)}
    given["units"] = {**table.units, **(settings.get("units") or {})} or None
    names, target = [str(name) for name in table.X.columns], str(table.y.name)
    known = Known(**given).of(names, target, table.X.to_numpy(dtype="float64"), table.y.to_numpy(dtype="float64"))
    if known is None:
        return []
    found = [*known.units.groups_text(), *known.units.notes()] if known.units is not None else []
    return [*found, *(known.shapes.contradictions(names) if known.shapes is not None else ())]


def run_summary(results: Results, run: Run, state: str) -> dict[str, Any]:
    """One line of the list of runs."""
    shown_run: dict[str, Any] = {"name": run.name, "state": state, "changed": run.changed()}
    try:
        shown_run["data"] = results.data_name(run)
        if run.is_system():
            return shown_run | {"kind": "dynamics"} | system_summary(run)
        model = results.model(run, state)
    except Exception as error:  # a damaged run must not hide the others
        return shown_run | {"state": "failed", "message": str(error)}
    if model is not None:
        best = model.front_[model.picked_]
        shown_run |= {"target": best.formula.target, "math": shown(best.formula, digits=4, equation=True)}
        shown_run |= {"r2": r2_shown(best.r2), "size": best.complexity, "formulas": len(model.front_)}
        shown_run |= {"seconds": model.seconds_}
    return shown_run


def run_view(results: Results, run: Run, state: str) -> dict[str, Any]:
    """The table of formulas of a run and how it came about."""
    if run.is_system():
        return system_view(run, state, results.data_name(run))
    model = results.model(run, state)
    view: dict[str, Any] = {"name": run.name, "state": state, "asked": run.asked(), "entries": [], "picked": None}
    view["data"] = results.data_name(run)
    if model is None:
        return view
    view |= {
        "target": model.formula_.target,
        "names": list(model.formula_.inputs),
        "picked": model.picked_,
        "entries": [entry_view(entry) for entry in model.front_],
        "notes": list(model.notes_),
        "stopped": model.stopped_,
        "seconds": model.seconds_,
        "tried": model.n_evaluations_,
        "rows": [model.n_train_, model.n_valid_],
        "max_time": model.max_time,
        "settings": {k: v for k, v in model.get_params(deep=False).items() if _is_set(model, k, v)},
    }
    return view


def entry_view(entry: Any) -> dict[str, Any]:
    return {
        "text": str(entry.formula),
        "short": entry.formula.text(4),
        "math": shown(entry.formula),
        "size": entry.complexity,
        "r2": entry.r2,
        "r2_text": r2_shown(entry.r2),
        "r2_valid": entry.r2_valid,
        "r2_valid_text": None if entry.r2_valid is None else r2_shown(entry.r2_valid),
        "source": entry.source,
        "remarks": [f"{head}: {cell}" for head, cell in entry.remarks],
    }


def rows_view(results: Results, run: Run, state: str) -> dict[str, Any]:
    """Rows enough to draw: columns in the order of the formulas' names, the target, ranges and medians."""
    model = results.model(run, state)
    return _to_draw(None if model is None else _rows(results, run, model, model.formula_))


def _to_draw(rows: Rows | None) -> dict[str, Any]:
    if rows is None:
        return {"n": 0}
    chosen = thin(len(rows.y), MAX_ROWS)
    return {
        "n": len(rows.y),
        "columns": rows.X[chosen].T.tolist(),
        "y": rows.y[chosen].tolist(),
        "low": rows.low.tolist(),
        "high": rows.high.tolist(),
        "centre": rows.centre.tolist(),
        "spread": float(np.std(rows.y)),
    }


def formula_view(results: Results, run: Run, state: str, text: str | None, *, light: bool = False) -> dict[str, Any]:
    """Everything about one formula of a run; `light`, while the search needs the processor, only what is drawn."""
    model = results.model(run, state)
    if model is None:
        return {}
    if light and text is not None and text not in [str(entry.formula) for entry in model.front_]:
        return {}  # something better has taken its place meanwhile
    index = entry_index(model, text)
    entry, rows = model.front_[index], _rows(results, run, model, model.front_[index].formula)
    tree, values = tree_of(entry.formula)
    view = {
        **entry_view(entry),
        "index": index,
        "picked": index == model.picked_,
        "equation": shown(entry.formula, block=True, equation=True),
        "domain": list(entry.formula.domain),
        "tree": tree,
        "values": values,
        "used": list(variables(entry.formula.expr)),
        "strongest": influence(entry.formula, rows) if rows is not None else [],
        "constants": [_constant(constant) for constant in entry.formula.constants],
    }
    if entry.formula.groups is not None:  # constants of its own groups stand in the columns of its rows
        view |= {
            "rows": _to_draw(rows),
            "names": list(entry.formula.names),
            "groups": str(entry.formula.groups).splitlines(),
        }
    if light:
        return view
    sections = formula_sections(model, index, rows)
    return view | {
        "sources": sources(entry.formula),
        "sections": {name: sections[name] for name in SECTIONS},
        "commands": result_commands(run.name, index, results.data_name(run)),
    }


def moved_view(results: Results, run: Run, state: str, text: str, values: list[float]) -> dict[str, Any]:
    """The same formula with other constants: in mathematical type, and how well it does on all rows."""
    model = results.model(run, state)
    if model is None:
        return {}
    formula = model.front_[entry_index(model, text)].formula
    moved = moved_formula(formula, values)
    rows = _rows(results, run, model, formula)
    with np.errstate(all="ignore"):
        r2 = None if rows is None else moved.score(rows.X, rows.y)
    return {
        "text": str(moved),
        "equation": shown(moved, block=True, equation=True),
        "r2_text": r2_shown(r2),
    }


def moved_formula(formula: Formula, values: list[float]) -> Formula:
    form, old = free(formula.expr)
    if len(values) != len(old):
        raise ValueError(f"the formula has {len(old)} constants, got {len(values)} values")
    return Formula(bind(form, tuple(values)), formula.names, formula.target)


def tree_of(formula: Formula) -> tuple[list[Any], list[float]]:
    """A formula as nested lists that the page computes with, and the values of its constants: no source text, nothing
    to evaluate but known names.

    ["mul", ["p", 0], ["sin", ["x", 1]]]: constants that may move are ["p", number], in the order of
    `formula.constants`, others ["c", value], columns ["x", number].
    """
    form, values = free(formula.expr)
    return _node(form), list(values)


def _node(expr: Expr) -> list[Any]:
    if isinstance(expr, Const):
        return ["c", expr.value]
    if isinstance(expr, Var):
        return ["x", expr.index]
    if isinstance(expr, Param):
        return ["p", expr.index]
    assert isinstance(expr, Call)
    return [expr.op, *map(_node, expr.args)]


def sources(formula: Formula) -> list[dict[str, str]]:
    """The formula in every language, those of the report first."""
    found = []
    for language, label in (*LANGUAGES, *MORE_LANGUAGES):
        source = formula.latex(DIGITS) if language == "latex" else formula.to(language)
        found.append({"language": language, "label": label, "source": source.rstrip()})
    return found


def _rows(results: Results, run: Run, model: UniSymNetRegressor, formula: Formula) -> Rows | None:
    """The rows of the run as a formula of it sees them, or None where its table is gone."""
    try:
        table = results.table(run, model, formula)
        groups = None if formula.groups is None else formula.groups.column
        rows = read_rows(formula.inputs, table.with_groups, table.y, groups)
        return None if rows is None else rows.of(formula)
    except (DataError, OSError):
        return None


def _constant(constant: Any) -> dict[str, Any]:
    kept = {name: getattr(constant, name) for name in ("value", "fitted", "stderr", "unit")}
    return kept | {"simple": constant.meaning or constant.snapped_to}


def _is_set(model: UniSymNetRegressor, name: str, value: Any) -> bool:
    """A setting that is plain and not the default, for comparing two runs."""
    default = type(model)().get_params(deep=False).get(name)
    plain = isinstance(value, str | int | float | list | tuple | dict) and not isinstance(value, bool)
    return plain and value != default and name != "checkpoint"
