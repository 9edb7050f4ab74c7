"""Whole textbook forms in one input: what people fit to measured data before anything else.

From public lists of curves: trend lines of spreadsheets, the self-starting models of R, the models of lmfit.  One row
is one form; ``spellings`` are ways to write it that a fit may end in.  The stage `textbook` fits them; the judge gives
half of its belief to them.  ``roles`` say what each inner constant is, for starting values.  After a change here run
``python benchmarks/make_forms.py`` (special.py says why).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import cache

from ..symbolic.expr import Call, Const, Expr, Param, Var, n_params, walk
from ..symbolic.parse import parse
from ..symbolic.rewrite.collect import terms_of
from .special import ABSENT_NATS, Form, Table, shape_of, table

SHIFTED = ("(c0*x0 + c1)**c2", "c0*(c1*x0 + 1)**c2", "c0*(c1*x0 + c2)**c3")

FORMS: tuple[Form, ...] = (
    Form("line", ("c0*x0 + c1",), (), 3.0),
    Form("proportion", ("c0*x0",), (), 3.0),
    Form("parabola", ("c0*x0**2 + c1*x0 + c2",), (), 3.0),
    Form("cubic", ("c0*x0**3 + c1*x0**2 + c2*x0 + c3",)),
    Form("logarithm", ("c0*ln(x0) + c1", "ln(c0*x0)*c1"), (), 2.0),
    Form("power law", ("c0*x0**c1",), ((1, "exponent"),), 3.0),
    # Aftershocks, words by rank, decline of wells; a crack towards its end, order below a critical temperature.
    Form("power law from a start", ("c0*(x0 + c1)**c2", *SHIFTED), ((1, "-start"), (2, "exponent")), 0.5),
    Form("power law towards an end", ("c0*(c1 - x0)**c2", *SHIFTED), ((1, "end"), (2, "exponent")), 0.5),
    Form("power law with an offset", ("c0*x0**c1 + c2",), ((1, "exponent"),)),
    Form("exponential", ("c0*exp(c1*x0)", "exp(c1*x0 + c0)"), ((1, "rate"),), 3.0),
    Form("exponential with an offset", ("c0*exp(c1*x0) + c2", "exp(c1*x0 + c0) + c2"), ((1, "rate"),)),
    Form("saturation through the origin", ("c0*(1 - exp(c1*x0))",), ((1, "rate"),)),
    Form("two exponentials", ("c0*exp(c1*x0) + c2*exp(c3*x0)",), ((1, "rate"), (3, "rate")), falling=True),
    Form("hyperbola", ("c0/x0 + c1",)),
    Form("Michaelis-Menten", ("c0*x0/(x0 + c1)", "x0/(c0*x0 + c1)", "c0/(c1/x0 + 1)"), ((1, "place"),), endless=True),
    Form(
        "Hill between two levels",
        ("c3 + c0/(1 + c1*x0**c2)", "c3 + c0*x0**c2/(x0**c2 + c1)"),
        ((1, "hill"), (2, "exponent")),
        endless=True,
    ),
    Form("Hill", ("c0/(1 + c1*x0**c2)", "c0*x0**c2/(x0**c2 + c1)"), ((1, "hill"), (2, "exponent")), endless=True),
    Form(
        "logistic",
        (
            "c0/(1 + exp(c1*(x0 + c2)))",
            "c0/(1 + c2*exp(c1*x0))",
            "c0/(c2 + exp(c1*x0))",
            "1/(c0 + c2*exp(c1*x0))",
            "c0/(1 + exp(c1*x0 + c2))",
        ),
        ((1, "rate"), (2, "-place")),
        endless=True,
    ),
    Form(
        "logistic between two levels",
        (
            "c3 + c0/(1 + exp(c1*(x0 + c2)))",
            "c3 + c0/(1 + c2*exp(c1*x0))",
            "c3 + c0/(c2 + exp(c1*x0))",
            "c3 + 1/(c0 + c2*exp(c1*x0))",
            "c3 + c0/(1 + exp(c1*x0 + c2))",
            "c3 + c0*tanh(c1*x0 + c2)",
        ),
        ((1, "rate"), (2, "-place")),
        endless=True,
    ),
    Form(
        "Gompertz",
        ("c0*exp(-exp(c1*(x0 + c2)))", "c0*exp(c2*exp(c1*x0))", "c0*exp(-exp(c1*x0 + c2))"),
        ((1, "rate"), (2, "-place")),
    ),
    Form("Weibull", ("c0 + c1*exp(c2*x0**c3)",), ((2, "scale"), (3, "exponent"))),
    Form("stretched exponential", ("c0*exp(c1*x0**c2)",), ((1, "scale"), (2, "exponent"))),
    Form(
        "Gaussian",
        ("c0*exp(c1*(x0 + c2)**2)", "c0*exp(c1*x0**2 + c2*x0)", "exp(c0*x0**2 + c1*x0 + c2)"),
        ((1, "-width"), (2, "-place")),
    ),
    Form(
        "Gaussian on a level",
        ("c3 + c0*exp(c1*(x0 + c2)**2)", "c3 + c0*exp(c1*x0**2 + c2*x0)"),
        ((1, "-width"), (2, "-place")),
    ),
    Form(
        "Lorentzian",
        ("c0/(1 + c1*(x0 + c2)**2)", "c0/((x0 + c2)**2 + c1)", "c0/(x0**2 + c1*x0 + c2)"),
        ((1, "width"), (2, "-place")),
    ),
    Form("Arrhenius", ("c0*exp(c1/x0)", "exp(c1/x0 + c0)"), ((1, "place"),)),
    Form("Antoine", ("c0*exp(c1/(x0 + c2))", "exp(c0 + c1/(x0 + c2))"), ((1, "antoine"), (2, "place"))),
    Form("inverse line", ("1/(c0*x0 + c1)", "c0/(x0 + c1)"), (), 0.5),
    Form(
        "substrate inhibition",
        ("c0*x0/(c1 + x0 + c2*x0**2)", "c0*x0/(c1 + c2*x0 + x0**2)"),
        ((1, "place"), (2, "width")),
        0.5,
    ),
    Form("wave", ("c0*sin(c1*x0 + c2) + c3", "c0*cos(c1*x0 + c2) + c3"), ((1, "frequency"), (2, "phase")), 0.25),
    Form(
        "damped wave",
        ("c0*exp(c1*x0)*sin(c2*x0 + c3)", "c0*exp(c1*x0)*cos(c2*x0 + c3)"),
        ((1, "rate"), (2, "frequency"), (3, "phase")),
        0.25,
    ),
    Form("surge", ("c0*x0*exp(c1*x0)",), ((1, "rate"),), 0.25, True),
    Form("gamma curve", ("c0*x0**c1*exp(c2*x0)",), ((1, "exponent"), (2, "rate")), 0.5, True),
    Form("difference of two exponentials", ("c0*(exp(c1*x0) - exp(c2*x0))",), ((1, "rate"), (2, "rate")), 0.25, True),
    Form("square root", ("c0*sqrt(x0) + c1",), (), 0.5),
)


MANY_WEIGHT = 3.0  # of planes, and of products of powers, in two or more columns: in every list, as the line is


@cache
def _table() -> Table:
    return table(FORMS)


@cache
def _whole_weight() -> float:
    """Belief is shared out: what special cases get, the forms do not have.  Other spellings are the same forms."""
    return 2.0 * MANY_WEIGHT + sum(form.weight for form in FORMS) + _table().special_weight


def form_share(expr: Expr) -> tuple[Form, float] | None:
    """The form that a formula in one input is, and the share of the belief in forms that it has."""
    best: tuple[float, Form] | None = None
    for template in _table().templates(shape_of(expr)):
        known = next(_unify(template.tree, expr, {}), None)
        if known is not None and _keeps_its_promise(template.form, expr):
            share = template.form.weight / _whole_weight() * math.exp(-template.nats)
            if best is None or share > best[0]:
                best = share, template.form
    return None if best is None else (best[1], best[0])


def _keeps_its_promise(form: Form, expr: Expr) -> bool:
    return (not form.falling or _all_fall(expr)) and (not form.endless or _is_endless(expr))


def _is_endless(expr: Expr) -> bool:
    """Do the terms of each denominator have one sign?"""
    below = [node.args[0] for node in walk(expr) if isinstance(node, Call) and node.op == "pow" and _is_negative(node)]
    return all(len({c > 0.0 for c in terms_of(base).values()}) < 2 for base in below if not isinstance(base, Var))


def _is_negative(power: Call) -> bool:
    return isinstance(power.args[1], Const) and power.args[1].value < 0.0


def _all_fall(expr: Expr) -> bool:
    """Do all exponentials of a formula fall?"""
    inner = [node.args[0] for node in walk(expr) if isinstance(node, Call) and node.op == "exp"]
    return all(any(isinstance(part, Const) and part.value < 0.0 for part in walk(argument)) for argument in inner)


def many_share(expr: Expr, n_columns: int) -> float:
    """The share of the belief in forms that a plane or a product of powers in two or more columns has; 0 for others.

    They are what people fit to several columns before anything else, as the line and the power law are to one.  Half of
    it is for two columns, a quarter for three, and so on.
    """
    if not isinstance(expr, Call) or expr.op not in ("add", "mul"):
        return 0.0
    parts = [_column_of(part) if expr.op == "add" else _base_of(part) for part in expr.args if not _is_number(part)]
    columns = {part for part in parts if part is not None}
    n = len(columns)
    if None in parts or n < 2 or n < len(parts):
        return 0.0
    absent = ABSENT_NATS if expr.op == "add" and len(parts) == len(expr.args) else 0.0
    return MANY_WEIGHT * 0.5 ** (n - 1) / math.comb(n_columns, n) / _whole_weight() * math.exp(-absent)


def _is_number(expr: Expr) -> bool:
    return isinstance(expr, Const)


def _column_of(part: Expr) -> int | None:
    """The column of a term of a plane."""
    if isinstance(part, Var):
        return part.index
    if isinstance(part, Call) and part.op == "mul" and len(part.args) == 2:
        factor, column = part.args if isinstance(part.args[0], Const) else part.args[::-1]
        if isinstance(factor, Const) and isinstance(column, Var):
            return column.index
    return None


def _base_of(part: Expr) -> int | None:
    """The column of a factor of a product of powers."""
    if isinstance(part, Var):
        return part.index
    if isinstance(part, Call) and part.op == "pow" and isinstance(part.args[0], Var) and _is_number(part.args[1]):
        return part.args[0].index
    return None


def _unify(template: Expr, expr: Expr, known: dict[int, Expr]) -> Iterator[dict[int, Expr]]:
    """Ways to read ``expr`` as the template: which number each parameter is, and which column x0 (key -1)."""
    if isinstance(template, Param | Var):
        wanted = Const if isinstance(template, Param) else Var
        key = template.index if isinstance(template, Param) else -1
        if isinstance(expr, wanted) and known.get(key, expr) == expr:
            yield {**known, key: expr}
        return
    if isinstance(template, Const):
        if template == expr:
            yield known
        return
    assert isinstance(template, Call)
    if not (isinstance(expr, Call) and expr.op == template.op and len(expr.args) == len(template.args)):
        return
    orders = itertools.permutations(expr.args) if template.op in ("add", "mul") else [expr.args]
    for order in orders:
        found = [known]
        for part, arg in zip(template.args, order, strict=True):
            found = [more for one in found for more in _unify(part, arg, one)]
            if not found:
                break
        yield from found


@cache
def fitted_form(form: Form) -> tuple[Expr, int]:
    """The first spelling, its constants as parameters, and how many these are."""
    expr = parse(form.spellings[0])
    return expr, n_params(expr)
