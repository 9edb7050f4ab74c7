"""`score` and `refit`: the user's own formula, or one of a finished fit, on a table."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from shlex import quote

from ..errors import DataError
from ..files.table import Table, read_table
from ..formula import Constant, Formula, stored
from ..regressor import UniSymNetRegressor
from ..regressor.own import add_formula, fit_named
from ..symbolic.own import read_operator
from ..symbolic.parse import free_names
from .names import about_names
from .results import load_run, picked_formula
from .screen import print_table


def score_formula(
    data: str,
    text: str,
    target: str | None,
    weights: str | None,
    delimiter: str | None,
    as_json: bool,
    run: str | None,
    operators: Sequence[str] | None = None,
) -> None:
    """Fit the constants; with a run, put the formula into its table and save it there."""
    model = None if run is None else load_run(run)
    if model is not None:
        target = target or model.formula_.target
    encoding = None if model is None else model.encoding_
    table = read_table(data, target=target, weights=weights, delimiter=delimiter, encoding=encoding)
    try:
        own = {operator.name: operator for operator in map(read_operator, operators or ())}
    except ValueError as error:
        raise DataError(f"--operator: {error}") from error
    unknown = free_names(text, [str(name) for name in table.X.columns], own)
    if unknown:
        print(about_names(text, unknown, table), file=sys.stderr)
    found, named = fit_named(
        text, table.X, table.y, target=str(table.y.name), sample_weight=table.weights, operators=own.values()
    )
    if model is None or run is None:
        _print(found, table, as_json, named=named)
        return
    place = _add(model, found, table)
    _print(found, table, as_json, place, named)
    if not as_json:
        print()
        print_table(model)
        print()
        print(_verdict(model, place, len(table.y)))
    path = Path(run)
    try:
        model.save(path / "model.json" if path.is_dir() else path)
    except OSError as error:
        raise DataError(f"the table of {run} cannot be written ({error.strerror or error}); it is as it was") from error
    if not as_json:
        print(f"saved in {run}; next: unisymnet export {quote(run)} --pick {place} --to latex")


def _verdict(model: UniSymNetRegressor, place: int, n_rows: int) -> str:
    """Whether a shorter formula of the table does as well; what one more free constant gains by chance is no gain."""
    own = model.front_[place]
    better = [i for i, entry in enumerate(model.front_[:place]) if entry.loss <= own.loss]
    if better:
        return f"yours is {place}; {better[-1]} is no longer and fits at least as well"
    for i, entry in reversed(list(enumerate(model.front_[:place]))):
        saved = own.complexity - entry.complexity
        # A nat for each symbol: more than noise alone lets another free constant gain.
        if model.loss == "mse" and own.loss > 0.0 and 0.5 * n_rows * math.log(entry.loss / own.loss) < saved:
            return f"yours is {place}; {i} is shorter and fits about as well"
    return f"yours is {place}: nothing shorter fits as well"


def _add(model: UniSymNetRegressor, found: Formula, table: Table) -> int:
    """The formula in the columns of the run, which may be others, or in another order."""
    names = model.formula_.names
    missing = [name for name in found.columns if name not in names]
    if missing:
        raise DataError(f"the run was fitted without the column {missing[0]!r}; it has {', '.join(names)}")
    own = Formula.parse(str(found), names, found.target)
    X, y = table.X, table.y
    if all(name in X.columns for name in names):
        own = own.with_errors(X[list(names)].to_numpy(), y, table.weights)
    return add_formula(model, own, X, y)


def refit_formula(
    run: str, data: str, pick: int | None, target: str | None, delimiter: str | None, as_json: bool
) -> None:
    model = load_run(run)
    formula = picked_formula(model, pick)
    column = None if formula.groups is None else formula.groups.column
    wanted = target or formula.target
    table = read_table(data, target=wanted, delimiter=delimiter, groups=column, encoding=model.encoding_)
    if column is not None and table.groups is not None:
        table = replace(table, X=table.X.assign(**{column: table.groups}))
    found = formula.refit(table.X, table.y)
    _print(found, table, as_json)
    if found.groups is not None and not as_json:
        print("\n".join(f"  {line}" for line in str(found.groups).splitlines()))


def _print(
    formula: Formula,
    table: Table,
    as_json: bool,
    place: int | None = None,
    named: Mapping[str, Constant] | None = None,
) -> None:
    r2 = formula.score(table.X, table.y, table.weights)
    if as_json:
        shown = formula.to_dict() | {"r2": r2, "rows": len(table.y), "complexity": formula.complexity}
        shown |= {} if place is None else {"pick": place}
        shown |= {"named": {name: asdict(constant) for name, constant in (named or {}).items()}}
        print(json.dumps(stored.finite(shown), ensure_ascii=False, indent=2))
        return
    print(f"{formula.target} = {formula.text(6)}")
    print(f"  R² = {r2:.6f} on {len(table.y)} rows, size {formula.complexity}")
    for name, constant in (named or {}).items():
        print(f"  {name} = {constant}" + ("" if constant.stderr is not None else "  (the data do not determine it)"))
    for constant in () if named else formula.constants:
        print(f"  constant {constant}")
    if formula.domain:
        print("  holds where " + " and ".join(formula.domain))
