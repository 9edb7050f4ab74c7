"""The constants of a formula: which numbers are constants, where a free fit puts them, and how sure it is.

Integer exponents and the 1 of 1/x are part of the form, not constants. Standard errors come from the
Jacobian at the optimum; a constant that the others can stand in for (a or b of a*b*x) is held where it is
and has no error of its own. Does not know columns' names, the search, or how a constant was made simple.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..arrays import Floats
from ..deadline import Deadline
from ..problem import KELVIN
from ..symbolic.expr import Call, Const, Expr, Param, bind
from .derivative import independent, value_and_jacobian

MAX_DENOMINATOR, MAX_SMALL, MAX_NUMERATOR = 12, 8, 60  # the mean of nine whole numbers is so many ninths, not simple
SAME, LEAST_LEVERAGE_LEFT = 4e-15, 0.02  # relative: the last bits; of a row that a constant of its own would fit
ROUNDED = 1.2  # 12 times the rise of chi-square, 0.1, that rounding all constants may bring
MOST_SHOWN, SIMPLE_DIGITS, ALL_DIGITS = 10, 12, 17  # a formula that needs more is exact; a simple number may have more
DEPENDENT, MAX_FIT_ROWS = 1e-9, 200_000  # share of a Jacobian column that the earlier columns must leave unexplained
OF_UNITS = ("π/180", f"{KELVIN:g}")  # in the names of numbers that turn degrees and °C into radians and kelvin
_STOP = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "max_nfev": 200}
SETTLED = 0.1  # of its error: so near to a free fit a constant is where that would put it
_IRRATIONALS = {
    "π": math.pi,
    **{f"√{n}": math.sqrt(n) for n in (2, 3)},
    **{"e": math.e, "√π": math.sqrt(math.pi)},
    "(π/180)": math.pi / 180.0,
}


@dataclass(frozen=True)
class Constant:
    """One constant: its `value` in the formula, and what the data say.

    `fitted` is where a least-squares fit puts it when it is free, `stderr` the standard error of that fit;
    both are None where the data cannot tell. `snapped_to` names the simple number that `value` is: "1/2". `step` is
    the power of ten to which all constants may be rounded together without a worse fit worth the name.
    """

    value: float
    fitted: float | None = None
    stderr: float | None = None
    snapped_to: str | None = None
    unit: str | None = None  # None: a plain number
    meaning: str | None = None  # as a simple number times known constants: "2π/g^(1/2)"
    step: float | None = None

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self._number()}{unit}" + (f" = {self.meaning}" if self.meaning else "")

    def _number(self) -> str:
        if self.stderr is None or self.fitted is None:
            return f"{self.value:.6g}"
        near = 0.0 if self.snapped_to else SETTLED * self.stderr
        if abs(self.fitted - self.value) > max(1e-9 * abs(self.value), near):
            return f"{self.snapped_to or f'{self.value:.6g}'} (fitted {with_error(self.fitted, self.stderr)})"
        return with_error(self.value, self.stderr)


def with_error(value: float, stderr: float) -> str:
    """`1.234 ± 0.012`: the error with two digits, the value to the same place."""
    if not math.isfinite(stderr) or stderr <= 0.0 or stderr < 1e-12 * abs(value):
        return f"{value:.10g} ± {stderr:.1g}" if math.isfinite(stderr) and stderr > 0.0 else f"{value:.10g}"
    place = 1 - math.floor(math.log10(stderr))
    largest = max(abs(value), stderr)
    if -4 <= math.floor(math.log10(largest)) <= 6 and place <= 12:
        return f"{value:.{max(place, 0)}f} ± {stderr:.{max(place, 0)}f}"
    digits = max(1, place + math.floor(math.log10(largest)) + 1)
    return f"{value:.{digits}g} ± {stderr:.2g}"


def simple_name(value: float) -> str | None:
    """ "3", "1/2", "2π/3", … if the value is exactly that (to the last bits), else None."""
    text = f"{value:g}" if abs(value) == KELVIN else _ratio(value, MAX_DENOMINATOR)
    if text is not None:
        return text
    for name, number in _IRRATIONALS.items():
        for text, ratio in ((f"{{}}{name}", value / number), (f"{{}}/{name}", value * number)):
            shown = _ratio(ratio, MAX_SMALL)
            if shown is None or shown == "0":
                continue
            if "/" in text:
                return text.format(shown)
            head, _, tail = shown.partition("/")
            head = {"1": "", "-1": "-"}.get(head, head)
            return text.format(head) + (f"/{tail}" if tail else "")
    return None


def free(expr: Expr, *, hold_simple: bool = False) -> tuple[Expr, tuple[float, ...]]:
    """The formula with its constants as parameters in reading order, and their values.

    With `hold_simple`, numbers like 1/2 or π stay as they are: they were made simple on purpose.
    """
    values: list[float] = []

    def visit(node: Expr, fixed: bool) -> Expr:
        if isinstance(node, Const):
            if fixed or (hold_simple and simple_name(node.value) is not None):
                return node
            values.append(node.value)
            return Param(len(values) - 1)
        if not isinstance(node, Call):
            return node
        return Call(node.op, [visit(a, _is_form(node, i)) for i, a in enumerate(node.args)])

    return visit(expr, False), tuple(values)


def _is_form(parent: Call, place: int) -> bool:
    """Is the number at this place part of the form: an integer exponent, the 1 of 1/x, a factor of ±1, 0?"""
    node = parent.args[place]
    if not isinstance(node, Const):
        return False
    if parent.op == "pow":
        return place == 1 and node.value == round(node.value)
    if parent.op in ("div", "mul"):
        return abs(node.value) == 1.0
    return False


def refit(expr: Expr, X: Floats, y: Floats, weights: Floats | None = None) -> tuple[Expr, tuple[Constant, ...]]:
    """Constants fitted by least squares from where they are: the formula, and its constants with errors."""
    form, values = free(expr)
    fitted, errors = fitted_constants(form, values, X, y, weights)
    constants = tuple(Constant(v, v, s, simple_name(v)) for v, s in zip(fitted, errors, strict=True))
    return bind(form, fitted), constants


def settle(
    expr: Expr, X: Floats, y: Floats, weights: Floats | None = None, deadline: Deadline = Deadline.never()
) -> Expr:
    """The formula with its constants fitted to these rows, those that are simple numbers held."""
    form, values = free(expr, hold_simple=True)
    fitted, _ = fitted_constants(form, values, X, y, weights, deadline)
    return bind(form, fitted)


def report(
    expr: Expr, X: Floats, y: Floats, weights: Floats | None = None, deadline: Deadline = Deadline.never()
) -> tuple[Constant, ...]:
    """The constants as they stand, each with where a free fit, while there is time, would put it, and its error."""
    form, values = free(expr)
    fitted, errors = fitted_constants(form, values, X, y, weights, deadline)
    steps = rounding_steps(form, values, X, y, weights)
    return tuple(
        Constant(v, f if s is not None else None, s, simple_name(v), step=step)
        for v, f, s, step in zip(values, fitted, errors, steps, strict=True)
    )


def robust_errors(
    form: Expr, params: tuple[float, ...], X: Floats, y: Floats, weights: Floats | None = None
) -> list[float | None]:
    """Standard errors of fitted parameters (HC3), all of which the data must be able to tell apart."""
    root = np.sqrt(np.ones(len(y)) if weights is None else weights / weights.mean())
    scales = np.array([abs(v) if v else 1.0 for v in params])
    _, jacobian = value_and_jacobian(form, X, params)
    return _standard_errors(form, params, jacobian * root[:, None], scales, X, y, root)


@np.errstate(over="ignore", invalid="ignore")  # no error is finite for numbers beyond 1e150, which is then said
def covariance(form: Expr, values: tuple[float, ...], X: Floats, y: Floats, weights: Floats) -> tuple[Floats, int]:
    """Covariance (HC3) of the constants where they stand, zeros for simple numbers and what others can stand in for;
    and how many of them move."""
    root = np.sqrt(weights / weights.mean())
    scales = np.array([abs(v) if v else 1.0 for v in values])
    found, jacobian = value_and_jacobian(form, X, values)
    columns = jacobian * scales * root[:, None]
    moving = [i for i in _independent(columns, values) if simple_name(values[i]) is None] if len(values) else []
    whole = np.zeros((len(values), len(values)))
    if not moving or len(y) <= len(moving):
        return whole, len(moving)
    spread = _influence(columns[:, moving], (found - y) * root) * scales[moving][:, None]
    whole[np.ix_(moving, moving)] = spread @ spread.T
    return whole, len(moving)


@np.errstate(over="ignore", invalid="ignore")  # no error is finite for numbers beyond 1e150, which is then said
def rounding_steps(
    form: Expr, values: tuple[float, ...], X: Floats, y: Floats, weights: Floats | None = None
) -> tuple[float | None, ...]:
    """Largest powers of ten to which the constants may be rounded so that chi-square rises by 0.1 at most."""
    nothing = (None,) * len(values)
    n, k = len(y), len(values)
    if not k or n <= k:
        return nothing
    root = np.sqrt(np.ones(n) if weights is None else weights / weights.mean())
    found, jacobian = value_and_jacobian(form, X, values)
    sizes = np.linalg.norm(jacobian * root[:, None], axis=0)
    noise = math.sqrt(float(np.sum(((found - y) * root) ** 2)) / (n - k))
    if not np.isfinite(sizes).all() or not math.isfinite(noise) or noise == 0.0:
        return nothing
    allowed = [math.sqrt(ROUNDED / k) * noise / size if size > 0.0 else 0.0 for size in sizes]
    return tuple(10.0 ** math.floor(math.log10(step)) if step > 0.0 else None for step in allowed)


def rounded(expr: Expr, constants: tuple[Constant, ...], simple: int = SIMPLE_DIGITS) -> Expr | None:
    """The formula with each constant rounded to its own step; None where some have none, or need all their digits."""
    form, values = free(expr)
    if len(values) != len(constants) or all(constant.snapped_to is not None for constant in constants):
        return None
    shown = []
    for value, constant in zip(values, constants, strict=True):
        if constant.snapped_to is not None or value == 0.0:
            shown.append(float(f"{value:.{simple}g}"))
            continue
        if constant.step is None or not 0.0 < constant.step < math.inf:  # a file may say anything
            return None
        digits = 1 + math.floor(math.log10(abs(value))) - round(math.log10(constant.step))
        if digits > MOST_SHOWN:
            return None
        shown.append(float(f"{value:.{max(digits, 2) - 1}e}"))
    return bind(form, shown)


def _ratio(value: float, max_denominator: int) -> str | None:
    if value == 0.0:
        return "0"
    # Multiples of π and the like must be small ones: 22/(7π) is just another way to write a number near 1.
    largest = 1e6 if max_denominator > MAX_SMALL else MAX_SMALL
    if not 1e-3 <= abs(value) <= largest:
        return None
    nearest = Fraction(value).limit_denominator(max_denominator)
    simple = nearest.denominator == 1 or abs(nearest.numerator) <= MAX_NUMERATOR
    return str(nearest) if simple and abs(float(nearest) - value) <= SAME * abs(value) else None


def fitted_constants(
    form: Expr,
    values: tuple[float, ...],
    X: Floats,
    y: Floats,
    weights: Floats | None = None,
    deadline: Deadline = Deadline.never(),
) -> tuple[tuple[float, ...], tuple[float | None, ...]]:
    """Parameters of a form fitted by least squares from a start, and their errors; None for one that is held."""
    nothing = values, (None,) * len(values)
    if not values or len(y) <= 1:
        return nothing
    if len(y) > MAX_FIT_ROWS:  # evenly spaced rows: more would only cost time and memory
        rows = np.linspace(0, len(y) - 1, MAX_FIT_ROWS).astype(int)
        X, y, weights = X[rows], y[rows], None if weights is None else weights[rows]
    root = np.sqrt(np.ones(len(y)) if weights is None else weights / weights.mean())
    start, jacobian = value_and_jacobian(form, X, values)
    scales = np.array([abs(v) if v else 1.0 for v in values])
    jacobian = jacobian * scales * root[:, None]
    if not np.isfinite(start).all() or not np.isfinite(jacobian).all():
        return nothing
    moving = _independent(jacobian, values)
    if not moving or len(y) < len(moving):
        return nothing
    fitted = values if deadline.expired() else _solve(form, values, moving, scales, X, y, root, deadline)
    _, jacobian = value_and_jacobian(form, X, fitted)
    errors = _standard_errors(form, fitted, (jacobian * root[:, None])[:, moving], scales[moving], X, y, root)
    found: list[float | None] = [None] * len(values)
    for index, error in zip(moving, errors, strict=True):
        found[index] = error
    return fitted, tuple(found)


def _independent(jacobian: Floats, values: tuple[float, ...]) -> list[int]:
    """Constants that the data can tell apart; of two that cannot, the simpler number is held, as are those of units."""
    names = [simple_name(value) or "" for value in values]
    free = [i for i, name in enumerate(names) if not any(unit in name for unit in OF_UNITS)]
    order = sorted(free, key=lambda i: (abs(values[i]) == 1.0, names[i] != "", i))
    return sorted(independent(jacobian, order, DEPENDENT))


def _solve(
    form: Expr,
    values: tuple[float, ...],
    moving: list[int],
    scales: Floats,
    X: Floats,
    y: Floats,
    root: Floats,
    deadline: Deadline,
) -> tuple[float, ...]:
    from scipy.optimize import least_squares

    unit = float(np.max(np.abs(y))) or 1.0

    def whole(z: Floats) -> tuple[float, ...]:
        params = np.array(values)
        params[moving] = z * scales[moving]
        return tuple(params)

    seen: list[tuple[float, Floats]] = []  # the best so far, for an end before the solver's own

    def residuals(z: Floats) -> Floats:
        if seen and deadline.expired():
            raise TimeoutError
        found, _ = value_and_jacobian(form, X, whole(z))
        left = np.nan_to_num((found - y) * root / unit, nan=1e100, posinf=1e100, neginf=-1e100)
        with np.errstate(over="ignore"):
            size = float(np.sum(left**2))
        if not seen or size < seen[0][0]:
            seen[:] = [(size, z.copy())]
        return left

    def slopes(z: Floats) -> Floats:
        _, jacobian = value_and_jacobian(form, X, whole(z))
        return np.nan_to_num((jacobian * root[:, None])[:, moving] * scales[moving] / unit)

    start = np.array(values)[moving] / scales[moving]
    try:
        best = least_squares(residuals, start, jac=slopes, method="lm", **_STOP)
        better = np.sum(residuals(best.x) ** 2) < np.sum(residuals(start) ** 2)
    except TimeoutError:
        return whole(seen[0][1])
    except (ValueError, np.linalg.LinAlgError):
        return values
    return whole(best.x) if better else values


@np.errstate(over="ignore", invalid="ignore")  # no error is finite for numbers beyond 1e150, which is then said
def _standard_errors(
    form: Expr,
    params: tuple[float, ...],
    jacobian: Floats,
    scales: Floats,
    X: Floats,
    y: Floats,
    root: Floats,
) -> list[float | None]:
    """From the residuals themselves (HC3): right whatever the noise of a row depends on."""
    n, k = jacobian.shape
    if n <= k or not np.isfinite(jacobian).all():
        return [None] * k
    found, _ = value_and_jacobian(form, X, params)
    errors = np.linalg.norm(_influence(jacobian * scales, (found - y) * root), axis=1) * scales
    return [float(e) if math.isfinite(e) else None for e in errors]


def _influence(jacobian: Floats, residuals: Floats) -> Floats:
    """What each row's residual does to each constant (k, n)."""
    basis, triangle = np.linalg.qr(jacobian)
    inverse, *_ = np.linalg.lstsq(triangle, np.eye(jacobian.shape[1]), rcond=None)
    # A row that pulls the fit towards itself hides its own residual.
    left = np.maximum(1.0 - np.sum(basis**2, axis=1), LEAST_LEVERAGE_LEFT)
    return np.asarray((inverse @ basis.T) * (residuals / left))
