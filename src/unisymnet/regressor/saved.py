"""A fitted estimator as one small JSON file: readable, versioned, without pickle, the same on every system.

Holds the parameters, the table of formulas and what is needed to predict; not the data. Does not know fitting.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import CheckpointError
from ..formula import Formula, stored
from ..search.trace import TraceRow
from ..symbolic.own import Operator
from ..tables.encoding import Encoding
from .checkpoint import write_atomically
from .table import Entry
from .validation import check_parameters

SCHEMA = "unisymnet-model"
VERSION = 1

# What is stored as it is, and how it is read.
PLAIN: dict[str, Callable[[Any], Any]] = {
    "notes_": stored.words,
    "stopped_": stored.word,
    "proven_": stored.flag,
    "seconds_": stored.number,
    "n_evaluations_": stored.whole,
    "n_train_": stored.whole,
    "n_valid_": stored.whole,
    "interrupted_": stored.flag,
    "picked_": stored.whole,
    "n_features_in_": stored.whole,
}


def model_dict(estimator: Any) -> dict[str, Any]:
    """Everything as plain data; a parameter that is no plain data (a callback) is left out."""
    names = getattr(estimator, "feature_names_in_", None)
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "package": getattr(estimator, "fitted_with_", __version__),
        "params": {k: v for k, v in map(_written, estimator.get_params(deep=False).items()) if stored.is_plain(v)},
        "fitted": {name: getattr(estimator, name) for name in PLAIN},
        "feature_names_in": None if names is None else [str(name) for name in names],
        "formulas": [_entry_dict(entry) for entry in estimator.front_],
        "group_column": getattr(estimator, "group_column_", None),
        **({"encoding": estimator.encoding_.to_dict()} if getattr(estimator, "encoding_", None) else {}),
        "beside": [_entry_dict(entry) for entry in estimator.beside_],
        "trace": [asdict(row) for row in estimator.trace_],
    }


def save_model(estimator: Any, path: str | Path) -> None:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(stored.finite(model_dict(estimator)), ensure_ascii=False, indent=2, allow_nan=False)
    write_atomically(target, text)


def load_model(cls: Any, path: str | Path) -> Any:
    """A fitted estimator of class `cls` from a file that `save_model` wrote."""
    data = stored.read_file(path, "a model")
    if data.get("schema") != SCHEMA:
        raise CheckpointError(f"{path} is not a saved model: it has no schema {SCHEMA!r}")
    if data.get("version") != VERSION:
        raise CheckpointError(
            f"{path} was saved in version {data.get('version')!r} of the format, this package reads version "
            f"{VERSION}; update unisymnet"
        )
    try:
        return _restored(cls, data)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged: {error!r}") from error


def _restored(cls: Any, data: dict[str, Any]) -> Any:
    import numpy as np

    known = cls().get_params(deep=False)
    estimator = cls(**{name: value for name, value in data["params"].items() if name in known})
    check_parameters(estimator)
    for name, kind in PLAIN.items():
        value = data["fitted"].get(name, False) if name == "proven_" else data["fitted"][name]
        setattr(estimator, name, kind(value))
    if data["feature_names_in"] is not None:
        estimator.feature_names_in_ = np.array(stored.words(data["feature_names_in"]), dtype=object)
    estimator.fitted_with_ = stored.word(data.get("package", __version__))
    estimator.front_ = tuple(_entry(row) for row in stored.listed(data["formulas"]))
    estimator.beside_ = tuple(_entry(row) for row in stored.listed(data.get("beside", [])))
    estimator.trace_ = tuple(_trace_row(row) for row in stored.listed(data["trace"]))
    column = data.get("group_column")
    estimator.group_column_ = None if column is None else stored.word(column)
    estimator.encoding_ = Encoding.from_dict(data["encoding"]) if data.get("encoding") else None
    columns = {entry.formula.inputs for entry in estimator.front_}
    if not estimator.picked_ < len(estimator.front_) or len(columns) != 1:
        raise ValueError("the table of formulas does not fit together")
    return estimator


def _trace_row(row: Any) -> TraceRow:
    row = stored.record(row, [field.name for field in fields(TraceRow)])
    counts = {name: stored.whole(row[name]) for name in ("n_turns", "n_proposals", "n_kept") if name in row}
    loss = stored.number(row["best_loss"], missing=float("inf"))  # only an infinite loss is stored as null
    seconds, failure = stored.number(row["seconds"]), stored.word(row["failure"])
    return TraceRow(stored.word(row["stage"]), **counts, seconds=seconds, best_loss=loss, failure=failure)


def _entry_dict(entry: Entry) -> dict[str, Any]:
    row = {field.name: getattr(entry, field.name) for field in fields(Entry)} | {"formula": entry.formula.to_dict()}
    return {name: value for name, value in row.items() if name != "remarks" or value}


def _entry(row: dict[str, Any]) -> Entry:
    nats = {name: stored.number(row.get(name), missing=None) for name in ("nats", "formula_nats")}  # not in old files
    pairs = [stored.words(pair) for pair in stored.listed(row.get("remarks", []))]
    return Entry(
        Formula.from_dict(row["formula"]),
        complexity=stored.whole(row["complexity"]),
        loss=stored.number(row["loss"], missing=float("inf")),
        r2=stored.number(row["r2"], missing=float("-inf")),
        r2_valid=stored.number(row["r2_valid"], missing=None),
        score=stored.number(row["score"]),
        source=stored.word(row["source"]),
        remarks=tuple((head, cell) for head, cell in pairs),
        noise=stored.word(row.get("noise", "")),
        **nats,
    )


def _written(item: tuple[str, Any]) -> tuple[str, Any]:
    """A parameter as text where it is written in text too: the user's own operators."""
    name, value = item
    if isinstance(value, Operator):
        value = [value]
    if isinstance(value, list | tuple):
        kept = [one for one in value if not (isinstance(one, Operator) and one.is_python)]
        value = type(value)(str(one) if isinstance(one, Operator) else one for one in kept) or None
    return name, value
