"""From numbers back to a formula: inner functions with their constants, refitted on all rows and written down.

A model is a space, a term (see scan.py) and its constants.  ``finish`` refines the constants on all rows of the
space, solves for the coefficients, drops what is negligible, reads exponents as simple fractions and composes the
formula of y.  It does not search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import DIGITS_9, Floats, Ints
from ...fit.kernels.scan import OFFSET, Codes, inner, refine
from ...symbolic.expr import Call, Const, Expr, call, product
from .dictionary import FAMILIES, ONE, Family, affine
from .spaces import Part, Space, read_exponent

__all__ = ["Model", "finish"]

BY_CODE: dict[tuple[bool, int], Family] = {(f.log, f.code): f for f in FAMILIES}

# Below this |κ|·range(t) an inner function is its own Taylor polynomial, and its coefficients explode.
MIN_SPAN = 0.02
MAX_CANCELLATION = 300.0
DOMINANT = 1e8
MAX_STEPS = 30


@dataclass(frozen=True)
class Model:
    """A term with constants; its rows index ``args``, of which the first is 1."""

    term: Ints
    kappa: Floats
    args: Sequence[Expr]


@dataclass(frozen=True)
class _Feature:
    """One column of a term: its formula and unweighted values."""

    expr: Expr
    values: Floats
    raised: bool


def finish(space: Space, model: Model) -> Expr | None:
    """The formula of y that a model stands for, fitted on all rows of the space; None if it cannot be written."""
    rows = sorted({int(r) for r in model.term[[0, 2, 3]] if r >= 0} | {0})
    place = {row: i for i, row in enumerate(rows)}
    values = np.ascontiguousarray([space.values(model.args[row]) for row in rows])
    if not np.isfinite(values).all():
        return None
    multiplier, code, *used = (int(number) for number in model.term)
    term = np.array([place[multiplier], code, *(place.get(row, -1) for row in used)])
    kappa = model.kappa.copy()
    if len(kappa):
        kappa = _refined(space, term, values, kappa)
    features = _features(space, term, kappa, [model.args[row] for row in rows], values)
    return None if features is None else _solved(space, features)


def _refined(space: Space, term: Ints, values: Floats, kappa: Floats) -> Floats:
    """The constants after Levenberg–Marquardt on all rows (weights ride on the multiplier)."""
    outer, target = space.project()
    table = np.ascontiguousarray(np.vstack([values, values[term[0]] * space.weight]))
    weighted = np.array([len(values), *term[1:]])
    refine(weighted, table, kappa, outer, target, MAX_STEPS, 1e-31)
    return kappa


def _features(space: Space, term: Ints, kappa: Floats, args: Sequence[Expr], values: Floats) -> list[_Feature] | None:
    multiplier, code, *rows = (int(number) for number in term)
    columns: list[tuple[Expr, Floats]] | None = [(ONE, np.ones(values.shape[1]))]
    if code >= 0:
        rows = [row for row in rows if row >= 0]
        if any(abs(k) * np.ptp(values[r]) < MIN_SPAN for k, r in zip(kappa, rows) if args[r] != ONE):
            return None
        columns = _factor(space, code, kappa, [args[r] for r in rows], values[rows])
    if columns is None:
        return None
    if multiplier > 0:
        columns = [(_times(args[multiplier], expr), column * values[multiplier]) for expr, column in columns]
    if not all(np.isfinite(column).all() for _, column in columns):
        return None
    # A bare argument in log space is the exponent of a factor exp(a·t).
    return [_Feature(expr, column, space.log and code >= 0) for expr, column in columns]


def _factor(
    space: Space, code: int, kappas: Floats, args: Sequence[Expr], values: Floats
) -> list[tuple[Expr, Floats]] | None:
    """Formulas and values (ln|g| in log space) of the columns of one inner function."""
    family = BY_CODE[space.log, code]
    kappas = np.array([_whole(k) if _is_log(a) else k for k, a in zip(kappas, args)])
    offset = float(OFFSET[code])
    s = kappas @ values
    if offset and np.min(np.abs(s)) > DOMINANT:
        offset = 0.0  # 1 + κt has become κt
    s = offset + s
    formula = affine(offset, [float(c) for c in kappas], args)
    if code in (Codes.LN1, Codes.LOG_LN1) and "ln" in family.needs and np.any(s <= 0):
        # A logarithm with a pole amid the data is hardly ever meant.
        if not np.all(s < 0) or code == Codes.LOG_LN1:
            return None
        formula = call("neg", formula)
    exprs = family.build(formula)
    return [(expr, np.asarray(column, dtype=np.float64)) for expr, column in zip(exprs, inner(code, s))]


def _is_log(arg: Expr) -> bool:
    return isinstance(arg, Call) and arg.op == "ln"


def _whole(exponent: float) -> float:
    """A fitted exponent of an exact law, cleaned of rounding."""
    return read_exponent(exponent, 1e-10)


def _times(a: Expr, b: Expr) -> Expr:
    if a == ONE:
        return b
    return a if b == ONE else product([a, b])


def _solved(space: Space, features: list[_Feature]) -> Expr | None:
    """Coefficients by least squares, small ones dropped, exponents read, waves joined."""
    parts = [*space.basis, *(Part(f.expr, f.raised) for f in features)]
    design = np.column_stack([space.design, *(f.values * space.weight for f in features)])
    target = space.target * space.weight
    if not np.isfinite(design).all() or np.max(np.abs(design)) > 1e100:
        return None
    active, coefs, errors = _eliminated(design, target)
    if active is None or not any(a >= len(space.basis) for a in active):
        return None
    chosen = [parts[a] for a in active]
    if not space.log and _cancels(design[:, active], coefs, target):
        return None
    if space.log:
        raised = [part.raised for part in chosen]
        coefs = [read_exponent(c, e) if r else c for c, e, r in zip(coefs, errors, raised)]
    else:
        chosen, coefs = _joined_waves(space, chosen, coefs)
    return space.compose(chosen, coefs)


def _eliminated(design: Floats, target: Floats) -> tuple[list[int] | None, list[float], list[float]]:
    """Backward elimination of columns without weight: those that a t-test cannot tell from 0."""
    n = len(target)
    active = list(range(design.shape[1]))
    while True:
        scale = np.linalg.norm(design[:, active], axis=0)
        if np.any(scale == 0) or not np.isfinite(scale).all():
            return None, [], []
        q, r = np.linalg.qr(design[:, active] / scale)
        diagonal = np.abs(np.diag(r))
        if np.min(diagonal) < 1e-13 * np.max(diagonal):
            active.pop(int(np.argmin(diagonal)))
            if not active:
                return None, [], []
            continue
        dots = q.T @ target
        residual = target - q @ dots
        inverse = np.linalg.inv(r)
        coefs = inverse @ dots
        # Rounding puts a floor under the residual, so that exact fits have standard errors too.
        sigma = math.sqrt(float(residual @ residual) / max(1, n - len(active)))
        sigma = max(sigma, 2e-16 * float(np.linalg.norm(target)) / math.sqrt(n))
        errors = sigma * np.sqrt(np.sum(inverse**2, axis=1))
        strength = np.abs(coefs) / errors
        weakest = int(np.argmin(strength))
        limit = 2.5 if sigma > 1e-10 * np.linalg.norm(target) / math.sqrt(n) else 1e3
        if strength[weakest] > limit or len(active) == 1:
            return active, list(coefs / scale), list(errors / scale)
        active.pop(weakest)


def _cancels(design: Floats, coefs: Sequence[float], target: Floats) -> bool:
    """Are terms huge that cancel?  So wrong functions imitate a law to many digits on few rows."""
    terms = design * np.asarray(coefs)
    return bool(np.max(np.std(terms, axis=0)) > MAX_CANCELLATION * np.std(target))


def _joined_waves(space: Space, parts: list[Part], coefs: list[float]) -> tuple[list[Part], list[float]]:
    """c·sin(s) + d·cos(s) becomes one sine with a phase; c·exp(s) ± c·exp(-s) a hyperbolic function."""
    parts, coefs = list(parts), list(coefs)
    i = 0
    while i + 1 < len(parts):
        joined = _join(space, parts[i].expr, coefs[i], parts[i + 1].expr, coefs[i + 1])
        if joined is not None:
            parts[i : i + 2] = [Part(joined[0])]
            coefs[i : i + 2] = [joined[1]]
        i += 1
    return parts, coefs


def _join(space: Space, a: Expr, c: float, b: Expr, d: float) -> tuple[Expr, float] | None:
    fa, fb = _factors(a), _factors(b)
    if len(fa) != len(fb) or fa[:-1] != fb[:-1]:
        return None
    u, v = fa[-1], fb[-1]
    if not (isinstance(u, Call) and isinstance(v, Call)):
        return None
    if u.op == "sin" and v.op == "cos" and u.args == v.args:
        phased = call("sin", u.args[0] + Const(math.atan2(d, c)))
        return product([*fa[:-1], phased]), math.hypot(c, d)
    if u.op == v.op == "exp" and v.args[0] == product([Const(-1.0), u.args[0]]) and abs(abs(c / d) - 1) < DIGITS_9:
        op = "cosh" if c * d > 0 else "sinh"
        if space.problem.allows(op):
            return product([*fa[:-1], Call(op, u.args)]), 2.0 * c
    return None


def _factors(expr: Expr) -> list[Expr]:
    return list(expr.args) if isinstance(expr, Call) and expr.op == "mul" else [expr]
