"""The other way to write a structure: its skeleton in prefix order, as models of symbolic trees do.

For the comparison of encodings (`bench/encoding.py`): the same model learns the same functions in this writing.  Sums
and products of several terms are nested to the left; every constant and exponent is one token C.  No torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..symbolic.expr import Call, Expr, Param, Var
from ..symbolic.network.skeleton import to_skeleton
from ..symbolic.network.tokens import Vocabulary
from .alphabet import END, FIRST_DEPTH, PAD, START, Ints

_OPERATORS = ("add", "mul", "pow", "sin", "cos", "exp", "ln", "abs")
_N_BINARY = 3
CONSTANT = FIRST_DEPTH


@dataclass(frozen=True)
class PrefixAlphabet:
    """PAD, END, START, C, the columns, the operators; built for the labels of ``Vocabulary`` of the same numbers."""

    n_features: int
    repeats: int
    max_depth: int

    @property
    def size(self) -> int:
        return CONSTANT + 1 + self.n_features + len(_OPERATORS)

    @property
    def layer(self) -> Ints:
        return np.zeros(self.size, dtype=np.int64)

    row = column = layer
    n_rows = n_columns = 1

    def ranks(self) -> tuple[Ints, Ints]:
        """As for labels, but anything except PAD and START may follow anything."""
        own = np.ones(self.size, dtype=np.int64)
        own[[PAD, START]] = -1
        return own, np.zeros(self.size, dtype=np.int64)

    def arities(self) -> NDArray[np.int64]:
        """How many operands each token asks for; -1 for those that are no part of a formula."""
        arity = np.zeros(self.size, dtype=np.int64)
        arity[:CONSTANT] = -1
        first = CONSTANT + 1 + self.n_features
        arity[first : first + _N_BINARY], arity[first + _N_BINARY :] = 2, 1
        return arity

    def from_label(self, label: Sequence[int]) -> list[int]:
        """Tokens of the label's skeleton, END included, START not."""
        structure = Vocabulary(self.n_features, self.repeats, self.max_depth).decode(label)
        return self.from_expr(to_skeleton(structure).expr)

    def from_expr(self, expr: Expr) -> list[int]:
        """Tokens of a skeleton, END included."""
        tokens: list[int] = []
        self._write(expr, tokens)
        return [*tokens, END]

    def _write(self, expr: Expr, tokens: list[int]) -> None:
        if isinstance(expr, Call):
            operator = CONSTANT + 1 + self.n_features + _OPERATORS.index(expr.op)
            tokens += [operator] * max(len(expr.args) - 1, 1)
            # add(a, b, c) is + + a b c: nested to the left, which needs no other order of the operands.
            for argument in expr.args:
                self._write(argument, tokens)
        else:
            tokens.append(CONSTANT + 1 + expr.index if isinstance(expr, Var) else CONSTANT)

    def to_expr(self, tokens: Sequence[int]) -> Expr:
        """The skeleton of complete tokens (END and what follows is not read); its constants are numbered in order."""
        rest, arity, n_params = iter(tokens), self.arities(), 0

        def read() -> Expr:
            nonlocal n_params
            token = next(rest)
            if arity[token] > 0:
                operator = _OPERATORS[token - CONSTANT - 1 - self.n_features]
                return Call(operator, tuple(read() for _ in range(arity[token])))
            if token == CONSTANT:
                n_params += 1
                return Param(n_params - 1)
            return Var(token - CONSTANT - 1)

        return read()
