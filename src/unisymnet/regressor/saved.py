"""A fitted estimator as one small JSON file: readable, versioned, without pickle, the same on every system.

Holds the parameters, the table of formulas and what is needed to predict; not the data. Does not know fitting.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import CheckpointError
from ..formula import Formula
from ..search.trace import TraceRow
from .checkpoint import write_atomically
from .entry import Entry

SCHEMA = "unisymnet-model"
VERSION = 1

PLAIN = (
    "notes_",
    "stopped_",
    "proven_",
    "seconds_",
    "n_evaluations_",
    "n_train_",
    "n_valid_",
    "interrupted_",
    "picked_",
    "n_features_in_",
)


def model_dict(estimator: Any) -> dict[str, Any]:
    """Everything as plain data; a parameter that is no plain data (a callback) is left out."""
    names = getattr(estimator, "feature_names_in_", None)
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "package": getattr(estimator, "fitted_with_", __version__),
        "params": {k: v for k, v in estimator.get_params(deep=False).items() if _is_plain(v)},
        "fitted": {name: getattr(estimator, name) for name in PLAIN},
        "feature_names_in": None if names is None else [str(name) for name in names],
        "formulas": [_entry_dict(entry) for entry in estimator.front_],
        "beside": [_entry_dict(entry) for entry in estimator.beside_],
        "trace": [asdict(row) for row in estimator.trace_],
    }


def save_model(estimator: Any, path: str | Path) -> None:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_finite(model_dict(estimator)), ensure_ascii=False, indent=2, allow_nan=False)
    write_atomically(target, text)


def load_model(cls: Any, path: str | Path) -> Any:
    """A fitted estimator of class `cls` from a file that `save_model` wrote."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise CheckpointError(f"cannot read the model {path}: {error}") from error
    except ValueError as error:
        raise CheckpointError(f"{path} is not a saved model: {error}") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise CheckpointError(f"{path} is not a saved model: it has no schema {SCHEMA!r}")
    if data.get("version") != VERSION:
        raise CheckpointError(
            f"{path} was saved in version {data.get('version')!r} of the format, this package reads version "
            f"{VERSION}; update unisymnet"
        )
    try:
        return _restored(cls, data)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is damaged: {error!r}") from error


def _restored(cls: Any, data: dict[str, Any]) -> Any:
    import numpy as np

    known = cls().get_params(deep=False)
    estimator = cls(**{name: value for name, value in data["params"].items() if name in known})
    for name in PLAIN:
        value = data["fitted"].get(name, False) if name == "proven_" else data["fitted"][name]
        setattr(estimator, name, tuple(value) if isinstance(value, list) else value)
    if data["feature_names_in"] is not None:
        estimator.feature_names_in_ = np.array(data["feature_names_in"], dtype=object)
    estimator.fitted_with_ = str(data.get("package", __version__))
    estimator.front_ = tuple(_entry(row) for row in data["formulas"])
    estimator.beside_ = tuple(_entry(row) for row in data.get("beside", ()))
    # Only an infinite loss is stored as null.
    rows: list[dict[str, Any]] = [
        row | {"best_loss": float("inf") if row["best_loss"] is None else row["best_loss"]} for row in data["trace"]
    ]
    estimator.trace_ = tuple(TraceRow(**row) for row in rows)
    return estimator


def _entry_dict(entry: Entry) -> dict[str, Any]:
    return {
        "formula": entry.formula.to_dict(),
        "complexity": entry.complexity,
        "loss": entry.loss,
        "r2": entry.r2,
        "r2_valid": entry.r2_valid,
        "score": entry.score,
        "source": entry.source,
        **({"remarks": [list(pair) for pair in entry.remarks]} if entry.remarks else {}),
        "nats": entry.nats,
        "formula_nats": entry.formula_nats,
        "noise": entry.noise,
    }


def _entry(row: dict[str, Any]) -> Entry:
    values = {name: row[name] for name in ("complexity", "loss", "r2", "r2_valid", "score", "source")}
    for name, undefined in (("loss", float("inf")), ("r2", float("-inf"))):
        values[name] = undefined if values[name] is None else values[name]
    remarks = tuple((str(head), str(cell)) for head, cell in row.get("remarks", ()))
    more: dict[str, Any] = {name: row.get(name) for name in ("nats", "formula_nats")}  # absent from old files
    formula = Formula.from_dict(row["formula"])
    return Entry(formula, **values, **more, remarks=remarks, noise=str(row.get("noise", "")))


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(inner) for key, inner in value.items())
    return value is None or isinstance(value, str | int | float | bool)


def _finite(value: Any) -> Any:
    """JSON knows neither inf nor nan; both are stored as null."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
