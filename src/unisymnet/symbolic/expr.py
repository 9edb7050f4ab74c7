"""Formulas as immutable trees: ``Expr = Const | Var | Param | Call``, one walk, and evaluation.

A tree never simplifies itself (see simplify.py), knows no column names (see text.py) and no network
(see structure.py).  Equal trees are equal and hash equally; the hash is computed once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import is_not
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from .operators import OPERATORS


class Expr:
    """A formula.  Python's arithmetic operators build bigger trees and do nothing else."""

    __slots__ = ("_hash", "_order", "_size")
    _hash: int
    _order: tuple[Any, ...]  # see order_key; computed on first use
    _size: int  # see size; the same

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"an expression is immutable; build a new one instead of setting {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("an expression is immutable")

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        from .text import to_text

        return to_text(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def __add__(self, other: Expr | float) -> Call:
        return Call("add", (self, as_expr(other)))

    def __radd__(self, other: float) -> Call:
        return Call("add", (as_expr(other), self))

    def __sub__(self, other: Expr | float) -> Call:
        return Call("sub", (self, as_expr(other)))

    def __rsub__(self, other: float) -> Call:
        return Call("sub", (as_expr(other), self))

    def __mul__(self, other: Expr | float) -> Call:
        return Call("mul", (self, as_expr(other)))

    def __rmul__(self, other: float) -> Call:
        return Call("mul", (as_expr(other), self))

    def __truediv__(self, other: Expr | float) -> Call:
        return Call("div", (self, as_expr(other)))

    def __rtruediv__(self, other: float) -> Call:
        return Call("div", (as_expr(other), self))

    def __pow__(self, other: Expr | float) -> Call:
        return Call("pow", (self, as_expr(other)))

    def __neg__(self) -> Call:
        return Call("neg", (self,))


class Const(Expr):
    """A fixed, finite number."""

    __slots__ = ("value",)
    value: float

    def __init__(self, value: float) -> None:
        value = float(value)
        if not math.isfinite(value):
            raise ValueError(f"a constant of a formula must be finite, got {value}")
        object.__setattr__(self, "value", value + 0.0)  # + 0.0 turns -0.0 into 0.0
        object.__setattr__(self, "_hash", hash((Const, self.value)))

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Const and self.value == other.value)

    __hash__ = Expr.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return Const, (self.value,)


class Var(Expr):
    """Input column ``index``, printed x0, x1, … unless names are given."""

    __slots__ = ("index",)
    index: int

    def __init__(self, index: int) -> None:
        object.__setattr__(self, "index", int(index))
        object.__setattr__(self, "_hash", hash((Var, self.index)))

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Var and self.index == other.index)

    __hash__ = Expr.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return Var, (self.index,)


class Param(Expr):
    """A constant still to be fitted: number ``index`` of a skeleton, printed c0, c1, …"""

    __slots__ = ("index",)
    index: int

    def __init__(self, index: int) -> None:
        object.__setattr__(self, "index", int(index))
        object.__setattr__(self, "_hash", hash((Param, self.index)))

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Param and self.index == other.index)

    __hash__ = Expr.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return Param, (self.index,)


class Call(Expr):
    """Operator ``op`` (a name in the table) applied to ``args``."""

    __slots__ = ("args", "op")
    op: str
    args: tuple[Expr, ...]

    def __init__(self, op: str, args: Sequence[Expr]) -> None:
        args = tuple(args)
        row = OPERATORS.get(op)
        if row is None:
            raise ValueError(f"unknown operator {op!r}; known are {', '.join(OPERATORS)}")
        if len(args) != row.arity and not (row.arity < 0 and len(args) >= 2):
            wanted = "at least 2" if row.arity < 0 else str(row.arity)
            raise ValueError(f"{op} takes {wanted} arguments, got {len(args)}")
        object.__setattr__(self, "op", op)
        object.__setattr__(self, "args", args)
        object.__setattr__(self, "_hash", hash((op, args)))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(other) is Call and self._hash == other._hash and self.op == other.op and self.args == other.args

    __hash__ = Expr.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return Call, (self.op, self.args)


def as_expr(value: Expr | float) -> Expr:
    """Numbers become constants, expressions stay."""
    return value if isinstance(value, Expr) else Const(value)


def call(op: str, *args: Expr | float) -> Call:
    """``call("sin", x)``: a Call whose arguments may be numbers."""
    return Call(op, tuple(as_expr(a) for a in args))


def total(terms: Sequence[Expr]) -> Expr:
    """The sum of any number of terms: 0, the term itself, or one n-ary ``add``."""
    if not terms:
        return Const(0.0)
    return terms[0] if len(terms) == 1 else Call("add", terms)


def product(factors: Sequence[Expr]) -> Expr:
    """The product of any number of factors: 1, the factor itself, or one n-ary ``mul``."""
    if not factors:
        return Const(1.0)
    return factors[0] if len(factors) == 1 else Call("mul", factors)


