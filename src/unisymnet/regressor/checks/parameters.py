"""Parameters that are lists, dictionaries or texts: a sentence for what is none, before any of it is used."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Iterable, Mapping
from typing import Any


def check_lists(given: Mapping[str, Any]) -> None:
    """Refuse what cannot be read as the parameter is meant."""
    operators, exponents, proposers = (given[name] for name in ("operators", "exponents", "proposers"))
    if operators is not None and not isinstance(operators, Iterable) and not hasattr(operators, "name"):
        raise ValueError(f'operators must be names or signs such as "+,-,*,/,sin", got {operators!r}')
    if exponents is not None and not (_is_list(exponents) and all(map(_is_number, exponents))):
        raise ValueError(f"exponents must be a list of finite numbers such as [-1, 0.5, 2], or None, got {exponents!r}")
    if proposers is not None and not (_is_list(proposers) and all(map(_is_proposer, proposers))):
        raise ValueError(f'proposers must be a list of names such as ["monomial", "evolve"], got {proposers!r}')
    for name, example in (("units", {"m": "kg", "v": "m/s"}), ("constants", {"g": "9.81 m/s^2"})):
        if given[name] is not None and not isinstance(given[name], Mapping):
            raise ValueError(f"{name} must be a dictionary such as {example}, got {given[name]!r}")
    if given["checkpoint"] is not None and not (
        isinstance(given["checkpoint"], str | os.PathLike) and str(given["checkpoint"])
    ):
        raise ValueError(f"checkpoint must be the name of a folder, got {given['checkpoint']!r}")


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(float(value))


def _is_proposer(value: Any) -> bool:
    return isinstance(value, str) or hasattr(value, "propose")
