"""From numbers back to a formula: inner functions with their constants, refitted on all rows and written down.

A model is a space, some terms (see scan.py) and their constants.  ``finish`` refines the constants on all rows of the
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


@dataclass(frozen=True)
class Model:
    """Terms (M, 7) with constants; their rows index ``args``, of which the first is 1."""

    terms: Ints
    kappa: Floats
    args: Sequence[Expr]


@dataclass(frozen=True)
class _Feature:
    """One column of a term: its formula and unweighted values."""

    expr: Expr
    values: Floats
    raised: bool


def finish(space: Space, model: Model, *, max_steps: int = 30) -> Expr | None:
    """The formula of y that a model stands for, fitted on all rows of the space; None if it cannot be written."""
    rows = sorted({int(r) for r in model.terms[:, [0, 2, 3, 5, 6]].ravel() if r >= 0} | {0})
    place = {row: i for i, row in enumerate(rows)}
    values = np.ascontiguousarray([space.values(model.args[row]) for row in rows])
    if not np.isfinite(values).all():
        return None
    terms = model.terms.copy()
    for column in (0, 2, 3, 5, 6):
        terms[:, column] = [place[int(r)] if r >= 0 else -1 for r in terms[:, column]]
    kappa = model.kappa.copy()
    if max_steps and len(kappa):
        kappa = _refined(space, terms, values, kappa, max_steps)
    args = [model.args[row] for row in rows]
    features = _features(space, terms, kappa, args, values)
    return None if features is None else _solved(space, features)


def _refined(space: Space, terms: Ints, values: Floats, kappa: Floats, max_steps: int) -> Floats:
    """The constants after Levenberg–Marquardt on all rows (weights ride on the multipliers)."""
    outer, target = space.project()
    multipliers = np.array([values[m] * space.weight for m in terms[:, 0]])
    table = np.ascontiguousarray(np.vstack([values, multipliers]))
    weighted = terms.copy()
    weighted[:, 0] = len(values) + np.arange(len(terms))
    refine(weighted, table, kappa, outer, target, max_steps, 1e-31)
    return kappa


def _features(space: Space, terms: Ints, kappa: Floats, args: Sequence[Expr], values: Floats) -> list[_Feature] | None:
    features: list[_Feature] = []
    k = 0
    for term in terms:
        columns = [(ONE, np.ones(values.shape[1]))]
        log_factor = space.log
        for code, t, t2 in (term[1:4], term[4:7]):
            if code < 0:
                continue
            used = [int(t)] if t2 < 0 else [int(t), int(t2)]
            kappas = kappa[k : k + len(used)]
            k += len(used)
            if any(abs(c) * np.ptp(values[r]) < MIN_SPAN for c, r in zip(kappas, used) if args[r] != ONE):
                return None
            factor = _factor(space, int(code), kappas, [args[r] for r in used], values[used])
            if factor is None:
                return None
            columns = [(_times(e, f), u * v) for e, u in columns for f, v in factor]
        if term[1] < 0:
            log_factor = False  # a bare argument in log space is the exponent of a factor exp(a·t)
        multiplier = int(term[0])
        for expr, column in columns:
            if multiplier > 0:
                expr, column = _times(args[multiplier], expr), column * values[multiplier]
            if not np.isfinite(column).all():
                return None
            features.append(_Feature(expr, column, log_factor))
    return features


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
