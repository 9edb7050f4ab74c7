"""`check`: what is in a table and what will be hard about it, before any search."""

from __future__ import annotations

import json
from shlex import quote
from typing import Any

import numpy as np

from ..errors import DataError
from ..files.dialect import Dialect
from ..files.heads import without_units
from ..files.read import read_frame
from ..files.table import LEAST_ROWS, counts_rows, listed, near, only_counts, text_fault, what_to_do
from ..knowledge.units.system import make_units
from ..tables.encoding import encode

FEW_ROWS, MANY_COLUMNS, WIDE = 20, 10, 1e6


def check_table(
    data: str,
    target: str | None,
    delimiter: str | None,
    as_json: bool,
    known: tuple[dict[str, str] | None, dict[str, str] | None] = (None, None),
) -> None:
    frame, dialect = read_frame(data, delimiter)
    guessed = frame.attrs.get("notes", ())
    read = without_units(frame, () if dialect is None else dialect.units)
    frame, target = read.frame, read.short(target)
    found = describe(data, frame, dialect, target)
    found["notes"] = list(guessed)
    found |= _of_units(found, {**read.units, **(known[0] or {})}, known[1])
    target, columns = found["target"], found["columns"]
    if as_json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return
    print(f"{data}: {_many(len(frame), 'row')}, {_many(len(columns), 'column')}, target {target}")
    width = max(len(column["name"]) for column in columns)
    for column in columns:
        role = "target" if column["name"] == target else ""
        if column["kind"] == "number" and column["smallest"] is not None:
            text = f"{column['smallest']:.6g} … {column['largest']:.6g}, {column['distinct']} distinct"
            text += f", {column['missing']} missing" if column["missing"] else ""
        elif column["kind"] == "words":
            text = f"{column['distinct']} different words, as columns of zeros and ones: {listed(column['columns'])}"
            text += f", {column['missing']} missing" if column["missing"] else ""
        else:
            text = column["kind"]
        print(f"  {column['name']:<{width}}  {text}  {role}".rstrip())
    for note in found["notes"]:
        print(f"  note: {note}")
    for line in found["groups"]:
        print(f"  units: {line}")
    for warning in found["warnings"]:
        print(f"  warning: {warning}")
    if not found["warnings"]:
        print("  no problems found")
    if _can_fit(columns, target, len(frame)):
        print(f"next: unisymnet fit {quote(data)} --target {quote(target)}")


def _can_fit(columns: list[dict[str, Any]], target: str, n_rows: int) -> bool:
    """Are there rows enough, a target of numbers, and something to explain it with?"""
    usable = {column["name"]: column["kind"] for column in columns if column["kind"] in ("number", "words")}
    return n_rows >= LEAST_ROWS and usable.get(target) == "number" and len(usable) > 1


def _of_units(found: dict[str, Any], units: dict[str, str], constants: Any) -> dict[str, Any]:
    """The units of the columns, what they leave of the law, and sentences about odd ones."""
    names = [c["name"] for c in found["columns"] if c["kind"] == "number" and c["name"] != found["target"]]
    used = {name: unit for name, unit in units.items() if name in names or name in (found["target"], "target")}
    system = make_units(used, constants, names, found["target"])
    if system is None:
        return {"units": {}, "groups": []}
    return {
        "units": used,
        "groups": system.groups_text(),
        "warnings": [*found["warnings"], *system.notes()],
    }


def describe(data: str, frame: Any, dialect: Dialect | None, target: str | None) -> dict[str, Any]:
    """Rows, columns and warnings as plain data."""
    target = str(frame.columns[-1]) if target is None else target
    if target not in frame.columns:
        known = [str(name) for name in frame.columns]
        raise DataError(f"{data} has no column {target!r}{near(target, known)}; it has {listed(known)}")
    columns = [_column(frame, str(name), target) for name in frame.columns]
    return {
        "rows": len(frame),
        "target": target,
        **{name: getattr(dialect, name, None) for name in ("delimiter", "decimal", "encoding")},
        "columns": columns,
        "warnings": _warnings(frame, columns, target),
    }


