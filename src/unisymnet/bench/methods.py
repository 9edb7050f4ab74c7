"""The methods that a benchmark compares, behind one contract: `fit`, `expression` and `predict`.

A formula comes back as text in x0, x1, … that our own parser reads, or as None where a method has none. This
file does not know problems, seeds of a study, limits other than `max_time`, or scores. Peers are imported
when used (peers.py, eql.py).
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Floats
from .eql import eql_text, fit_eql
from .ours import MODES, fit_with_sfo, sfo_settings, unisymnet_text
from .peers import fit_gplearn, fit_pyoperon, fit_rils_rols, gplearn_text, pyoperon_text, rils_rols_text


class MissingMethod(ImportError):
    """The library of a method is not installed."""


@dataclass(frozen=True)
class Method:
    """One way to learn a formula or a model.

    `fit(X, y, *, max_time, seed, names, cores) -> model`; `expression(model) -> text or None`;
    `predict(model, X) -> y`. `package` is the distribution whose version is recorded, `extra` the optional
    dependency of ours that installs it.
    """

    name: str
    fit: Callable[..., Any]
    expression: Callable[[Any], str | None]
    predict: Callable[[Any, Floats], Floats]
    package: str
    modules: tuple[str, ...] = ()
    extra: str | None = None

    def load(self) -> str:
        """Import what the method needs, so that no run pays for it, and return its version."""
        try:
            for module in self.modules:
                importlib.import_module(module)
            return importlib.metadata.version(self.package)
        except ImportError as error:
            remedy = f'pip install "unisymnet[{self.extra}]"' if self.extra else f"pip install {self.package}"
            raise MissingMethod(f"method {self.name!r} needs {self.package} ({error}); {remedy}") from error


def get_method(name: str) -> Method:
    """A method by its name, or one of the caller's own as "package.module:NAME" of a `Method`.

    `unisymnet-paper[init=grid,entropy=0.01]` is the paper's mode with other settings of SFO.
    """
    if name in METHODS:
        return METHODS[name]
    base, bracket, settings = name.partition("[")
    if bracket and base == "unisymnet-paper" and settings.endswith("]"):
        return replace(METHODS[base], name=name, fit=partial(fit_with_sfo, sfo=sfo_settings(settings[:-1])))
    module, colon, attribute = name.partition(":")
    if not colon:
        raise ValueError(f"unknown method {name!r}; use one of {', '.join(METHODS)} or package.module:NAME")
    method = getattr(importlib.import_module(module), attribute)
    if not isinstance(method, Method):
        raise TypeError(f"{name} must be a unisymnet.bench.methods.Method, got {type(method).__name__}")
    return method


def linear_text(model: Any) -> str | None:
    terms = [f"({float(c)!r})*x{i}" for i, c in enumerate(model.coef_)]
    return " + ".join([f"({float(model.intercept_)!r})", *terms])


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(
        n_estimators=1000, learning_rate=0.05, subsample=0.8, n_iter_no_change=50, random_state=seed
    )


def _linear(seed: int) -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _mlp(seed: int) -> Any:
    from sklearn.neural_network import MLPRegressor

    return _scaled(MLPRegressor(hidden_layer_sizes=(64, 64), max_iter=2000, random_state=seed))


def _svr(seed: int) -> Any:
    from sklearn.svm import SVR

    return _scaled(SVR(C=10.0, epsilon=0.01))


def _scaled(model: Any) -> Any:
    """Inputs and target standardised, without which neither a network nor a kernel machine is fairly used."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return TransformedTargetRegressor(make_pipeline(StandardScaler(), model), transformer=StandardScaler())


def predict(model: Any, X: Floats) -> Floats:
    return np.asarray(model.predict(X), dtype=np.float64)


def _sklearn(name: str, make: Callable[[int], Any], text: Callable[[Any], str | None] = lambda model: None) -> Method:
    """A regressor of scikit-learn, made for a seed; time and cores are its own affair."""

    def fit(X: Floats, y: Floats, *, seed: int, **_: Any) -> Any:
        return make(seed).fit(X, y)

    return Method(name, fit, text, predict, "scikit-learn", ("sklearn.ensemble", "sklearn.svm"))


def _ours(name: str, fit: Callable[..., Any]) -> Method:
    modules = ("unisymnet.regressor", "unisymnet.model.proposer")
    trained = (*modules, "torch") if "dno" in name else modules
    return Method(name, fit, unisymnet_text, predict, "unisymnet", trained, "torch" if "dno" in name else None)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *(_ours(name, fit) for name, fit in MODES.items()),
        Method("pyoperon", fit_pyoperon, pyoperon_text, predict, "pyoperon", ("pyoperon.sklearn",), "bench"),
        Method("gplearn", fit_gplearn, gplearn_text, predict, "gplearn", ("gplearn.genetic",), "bench"),
        Method("rils-rols", fit_rils_rols, rils_rols_text, predict, "rils-rols", ("rils_rols.rils_rols",)),
        Method("eql", fit_eql, eql_text, predict, "torch", ("torch",), "torch"),
        _sklearn("linear", _linear, linear_text),
        _sklearn("boosting", _boosting),
        _sklearn("mlp", _mlp),
        _sklearn("svr", _svr),
    )
}
