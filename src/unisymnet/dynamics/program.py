"""Right-hand sides as one program: the tapes of several equations merged, so that one kernel runs a whole system.

All equations share the registers of the columns; what is theirs alone follows, equation after equation, so that a
backward pass over one equation's steps gives the derivatives of its rate.  Knows no data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Ints
from ..fit.kernels.interpreter import addresses
from ..fit.kernels.tape import compile_tape
from ..formula.constants import free
from ..symbolic.constants import moved_params
from ..symbolic.expr import Const, Expr


class Program(NamedTuple):
    """A compiled system: steps (k, 4), where each equation's steps and registers begin, and where results are."""

    code: Ints
    first_step: Ints  # (d + 1,)
    first_register: Ints  # (d + 1,)
    results: Ints  # (d,)
    constants: Floats  # start values of all registers
    thetas: Ints  # (k, 2): register, number of the constant
    theta_first: Ints  # (d + 1,): which rows of ``thetas`` belong to an equation
    n_columns: int
    n_params: int
    addresses: Ints  # of the interpreter, forward and backward


def free_system(exprs: Sequence[Expr]) -> tuple[list[Expr], Floats]:
    """The equations with their constants as parameters, numbered through, and the values of those."""
    forms: list[Expr] = []
    values: list[float] = []
    for expr in exprs:
        form, found = free(expr)
        forms.append(moved_params(form, len(values)))
        values += found
    return forms, np.array(values, dtype=np.float64)


def compile_system(forms: Sequence[Expr], n_columns: int, n_params: int) -> Program:
    """One program for equations whose ``Param`` leaves share one numbering."""
    steps: list[Ints] = []
    first_step, first_register, results, thetas, theta_first = [0], [n_columns], [], [], [0]
    registers = [np.zeros(n_columns)]
    base = n_columns
    for form in forms:
        tape = compile_tape(form if not isinstance(form, Const) else form + 0.0, n_columns, project=False)
        code = tape.code.copy()
        own = code[:, 1:] >= n_columns
        code[:, 1:][own] += base - n_columns
        steps.append(code)
        values = np.zeros(tape.n_registers - n_columns)
        values[: len(tape.constants)] = tape.constants
        registers.append(values)
        for i, param in enumerate(tape.nonlinear):
            thetas.append((tape.first_theta + i - n_columns + base, int(param)))
        results.append(tape.phi_0 if tape.phi_0 < n_columns else tape.phi_0 - n_columns + base)
        base += tape.n_registers - n_columns
        first_step.append(first_step[-1] + len(code))
        first_register.append(base)
        theta_first.append(len(thetas))
    return Program(
        code=np.ascontiguousarray(np.concatenate(steps)) if steps else np.empty((0, 4), dtype=np.int64),
        first_step=np.array(first_step, dtype=np.int64),
        first_register=np.array(first_register, dtype=np.int64),
        results=np.array(results, dtype=np.int64),
        constants=np.concatenate(registers),
        thetas=np.array(thetas, dtype=np.int64).reshape(-1, 2),
        theta_first=np.array(theta_first, dtype=np.int64),
        n_columns=n_columns,
        n_params=n_params,
        addresses=np.array(addresses(), dtype=np.int64),
    )
