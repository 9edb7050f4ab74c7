"""Any formula as a torch module with gradients: by its inputs, and by its constants, which can be trained on.

For a user who needs a law inside a larger torch model.  Values are those of ``evaluate``: nan or inf outside the
domain.  Knows no networks (network.py) and no fitting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import torch
from torch import Tensor, nn

from ..symbolic.expr import Call, Const, Expr, Var, n_params
from ..symbolic.operators import OPERATORS

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    op: getattr(torch, row.names.get("torch", op)) for op, row in OPERATORS.items() if op != "step"
} | {
    "add": lambda *args: reduce(torch.add, args),
    "mul": lambda *args: reduce(torch.mul, args),
    "step": lambda x: torch.heaviside(x, torch.zeros((), dtype=x.dtype)),
}


class FormulaModule(nn.Module):
    """y = f(x) for rows (n, d) or one row (d,), columns in the order of ``names``.

    ``constants`` holds the numbers of the formula in reading order.  Whole-number exponents are part of the form and
    not among them: no gradient exists for a negative base.
    """

    def __init__(self, expr: Expr, names: Sequence[str]) -> None:
        super().__init__()
        if n_params(expr):
            raise ValueError(f"the formula {expr} has open constants; fit it first")
        self.expr = expr
        self.names = tuple(names)
        self._steps: list[tuple[str, Any]] = []
        numbers: list[float] = []
        self._add(expr, numbers)
        self.constants = nn.Parameter(torch.tensor(numbers, dtype=torch.float64))

    def _add(self, node: Expr, numbers: list[float], *, is_exponent: bool = False) -> int:
        """Append the steps that compute ``node``; returns the place of its value."""
        if isinstance(node, Call):
            powers = node.op == "pow"
            args = [self._add(arg, numbers, is_exponent=powers and i == 1) for i, arg in enumerate(node.args)]
            self._steps.append((node.op, tuple(args)))
        elif isinstance(node, Var):
            if node.index >= len(self.names):
                raise ValueError(f"the formula uses column {node.index}, but there are {len(self.names)} names")
            self._steps.append(("column", node.index))
        else:
            assert isinstance(node, Const)
            if is_exponent and node.value.is_integer():
                self._steps.append(("fixed", node.value))
            else:
                self._steps.append(("constant", len(numbers)))
                numbers.append(node.value)
        return len(self._steps) - 1

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-1] != len(self.names):
            raise ValueError(f"x needs {len(self.names)} columns ({', '.join(self.names)}), got shape {tuple(x.shape)}")
        constants = self.constants.to(x.dtype)
        values: list[Tensor] = []
        for kind, about in self._steps:
            if kind == "column":
                values.append(x[..., about])
            elif kind == "constant":
                values.append(constants[about])
            elif kind == "fixed":
                values.append(torch.tensor(about, dtype=x.dtype))
            else:
                values.append(_FUNCTIONS[kind](*(values[i] for i in about)))
        return values[-1].expand(x.shape[:-1])

    def extra_repr(self) -> str:
        from ..symbolic.text import to_text

        return to_text(self.expr, self.names)
