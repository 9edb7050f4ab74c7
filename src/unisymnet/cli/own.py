"""`score` and `refit`: the user's own formula, or one of a finished fit, on a table."""

from __future__ import annotations

import json

from ..formula import Formula
from ..regressor import fit_formula
from .results import load_run, picked_formula
from .tables import Table, load_table


def score_formula(
    data: str, text: str, target: str | None, weights: str | None, delimiter: str | None, as_json: bool
) -> None:
    table = load_table(data, target=target, weights=weights, delimiter=delimiter)
    found = fit_formula(text, table.X, table.y, target=str(table.y.name), sample_weight=table.weights)
    _print(found, table, as_json)


def refit_formula(
    run: str, data: str, pick: int | None, target: str | None, delimiter: str | None, as_json: bool
) -> None:
    formula = picked_formula(load_run(run), pick)
    table = load_table(data, target=target or formula.target, delimiter=delimiter)
    _print(formula.refit(table.X, table.y), table, as_json)


def _print(formula: Formula, table: Table, as_json: bool) -> None:
    r2 = formula.score(table.X, table.y, table.weights)
    if as_json:
        shown = formula.to_dict() | {"r2": r2, "rows": len(table.y), "complexity": formula.complexity}
        print(json.dumps(shown, ensure_ascii=False, indent=2))
        return
    print(f"{formula.target} = {formula.text(6)}")
    print(f"  R² = {r2:.6f} on {len(table.y)} rows, size {formula.complexity}")
    for constant in formula.constants:
        print(f"  constant {constant}")
    if formula.domain:
        print("  holds where " + " and ".join(formula.domain))
