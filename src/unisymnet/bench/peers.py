"""Other people's programs behind our contract: Operon, gplearn, RILS-ROLS.

Each is imported when used and runs with settings as good as its authors recommend; a docstring says which, and where
we depart.  Their clocks count processor time, so that a busy machine takes nothing from them (our own method counts
wall time).  An exact fit ends a run of any of them that can be stopped, because it ends ours.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Floats

EXACT = 1e-12  # mean squared residual in units of the target's variance; Operon computes in single precision
SLICE = 1.0  # seconds after which an exact fit is looked for


class Clock:
    """Seconds of one core that this process has used since the clock was made."""

    def __init__(self, cores: int = 1) -> None:
        self.cores, self.start = cores, time.process_time()

    def spent(self) -> float:
        return (time.process_time() - self.start) / self.cores


def fit_pyoperon(X: Floats, y: Floats, *, max_time: float, seed: int, names: Sequence[str], cores: int = 1) -> Any:
    """Operon with SRBench's population of 1,000, trees of at most 50 nodes, 5 steps of Levenberg–Marquardt for every
    individual, and accuracy and length as objectives (NSGA-II), as in its authors' later entries.

    The symbols are those that the catalogs need.  The choice from the front is by Operon's Bayesian criterion: its
    authors' description length needs the noise level, and their guess of it (the training error of a random forest)
    passed over exact formulas on clean data.  Runs go in slices of a few generations with `warm_start`, which is how
    an exact fit can end them; tuning by Optuna, as in one entry of theirs, does not fit into seconds.
    """
    from pyoperon.sklearn import SymbolicRegressor

    clock = Clock(cores)
    model = SymbolicRegressor(
        allowed_symbols="add,sub,mul,div,sin,cos,exp,log,sqrt,pow,constant,variable",
        objectives=["r2", "length"],
        model_selection_criterion="bayesian_information_criterion",
        uncertainty=[1.0],
        optimizer_iterations=5,
        population_size=1000,
        max_length=50,
        max_evaluations=10**12,
        n_threads=cores,
        warm_start=True,
    )
    exact = EXACT * float(np.var(y))
    n_slices, n_generations, done = 0, 2, 0
    while True:
        # Every slice needs a seed of its own: the generator starts anew with it.
        model.set_params(generations=n_generations, random_state=(seed << 16) + n_slices).fit(X, y)
        n_slices, done, spent = n_slices + 1, done + n_generations, clock.spent()
        n_generations = int(min(SLICE, max_time - spent) * done / spent)
        if min(one["mean_squared_error"] for one in model.pareto_front_) <= exact:
            return model
        if n_generations < 1 and spent + 0.5 * spent / done >= max_time:
            return model
        n_generations = max(1, n_generations)


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

    clock = Clock(cores)
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
        # One more generation takes about as long as the mean so far; do not start what cannot finish.
        if clock.spent() * (1 + 1 / model.generations) > max_time or model._program.raw_fitness_ <= exact:
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


def fit_rils_rols(X: Floats, y: Floats, *, max_time: float, seed: int, names: Sequence[str], cores: int = 1) -> Any:
    """RILS-ROLS with its defaults (penalty 0.001, size 50, all rows), limited by time only.

    It cannot be stopped or continued, counts wall time in whole seconds, uses one core, and prints its constants with
    six decimals.  If the machine gave it less than 80 % of its time, it starts again with as much more.
    """
    regressor = importlib.import_module("rils_rols.rils_rols").RILSROLSRegressor
    limit = max(1, round(max_time))
    for _ in range(2):
        clock = Clock()
        model = regressor(max_fit_calls=10**9, max_time=limit, random_state=seed + 1)  # 0 means any seed
        model.fit(X.copy(), y)  # it reshapes what it is given
        share = clock.spent() / limit
        if share >= 0.8:
            break
        limit = round(max_time / max(share, 0.05))
    return model


def rils_rols_text(model: Any) -> str | None:
    return str(model.model_simp)
