"""`UniSymNetRegressor`: formulas from data, behind scikit-learn's interface.

Checks what it is given, hands over to run.py, and keeps what came back. Does not search, measure or print itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..arrays import Floats
from ..deadline import now
from ..formula import Formula
from ..report.rows import rows_to_remember
from ..symbolic.expr import Expr
from ..threads import one_thread
from .intake import interval, predicted, prepared, take_in
from .interrupt import Interrupts
from .known.given import read_sigma, split_groups, without_groups
from .own import in_columns, suspected_of
from .rows import slip_rows
from .saved import load_model, save_model
from .table import ListOfFormulas, beside_text, chosen_text, ending, frame_rows, front_text
from .validation import Operators, check_data, check_parameters, check_rows, seed_generator

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ..tables.encoding import Encoding
    from .options import FitEvent, Options
    from .table import Entry


class UniSymNetRegressor(ListOfFormulas, RegressorMixin, BaseEstimator):
    """Find formulas y = f(X), from simple to exact.

    Parameters
    ----------
    max_time : float or None, default=60
        Seconds for one fit. The search ends earlier when a formula is exact. None: until nothing is left to try.
    random_state : int, generator or None, default=0
        The same seed gives the same formulas, unless `max_time` ends the search first.
    n_jobs : int or None, default=2
        Threads for evolution and for large fits of constants; None: one; -1: one for each core. The result is the same.
        Inside ``with joblib.parallel_config(backend="dask")``, or another backend, evolution runs on its workers.
    operators : list, str or None, default=None
        Operators that a formula may use, as names or signs: ``"+,-,*,/,sin"``. None: all. Your own may be among them:
        ``[Operator("hill", "x^n/(1 + x^n)")]`` or ``"hill(x) = x^n/(1 + x^n)"``; only these: all others too.
    max_complexity : int, default=60
        Largest size of a formula: operators, columns and constants counted.
    exponents : list of float or None, default=None
        Exponents for the transformer's formulas; None: the paper's set.
    loss : str or pair, default="mse"
        What constants minimise and formulas are compared by: "mse"; "huber" or ("huber", 2.5) for outliers; "absolute";
        ("quantile", 0.9); "relative"; "poisson" for counts; "logistic" for yes or no (1 or 0; the formula is the
        probability); or two functions of y and prediction: a residual, and its derivative by the prediction.
    strategy : {"auto", "sfo", "dno-p", "dno-np", "literal"}, default="auto"
        How structures with open constants are fitted: as formulas ("sfo"), or as trainable networks, sparse ("dno-p")
        or dense ("dno-np"); networks need torch. "auto": as formulas, and as dense networks where those explain too
        little. "literal": the paper's pipeline and nothing else (five structures of a beam of twenty, policy, BFGS).
    proposers : list of str or of proposers, default=None
        Stages of the search to use, by name or as objects; None: all.
    selection : {"best", "accuracy", "simplest"}, default="best"
        How the formula is picked from the table; "best" is the shortest description of formula and data.
    goal : {"law", "predict"}, default="law"
        "law": a short formula that may be true. "predict": the readable formula that predicts new rows
        best, a sum of short features if there is no law; see docs/howto/tables.md.
    noise : float, str or None, default=None
        What is known about the noise in y: its standard deviation, or how it depends on the value ("equal",
        "relative", "counts", "both", "heavy tails", "factor"). None: the data decide.
    validation_fraction : float, default=0.2
        Share of the rows kept back for choosing a formula when there are at least 50. Constants are then fitted on
        all rows.
    max_evaluations : int or None, default=None
        Fit at most this many formulas. With this limit, results are the same on any machine.
    max_epochs : int or None, default=None
        Run at most this many epochs of evolution. With this limit and no `max_time`, results are the same for any
        `n_jobs` and backend.
    max_rows, max_columns : int, default=2000 and 10
        Most rows and columns that the search uses; `notes_` says which columns.
    warm_start : bool, default=False
        Start from the formulas of the last fit.
    checkpoint : str or None, default=None
        Folder for the formulas found so far; a fit on the same data continues from there.
    callback : callable or None, default=None
        Called with a `FitEvent` whenever a stage begins or a formula enters the table.
    verbose : bool, default=False
        Show progress on stderr.
    units : dict or None, default=None
        Units of the columns and of the target, by name (or "target"): ``{"m": "kg", "v": "m/s", "E": "J"}``. No formula
        adds metres to seconds then, and every constant has its unit.
    constants : dict or None, default=None
        Known constants that the law may contain, with units: ``{"g": "9.81 m/s^2"}``.
    constraints : list of str or None, default=None
        What the formula must do: ``["y >= 0", "dy/dx1 >= 0", "y -> 1 as x1 -> inf", "even in x2", "uses x3"]``.
    template : str or None, default=None
        The known part of the law: ``"sin(f(x1, x2)) + g(x3)"``; the search finds f and g.

    Attributes
    ----------
    equations_ : DataFrame with one row per formula: complexity, loss, r2, r2_valid, score, equation, picked, …
    formula_ : the picked `Formula`; `model[i]` gives formula i of the table.
    notes_ : sentences about columns and rows left out and other things worth knowing.
    beside_ : the best formula that breaks units or constraints, if it fits better than the pick.
    interrupted_ : whether Ctrl-C or SIGALRM ended the fit; the formulas found so far are kept.
    trace_ : what each stage of the search did.
    """

    front_: tuple[Entry, ...]
    beside_: tuple[Entry, ...] = ()
    encoding_: Encoding | None = None  # how words and gaps became numbers
    picked_: int
    proven_: bool = False  # nothing shorter than the pick was left untried

    def __init__(
        self,
        *,
        max_time: float | None = 60,
        random_state: Any = 0,
        n_jobs: int | None = 2,
        operators: Operators = None,
        max_complexity: int = 60,
        exponents: Sequence[float] | None = None,
        loss: Any = "mse",
        strategy: str = "auto",
        proposers: Sequence[Any] | None = None,
        selection: str = "best",
        goal: str = "law",
        noise: float | str | None = None,
        validation_fraction: float = 0.2,
        max_evaluations: int | None = None,
        max_epochs: int | None = None,
        max_rows: int = 2000,
        max_columns: int = 10,
        warm_start: bool = False,
        checkpoint: str | None = None,
        callback: Callable[[FitEvent], Any] | None = None,
        verbose: bool = False,
        units: dict[str, str] | None = None,
        constants: dict[str, str | float] | None = None,
        constraints: Sequence[str] | None = None,
        template: str | None = None,
    ) -> None:
        self.max_time = max_time
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.operators = operators
        self.max_complexity = max_complexity
        self.exponents = exponents
        self.loss = loss
        self.strategy = strategy
        self.proposers = proposers
        self.selection = selection
        self.goal = goal
        self.noise = noise
        self.validation_fraction = validation_fraction
        self.max_evaluations = max_evaluations
        self.max_epochs = max_epochs
        self.max_rows = max_rows
        self.max_columns = max_columns
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.callback = callback
        self.verbose = verbose
        self.units = units
        self.constants = constants
        self.constraints = constraints
        self.template = template

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        guesses: Sequence[str | Formula | Expr] | None = None,
        sigma: Any = None,
        groups: Any = None,
        categories: Any = None,
        missing: str | None = None,
    ) -> UniSymNetRegressor:
        """Search for formulas.

        `sigma` is the standard error of y, one number or one per row: rows then have weight 1/sigma². If inputs
        have errors too, use ``sigma={"y": 0.1, "x1": 0.02}`` (numbers or arrays).
        `guesses` are formulas you suspect, as text in the names of the columns; names that are not columns are
        constants to fit. `groups` is a column of X, or one label per row: one form for all, constants shared or
        different by group. Ctrl-C stops the search and keeps what it has found.

        Columns of words become columns of zeros and ones; `categories` lists number columns to treat as words, or is
        "drop". `missing` says what to do with missing values: "drop" the row, or "indicator": fill it and add a column
        that marks it; None: an error. `notes_` says what was done, and `predict` does the same.
        """
        called, interrupts = now(), Interrupts()
        with interrupts.caught(), one_thread():
            check_parameters(self)
            earlier = self._earlier_formulas()
            X, labels, column = split_groups(X, groups)
            errors = read_sigma(sigma, X, y, groups)
            taken = take_in(X, y, errors.beside(sample_weight, labels), categories, missing, self.operators)
            weight, of_y, labels, of_x = taken.beside
            data = check_data(self, taken.X, taken.y, errors.weights(weight, of_y, taken.y))
            from .known.working import run_known
            from .options import Call

            suspected, rng = suspected_of(guesses, data.names, self.operators), seed_generator(self.random_state)
            call = Call(suspected, in_columns(earlier, data.names), rng, interrupts, called)
            # Who says what a row is worth, or chooses another loss, has thought about such values.
            alike = data.weights is None or bool((data.weights == data.weights[0]).all())
            plain = self.loss == "mse" and labels is None and of_x is None and alike
            slips, whole = slip_rows(data.y if plain else data.y[:0]), data
            data = data.without(slips)
            if labels is None:
                placed = errors.placed(of_y, of_x, data)
                outcome = run_known(data, errors.told(self._options()), call, placed)
            else:
                from .known.grouped import run_groups

                outcome = run_groups(data, labels, column, errors.told(self._options()), call)
        self.front_, self.beside_, self.picked_ = outcome.entries, outcome.beside, outcome.picked
        self.notes_, self.encoding_ = (*taken.notes, *outcome.notes), taken.encoding
        if len(slips):
            from .notes import slip_note

            self.notes_ = (slip_note(self.formula_, whole.X[slips], whole.y[slips]), *self.notes_)
        self.trace_, self.interrupted_ = outcome.trace, outcome.stopped == "interrupted"
        self.stopped_, self.proven_ = outcome.stopped, outcome.proven
        self.seconds_, self.n_evaluations_ = outcome.seconds, outcome.n_evaluations
        self.n_train_, self.n_valid_ = outcome.n_train, outcome.n_valid
        self.fitted_with_, self.group_column_ = __version__, column or None
        self._drawn = rows_to_remember(data.X, data.y) if labels is None else None
        return self

    def predict(self, X: Any, index: int | None = None) -> Floats:
        """Values of the picked formula, or of formula `index`; nan or inf outside its domain."""
        formula = self._formula(index)
        return predicted(self, formula, X if formula.groups is not None else without_groups(self, X))

    def predict_interval(self, X: Any, level: float = 0.95, index: int | None = None) -> tuple[Floats, Floats]:
        """Lower and upper ends of the intervals in which new measurements fall with the probability `level`."""
        return interval(self, self._formula(index), without_groups(self, X), level)

    @property
    def formula_(self) -> Formula:
        """The picked formula."""
        return self._formula(None)

    @property
    def equations_(self) -> pd.DataFrame:
        """The front as a table, one row per formula."""
        check_is_fitted(self)
        import pandas as pd

        return pd.DataFrame(frame_rows(self.front_, self.picked_))

    def sympy(self, index: int | None = None) -> Any:
        """The formula as a sympy expression in the names of the columns."""
        return self._formula(index).sympy()

    def latex(self, index: int | None = None, digits: int | None = 4) -> str:
        """The formula as LaTeX, constants rounded to `digits`."""
        return self._formula(index).latex(digits)

    def torch_module(self, index: int | None = None) -> Any:
        """The formula as a torch module: rows in the order of the columns in, values with gradients out."""
        from ..fit.dno.dno import require_torch

        formula = self._formula(index)
        require_torch()
        from ..formula.torch_module import FormulaModule

        return FormulaModule(formula.expr, formula.names)

    def score_equations(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """R² of every formula of the table on these rows."""
        check_is_fitted(self)
        rows = check_rows(self, prepared(self, X))
        return np.array([entry.formula.score(rows, y, sample_weight) for entry in self.front_])

    def plot(self, X: Any = None, y: Any = None, index: int | None = None) -> Figure:
        """A matplotlib figure of the front, prediction, residuals and strongest response (extra `plot`).

        Without `X` and `y` it shows up to 1000 rows of the fit; a model that was loaded or unpickled has none, and
        shows the front.
        """
        check_is_fitted(self)
        from ..report.plots import plot

        return plot(self, X, y, index)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as JSON; `load` reads it back without the data."""
        check_is_fitted(self)
        save_model(self, os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> UniSymNetRegressor:
        """A fitted model from the file that `save` wrote."""
        return load_model(cls, os.fspath(path))

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows that pictures are drawn from: whoever passes a model on does not pass on data."""
        return {name: value for name, value in super().__getstate__().items() if name != "_drawn"}

    def __sklearn_is_fitted__(self) -> bool:
        return "front_" in vars(self)

    def __str__(self) -> str:
        if not self.__sklearn_is_fitted__():
            return repr(self)
        limit = "" if self.max_time in (None, np.inf) else f" of {self.max_time:g}"
        rows = f"{self.n_train_} rows" + (f" + {self.n_valid_} for validation" if self.n_valid_ else "")
        target, names = self.formula_.target, self.formula_.inputs
        columns = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        end = ending(self.stopped_, self.proven_)
        head = f"{target} = f({columns})   {rows}   {self.seconds_:.1f}{limit} s ({end})"
        table = front_text(self.front_, self.picked_)
        lines = [head, "", table, "", chosen_text(self.front_[self.picked_]), *map(beside_text, self.beside_)]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes_)])

    def _repr_html_inner(self) -> str:
        """What `_repr_html_` of scikit-learn calls: fitted, the formulas; otherwise its diagram of parameters."""
        if not self.__sklearn_is_fitted__():
            return super()._repr_html_inner()
        from ..report.notebook import notebook_html

        return notebook_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """The same for notebooks, which ask for this first."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if self.__sklearn_is_fitted__() and "text/html" in shown:
            shown |= {"text/plain": str(self), "text/html": self._repr_html_inner()}
        return shown

    def _earlier_formulas(self) -> tuple[Formula, ...]:
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return ()
        return tuple(entry.formula for entry in self.front_)

    def _options(self) -> Options:
        from .options import options_of

        return options_of(self)
