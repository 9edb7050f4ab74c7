"""The methods that a benchmark compares, behind one contract: `fit`, `expression` and `predict`.

A formula comes back as text in x0, x1, … that our own parser reads, or as None where a method has none. This
file does not know problems, seeds of a study, limits other than `max_time`, or scores. Peers are imported
when used; their settings start from published ones, and each docstring says where they depart.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["METHODS", "Method", "MissingMethod", "get_method"]

Floats = NDArray[np.float64]


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
    """A method by its name, or one of the caller's own as "package.module:NAME" of a `Method`."""
    if name in METHODS:
        return METHODS[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        raise ValueError(f"unknown method {name!r}; use one of {', '.join(METHODS)} or package.module:NAME")
    method = getattr(importlib.import_module(module), attribute)
    if not isinstance(method, Method):
        raise TypeError(f"{name} must be a unisymnet.bench.methods.Method, got {type(method).__name__}")
    return method


def fit_unisymnet(X: Floats, y: Floats, *, max_time: float, seed: int, names: Sequence[str], cores: int = 1) -> Any:
    regressor = importlib.import_module("unisymnet.regressor")
    return regressor.UniSymNetRegressor(max_time=max_time, random_state=seed, n_jobs=cores).fit(X, y)


def unisymnet_text(model: Any) -> str | None:
    return str(model.formula_.expr)


def fit_pyoperon(X: Floats, y: Floats, *, max_time: float, seed: int, names: Sequence[str], cores: int = 1) -> Any:
    """Operon after its authors' later SRBench entry: accuracy and length as objectives, the choice by description
    length with the training error of a random forest as noise level, the widest of their symbol sets.

    Unlike that entry: no tuning by Optuna, 5 local iterations (SRBench 2021's number) instead of 1, and no limit on
    evaluations, so that a run always takes all of `max_time` and its time says nothing about when it found the law.
    """
    from pyoperon.sklearn import SymbolicRegressor
    from sklearn.ensemble import RandomForestRegressor

    start = time.monotonic()
    forest = RandomForestRegressor(random_state=seed, n_jobs=1).fit(X, y)
    sigma = float(np.sqrt(np.mean((y - forest.predict(X)) ** 2)))
    model = SymbolicRegressor(
        allowed_symbols="add,sub,mul,div,sin,cos,exp,log,sqrt,pow,constant,variable",
        objectives=["r2", "length"],
        model_selection_criterion="minimum_description_length",
        uncertainty=[max(sigma, 1e-12)],
        optimizer_iterations=5,
        population_size=1000,
        max_length=50,
        brood_size=5,
        # Only the clock ends a run: every method gets the same seconds.
        generations=10**9,
        max_evaluations=10**12,
        max_time=max(1, round(max_time - (time.monotonic() - start))),
        n_threads=cores,
        random_state=seed,
    )
    return model.fit(X, y)


def pyoperon_text(model: Any) -> str | None:
    names = [f"x{i}" for i in range(model.n_features_in_)]
    text = str(model.get_model_string(model.model_, 17, names))
    # Operon prints the powers as ^, which our parser takes, and may print constants that are not finite.
    return None if re.search(r"\b(nan|inf)\b", text) else text


def fit_gplearn(X: Floats, y: Floats, *, max_time: float, seed: int, names: Sequence[str], cores: int = 1) -> Any:
    """gplearn with SRBench's settings, one generation after the other until the time is over or the fit is exact.

    Unlike SRBench: exp is added to the functions, and the price of length is in units of the target's spread, as
    otherwise a small target is fitted by the shortest formula.
    """
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    start = time.monotonic()
    exp = make_function(function=_bounded_exp, name="exp", arity=1)
    model = SymbolicRegressor(
        population_size=1000,
        generations=0,
        tournament_size=20,
        function_set=("add", "sub", "mul", "div", "log", "sqrt", "sin", "cos", exp),
        parsimony_coefficient=0.001 * float(np.std(y)),
        max_samples=1.0,
        p_crossover=0.9,
        p_subtree_mutation=0.01,
        p_hoist_mutation=0.01,
        p_point_mutation=0.01,
        warm_start=True,
        low_memory=True,
        random_state=seed,
        n_jobs=cores,
    )
    exact = 1e-12 * float(np.std(y))
    while True:
        model.set_params(generations=model.generations + 1).fit(X, y)
        spent = time.monotonic() - start
        # One more generation takes about as long as the mean so far; do not start what cannot finish.
        if spent * (1 + 1 / model.generations) > max_time or model._program.raw_fitness_ <= exact:
            return model


def _bounded_exp(x: Floats) -> Floats:
    return np.exp(np.minimum(x, 100.0))


def gplearn_text(model: Any) -> str | None:
    # Not str(program), which keeps three decimals of every constant.
    return program_to_infix(model._program.program)


_INFIX = {
    "add": "({} + {})",
    "sub": "({} - {})",
    "mul": "({} * {})",
    "div": "({} / {})",
    # The protected forms as their plain namesakes, as SRBench reads them.
    "sqrt": "sqrt({})",
    "log": "log({})",
    "sin": "sin({})",
    "cos": "cos({})",
    "exp": "exp({})",
}


def program_to_infix(program: Sequence[Any]) -> str:
    """gplearn's flat prefix list: functions (with name and arity), column numbers and constants."""
    nodes = iter(program)

    def read() -> str:
        node = next(nodes)
        if isinstance(node, int | np.integer):
            return f"x{node}"
        if isinstance(node, float | np.floating):
            return f"({float(node)!r})"
        return _INFIX[node.name].format(*[read() for _ in range(node.arity)])

    return read()


def fit_linear(X: Floats, y: Floats, *, max_time: float, seed: int, names: Sequence[str], cores: int = 1) -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression().fit(X, y)


def linear_text(model: Any) -> str | None:
    terms = [f"({float(c)!r})*x{i}" for i, c in enumerate(model.coef_)]
    return " + ".join([f"({float(model.intercept_)!r})", *terms])


def fit_boosting(X: Floats, y: Floats, *, max_time: float, seed: int, names: Sequence[str], cores: int = 1) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    model = GradientBoostingRegressor(
        n_estimators=1000, learning_rate=0.05, subsample=0.8, n_iter_no_change=50, random_state=seed
    )
    return model.fit(X, y)


def fit_mlp(X: Floats, y: Floats, *, max_time: float, seed: int, names: Sequence[str], cores: int = 1) -> Any:
    from sklearn.neural_network import MLPRegressor

    return _scaled(MLPRegressor(hidden_layer_sizes=(64, 64), max_iter=2000, random_state=seed)).fit(X, y)


def fit_svr(X: Floats, y: Floats, *, max_time: float, seed: int, names: Sequence[str], cores: int = 1) -> Any:
    from sklearn.svm import SVR

    return _scaled(SVR(C=10.0, epsilon=0.01)).fit(X, y)


def _scaled(model: Any) -> Any:
    """Inputs and target standardised, without which neither a network nor a kernel machine is fairly used."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return TransformedTargetRegressor(make_pipeline(StandardScaler(), model), transformer=StandardScaler())


def no_text(model: Any) -> str | None:
    return None


def predict(model: Any, X: Floats) -> Floats:
    return np.asarray(model.predict(X), dtype=np.float64)


def _sklearn(name: str, fit: Callable[..., Any], text: Callable[[Any], str | None] = no_text) -> Method:
    return Method(name, fit, text, predict, "scikit-learn", ("sklearn.ensemble", "sklearn.svm"))


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("unisymnet", fit_unisymnet, unisymnet_text, predict, "unisymnet", ("unisymnet.regressor",)),
        Method("pyoperon", fit_pyoperon, pyoperon_text, predict, "pyoperon", ("pyoperon.sklearn",), "bench"),
        Method("gplearn", fit_gplearn, gplearn_text, predict, "gplearn", ("gplearn.genetic",), "bench"),
        _sklearn("linear", fit_linear, linear_text),
        _sklearn("boosting", fit_boosting),
        _sklearn("mlp", fit_mlp),
        _sklearn("svr", fit_svr),
    )
}
