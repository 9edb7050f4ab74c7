"""Was an error raised on purpose? The rule that every attack on the Python interface shares."""

from __future__ import annotations

import linecache
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from unisymnet.errors import UniSymNetError

LONGEST = 900  # characters of a message: more is no sentence


def on_purpose(error: BaseException) -> bool:
    """Ours, or a ValueError or TypeError that a line of ours, or of scikit-learn's checks, raises in so many words."""
    if isinstance(error, UniSymNetError):
        return True
    if not isinstance(error, ValueError | TypeError | NotImplementedError | IndexError | AttributeError):
        return False
    last = traceback.extract_tb(error.__traceback__)[-1]
    raises = linecache.getline(last.filename, last.lineno or 0).strip().startswith("raise ") or last.line == "raise"
    known = "unisymnet" in last.filename or "sklearn/utils" in last.filename or "sklearn/base" in last.filename
    return known and (raises or "raise " in (last.line or ""))


def fault_of(work: Callable[[], Any]) -> str | None:
    """What is wrong with how this ends: a stray exception, a stray warning, a message longer than a screen."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those that a caller may well see, as scikit-learn's about names
            warnings.simplefilter("error", RuntimeWarning)
            found = work()
    except Exception as error:
        if not on_purpose(error):
            where = traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(error).__name__}: {str(error)[:200]} ({where.filename.rpartition('/')[2]}:{where.lineno})"
        return None if len(str(error)) < LONGEST else "a message longer than a screen"
    return found if isinstance(found, str) else None
