"""Open forms: a term ∂^α f(u) whose function f is not a short polynomial, found by the ordinary search.

f is first a curve, a spline in one field, fitted in weak form beside the best other terms.  The curve's values are then
a table of u and f(u), for which the search of `UniSymNetRegressor` proposes formulas; each is tried as a term in weak
form, and the shortest description decides, the polynomials' too.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline

from ..arrays import Floats
from ..fit.subset import best_subsets
from ..regressor import UniSymNetRegressor  # here and not below: loading it takes a second, which no limit should meet
from ..symbolic.expr import Call, Const, Expr, Var, product, rebuild, variables
from ..symbolic.rewrite.simplify import simplify
from ..symbolic.text import to_text
from .terms import Term
from .weak import WeakForm

DEGREE, PIECES = 4, 8  # of the curve
ROUGH = 0.03  # of its spread, by which it may be wrong: finer formulas would follow the errors of the curve
OTHERS = 3  # terms beside it
N_POINTS = 200  # of the curve
INNER = 0.02  # share of the values at either end that the curve leaves out: few rows are there
EXPLAINED = 0.5  # the curve must at least halve what the polynomials leave
# One input and hardly any noise: stages that come to their end, so that no clock decides which formula is found.
STAGES = ("monomial", "offset", "bases", "rational", "textbook", "oscillations", "peaks", "exponentials")
SEARCH_SECONDS = 20.0  # far more than they need
LOADING = 3.0  # seconds that the first search of a process may take to load its kernels


@dataclass(frozen=True)
class Curve:
    """∂^orders of a function of one field, as a table, and the terms chosen beside it."""

    orders: tuple[int, ...]
    field: int
    u: Floats
    f: Floats
    others: tuple[Term, ...]
    left: float


def best_curve(form: WeakForm, terms: Sequence[Term], columns: Floats, rate: Floats) -> Curve | None:
    """The operator and field whose curve explains most, with the best few other terms."""
    best: Curve | None = None
    n_fields = len(form.fields)
    for orders in sorted({t.orders for t in terms if sum(t.orders) <= 2}, key=lambda o: (sum(o), o)):
        for field in range(n_fields):
            powers = [t.powers[:field] + t.powers[field + 1 :] for t in terms]  # of the other fields
            others = [j for j, t in enumerate(terms) if t.orders != orders or any(powers[j])]
            found = _curve(form, orders, field, [terms[j] for j in others], columns[:, others], rate)
            if found is not None and (best is None or found.left < 0.8 * best.left):
                best = found
    return best


def _curve(
    form: WeakForm, orders: tuple[int, ...], field: int, others: Sequence[Term], columns: Floats, rate: Floats
) -> Curve | None:
    values = form.fields[field]
    low, high = float(values.min()), float(values.max())
    if not high > low:
        return None
    # Not a polynomial: that would be an exact law of its own table.
    knots = np.concatenate([[low] * DEGREE, np.linspace(low, high, PIECES + 1), [high] * DEGREE])
    count = PIECES + DEGREE
    parts = [BSpline(knots, np.eye(count)[k], DEGREE) for k in range(count)]
    if sum(orders):
        parts = parts[1:]  # a derivative does not see a constant
    own = np.column_stack([form.integral(part(values), (*orders, 0)) for part in parts])
    both = np.column_stack([own, columns])
    try:
        subsets = best_subsets(both, rate, max_size=len(parts) + OTHERS, beam=6, keep=1, always=range(len(parts)))
    except ValueError:
        return None
    # One more term must pay: what is left falls by a fifth.
    best = None
    for subset in subsets:
        if best is None or subset.loss < 0.8 * best.loss:
            best = subset
    if best is None:
        return None
    numbers = dict(zip(best.columns, best.coefficients))
    places = np.quantile(values, [INNER, 1.0 - INNER])
    u = np.linspace(float(places[0]), float(places[1]), N_POINTS)
    f = np.sum([numbers[k] * part(u) for k, part in enumerate(parts)], axis=0)
    chosen = tuple(others[j - len(parts)] for j in best.columns if j >= len(parts))
    return Curve(orders, field, u, np.asarray(f), chosen, best.loss)


def open_terms(curve: Curve, n_fields: int, seconds: float) -> list[tuple[Term, ...]]:
    """Sets of terms that formulas for the curve would give, the other terms with them."""
    if not np.isfinite(curve.f).all() or np.ptp(curve.f) == 0.0 or not (seconds > LOADING or _is_loaded()):
        return []
    noise = ROUGH * float(np.std(curve.f))
    model = UniSymNetRegressor(
        max_time=min(seconds, SEARCH_SECONDS), noise=noise, n_jobs=1, validation_fraction=0.0, proposers=STAGES
    )
    try:
        model.fit(curve.u[:, None], curve.f)
    except ValueError:
        return []
    if model.interrupted_:  # the signal was meant for the whole search, and this part has caught it
        signal.raise_signal(signal.SIGINT)
    found: dict[tuple[Term, ...], None] = {}
    for entry in model.front_:
        for expr in (entry.formula.expr, _plain(entry.formula.expr)):
            terms = [term for part in _summands(expr) for term in _terms(part, curve, n_fields)]
            found[(*dict.fromkeys([*terms, *curve.others]),)] = None
    return list(found)


def _is_loaded() -> bool:
    """Whether this process has run the ordinary search before; asking must not load it."""
    warm = sys.modules.get(f"{__package__.rpartition('.')[0]}.regressor.warm")
    return warm is not None and warm.is_warm()


def _plain(expr: Expr) -> Expr:
    """Constants near whole and half numbers as these: the curve's errors move them, and the weak form decides."""

    def rounded(node: Expr) -> Expr:
        near = isinstance(node, Const) and abs(node.value - round(2.0 * node.value) / 2.0) <= ROUGH
        return Const(round(2.0 * node.value) / 2.0) if near and isinstance(node, Const) else node

    return simplify(rebuild(expr, rounded))


def _summands(expr: Expr) -> list[Expr]:
    """The parts of a sum without their factors."""
    if isinstance(expr, Call) and expr.op in ("add", "sub"):
        return [part for arg in expr.args for part in _summands(arg)]
    if isinstance(expr, Call) and expr.op == "neg":
        return _summands(expr.args[0])
    if isinstance(expr, Call) and expr.op == "mul":
        return [product([arg for arg in expr.args if not isinstance(arg, Const)])]
    return [expr]


def _terms(part: Expr, curve: Curve, n_fields: int) -> list[Term]:
    if not variables(part):
        return [] if sum(curve.orders) else [Term(curve.orders, (0,) * n_fields)]
    power = _power(part)
    if power is not None:
        return [Term(curve.orders, tuple(power if i == curve.field else 0 for i in range(n_fields)))]
    own = rebuild(part, lambda node: Var(curve.field) if isinstance(node, Var) else node)
    names = [f"x{i}" for i in range(n_fields)]
    return [Term(curve.orders, (0,) * n_fields, to_text(own, names, None))]


def _power(part: Expr) -> int | None:
    if isinstance(part, Var):
        return 1
    if isinstance(part, Call) and part.op == "pow" and isinstance(part.args[0], Var):
        exponent = part.args[1]
        if isinstance(exponent, Const) and exponent.value in (2.0, 3.0, 4.0):
            return int(exponent.value)
    return None
