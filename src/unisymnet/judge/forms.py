"""Whole textbook forms in one input: what people fit to measured data before anything else.

From public lists of curves: trend lines of spreadsheets, the self-starting models of R, the models of lmfit.  One row
is one form; ``spellings`` are ways to write it that a fit may end in.  The stage `textbook` fits them; the judge gives
half of its belief to them.  ``roles`` say what each inner constant is, for starting values.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ..symbolic.constants import free_constants, merge_params
from ..symbolic.expr import Call, Const, Expr, Param, Var, bind, n_params, rebuild, variables, walk
from ..symbolic.parse import parse
from ..symbolic.rewrite.simplify import simplify

Shape = tuple[str, ...]


@dataclass(frozen=True)
class Form:
    """``spellings`` in x0 with constants c0, c1, …; the first is the one to fit.  ``roles`` for its constants that do
    not enter linearly: rate (per unit of x), place (a value of x), width, exponent.  ``weight`` is how often people
    mean it: in how many of the three kinds of lists it stands (spreadsheets, R, lmfit); less than one for what fits too
    much to be guessed as readily as a line."""

    name: str
    spellings: tuple[str, ...]
    roles: tuple[tuple[int, str], ...] = ()
    weight: float = 1.0


FORMS: tuple[Form, ...] = (
    Form("line", ("c0*x0 + c1",), (), 3.0),
    Form("proportion", ("c0*x0",), (), 3.0),
    Form("parabola", ("c0*x0**2 + c1*x0 + c2",), (), 3.0),
    Form("cubic", ("c0*x0**3 + c1*x0**2 + c2*x0 + c3",)),
    Form("logarithm", ("c0*ln(x0) + c1", "ln(c0*x0)*c1"), (), 2.0),
    Form("power law", ("c0*x0**c1",), ((1, "exponent"),), 3.0),
    Form("power law with an offset", ("c0*x0**c1 + c2",), ((1, "exponent"),)),
    Form("exponential", ("c0*exp(c1*x0)", "exp(c1*x0 + c0)"), ((1, "rate"),), 3.0),
    Form("exponential with an offset", ("c0*exp(c1*x0) + c2", "exp(c1*x0 + c0) + c2"), ((1, "rate"),)),
    Form("saturation through the origin", ("c0*(1 - exp(c1*x0))",), ((1, "rate"),)),
    Form("two exponentials", ("c0*exp(c1*x0) + c2*exp(c3*x0)",), ((1, "rate"), (3, "rate"))),
    Form("hyperbola", ("c0/x0 + c1",)),
    Form("Michaelis-Menten", ("c0*x0/(x0 + c1)", "x0/(c0*x0 + c1)", "c0/(c1/x0 + 1)"), ((1, "place"),)),
    Form("Hill", ("c0/(1 + c1*x0**c2)", "c0*x0**c2/(x0**c2 + c1)"), ((1, "hill"), (2, "exponent"))),
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
    Form("inverse line", ("1/(c0*x0 + c1)", "c0/(x0 + c1)")),
    Form(
        "substrate inhibition",
        ("c0*x0/(c1 + x0 + c2*x0**2)", "c0*x0/(c1 + c2*x0 + x0**2)"),
        ((1, "place"), (2, "width")),
    ),
    Form("wave", ("c0*sin(c1*x0 + c2) + c3", "c0*cos(c1*x0 + c2) + c3"), ((1, "frequency"), (2, "phase")), 0.25),
    Form(
        "damped wave",
        ("c0*exp(c1*x0)*sin(c2*x0 + c3)", "c0*exp(c1*x0)*cos(c2*x0 + c3)"),
        ((1, "rate"), (2, "frequency"), (3, "phase")),
        0.25,
    ),
    Form("surge", ("c0*x0*exp(c1*x0)",), ((1, "rate"),), 0.25),
    Form("gamma curve", ("c0*x0**c1*exp(c2*x0)",), ((1, "exponent"), (2, "rate"))),
    Form("difference of two exponentials", ("c0*(exp(c1*x0) - exp(c2*x0))",), ((1, "rate"), (2, "rate")), 0.25),
    Form("square root", ("c0*sqrt(x0) + c1",)),
)


# A constant that a form can do without (no offset, no phase, an exponent of one) costs no more than any fitted one
# would; a factor of one, which hangs on the unit, costs more.  So a special case is not dearer than the form with that
# constant fitted to nothing.
ABSENT_NATS, ONE_NATS = 1.0, 2.5
MOST_ABSENT = 2
MANY_WEIGHT = 3.0  # of planes, and of products of powers, in two or more columns: in every list, as the line is


def canonical(expr: Expr) -> Expr:
    """The formula with redundant constants merged, exponents as they are: how the forms are compared."""
    form, values = free_constants(simplify(expr))
    return simplify(bind(form, values))


@dataclass(frozen=True)
class Template:
    """A spelling of a form, or of a special case of it, as a tree whose parameters stand for any number; ``nats`` is
    what the special case costs more than the form."""

    form: Form
    tree: Expr
    nats: float = 0.0


@cache
def templates() -> dict[Shape, tuple[Template, ...]]:
    """Every form and special case, by what can be seen of it at once; of two ways to read a tree the cheaper one."""
    found: dict[Expr, Template] = {}
    for form in FORMS:
        for text in form.spellings:
            tree = simplify(merge_params(simplify(parse(text))))
            found.setdefault(tree, Template(form, tree))
    for form in FORMS:
        for text in form.spellings:
            for special in _special_cases(form, parse(text)):
                if special.tree not in found or special.nats < found[special.tree].nats:
                    found[special.tree] = special
    by_shape: dict[Shape, list[Template]] = {}
    for template in found.values():
        by_shape.setdefault(_shape(template.tree), []).append(template)
    return {shape: tuple(sorted(some, key=lambda t: t.nats)) for shape, some in by_shape.items()}


def _special_cases(form: Form, expr: Expr) -> Iterator[Template]:
    """The form with one or two of its constants at 0 or 1, as long as it keeps its column and a constant."""
    exponents = {node.args[1] for node in walk(expr) if isinstance(node, Call) and node.op == "pow"}
    ways = [
        (param, value, ABSENT_NATS if value == 0.0 or param in exponents else ONE_NATS)
        for param in sorted({node for node in walk(expr) if isinstance(node, Param)}, key=lambda p: p.index)
        for value in (0.0, 1.0)
    ]
    for n in range(1, MOST_ABSENT + 1):
        for chosen in itertools.combinations(ways, n):
            known = {param: Const(value) for param, value, _ in chosen}
            if len(known) < n:
                continue
            special = simplify(rebuild(expr, lambda node, known=known: known.get(node, node)))  # type: ignore[misc]
            if variables(special) and n_params(special):
                tree = simplify(merge_params(special))
                yield Template(form, tree, sum(nats for _, _, nats in chosen))


@cache
def _whole_weight() -> float:
    """Belief is shared out: what special cases get, the forms do not have.  Other spellings are the same forms."""
    known = {simplify(merge_params(simplify(parse(text)))) for form in FORMS for text in form.spellings}
    special: dict[Expr, float] = {}
    for form in FORMS:
        for case in _special_cases(form, parse(form.spellings[0])):
            if case.tree not in known:
                share = form.weight * math.exp(-case.nats)
                special[case.tree] = max(share, special.get(case.tree, 0.0))
    return 2.0 * MANY_WEIGHT + sum(form.weight for form in FORMS) + sum(special.values())


def matches(expr: Expr) -> Form | None:
    """The form that a formula in one input is, or None."""
    found = form_share(expr)
    return None if found is None else found[0]


def form_share(expr: Expr) -> tuple[Form, float] | None:
    """The form that a formula in one input is, and the share of the belief in forms that it has.

    A constant of the form that happens to be 1 is no sign that comes for nothing: it was chosen, too.
    """
    best: tuple[float, Form] | None = None
    for template in templates().get(_shape(expr), ()):
        known = next(_unify(template.tree, expr, {}), None)
        if known is not None:
            n_ones = sum(isinstance(part, Const) and abs(part.value) == 1.0 for part in known.values())
            share = template.form.weight / _whole_weight() * math.exp(-template.nats - ONE_NATS * n_ones)
            if best is None or share > best[0]:
                best = share, template.form
    return None if best is None else (best[1], best[0])


def many_share(expr: Expr, n_columns: int) -> float:
    """The share of the belief in forms that a plane or a product of powers in two or more columns has; 0 for others.

    They are what people fit to several columns before anything else, as the line and the power law are to one.  Half of
    it is for two columns, a quarter for three, and so on.
    """
    if not isinstance(expr, Call) or expr.op not in ("add", "mul"):
        return 0.0
    parts = [_column_of(part) if expr.op == "add" else _base_of(part) for part in expr.args if not _is_number(part)]
    columns = {part[0] for part in parts if part is not None}
    n = len(columns)
    if None in parts or n < 2 or n < len(parts):
        return 0.0
    n_ones = sum(part[1] for part in parts if part is not None)
    if expr.op == "mul":
        n_ones = 0 if len(parts) < len(expr.args) else 1  # exponents are priced as such, a factor of one is one
    absent = ABSENT_NATS if expr.op == "add" and len(parts) == len(expr.args) else 0.0
    share = MANY_WEIGHT * 0.5 ** (n - 1) / math.comb(n_columns, n) / _whole_weight()
    return share * math.exp(-absent - ONE_NATS * n_ones)


def _is_number(expr: Expr) -> bool:
    return isinstance(expr, Const)


def _column_of(part: Expr) -> tuple[int, bool] | None:
    """The column of a term of a plane, and whether its factor is one."""
    if isinstance(part, Var):
        return part.index, True
    if isinstance(part, Call) and part.op == "mul" and len(part.args) == 2:
        factor, column = part.args if isinstance(part.args[0], Const) else part.args[::-1]
        if isinstance(factor, Const) and isinstance(column, Var):
            return column.index, abs(factor.value) == 1.0
    return None


def _base_of(part: Expr) -> tuple[int, bool] | None:
    """The column of a factor of a product of powers."""
    if isinstance(part, Var):
        return part.index, False
    if isinstance(part, Call) and part.op == "pow" and isinstance(part.args[0], Var) and _is_number(part.args[1]):
        return part.args[0].index, False
    return None


def _shape(expr: Expr) -> Shape:
    """Operators and leaves counted: trees that can be read as each other have the same."""
    names = [node.op if isinstance(node, Call) else "x" if isinstance(node, Var) else "c" for node in walk(expr)]
    return tuple(sorted(names))


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
