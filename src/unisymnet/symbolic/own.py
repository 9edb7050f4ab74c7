"""A user's own operator: a name for a formula of one or more arguments, written out wherever it is used.

Because it is written out, its derivative, units, bounds and exports are those of the formula.  Names in the formula
that are no arguments are constants: fitted, one value a use, unless a value is stated.  Does not know data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Floats
from ..errors import ParseError
from .expr import Const, Expr, Param, Var, n_params, rebuild, variables
from .parse import RESERVED, free_names, parse

MAX_ARGUMENTS = 3
_NAME = re.compile(r"[^\W\d]\w*\Z")
_DEFINITION = re.compile(r"\s*([^\W\d]\w*)\s*\(([^()]*)\)\s*=(?!=)(.+)\Z", re.DOTALL)
_USUAL = re.compile(r"x|y|z|x_?\d+")


@dataclass(frozen=True)
class Operator:
    """An operator written as a formula: ``Operator("hill", "x^n/(1 + x^n)")``.

    Arguments are x, y, z or x1, x2, … as they occur, or those listed in `arguments`; every other name is a constant
    that is fitted, or has the value that `constants` states: ``Operator("hill", "x^n/(1 + x^n)", constants={"n": 2})``.

    As a last resort a Python function of an array, with its derivative: ``Operator("j0", j0, derivative=minus_j1)``.
    Its values become further columns, and whoever uses the formula needs the function.
    """

    name: str
    formula: str | Callable[[Any], Any]
    arguments: tuple[str, ...] = ()
    constants: Mapping[str, float] = field(default_factory=dict)
    derivative: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        if not isinstance(self.formula, str):
            self._check_python()
            return
        if self.derivative is not None:
            raise ValueError(f"the operator {self.name} is a formula, whose derivative is known; leave derivative out")
        names = self.arguments or _arguments_in(self.text)
        if isinstance(names, str) or not 1 <= len(names) <= MAX_ARGUMENTS or len(set(names)) < len(names):
            shown = repr(names) if names else "none"
            raise ValueError(
                f"the operator {self.name} needs one to {MAX_ARGUMENTS} different arguments, got {shown}; write them "
                f"as x, y, z, or list them: Operator({self.name!r}, {self.formula!r}, arguments=(…))"
            )
        object.__setattr__(self, "arguments", tuple(map(str, names)))
        body = parse(self.text, self.arguments, free=True)
        if len(variables(body)) < len(self.arguments):
            gone = next(a for i, a in enumerate(self.arguments) if i not in variables(body))
            raise ValueError(f"the operator {self.name} does not use its argument {gone}")
        unknown = [name for name in self.constants if name not in free_names(self.text, self.arguments)]
        if unknown:
            raise ValueError(f"the operator {self.name} has no constant {unknown[0]!r} in {self.formula!r}")
        for name, value in self.constants.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ValueError(f"the constant {name} of the operator {self.name} must be a number, got {value!r}")

    def _check_python(self) -> None:
        if not callable(self.formula) or not callable(self.derivative):
            raise ValueError(
                f"the operator {self.name} must be a formula as text, or a Python function with its derivative: "
                f"Operator({self.name!r}, function, derivative=…)"
            )
        if self.constants or len(self.arguments) > 1:
            raise ValueError(f"the operator {self.name} is a Python function and takes one argument and no constants")

    @property
    def is_python(self) -> bool:
        return not isinstance(self.formula, str)

    def values(self, x: Floats) -> Floats:
        """A Python function on an array; a ValueError where it does not give as many numbers."""
        return self._called(self.formula, x)

    def slopes(self, x: Floats) -> Floats:
        return self._called(self.derivative, x)

    def _called(self, function: Any, x: Floats) -> Floats:
        with np.errstate(all="ignore"):
            found = np.asarray(function(np.asarray(x, dtype=np.float64)), dtype=np.float64)
        if found.shape != np.shape(x):
            raise ValueError(
                f"the operator {self.name} must give one number for each of {len(x)}, got the shape {found.shape}"
            )
        return found

    @property
    def text(self) -> str:
        assert isinstance(self.formula, str)
        return self.formula

    def __hash__(self) -> int:
        return hash((self.name, self.formula, self.arguments, tuple(sorted(self.constants.items()))))

    def __str__(self) -> str:
        """As `read_operator` reads it, values of constants written into the formula."""
        if self.is_python:
            return f"{self.name} (a Python function)"
        body = self.text
        for name, value in self.constants.items():
            body = re.sub(rf"\b{re.escape(name)}\b", f"({float(value)!r})", body)
        return f"{self.name}({', '.join(self.arguments)}) = {body.strip()}"

    @property
    def open(self) -> tuple[str, ...]:
        """Constants that are to be fitted."""
        every = free_names(self.text, self.arguments)
        return tuple(name for name in every if name not in self.constants)

    @property
    def body(self) -> Expr:
        """The formula in Var(0), Var(1), … for the arguments and Param(0), … for the open constants."""
        every = free_names(self.text, self.arguments)
        place = {name: i for i, name in enumerate(self.open)}

        def stated(node: Expr) -> Expr:
            if not isinstance(node, Param):
                return node
            name = every[node.index]
            return Const(self.constants[name]) if name in self.constants else Param(place[name])

        return rebuild(parse(self.text, self.arguments, free=True), stated)

    def applied(self, args: Sequence[Expr], constants: Sequence[Expr] | None = None) -> Expr:
        """The formula of these arguments; open constants become `constants`, or parameters behind the arguments'."""
        if len(args) != len(self.arguments):
            raise ValueError(f"{self.name} takes {len(self.arguments)} arguments, got {len(args)}")
        if constants is None:
            start = max((n_params(arg) for arg in args), default=0)
            constants = [Param(start + i) for i in range(len(self.open))]

        def filled(node: Expr) -> Expr:
            if isinstance(node, Var):
                return args[node.index]
            return constants[node.index] if isinstance(node, Param) else node

        return rebuild(self.body, filled)


def check_name(name: str) -> None:
    """A ValueError for what cannot be the name of an operator."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError(f"the name of an operator must be a word such as hill, got {name!r}")
    if name.lower() in RESERVED or name == "D":
        raise ValueError(f"{name!r} is already an operator; choose another name")


def is_definition(text: str) -> bool:
    """Does the text look like "hill(x) = x^n/(1 + x^n)"?"""
    return _DEFINITION.match(text) is not None


def read_operator(text: str) -> Operator:
    """An operator from "hill(x) = x^n/(1 + x^n)"; a ValueError says what is wrong."""
    match = _DEFINITION.match(text)
    if match is None:
        raise ValueError(f'an operator is written as "hill(x) = x^n/(1 + x^n)", got {text!r}')
    arguments = tuple(part.strip() for part in match[2].split(","))
    if not all(map(_NAME.match, arguments)):
        raise ValueError(f"the arguments of {match[1]} must be names, got ({match[2]})")
    try:
        return Operator(match[1], match[3].strip(), arguments)
    except ParseError as error:
        raise ValueError(f"the operator {match[1]}: {error}") from error


def _arguments_in(formula: str) -> tuple[str, ...]:
    """The names x, y, z or x1, x2, … that occur, in that order."""
    found = [name for name in free_names(formula, ()) if _USUAL.fullmatch(name)]
    return tuple(sorted(found, key=lambda name: (len(name), name)))
