"""Constants of a function that a template asks for in several places: the same numbers in all of them.

A fit of a whole formula knows nothing of the template.  Under noise it moves the constants of every place on their own,
and exp(-0.804*x) + D(f, x) with f = exp(-0.802*x) is not the form that was asked for.  Does not search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ...arrays import Floats, evenly
from ...formula.constants import free
from ...formula.derivative import value_and_jacobian
from ...symbolic.expr import Expr, bind, evaluate, n_params, variables
from .text import Template

MAX_ROWS = 400
STEPS = 40
NEAREST = 4  # forms that a formula is compared with
SAME = 1e-6  # of the spread of y: what rounding and a few digits leave


@dataclass(frozen=True)
class Tied:
    """The forms that were proposed, with one parameter for each constant of a function, wherever that stands."""

    template: Template
    X: Floats
    y: Floats
    _forms: dict[Expr, tuple[float, ...]] = field(default_factory=dict)
    _known: dict[Expr, bool] = field(default_factory=dict)

    def remember(self, parts: Mapping[str, Expr]) -> None:
        """These functions are put forward."""
        opened: dict[str, Expr] = {}
        values = [1.0] * n_params(self.template.outer)
        for name in self.template.functions:  # in the order in which the template numbers their parameters
            form, own = (parts[name], (1.0,) * n_params(parts[name])) if n_params(parts[name]) else free(parts[name])
            opened[name] = form
            values += own
        self._forms.setdefault(self.template.whole(opened), tuple(values))
        self._known.clear()

    def follows(self, expr: Expr) -> bool:
        """Is the formula one of the forms, with any constants?"""
        if not variables(expr):
            return True
        if expr not in self._known:
            wanted = evaluate(expr, self.X)
            limit = SAME * (float(np.std(self.y)) or 1.0)
            fits = (self._fitted(form, wanted) for form in self._nearest(wanted))
            self._known[expr] = any(fit is not None and fit[1] <= limit for fit in fits)
        return self._known[expr]

    def mended(self, expr: Expr) -> Expr | None:
        """The form that the formula comes from, fitted with its constants tied; None where that fails."""
        for form in self._nearest(evaluate(expr, self.X)):
            fit = self._fitted(form, self.y)
            if fit is not None:
                self._known[fit[0]] = True
                return fit[0]
        return None

    def _nearest(self, wanted: Floats) -> list[Expr]:
        if not np.isfinite(wanted).all():
            return []
        gaps = {}
        for form, values in self._forms.items():
            gap = float(np.mean((evaluate(bind(form, values), self.X) - wanted) ** 2))
            gaps[form] = gap if np.isfinite(gap) else np.inf
        return sorted(gaps, key=gaps.__getitem__)[:NEAREST]

    def _fitted(self, form: Expr, wanted: Floats) -> tuple[Expr, float] | None:
        """The form with the constants that come nearest to these values, and the rms of what is left."""
        from scipy.optimize import least_squares

        start = np.asarray(self._forms[form])
        if not len(start):
            return bind(form, ()), float(np.sqrt(np.mean((evaluate(form, self.X) - wanted) ** 2)))
        scale = np.where(start == 0.0, 1.0, np.abs(start))

        def both(z: Floats) -> tuple[Floats, Floats]:
            return value_and_jacobian(form, self.X, tuple(z * scale))

        try:
            best = least_squares(
                lambda z: both(z)[0] - wanted, start / scale, jac=lambda z: both(z)[1] * scale, max_nfev=STEPS
            )
        except (ValueError, np.linalg.LinAlgError):
            return None
        left = float(np.sqrt(np.mean(best.fun**2)))
        return (bind(form, tuple(best.x * scale)), left) if np.isfinite(left) else None


def make_tied(template: Template, X: Floats, y: Floats) -> Tied | None:
    """None where every function stands in one place only."""
    if len(template.slots) == len(template.functions):
        return None
    some = evenly(len(y), MAX_ROWS)
    return Tied(template, X[some], y[some])