def _column(frame: Any, name: str, target: str) -> dict[str, Any]:
    fault = text_fault(frame[name], name)
    words = None if fault is None or name == target else encode(frame[[name]], None, None)
    if words is not None and words.encoding.categories:
        item, missing = words.encoding.categories[0], int(frame[name].isna().sum())
        counts = {"distinct": len(item.levels), "missing": missing}
        return {"name": name, "kind": "words", "columns": list(item.names), **counts}
    if words is not None and name in words.refused:
        return {"name": name, "kind": f"words, not used: {words.refused[name]}"}
    if fault is not None:
        return {"name": name, "kind": fault.removeprefix(f"{name} ") + ": not used"}
    values = frame[name].to_numpy(dtype="float64", na_value=np.nan)
    finite = values[np.isfinite(values)]
    return {
        "name": name,
        "kind": "number",
        "smallest": float(finite.min()) if len(finite) else None,
        "largest": float(finite.max()) if len(finite) else None,
        "distinct": len(np.unique(finite)),
        "missing": int(len(values) - len(finite)),
    }


def _warnings(frame: Any, columns: list[dict[str, Any]], target: str) -> list[str]:
    found = []
    numbers = [c for c in columns if c["kind"] == "number"]
    inputs = [c for c in numbers if c["name"] != target]
    words = [c for c in columns if c["kind"] == "words"]
    n_inputs = len(inputs) + sum(len(c["columns"]) for c in words)
    if target not in [c["name"] for c in numbers]:
        told = what_to_do(frame[target])
        found.append(f"the target {target} is not a column of numbers{told and ': '}{told}")
    if not inputs and not words:
        found.append("there is no column of numbers to learn from")
    if len(frame) < FEW_ROWS:
        found.append(f"only {_many(len(frame), 'row')}: several formulas may fit by chance; more rows would decide")
    for column in columns:
        if column["kind"].startswith("holds ") and column["name"] != target:
            told = what_to_do(frame[column["name"]])
            found += [f"{column['name']} is not used: {told}"] if told else []
    if n_inputs > MANY_COLUMNS:
        found.append(f"{n_inputs} columns: the {MANY_COLUMNS} that matter most will be searched")
    for column in [*numbers, *words]:
        name, missing = column["name"], column["missing"]
        if missing:
            gaps = "a missing value; its row" if missing == 1 else f"{missing} missing values; these rows"
            found.append(f"{name} has {gaps} will be left out")
    for column in numbers:
        name = column["name"]
        if column["distinct"] == 1:
            found.append(f"{name} is constant" + ("" if name != target else ": there is nothing to explain"))
        elif only_counts(frame, list(frame.columns).index(name)) and name != target:
            found.append(f"{name} has no name in the file and only numbers the rows: a fit leaves it out")
        elif column["distinct"] == len(frame) and counts_rows(frame[name]) and name != target and n_inputs > 1:
            found.append(
                f"{name} only numbers the rows; leave it out with --drop {quote(name)} if it is not a measurement"
            )
        low, high = abs(column["smallest"] or 0.0), abs(column["largest"] or 0.0)
        if min(low, high) > 0 and max(low, high) / min(low, high) > WIDE:
            found.append(f"{name} spans more than six decades: small values will hardly count")
    repeated = int(frame[[c["name"] for c in [*numbers, *words]]].duplicated().sum()) if numbers else 0
    if repeated:
        which = "1 row repeats an earlier one; it" if repeated == 1 else f"{repeated} rows repeat earlier ones; each"
        found.append(f"{which} is counted once, with more weight")
    found += [f"{a} and {b} are the same" for a, b in _twins(frame, [c["name"] for c in inputs])]
    noise = _replicates(frame, [c["name"] for c in [*inputs, *words]], target) if not found else None
    if noise is not None:
        found.append(f"rows with equal inputs differ in {target}: noise of about {noise:.3g} (pass it as --noise)")
    return found


def _many(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _twins(frame: Any, names: list[str]) -> list[tuple[str, str]]:
    first: dict[bytes, str] = {}
    pairs = []
    for name in names:
        other = first.setdefault(frame[name].to_numpy(dtype="float64", na_value=np.nan).tobytes(), name)
        if other != name:
            pairs.append((other, name))
    return pairs


def _replicates(frame: Any, names: list[str], target: str) -> float | None:
    """Spread of the target among rows with equal inputs, or None where no row repeats."""
    if not names:
        return None
    frame = frame[[*names, target]].astype({target: "float64"})
    groups = frame.groupby(names)[target]
    counts = groups.transform("count")
    repeated = frame[target][counts > 1] - groups.transform("mean")[counts > 1]
    n_groups = int((groups.count() > 1).sum())
    if len(repeated) <= n_groups or not float((repeated**2).sum()) > 0.0:
        return None
    return float(np.sqrt((repeated**2).sum() / (len(repeated) - n_groups)))
