"""The textbook's forms in every column and in pairs of them, and planes: what a person would try first.

The list is the judge's (judge/forms.py).  Linear constants are solved for; the others start from a small grid that the
column's own range gives, and all starts race.  Under noise these forms are always tried.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats, evenly
from ...candidate import ParetoFront, Proposal, Status
from ...deadline import Deadline
from ...fit.kernels.fit import fit_tape
from ...fit.kernels.tape import compile_tape
from ...judge.forms import FORMS, fitted_form
from ...judge.special import Form
from ...problem import Problem
from ...symbolic.expr import Call, Const, Expr, Var, bind, evaluate, rebuild, walk
from ...symbolic.rewrite.simplify import simplify

__all__ = ["FACTORS", "Rows", "Textbook", "allowed"]


RATES = (0.5, 2.0, 8.0)  # e-foldings over the column's range
EXPONENTS = (-2.0, -1.0, -0.5, 0.5, 1.5, 2.5)
QUANTILES = (0.1, 0.35, 0.65, 0.9)
WIDTHS = (0.04, 0.12, 0.4)  # of the range
MARGINS = (0.02, 0.2, 1.0)  # of the range
PHASES = (0.0, 1.6, 3.1, -1.6)
N_FREQUENCIES, MAX_WAVES = 3, 40
MAX_STARTS = 64
MAX_PLANES, MAX_WIDE = 5, 12  # columns: all planes, and that over all of them
POWERS = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)  # of columns in products
N_PRODUCTS = 3
MAX_PAIRED = 4  # columns of which pairs are looked at
NEAR = 3.0  # times the best mean square so far
ONE = Const(1.0)
# Curves that are seldom fitted alone, but are often factors: what begins at zero or is even.
FACTORS = (
    Form("constant", ("c0",)),
    Form("saturation by tanh", ("c0*tanh(c1*x0)",), ((1, "rate"),)),
    Form("logarithm from a start", ("c0*ln(x0 + c1) + c2",), ((1, "-start"),)),
    Form("logarithm from zero", ("c0*ln(c1*x0 + 1)",), ((1, "hill"),)),
    Form("bell at zero", ("c0*exp(c1*x0**2)",), ((1, "-width"),)),
    Form("bell with exponential tails", ("c0/(exp(c1*x0) + exp(-c1*x0))",), ((1, "rate"),)),
    Form("even power", ("c0*(c1*x0**2 + 1)**c2",), ((1, "width"), (2, "exponent"))),
    Form("power of a level and a power", ("c0*(c1*x0**c2 + 1)**c3",), ((1, "hill"), (2, "exponent"), (3, "exponent"))),
    Form("resonance at zero", ("c0/(c1*x0**2 + 1)",), ((1, "width"),)),
    Form("sine", ("c0*sin(c1*x0)",), ((1, "frequency"),)),
    Form("cosine", ("c0*cos(c1*x0)",), ((1, "frequency"),)),
    Form("square", ("c0*x0**2",)),
    Form("sinc", ("c0*sin(c1*x0)/x0",), ((1, "frequency"),)),
    Form("diffraction", ("c0*(sin(c1*x0)/x0)**2",), ((1, "frequency"),)),
    # Of shares, rates and angles, which have no unit: nothing inside is left to fit.
    *(Form(text, (f"c0*{text}",)) for text in ("(x0 + 1)", "(1 - x0)", "(x0 + 1)**-1", "(1 - x0)**-1", "(1 - x0**2)")),
    *(Form(text, (f"c0*{text}",)) for text in ("ln(x0 + 1)", "ln(1 - x0)", "sqrt(1 - x0**2)", "sin(x0)", "cos(x0)")),
    *(Form(text, (f"c0*{text}",)) for text in ("(1 - x0**2)**-1", "(1 - x0**2)**-0.5")),
)


@dataclass(frozen=True)
class Textbook:
    """Settings: rows that are looked at, inputs beyond which nothing is tried, whether curves that are seldom fitted
    alone are tried, too, or all of them the other way round; seconds at most."""

    name: str = "textbook"
    max_rows: int = 300
    most_inputs: float = math.inf
    factors: bool = False
    inverted: bool = False
    seconds: float = 4.0

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        if problem.n_features > self.most_inputs:
            return
        limit = deadline.sooner(self.seconds)
        rows = evenly(problem.n_rows, self.max_rows)
        table = Rows(problem.X[rows], problem.y[rows], problem.weights[rows])
        best = math.inf
        if problem.allows("add", "mul") and not self.inverted:
            yield from (Proposal(plane, self.name) for plane in table.planes())
            yield from (Proposal(product, self.name) for product in table.products())
        trials = (
            _inverted(problem) if self.inverted else _trials(problem, (*FORMS, *FACTORS) if self.factors else FORMS)
        )
        for form, argument, factor in trials:
            if limit.expired():
                return
            if not allowed(_times(fitted_form(form)[0], factor), problem):
                continue
            alone = factor == ONE and isinstance(argument, Var)
            found, loss = table.fitted(form, argument, factor)
            if found is not None and (alone or loss <= NEAR * best):  # pairs are many, and most explain nothing
                best = min(best, loss)
                yield Proposal(found, self.name)


@dataclass(frozen=True)
class Rows:
    """What the forms are fitted to."""

    X: Floats
    y: Floats
    weights: Floats

    def planes(self) -> Iterator[Expr]:
        """The plane over all columns, and over some of them where these are few, with and without a constant."""
        d, root = self.X.shape[1], np.sqrt(self.weights)
        sizes = range(2, d + 1) if d <= MAX_PLANES else [d] if d <= MAX_WIDE else []
        for columns in itertools.chain.from_iterable(itertools.combinations(range(d), n) for n in sizes):
            for table in (np.column_stack([self.X[:, columns], np.ones(len(self.y))]), self.X[:, columns]):
                if table.shape[1] >= len(self.y) or not np.isfinite(table).all():
                    continue
                numbers = np.linalg.lstsq(table * root[:, None], self.y * root, rcond=1e-12)[0].tolist()
                terms = [Call("mul", (Const(c), Var(i))) for c, i in zip(numbers, columns, strict=False)]
                yield Call("add", (*terms, *map(Const, numbers[len(columns) :])))

    def products(self) -> Iterator[Expr]:
        """The best products of two or three columns with usual exponents, by least squares and by factors."""
        d = self.X.shape[1]
        if not 2 <= d <= MAX_PLANES or not np.isfinite(self.X).all():
            return
        found: dict[tuple[tuple[int, float], ...], tuple[float, float]] = {}
        for columns in itertools.chain.from_iterable(itertools.combinations(range(d), n) for n in (2, 3)):
            for powers in itertools.product(POWERS, repeat=len(columns)):
                chosen = tuple(zip(columns, powers, strict=True))
                unusual = 2.0 * (sum(abs(power) != 1.0 for power in powers) + len(columns) - 2)  # nats
                with np.errstate(all="ignore"):
                    values = np.prod([self.X[:, i] ** power for i, power in chosen], axis=0)
                    left = self.y - self._factor(values) * values
                    logs = 0.5 * len(left) * np.log([np.mean(self.weights * left**2), np.var(np.log(self.y / values))])
                found[chosen] = float(logs[0]) + unusual, float(logs[1]) + unusual
        for kind in (0, 1):
            known = [chosen for chosen in found if math.isfinite(found[chosen][kind])]
            for chosen in sorted(known, key=lambda one: found[one][kind])[:N_PRODUCTS]:
                factor = self._factor(np.prod([self.X[:, i] ** power for i, power in chosen], axis=0))
                parts = [Call("pow", (Var(i), Const(power))) for i, power in chosen]
                yield simplify(Call("mul", (Const(factor), *parts)))

    def _factor(self, values: Floats) -> float:
        return float(np.sum(self.weights * values * self.y) / np.sum(self.weights * values**2))

    def fitted(self, form: Form, argument: Expr, factor: Expr) -> tuple[Expr | None, float]:
        """factor·form(argument) with its constants, and its mean square; None where it is undefined."""
        constants, loss = self.constants(form, argument, factor)
        if constants is None:
            return None, math.inf
        expr, _ = fitted_form(form)
        whole = rebuild(bind(expr, constants.tolist()), lambda node: argument if node == Var(0) else node)
        return _times(whole, factor), loss

    def constants(self, form: Form, argument: Expr, factor: Expr) -> tuple[Floats | None, float]:
        """The constants of factor·form(argument), and its mean square; None where it is undefined."""
        expr, n_constants = fitted_form(form)
        with np.errstate(all="ignore"):
            x, times = evaluate(argument, self.X), evaluate(factor, self.X)
            target = self.y / times
        usable = np.isfinite(x).all() and np.isfinite(target).all() and np.ptp(x) > 0.0
        if not usable or n_constants >= len(self.y):
            return None, math.inf
        tape = compile_tape(expr if factor == ONE else Call("mul", (expr, Var(1))), 2)
        starts = _starts(form, n_constants, x, target)
        fit = fit_tape(tape, np.column_stack([x, times]), self.y, starts, weights=self.weights)
        if fit.status is not Status.OK or not np.isfinite(fit.params).all():
            return None, math.inf
        return fit.params, fit.loss


def _trials(problem: Problem, forms: Sequence[Form]) -> Iterator[tuple[Form, Expr, Expr]]:
    """Form, what stands for x, and what it is multiplied with: each form in every column alone, then pairs of them."""
    columns = [Var(index) for index in range(problem.n_features)]
    yield from ((form, column, ONE) for form in forms for column in columns)
    if len(columns) <= MAX_PAIRED:
        yield from ((form, argument, factor) for argument, factor in _pairs(columns) for form in forms)


def _inverted(problem: Problem) -> Iterator[tuple[Form, Expr, Expr]]:
    """A number that inputs were merged into may as well be the other way round, and what was stripped of the target
    either of the two that are compared."""
    if not problem.allows("div"):
        return
    for column in (Var(i) for i in range(problem.n_features) if np.all(problem.X[:, i] > 0.0)):
        both = (column, _inverse(column))
        yield from ((form, both[1], ONE) for form in (*FORMS, *FACTORS))
        yield from ((form, argument, factor) for factor in both for argument in both for form in FACTORS)


def _pairs(columns: list[Var]) -> Iterator[tuple[Expr, Expr]]:
    for a, b in itertools.permutations(columns, 2):
        yield a, b
        yield a, _inverse(b)
    for a, b in itertools.combinations(columns, 2):
        yield Call("mul", (a, b)), ONE
        yield Call("mul", (a, _inverse(b))), ONE
        yield Call("add", (a, Call("mul", (Const(-1.0), b)))), ONE


def _inverse(expr: Expr) -> Expr:
    return Call("pow", (expr, Const(-1.0)))


def _times(expr: Expr, factor: Expr) -> Expr:
    return expr if factor == ONE else Call("mul", (expr, factor))


def allowed(expr: Expr, problem: Problem) -> bool:
    return problem.allows(*(node.op for node in walk(expr) if isinstance(node, Call)))


def _starts(form: Form, n_constants: int, x: Floats, y: Floats) -> Floats:
    """Starting values of all constants; those that are not named are linear, and 1 will do."""
    grids = [_values(role, x, y) for _, role in form.roles]
    points = list(itertools.product(*grids))
    if len(points) > MAX_STARTS:
        points = [points[i] for i in np.linspace(0, len(points) - 1, MAX_STARTS).astype(int)]
    starts = np.ones((max(len(points), 1), n_constants))
    middle = float(np.median(np.abs(x))) or 1.0
    for start, point in zip(starts, points, strict=False):
        named = dict(zip((index for index, _ in form.roles), point, strict=True))
        exponent = next((named[index] for index, role in form.roles if role == "exponent"), 1.0)
        for index, role in form.roles:
            # What stands before a power is of the size that makes the product one in the middle of the column.
            scaled = role in ("scale", "hill")
            start[index] = named[index] * middle**-exponent if scaled else named[index]
    return starts


def _values(role: str, x: Floats, y: Floats) -> tuple[float, ...]:
    width = float(np.ptp(x))
    places = tuple(float(q) for q in np.quantile(x, QUANTILES))
    middle = float(np.median(np.abs(x))) or 1.0
    if role == "rate":
        return tuple(sign * rate / width for rate in RATES for sign in (-1.0, 1.0))
    if role == "place":
        return tuple(middle * factor for factor in (0.1, 0.5, 2.0, 8.0))
    if role == "-place":
        return tuple(-place for place in places)
    if role in ("-start", "end"):  # as far from the rows as they are wide, and nearer
        edge = float(np.max(x)) if role == "end" else -float(np.min(x))
        return tuple(edge + share * width for share in MARGINS)
    if role in ("width", "-width"):
        sign = -1.0 if role == "-width" else 1.0
        return tuple(sign / (share * width) ** 2 for share in WIDTHS)
    if role == "exponent":
        return EXPONENTS
    if role == "scale":
        return (-3.0, -0.5, 0.5)
    if role == "hill":
        return (0.3, 1.0, 3.0)
    if role == "antoine":
        return (-20.0 * middle, -5.0 * middle, 5.0 * middle)
    return PHASES if role == "phase" else _frequencies(x, y)


def _frequencies(x: Floats, y: Floats) -> tuple[float, ...]:
    """The waves that explain most, by least squares with a constant."""
    n_waves = np.arange(1.0, min(MAX_WAVES, len(x) // 3) + 1.0) / 2.0
    rates = 2.0 * math.pi * n_waves / float(np.ptp(x))
    left = []
    for rate in rates:
        table = np.column_stack([np.sin(rate * x), np.cos(rate * x), np.ones(len(x))])
        left.append(float(np.sum((y - table @ np.linalg.lstsq(table, y, rcond=None)[0]) ** 2)))
    return tuple(float(rates[i]) for i in np.argsort(left)[:N_FREQUENCIES]) or (1.0 / float(np.ptp(x)),)
