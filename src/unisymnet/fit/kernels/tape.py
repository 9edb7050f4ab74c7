"""A formula as a flat program: ``compile_tape`` turns an Expr into integer arrays that one kernel can run.

Registers hold one number per row.  They are numbered: columns of X, fixed numbers, unknown constants, then one
(for sin/cos: two) per instruction.  Equal subexpressions share a register.  Constants that enter linearly are
found here and taken out of the program: y = sum_k c_k phi_k(x, theta) + phi_0(x, theta), so that a fit can solve
for every c_k exactly (variable projection).  Knows no data and no numerics (see interpreter.py, levenberg.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats
from ...symbolic.expr import Call, Const, Expr, Param, Var, walk

Ints = NDArray[np.int64]

# Instruction codes.  The kernels compare with these names; the order groups them: arithmetic first.
ADD, SUB, MUL, DIV, NEG, SQUARE, INV, SQRT, ABS = range(9)
SINCOS, EXP, LN, POW, SINH, COSH, TANH, TAN, ASIN, ACOS, ATAN, ERF, STEP, MIN, MAX = range(9, 24)
FIRST_FUNCTION = SINCOS

_UNARY = {
    "neg": NEG,
    "exp": EXP,
    "ln": LN,
    "sqrt": SQRT,
    "square": SQUARE,
    "inv": INV,
    "abs": ABS,
    "sinh": SINH,
    "cosh": COSH,
    "tanh": TANH,
    "tan": TAN,
    "asin": ASIN,
    "acos": ACOS,
    "atan": ATAN,
    "erf": ERF,
    "step": STEP,
}
_BINARY = {"sub": SUB, "div": DIV, "min": MIN, "max": MAX}
_CHAINS = {"add": ADD, "mul": MUL}
_MAX_TWICE = 128  # twice the largest power that is written as squares and products


@dataclass(frozen=True)
class Tape:
    """The program of one formula.

    Registers: the columns of X, ``constants``, results of the fixed steps, from ``first_theta`` on the unknowns
    that are not linear, then everything that depends on them.  ``code`` has one row ``(instruction, out, a, b)``
    per step (b = a if there is only one argument); the first ``n_fixed`` need to run once per data set.
    Register ``first_theta + i`` holds unknown ``nonlinear[i]``; register ``phi[k]`` multiplies unknown
    ``linear[k]``, those independent of theta first; ``phi_0`` is the register of the rest, -1 if there is none.
    """

    n_features: int
    n_registers: int
    n_params: int
    first_theta: int
    n_fixed: int
    code: Ints
    constants: Floats
    nonlinear: Ints
    linear: Ints
    phi: Ints
    phi_0: int

    @property
    def n_nodes(self) -> int:
        """Leaves in use plus instructions (a sine and a cosine of one argument are one)."""
        results = set(self.code[:, 1].tolist())
        results |= {out + 1 for op, out, _, _ in self.code.tolist() if op == SINCOS}
        return len(self.code) + len(set(self.code[:, 2:].ravel().tolist()) - results)

    @cached_property
    def layout(self) -> Ints:
        """The numbers a kernel needs beside the arrays, in one array that is cheap to pass."""
        numbers = (self.n_features, self.n_registers, self.first_theta, self.n_fixed, self.phi_0)
        return np.array([*numbers, len(self.nonlinear), len(self.linear)], dtype=np.int64)


def compile_tape(expr: Expr, n_features: int, *, project: bool = True) -> Tape:
    """The program of ``expr`` for tables with ``n_features`` columns.

    ``Param`` leaves are the unknowns, ``Const`` leaves are fixed.  ``project=False`` keeps every unknown inside
    the program, as the formula is written.
    """
    unknowns: _Unknowns = {}
    top = -1
    for node in walk(expr):
        if isinstance(node, Var):
            top = max(top, node.index)
        _note(node, unknowns)
    if top >= n_features:
        raise ValueError(f"the formula uses column {top}, but X has only {n_features} columns")
    linear = _linear(expr, unknowns) if project else _NONE
    return _Builder(expr, n_features, linear, unknowns).tape()


_Unknowns = dict[Expr, frozenset[int]]  # the unknowns inside every part of a formula
_NONE: frozenset[int] = frozenset()


def _note(node: Expr, unknowns: _Unknowns) -> None:
    """Enter a node whose children are known."""
    if isinstance(node, Param):
        unknowns[node] = frozenset((node.index,))
    elif isinstance(node, Call) and node not in unknowns:
        inner = [unknowns[a] for a in node.args if a in unknowns]
        if inner:
            unknowns[node] = inner[0].union(*inner[1:]) if len(inner) > 1 else inner[0]


def _linear(expr: Expr, unknowns: _Unknowns) -> frozenset[int]:
    bent: set[int] = set()
    straight = _straight(expr, unknowns, bent)
    return frozenset(straight - bent)


def _straight(expr: Expr, unknowns: _Unknowns, bent: set[int]) -> frozenset[int] | set[int]:
    """Unknowns in which ``expr`` is linear; the rest of its unknowns are put into ``bent``."""
    if expr not in unknowns or not isinstance(expr, Call):
        return unknowns.get(expr, _NONE)
    if expr.op in ("add", "sub", "neg"):
        found: set[int] = set()
        for a in expr.args:
            found |= _straight(a, unknowns, bent)
        return found
    if expr.op == "mul":
        # One factor may hold linear unknowns: the one with the most, the later one on a tie.
        sets = [_straight(a, unknowns, bent) for a in expr.args]
        chosen = max(range(len(sets)), key=lambda i: (len(sets[i]), i))
        bent.update(*sets[:chosen], *sets[chosen + 1 :])
        return sets[chosen]
    if expr.op == "div":
        bent |= unknowns.get(expr.args[1], _NONE)
        return _straight(expr.args[0], unknowns, bent)
    bent |= unknowns[expr]
    return _NONE


_Affine = dict[int, int]  # unknown (or _REST) -> register of what multiplies it
_REST = -1
_ONE = -2  # stands for the number 1 while nothing needs it in a register


class _Builder:
    """Emits instructions, sharing equal ones.  Lives for one compilation."""

    def __init__(self, expr: Expr, n_features: int, linear: frozenset[int], unknowns: _Unknowns) -> None:
        self.n_features = n_features
        self.linear = linear
        self.unknowns = unknowns
        self.n_params = max(unknowns.get(expr, _NONE), default=-1) + 1
        self.steps: list[tuple[int, int, int, int]] = []  # with provisional register numbers
        self.known: dict[tuple[int, int, int], int] = {}  # instruction and arguments -> result
        self.memo: dict[Expr, int] = {}
        self.constants: dict[int, float] = {}  # register -> value
        self.theta: dict[int, int] = {}  # unknown -> register
        self.moving: set[int] = set()  # registers that depend on theta
        self.next = n_features
        self.parts = self._affine(expr)

    def tape(self) -> Tape:
        """Number the registers as ``Tape`` says and sort the steps: fixed ones first."""
        parts = {k: self._as_register(r) for k, r in self.parts.items()}
        fixed = [s for s in self.steps if s[1] not in self.moving]
        moving = [s for s in self.steps if s[1] in self.moving]
        nonlinear = sorted(self.theta)
        order = [*range(self.n_features), *self.constants]
        order += [s[1] + i for s in fixed for i in range(_n_results(s[0]))]
        first_theta = len(order)
        order += [self.theta[k] for k in nonlinear]
        order += [s[1] + i for s in moving for i in range(_n_results(s[0]))]
        number = {r: i for i, r in enumerate(order)}
        linear = sorted((k for k in parts if k != _REST), key=lambda k: (parts[k] in self.moving, k))
        steps = [(op, number[out], number[a], number[b]) for op, out, a, b in fixed + moving]
        return Tape(
            n_features=self.n_features,
            n_registers=len(order),
            n_params=self.n_params,
            first_theta=first_theta,
            n_fixed=len(fixed),
            code=np.array(steps, dtype=np.int64).reshape(-1, 4),
            constants=np.array(list(self.constants.values()), dtype=np.float64),
            nonlinear=np.array(nonlinear, dtype=np.int64),
            linear=np.array(linear, dtype=np.int64),
            phi=np.array([number[parts[k]] for k in linear], dtype=np.int64),
            phi_0=number[parts[_REST]] if _REST in parts else -1,
        )

    def _affine(self, expr: Expr) -> _Affine:
        """``expr`` as a sum over its linear unknowns and a rest."""
        if isinstance(expr, Param) and expr.index in self.linear:
            return {expr.index: _ONE}
        if not isinstance(expr, Call) or self._is_known(expr):
            return {_REST: self._register(expr)}
        if expr.op in ("add", "sub", "neg"):
            result: _Affine = {}
            for i, a in enumerate(expr.args):
                negative = expr.op == "neg" or (expr.op == "sub" and i == 1)
                for k, r in self._affine(a).items():
                    r = self._unary(NEG, self._as_register(r)) if negative else r
                    result[k] = self._sum(result[k], r) if k in result else r
            return result
        if expr.op == "div":
            below = self._register(expr.args[1])
            return {
                k: self._unary(INV, below) if r == _ONE else self._emit(DIV, r, below)
                for k, r in self._affine(expr.args[0]).items()
            }
        assert expr.op == "mul", expr.op
        inner: _Affine = {_REST: _ONE}
        factor = _ONE
        for a in expr.args:
            if self._is_known(a):
                factor = self._times(factor, self._register(a))
            else:
                inner = self._affine(a)
        return {k: self._times(factor, r) for k, r in inner.items()}

    def _is_known(self, expr: Expr) -> bool:
        """Free of linear unknowns?"""
        return self.linear.isdisjoint(self.unknowns.get(expr, _NONE))

    def _register(self, expr: Expr) -> int:
        """The register that holds ``expr`` (free of linear unknowns)."""
        found = self.memo.get(expr)
        if found is None:
            found = self.memo[expr] = self._new_register(expr)
        return found

    def _new_register(self, expr: Expr) -> int:
        if isinstance(expr, Var):
            return expr.index
        if isinstance(expr, Const):
            register = self._take()
            self.constants[register] = expr.value
            return register
        if isinstance(expr, Param):
            self.theta[expr.index] = register = self._take()
            self.moving.add(register)
            return register
        assert isinstance(expr, Call)
        if expr.op == "pow":
            return self._power(expr)
        if expr.op in ("sin", "cos"):
            sine = self._unary(SINCOS, self._register(expr.args[0]))
            return sine if expr.op == "sin" else sine + 1
        registers = [self._register(a) for a in expr.args]
        if expr.op in _CHAINS:
            result = registers[0]
            for r in registers[1:]:
                result = self._emit(_CHAINS[expr.op], result, r)
            return result
        if expr.op in _BINARY:
            return self._emit(_BINARY[expr.op], registers[0], registers[1])
        return self._unary(_UNARY[expr.op], registers[0])

    def _power(self, expr: Call) -> int:
        """Integer powers as products, halves through a square root, anything else as the general power."""
        base, exponent = self._register(expr.args[0]), expr.args[1]
        if isinstance(exponent, Const) and 0 < abs(2.0 * exponent.value) <= _MAX_TWICE:
            twice = abs(2.0 * exponent.value)
            if twice == math.floor(twice):
                whole, half = divmod(int(twice), 2)
                result = self._chain(base, whole) if whole else _ONE
                if half:
                    result = self._times(result, self._unary(SQRT, base))
                return self._unary(INV, result) if exponent.value < 0 else result
        return self._emit(POW, base, self._register(exponent))

    def _chain(self, base: int, power: int) -> int:
        if power == 1:
            return base
        square = self._unary(SQUARE, self._chain(base, power // 2))
        return self._emit(MUL, square, base) if power % 2 else square

    def _times(self, a: int, b: int) -> int:
        if a == _ONE or b == _ONE:
            return b if a == _ONE else a
        return self._emit(MUL, a, b)

    def _sum(self, a: int, b: int) -> int:
        return self._emit(ADD, self._as_register(a), self._as_register(b))

    def _as_register(self, r: int) -> int:
        return self._register(Const(1.0)) if r == _ONE else r

    def _take(self, count: int = 1) -> int:
        first = self.next
        self.next += count
        return first

    def _emit(self, op: int, a: int, b: int) -> int:
        if op in (ADD, MUL) and a > b:
            a, b = b, a
        key = (op, a, b)
        out = self.known.get(key)
        if out is None:
            out = self.known[key] = self._take(_n_results(op))
            self.steps.append((op, out, a, b))
            if a in self.moving or b in self.moving:
                self.moving.update(range(out, out + _n_results(op)))
        return out

    def _unary(self, op: int, a: int) -> int:
        return self._emit(op, a, a)


def _n_results(op: int) -> int:
    """Sine and cosine come together; the general power keeps the logarithm of its base for the derivative."""
    return 2 if op in (SINCOS, POW) else 1