def children(expr: Expr) -> tuple[Expr, ...]:
    """Arguments of a call; nothing for leaves."""
    return expr.args if isinstance(expr, Call) else ()


def parts(expr: Expr, *ops: str) -> list[Expr]:
    """What nested calls of some operators join: the terms for "add", the factors for "mul"; else the formula itself."""
    if isinstance(expr, Call) and expr.op in ops:
        return [part for arg in expr.args for part in parts(arg, *ops)]
    return [expr]


def walk(expr: Expr) -> Iterator[Expr]:
    """Every node, children before parents, left to right (reading order of the leaves)."""
    # A list of parents before children, right to left, read backwards: half the time of keeping track of what was seen.
    found, stack = [], [expr]
    while stack:
        node = stack.pop()
        found.append(node)
        if isinstance(node, Call):
            stack.extend(node.args)
    return reversed(found)


def rebuild(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Bottom-up rewriting: each node, its children already rewritten, is passed through ``change``."""
    if isinstance(expr, Call):
        args = [rebuild(a, change) for a in expr.args]
        if any(map(is_not, args, expr.args)):
            expr = Call(expr.op, args)
    return change(expr)


def order_key(expr: Expr) -> tuple[Any, ...]:
    """A key that sorts formulas the same way in every process: constants, parameters, columns, the rest.

    A power stands right after its base: x0, x0**2, x1.
    """
    try:
        return expr._order
    except AttributeError:
        key: tuple[Any, ...]
        if isinstance(expr, Call):
            args = tuple([order_key(a) for a in expr.args])
            key = (*args[0], args[1]) if expr.op == "pow" else (3, expr.op, args)
        elif isinstance(expr, Const):
            key = (0, expr.value)
        else:
            assert isinstance(expr, Param | Var)
            key = (1 if isinstance(expr, Param) else 2, expr.index)
        object.__setattr__(expr, "_order", key)
        return key


def size(expr: Expr) -> int:
    """Number of nodes of the tree."""
    if not isinstance(expr, Call):
        return 1
    try:
        return expr._size
    except AttributeError:
        number = 1 + sum([size(a) for a in expr.args])
        object.__setattr__(expr, "_size", number)
        return number


def tree_depth(expr: Expr) -> int:
    """Edges on the longest path from the root to a leaf."""
    return 1 + max(tree_depth(a) for a in expr.args) if isinstance(expr, Call) else 0


def variables(expr: Expr) -> tuple[int, ...]:
    """Indices of the columns used, ascending."""
    return tuple(sorted({node.index for node in walk(expr) if isinstance(node, Var)}))


def n_params(expr: Expr) -> int:
    """One more than the largest parameter index, 0 without parameters."""
    return max((node.index + 1 for node in walk(expr) if isinstance(node, Param)), default=0)


def renumbered(expr: Expr, columns: Sequence[int] | Mapping[int, int]) -> Expr:
    """Input ``columns[i]`` in place of input i: a formula of some columns in the numbers of all, or the reverse."""
    return rebuild(expr, lambda node: Var(columns[node.index]) if isinstance(node, Var) else node)


def bind(expr: Expr, params: Sequence[float]) -> Expr:
    """Replace every Param by its value."""
    return rebuild(expr, lambda node: Const(params[node.index]) if isinstance(node, Param) else node)


def evaluate(expr: Expr, X: ArrayLike, params: Sequence[float] = ()) -> Floats:
    """Values of ``expr`` on the rows of ``X`` (n, d); outside its domain nan or inf, without a warning."""
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"X must be a table (n rows, d columns), got an array of shape {X.shape}")
    known: dict[Expr, Any] = {}
    with np.errstate(all="ignore"):
        for node in walk(expr):
            if node not in known:
                known[node] = _value(node, X, params, known)
    values = np.asarray(known[expr], dtype=np.float64)
    return values.copy() if values.ndim else np.full(len(X), values)


def evaluate_shared(expr: Expr, X: Floats, known: dict[Expr, Any]) -> Any:
    """Values as ``evaluate`` gives them, without a copy; ``known`` remembers those of all parts on these rows, for
    formulas that share them.  The caller silences numpy."""
    values = known.get(expr)
    if values is None:
        for child in children(expr):
            evaluate_shared(child, X, known)
        values = known[expr] = _value(expr, X, (), known)
    return values


def _value(node: Expr, X: Floats, params: Sequence[float], known: dict[Expr, Any]) -> Any:
    if isinstance(node, Call):
        return OPERATORS[node.op].apply(*(known[a] for a in node.args))
    if isinstance(node, Const):
        return np.float64(node.value)
    if isinstance(node, Var):
        if node.index >= X.shape[1]:
            raise ValueError(f"the formula uses column {node.index}, but X has only {X.shape[1]} columns")
        return X[:, node.index]
    assert isinstance(node, Param)
    if node.index >= len(params):
        raise ValueError(f"the formula has a free constant c{node.index}, but only {len(params)} values were given")
    return np.float64(params[node.index])
