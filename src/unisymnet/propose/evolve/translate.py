"""Genomes to formulas and back, and a problem's operators as rules for genomes.  Plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...arrays import Floats
from ...fit.clean.spell import spell
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, product
from .births import Rules
from .genome import ADD, COLUMN, CONST, DIV, KINDS, LONGEST, MUL, NEG, POW, SUB, Ints

FUNCTIONS = ("neg", "pow", "sin", "cos", "exp", "ln", "tanh", "abs", "sinh", "cosh", "tan", "asin", "acos", "atan")
KIND_OF = {name: NEG + k for k, name in enumerate(FUNCTIONS)}
_BINARY = {ADD: "add", SUB: "sub", MUL: "mul", DIV: "div"}
_POWERS = {"sqrt": 0.5, "square": 2.0, "inv": -1.0}
USUAL = ("sin", "cos", "exp", "ln", "tanh", "abs")  # what moves write where the user names no operators
EXPONENTS = (-2.0, -1.0, -0.5, 0.5, 2.0, 3.0)

Tokens = list[tuple[int, float]]


def to_expr(tokens: Sequence[int] | Ints, values: Sequence[float] | Floats, length: int) -> Expr:
    """The formula of a genome."""
    stack: list[Expr] = []
    for token, value in zip(tokens[:length], values[:length], strict=True):
        kind = int(token) % KINDS
        if kind == COLUMN:
            stack.append(Var(int(token) // KINDS))
        elif kind == CONST:
            stack.append(Const(float(value)))
        elif kind in _BINARY:
            right, left = stack.pop(), stack.pop()
            stack.append(Call(_BINARY[kind], (left, right)))
        elif kind == POW:
            stack.append(stack.pop() ** float(value))
        else:
            stack.append(Call(FUNCTIONS[kind - NEG], (stack.pop(),)))
    (expr,) = stack
    return expr


def to_tokens(expr: Expr) -> Tokens | None:
    """The genome of a formula, None where a genome has no word for an operator or no room."""
    tokens: Tokens = []
    return tokens if _write(expr, tokens) and len(tokens) <= LONGEST else None


def _write(expr: Expr, tokens: Tokens) -> bool:
    if isinstance(expr, Var):
        tokens.append((COLUMN + KINDS * expr.index, 0.0))
        return True
    if isinstance(expr, Const):
        tokens.append((CONST, expr.value))
        return True
    if not isinstance(expr, Call):
        return False
    if expr.op in _POWERS or (expr.op == "pow" and isinstance(expr.args[1], Const)):
        exponent = _POWERS[expr.op] if expr.op in _POWERS else expr.args[1].value  # type: ignore[attr-defined]
        known = _write(expr.args[0], tokens)
        tokens.append((POW, exponent))
        return known
    if expr.op == "pow":
        return _write(Call("exp", (product([expr.args[1], Call("ln", (expr.args[0],))]),)), tokens)
    kind = {name: kind for kind, name in _BINARY.items()}.get(expr.op, KIND_OF.get(expr.op))
    if kind is None:
        return False
    known = _write(expr.args[0], tokens)
    if len(expr.args) == 1:
        tokens.append((kind, 0.0))
    for argument in expr.args[1:]:
        known = known and _write(argument, tokens)
        tokens.append((kind, 0.0))
    return known


def packed(genomes: Iterable[Tokens], longest: int = LONGEST) -> tuple[Ints, Floats, Ints]:
    """Genomes as arrays: tokens, values, lengths; longer ones are left out."""
    kept = [tokens for tokens in genomes if 0 < len(tokens) <= longest]
    tokens, values = np.zeros((len(kept), longest), dtype=np.int64), np.zeros((len(kept), longest))
    for k, genome in enumerate(kept):
        tokens[k, : len(genome)] = [token for token, _ in genome]
        values[k, : len(genome)] = [value for _, value in genome]
    return tokens, values, np.array([len(genome) for genome in kept], dtype=np.int64)


def rules_of(problem: Problem, units: Iterable[Tokens] = (), longest: int = 24) -> Rules:
    """What a genome may contain so that the formula keeps to the problem's operators."""

    def possible(expr: Expr) -> bool:
        return spell(expr, problem) is not None

    a, b = Var(0), Var(1)
    named = tuple(op for op in FUNCTIONS[2:] if op in problem.operators) if problem.operators else USUAL
    exponents = [e for e in EXPONENTS if possible(a**e)]
    tokens, values, lengths = packed(units, longest)
    return Rules(
        n_columns=problem.n_features,
        functions=np.array([KIND_OF[op] for op in named if problem.allows(op)], dtype=np.int64),
        exponents=np.array(exponents),
        can_add=possible(Call("add", (a, b))),
        can_multiply=possible(Call("mul", (a, b))),
        can_divide=possible(Call("div", (a, b))),
        can_power=problem.allows("pow"),
        tokens=tokens,
        values=values,
        lengths=lengths,
    )
