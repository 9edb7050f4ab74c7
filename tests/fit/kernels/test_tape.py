"""Tapes: shared parts, cheap powers, and which constants are linear."""

from __future__ import annotations

import numpy as np
import pytest

from unisymnet.fit.kernels.tape import DIV, EXP, INV, MUL, POW, SINCOS, SQRT, SQUARE, compile_tape
from unisymnet.symbolic.expr import Const, Expr, Param, Var, call

x, z = Var(0), Var(1)
c = [Param(i) for i in range(6)]


def instructions(expr: Expr, **options: bool) -> list[int]:
    return compile_tape(expr, 2, **options).code[:, 0].tolist()


def test_equal_parts_are_computed_once() -> None:
    part = call("exp", x * z)
    assert instructions(part + part * part).count(EXP) == 1
    assert instructions(x * z + z * x).count(MUL) == 1


def test_sine_and_cosine_of_one_argument_are_one_instruction() -> None:
    assert instructions(call("sin", x) * call("cos", x)).count(SINCOS) == 1


@pytest.mark.parametrize(
    ("power", "wanted"),
    [
        (1.0, []),
        (2.0, [SQUARE]),
        (3.0, [SQUARE, MUL]),
        (4.0, [SQUARE, SQUARE]),
        (-1.0, [INV]),
        (-2.0, [SQUARE, INV]),
        (0.5, [SQRT]),
        (-0.5, [SQRT, INV]),
        (1.5, [SQRT, MUL]),
        (0.3, [POW]),
        (65.0, [POW]),
        (0.0, [POW]),
    ],
)
def test_small_powers_are_products(power: float, wanted: list[int]) -> None:
    assert instructions(x ** Const(power)) == wanted


@pytest.mark.parametrize(
    ("expr", "linear"),
    [
        (c[0] * x + c[1], {0, 1}),
        (c[0] * call("exp", c[1] * x) + c[2], {0, 2}),
        (c[0] / (c[1] + x), {0}),
        ((c[0] * x + c[1]) / z - c[2], {0, 1, 2}),
        ((c[0] * x + c[1]) * (c[2] * z + c[3] * x + c[4]), {2, 3, 4}),
        (c[0] * x + call("sin", c[0] * z), set()),
        (-(c[0] * x) + c[0] * z, {0}),
        (call("sqrt", c[0] * x), set()),
        (x ** c[0] * c[1], {1}),
        (c[0] * c[1] * x + c[0] * z, {0, 1} - {0}),
        (x + z, set()),
    ],
)
def test_linear_constants(expr: Expr, linear: set[int]) -> None:
    tape = compile_tape(expr, 2)
    assert set(tape.linear.tolist()) == linear
    assert set(tape.nonlinear.tolist()) | linear == {i for i in range(tape.n_params)}


def test_parts_without_unknowns_come_first() -> None:
    tape = compile_tape(c[0] * call("exp", x * z) + c[1] * call("sin", c[2] * call("exp", x * z)), 2)
    assert tape.code[: tape.n_fixed, 0].tolist() == [MUL, EXP]
    assert (tape.code[: tape.n_fixed, 1] < tape.first_theta).all()
    assert (tape.code[tape.n_fixed :, 1] > tape.first_theta).all()
    assert tape.phi[0] < tape.first_theta <= tape.phi[1]


def test_without_projection_every_unknown_is_in_the_program() -> None:
    tape = compile_tape(c[0] * x + c[1], 2, project=False)
    assert tape.nonlinear.tolist() == [0, 1]
    assert len(tape.linear) == 0
    assert compile_tape(x / z, 2).code[:, 0].tolist() == [DIV]


def test_registers_are_written_before_they_are_read() -> None:
    tape = compile_tape((c[0] * x + c[1] * z**2) / (1.0 + call("cos", c[2] * x) ** 2) + 3.0 * call("sin", z), 2)
    ready = set(range(2 + len(tape.constants))) | set(range(tape.first_theta, tape.first_theta + len(tape.nonlinear)))
    for op, out, a, b in tape.code.tolist():
        assert {a, b} <= ready
        ready |= {out, out + 1} if op in (SINCOS, POW) else {out}
    assert set(tape.phi.tolist()) <= ready


def test_a_missing_column_is_named() -> None:
    with pytest.raises(ValueError, match="uses column 1, but X has only 1 columns"):
        compile_tape(x + z, 1)


def test_a_lone_constant_and_a_lone_column() -> None:
    assert compile_tape(Const(3.0), 1).phi_0 >= 0
    assert compile_tape(Param(0), 1).linear.tolist() == [0]
    assert compile_tape(x, 1).phi_0 == 0
    assert np.array_equal(compile_tape(Const(3.0), 0).constants, [3.0])
