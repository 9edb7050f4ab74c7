"""Where a new measurement will fall: the value of a formula with the noise of a row and the doubt about the constants.

What is needed for that is a few numbers, kept with the formula: how the noise depends on the value, its size, and the
covariance of the constants.  Knows neither the rows nor how the noise model was chosen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..arrays import Floats
from ..symbolic.expr import Expr, evaluate
from . import stored
from .constants import covariance, free
from .derivative import value_and_jacobian

KINDS = ("equal", "relative", "counts", "both", "heavy tails", "factor")
SMALLEST, LARGEST = 1e-3, 1e100  # of the median size, as the noise models count
LARGEST_LOG = 300.0  # of a factor
TAILS = 3.0  # degrees of freedom of Student's distribution, for noise with outliers


@dataclass(frozen=True)
class Band:
    """``level`` is the standard deviation of a row whose value has the size ``middle`` (the scale of Student's
    distribution for heavy tails), ``ratio`` that of relative to equal noise, for "both"; ``spread`` the covariance of
    the constants, row by row, in the order of `constants`; ``n_left`` rows less what was fitted to them."""

    kind: str
    level: float
    middle: float
    ratio: float
    n_left: int
    spread: tuple[float, ...]

    def limits(self, expr: Expr, X: Floats, share: float) -> tuple[Floats, Floats]:
        """Between which values a new measurement falls with this probability."""
        values, half = evaluate(expr, X), self._half_width(expr, X, share)
        if self.kind != "factor":
            return values - half, values + half
        factor = np.exp(np.minimum(half / np.maximum(np.abs(values), 1e-300), LARGEST_LOG))
        return values / factor, values * factor

    def _half_width(self, expr: Expr, X: Floats, share: float) -> Floats:
        from scipy.stats import t as student

        form, values = free(expr)
        found, jacobian = value_and_jacobian(form, X, values)
        table = np.reshape(self.spread, (len(values), len(values)))
        doubt = np.maximum(np.einsum("ij,jk,ik->i", jacobian, table, jacobian), 0.0)
        outside = 0.5 * (1.0 + share)
        noise = self.level * self._sizes(found)
        if self.kind == "heavy tails":
            wide, narrow = student.ppf(outside, TAILS), student.ppf(outside, max(self.n_left, 1))
            return np.sqrt((wide * noise) ** 2 + narrow**2 * doubt)
        return np.asarray(student.ppf(outside, max(self.n_left, 1)) * np.sqrt(noise**2 + doubt))

    def noise(self, expr: Expr, X: Floats) -> Floats:
        """The noise of a measurement at each row."""
        return self.level * self._sizes(evaluate(expr, X))

    def words(self) -> str:
        """One sentence: how large the noise is, and what it depends on."""
        factor = math.exp(min(self.level / self.middle, LARGEST_LOG))
        said = {
            "equal": f"the same for every row, ±{self.level:.2g}",
            "relative": f"proportional to the value, ±{100.0 * self.level / self.middle:.2g} %",
            "counts": f"growing with the square root of the value, ±{self.level:.2g} at {self.middle:.3g}",
            "both": f"partly the same for every row, partly proportional to the value, ±{self.level:.2g} and "
            f"{100.0 * self.ratio * self.level / self.middle:.2g} %",
            "heavy tails": f"the same for every row, ±{self.level:.2g}, with outliers",
            "factor": f"multiplicative, a factor of {factor:.3g} up or down",
        }
        return f"The noise looks {said[self.kind]}."

    def roots(self, expr: Expr, X: Floats) -> Floats:
        """1/standard deviation of rows at these inputs, in units of that of the middle one."""
        return 1.0 / self._sizes(evaluate(expr, X))

    def _sizes(self, values: Floats) -> Floats:
        """The noise of a row in units of that of the middle one."""
        sizes = np.clip(np.abs(values) / self.middle, SMALLEST, LARGEST)
        if self.kind in ("relative", "factor"):
            return sizes
        if self.kind == "counts":
            return np.sqrt(sizes)
        if self.kind == "both":
            return np.sqrt(1.0 + (self.ratio * sizes) ** 2)
        return np.ones(len(values))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"spread": list(self.spread)}

    @staticmethod
    def from_dict(data: Mapping[str, Any], n_constants: int) -> Band:
        kind = stored.word(data["kind"])
        spread = tuple(stored.number(value) for value in stored.listed(data["spread"]))
        level, middle, ratio = (stored.number(data[name]) for name in ("level", "middle", "ratio"))
        if kind not in KINDS or len(spread) != n_constants**2 or level < 0.0 or middle <= 0.0:
            raise ValueError("the band of a formula does not fit it")
        return Band(kind, level, middle, ratio, stored.whole(data["n_left"]), spread)


def make_band(expr: Expr, X: Floats, y: Floats, roots: Floats, kind: str, ratio: float = 0.0) -> Band | None:
    """The band of a formula as it stands on these rows; ``roots`` are 1/standard deviation of each row, up to a factor
    that is 1 at the middle size.  None where the data cannot say."""
    form, values = free(expr)
    found, jacobian = value_and_jacobian(form, X, values)
    left = (y - found) * roots
    if not np.isfinite(left).all() or not np.isfinite(jacobian).all():
        return None
    table, n_moving = covariance(form, values, X, y, roots**2)
    n_left = len(y) - n_moving - 1  # which noise model holds was chosen by the same rows
    if n_left < 1 or not np.isfinite(table).all():
        return None
    level = math.sqrt(float(np.sum(left**2)) / n_left)  # for heavy tails, too: it is the equation of the scale
    middle = float(np.median(np.abs(found))) or 1.0
    return Band(kind, level, middle, ratio, n_left, tuple(map(float, table.ravel())))
