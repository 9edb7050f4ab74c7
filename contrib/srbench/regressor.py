"""The entry for SRBench (cavalab/srbench): the estimator and the functions that its scripts call.

Copy this folder to `algorithms/unisymnet` of SRBench. It uses public names of the package only.
"""

from __future__ import annotations

from typing import Any

import sympy
from sklearn.base import BaseEstimator, RegressorMixin

from unisymnet import UniSymNetRegressor

MAX_POPULATION = 100

# One thread, because SRBench gives a job one core and counts processor time. When SRBench's alarm rings before this
# limit, the estimator keeps what it has found and `fit` returns as usual.
est = UniSymNetRegressor(max_time=3600, n_jobs=1, random_state=0)

hyper_params: list[dict[str, Any]] = []  # nothing to tune


class OneFormula(RegressorMixin, BaseEstimator):
    """One row of a fitted estimator's table, as an estimator of its own."""

    def __init__(self, fitted: UniSymNetRegressor | None = None, index: int = 0) -> None:
        self.fitted = fitted
        self.index = index

    def fit(self, X: Any, y: Any) -> OneFormula:
        """Nothing to do: the formula was fitted with the others."""
        return self

    def predict(self, X: Any) -> Any:
        assert self.fitted is not None
        return self.fitted.predict(X, index=self.index)

    def __sklearn_is_fitted__(self) -> bool:
        return self.fitted is not None


def model(est: Any, X: Any = None) -> str:
    """The formula as SymPy writes it, in the names of the columns of `X` (or of the fit, where X has no names)."""
    formula = _formula(est)
    written = formula.sympy()
    if hasattr(X, "columns"):
        # All at once: one by one, x1 inside x10 or a swap of two names would go wrong.
        written = written.xreplace(
            {sympy.Symbol(old): sympy.Symbol(str(new)) for old, new in zip(formula.names, X.columns, strict=True)}
        )
    # SRBench takes "p/" for another method's protected division, so that p/q would lose its p.
    return str(written).replace("/", " / ")


def complexity(est: Any) -> int:
    """Nodes of SymPy's tree, which is how SRBench counts."""
    return sum(1 for _ in sympy.preorder_traversal(_formula(est).sympy()))


def get_population(est: Any) -> list[RegressorMixin]:
    """The rows of the table, from simple to accurate."""
    if isinstance(est, OneFormula):
        return [est]
    return [OneFormula(est, index) for index in range(len(est.equations_))][:MAX_POPULATION]


def get_best_solution(est: Any) -> RegressorMixin:
    """The estimator itself: it predicts with the formula that it picked."""
    return est


def _formula(est: Any) -> Any:
    return est.fitted[est.index] if isinstance(est, OneFormula) else est.formula_


# No scaling: a law in standardised columns is longer than in the user's, and its constants lose their meaning.
eval_kwargs: dict[str, Any] = {
    "scale_x": False,
    "scale_y": False,
    "max_train_samples": 0,  # the estimator takes a sample itself
    "test_params": {"max_time": 5},
}
