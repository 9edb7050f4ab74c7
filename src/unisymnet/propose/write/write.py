"""From a table of coefficients and a view to the formula for y: compacted, inverted, signs and roots in place."""

from __future__ import annotations

import numpy as np

from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, evaluate
from ..view.views import View, signed
from .compact import compact_ratio, price, sum_forms
from .polynomial import Form, Poly, power
from .shorten import merged

__all__ = ["solved", "write_ratio", "write_root", "write_sum"]


def write_sum(problem: Problem, view: View, poly: Poly, tol: float) -> Expr | None:
    """view(y) = poly, solved for y; the cheapest writing found, None if there is no term."""
    if not len(poly):
        return None
    forms = [form for p in merged(poly, tol, problem) for form in sum_forms(p, tol)]
    return min((solved(problem, view, _plain(form, tol)) for form in forms), key=price)


def write_ratio(problem: Problem, view: View, num: Poly, den: Poly, tol: float) -> Expr | None:
    """view(y) = num/den, solved for y."""
    if not len(num) or not len(den):
        return None
    if len(den) == 1:
        powers, c = den.terms[0]
        return write_sum(problem, view, num.divided(powers).scaled(1.0 / c), tol)
    forms = [compact_ratio(num, den, tol)]
    # The reciprocal divides the other way round, which may be shorter: 1/(1/a + 1/b).
    forms.append(compact_ratio(den, num, tol).inverted())
    return min((solved(problem, view, _plain(form, tol)) for form in forms), key=price)


def write_root(problem: Problem, num: Poly, den: Poly, tol: float) -> Expr | None:
    """√(num/den), the cheapest writing found."""
    if not len(num) or not len(den):
        return None
    if len(den) == 1:
        powers, c = den.terms[0]
        forms = sum_forms(num.divided(powers).scaled(1.0 / c), tol)
    else:
        forms = [compact_ratio(num, den, tol), compact_ratio(den, num, tol).inverted()]
    plain = [_plain(form, tol) for form in forms]
    return min((root for form in plain for root in (power(form.written(), 0.5), _root(problem, form))), key=price)


def _plain(form: Form, tol: float) -> Form:
    """A scale of 1 within the tolerance is 1."""
    near = abs(abs(form.scale) - 1.0) <= tol
    return Form(float(np.sign(form.scale)), form.num, form.den) if near else form


def solved(problem: Problem, view: View, form: Form) -> Expr:
    """view(y) = form, solved for y."""
    if view.name == "y":
        return form.written()
    if view.name == "1/y":
        return form.inverted().written()
    if view.name in ("y**2", "1/y**2"):
        root = _root(problem, form if view.name == "y**2" else form.inverted())
        return min((view.invert(form.written()), _signed(view, root)), key=price)
    if view.name == "ln(y)" and problem.allows("pow"):
        return min((view.invert(form.written()), _signed(view, _as_power(form))), key=price)
    return view.invert(form.written())


def _as_power(form: Form) -> Expr:
    """exp(c·u·ln v) = v**(c·u)."""
    logs = [f for f in form.num if isinstance(f, Call) and f.op == "ln"]
    if len(logs) != 1:
        return Call("exp", (form.written(),))
    rest = tuple(f for f in form.num if f is not logs[0])
    return Call("pow", (logs[0].args[0], Form(form.scale, rest, form.den).written()))


def _signed(view: View, expr: Expr) -> Expr:
    """The sign that the view's inverse carries."""
    return signed(float(view.back(np.ones(1))[0]), expr)


def _root(problem: Problem, form: Form) -> Expr:
    """√form with squares of factors that are positive on the data taken out."""
    outside_num, inside_num = _split(problem, form.num)
    outside_den, inside_den = _split(problem, form.den)
    inside = Form(form.scale, inside_num, inside_den)
    if not inside_num and not inside_den and form.scale > 0:
        return Form(float(np.sqrt(form.scale)), outside_num, outside_den).written()
    if not inside_num and form.scale > 0:
        # c/√(…) instead of √(c²/…)
        below = power(Form(1.0, inside_den).bare(), 0.5)
        return Form(float(np.sqrt(form.scale)), outside_num, (*outside_den, below)).written()
    root = power(inside.written(), 0.5)
    return Form(1.0, (*outside_num, root), outside_den).written()


def _split(problem: Problem, factors: tuple[Expr, ...]) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    outside: list[Expr] = []
    inside: list[Expr] = []
    for factor in factors:
        half = _half(factor)
        positive = half is not None and bool(np.all(evaluate(half, problem.X) > 0))
        if half is not None and positive:
            outside.append(half)
        else:
            inside.append(factor)
    return tuple(outside), tuple(inside)


def _half(factor: Expr) -> Expr | None:
    """The square root of a whole even power."""
    if not isinstance(factor, Call) or factor.op != "pow" or not isinstance(factor.args[1], Const):
        return None
    exponent = factor.args[1].value
    return power(factor.args[0], exponent / 2) if exponent % 2 == 0 else None
