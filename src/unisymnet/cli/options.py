"""Options of several commands: what is known about a law and its table; and how lists and pairs are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ..errors import DataError

Units = Annotated[
    list[str] | None,
    typer.Option(help='units, "m=kg, v=m/s, E=J"; column names such as "v [m/s]" are read too, unless you say "none"'),
]
Constants = Annotated[
    list[str] | None, typer.Option(help='a known constant that the law may contain, "g=9.81 m/s^2"; may be repeated')
]
Constraints = Annotated[list[str] | None, typer.Option(help='what the formula must do, "dy/dx1 >= 0"; may be repeated')]
Template = Annotated[str | None, typer.Option(help='a form with unknown functions, "sin(f(x1)) + g(x2)"')]
Groups = Annotated[
    str | None, typer.Option(help="column of groups: one form for all, constants shared or different by group")
]
Categories = Annotated[
    str | None,
    typer.Option(
        help="columns of numbers to treat as categories, separated by commas; or drop: leave text columns out"
    ),
]
Missing = Annotated[
    str | None, typer.Option(help="rows with missing values: drop them (default), or indicator: fill and mark the gaps")
]
Sigma = Annotated[
    str | None,
    typer.Option(
        help='column with the standard errors of the target, or "x=dx, y=0.1" (columns or numbers) for inputs too'
    ),
]
OwnOperators = Annotated[
    list[str] | None, typer.Option(help='an operator of your own, "hill(x) = x^n/(1 + x^n)"; may be repeated')
]


def words(text: str | None) -> tuple[str, ...] | None:
    """What stands between commas."""
    return None if text is None else tuple(word.strip() for word in text.split(",") if word.strip())


def pairs(given: Sequence[str] | None, option: str, example: str) -> dict[str, str] | None:
    """`--units "m=kg, v=m/s"`, or the option repeated, as a dict; "none" is none."""
    found: dict[str, str] = {}
    for text in given or ():
        if text.strip().lower() == "none":
            continue
        for part in text.split(","):
            name, equals, value = part.partition("=")
            if not equals or not name.strip():
                raise DataError(f"{option}: {part.strip()!r} should be NAME=VALUE, as in {example}")
            found[name.strip()] = value.strip()
    return found or None
