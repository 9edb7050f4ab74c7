"""What the page asks for, checked: columns, settings, guesses; and as a request that `unisymnet fit` understands.

Only settings that the estimator of the day has are passed on, so that the page follows it. Nothing here reads a table.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..cli.fitting import Request
from ..errors import DataError
from ..formula import stored
from ..regressor import UniSymNetRegressor
from ..regressor.validation import check_parameters, operator_set
from ..tables.encoding import MISSING

# In the order of the form. What is not here (callbacks, folders, proposers) is no business of a page.
SETTINGS = (
    *("max_time", "goal", "units", "constraints", "template", "constants", "noise", "operators", "loss"),
    *("max_complexity", "selection", "validation_fraction", "max_evaluations", "max_rows", "max_columns"),
    *("random_state", "n_jobs"),
)
ROLES = {"weights": "the weights", "groups": "the groups", "sigma": "the errors"}  # columns beside inputs and target
LONGEST = 86_400.0  # seconds
MAX_TEXT, MAX_ITEMS = 2000, 1000
MAX_GUESSES = 20


def known_settings() -> dict[str, Any]:
    """Name and default of every setting that the page may offer."""
    defaults = UniSymNetRegressor().get_params(deep=False)
    return {name: defaults[name] for name in SETTINGS if name in defaults}


def checked(asked: Any) -> dict[str, Any]:
    """The wish of a page as plain data with every field, or a DataError that says what is wrong."""
    if not isinstance(asked, dict):
        raise DataError(f"a request is an object with data, target and settings, got {type(asked).__name__}")
    data, target = _text(asked, "data"), _text(asked, "target")
    if data is None or target is None:
        raise DataError("a search needs a table and a target; choose both")
    features = _texts(asked.get("features"), "features")
    if features is not None and target in features:
        raise DataError(f"{target!r} is the target and cannot be an input too; untick it")
    if features is not None and not features:
        raise DataError("a search needs at least one input; tick a column")
    roles = {role: _text(asked, role) for role in ROLES}
    for role, column in roles.items():
        if column is not None and (column == target or column in (features or ())):
            raise DataError(f"{column!r} is chosen for {ROLES[role]} and cannot be the target or an input too")
    missing = _text(asked, "missing")
    if missing not in (None, *MISSING):
        raise DataError(f"rows with missing values: {', '.join(MISSING)}, got {missing!r}")
    guesses = _texts(asked.get("guesses"), "guesses") or []
    if len(guesses) > MAX_GUESSES:
        raise DataError(f"at most {MAX_GUESSES} guesses, got {len(guesses)}")
    return {
        "data": data,
        "target": target,
        "features": features,
        **roles,
        "missing": missing,
        "delimiter": _text(asked, "delimiter"),
        "guesses": guesses,
        "settings": _settings(asked.get("settings") or {}),
    }


def checked_system(asked: dict[str, Any]) -> dict[str, Any]:
    """The same for differential equations: time, states, inputs, and what tells runs apart."""
    data, time = _text(asked, "data"), _text(asked, "time")
    states, inputs = _texts(asked.get("states"), "states"), _texts(asked.get("inputs"), "inputs") or []
    if data is None or time is None or not states:
        raise DataError("differential equations need a table, the column of the time and at least one state")
    if time in states or set(states) & set(inputs) or time in inputs:
        raise DataError("a column is the time, a state or an input, not two of them")
    given = asked.get("settings") or {}
    limit, order = given.get("max_time", 60), given.get("order", 1)
    if not isinstance(limit, int | float) or isinstance(limit, bool) or not 0 < limit <= LONGEST:
        raise DataError(f"the time must be a number of seconds between 0 and {LONGEST:g}, got {limit!r}")
    if order not in (1, 2):
        raise DataError(f"the order must be 1 or 2, got {order!r}")
    settings: dict[str, Any] = {"max_time": limit}
    settings |= {"order": 2} if order == 2 else {}
    settings |= {"use_time": True} if given.get("use_time") is True else {}
    columns = {"time": time, "states": states, "inputs": inputs, "trajectory": _text(asked, "trajectory")}
    return {"kind": "dynamics", "data": data, "delimiter": _text(asked, "delimiter"), **columns, "settings": settings}


def to_request(asked: dict[str, Any]) -> Request:
    """The same for the command line's own code; fields it has gained since are left at their defaults."""
    features = asked["features"]
    values: dict[str, Any] = {
        "data": asked["data"],
        "target": asked["target"],
        "features": None if features is None else tuple(features),
        "drop": (),
        **{name: asked.get(name) for name in (*ROLES, "missing")},
        "delimiter": asked["delimiter"],
        "guesses": tuple(asked["guesses"]),
        "settings": asked["settings"],
    }
    return Request(**{field.name: values[field.name] for field in fields(Request) if field.name in values})


def is_number(value: Any) -> bool:
    """A finite number that a computer can count with: JSON may hold a whole number of any length."""
    try:
        stored.number(value)
    except ValueError:
        return False
    return True


def _settings(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise DataError(f"settings are an object, got {type(given).__name__}")
    known = known_settings()
    unknown = [name for name in given if name not in known]
    if unknown:
        raise DataError(f"this version has no setting {unknown[0]!r}; it has {', '.join(known)}")
    settings = {name: _plain(value, name) for name, value in given.items() if value is not None}
    settings.setdefault("max_time", 60)
    limit = settings["max_time"]
    if not isinstance(limit, int | float) or isinstance(limit, bool) or not 0 < limit <= LONGEST:
        raise DataError(f"the time must be a number of seconds between 0 and {LONGEST:g}, got {limit!r}")
    loss = settings.get("loss")
    if isinstance(loss, list):
        settings["loss"] = tuple(loss)
    try:
        check_parameters(UniSymNetRegressor(**settings))
        operator_set(settings.get("operators"))
    except (ValueError, TypeError) as error:
        raise DataError(str(error)) from error
    return settings


def _plain(value: Any, name: str, depth: int = 0) -> Any:
    """Numbers, texts, lists and objects of bounded size."""
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, str) and len(value) <= MAX_TEXT:
        return value
    if isinstance(value, list) and len(value) <= MAX_ITEMS and depth < 3:
        return [_plain(inner, name, depth + 1) for inner in value]
    if isinstance(value, dict) and len(value) <= MAX_ITEMS and depth < 3:
        return {str(key)[:MAX_TEXT]: _plain(inner, name, depth + 1) for key, inner in value.items()}
    raise DataError(f"the setting {name} is too long or of a kind that cannot be used: {str(value)[:60]!r}")


def _text(asked: dict[str, Any], name: str) -> str | None:
    value = asked.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise DataError(f"{name} must be a short text, got {str(value)[:60]!r}")
    return value


def _texts(value: Any, name: str) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) > MAX_ITEMS:
        raise DataError(f"{name} must be a list of at most {MAX_ITEMS} texts, got {str(value)[:60]!r}")
    if not all(isinstance(item, str) and len(item) <= MAX_TEXT for item in value):
        raise DataError(f"{name} must be texts of at most {MAX_TEXT} characters")
    return value
