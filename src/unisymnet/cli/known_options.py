"""Options that say what is known about a law and its table: units, constants, constraints, a form, groups, errors."""

from __future__ import annotations

from typing import Annotated

import typer

Units = Annotated[
    list[str] | None,
    typer.Option(help='units, "m=kg, v=m/s, E=J"; those in heads such as "v [m/s]" are read, "none": not even these'),
]
Constants = Annotated[
    list[str] | None, typer.Option(help='a constant that the law may hold, "g=9.81 m/s^2"; may be repeated')
]
Constraints = Annotated[list[str] | None, typer.Option(help='what the formula must do, "dy/dx1 >= 0"; may be repeated')]
Template = Annotated[str | None, typer.Option(help='a form with unknown functions, "sin(f(x1)) + g(x2)"')]
Groups = Annotated[
    str | None, typer.Option(help="column of groups: one form, constants shared or with a value for each group")
]
Categories = Annotated[
    str | None,
    typer.Option(help="columns of numbers that are categories, separated by commas; or drop: leave text columns out"),
]
Missing = Annotated[
    str | None, typer.Option(help="where a value is missing: drop the row (default), or indicator: fill it and say so")
]
Sigma = Annotated[
    str | None,
    typer.Option(
        help='column with the standard errors of the target, or "x=dx, y=0.1": columns or numbers, also of inputs'
    ),
]
OwnOperators = Annotated[
    list[str] | None, typer.Option(help='an operator of your own, "hill(x) = x^n/(1 + x^n)"; may be repeated')
]
