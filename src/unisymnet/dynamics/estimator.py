"""`DynamicsRegressor`: differential equations from trajectories, behind one `fit`.

Checks what it is given, hands over to find.py, and keeps what came back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..arrays import Floats
from ..deadline import now
from ..errors import DataError, quoted
from ..formula import stored
from ..symbolic.expr import Expr
from ..symbolic.parse import parse
from ..threads import one_thread
from .equations.system import Inputs, System
from .trajectory import Runs, read_runs

if TYPE_CHECKING:
    import pandas as pd

    from ..deadline import Deadline
    from .course import Course
    from .find import Found
    from .watch import DynamicsEvent


SCHEMA, VERSION = "unisymnet-dynamics", 1
OWN = ("callback", "checkpoint")  # parameters that a saved model does not keep
DRAWING = 10.0  # seconds for simulating what a report draws, all runs together
FINISH = 0.03  # of the time: for constants that are tied, and for what is to be said
LEAST_FINISH = 0.25  # seconds: the last fit is not cut short, and a few more follow


class DynamicsRegressor(BaseEstimator):
    """Find differential equations x' = f(x, u) in measured trajectories.

    Parameters
    ----------
    max_time : float, default=60
        Seconds for one fit; most end earlier.
    random_state : int, default=0
        Kept for symmetry with `UniSymNetRegressor`; the search itself draws no random numbers.
    order : {1, 2}, default=1
        2: second-order equations x'' = f(x, x'), where only the positions x are measured.
    use_time : bool, default=False
        Whether the equations may depend on time.
    search : bool, default=True
        Whether the general search of `UniSymNetRegressor` helps where libraries of terms do not explain a rate.
    units, constants, constraints : what is known, as for `UniSymNetRegressor`; rates are called x'. Units are those of
        states, inputs and the time; a constraint is for the rate that it names ("x'(x=0) >= 0"), else for all rates.
    template : mapping from a state to its rate as far as it is known: {"x": "a*x - f(x, y)"}.
    verbose : bool, default=False
        Show progress on stderr.
    callback : callable or None, default=None
        Called with a `DynamicsEvent` while the search runs: what is tried, the best equations and system so far.
    checkpoint : path or None, default=None
        File for the best system so far, which survives if the search is killed.

    Attributes
    ----------
    system_ : the chosen `System`: simulate, rhs, jacobian, fixed_points, latex, to, save.
    systems_ : with groups, the system of every group (`system_` is that of the first); else empty.
    equations_ : dict of tables: the rates considered for each state under its name, and the systems under "system".
    interrupted_ : whether Ctrl-C ended the fit.
    notes_ : sentences about data left out and about what the data leave open.
    """

    system_: System

    def __init__(
        self,
        *,
        max_time: float = 60,
        random_state: Any = 0,
        order: int = 1,
        use_time: bool = False,
        search: bool = True,
        units: Mapping[str, str] | None = None,
        constants: Mapping[str, str | float] | None = None,
        constraints: Sequence[str] | Mapping[str, Sequence[str] | str] | None = None,
        template: Mapping[str, str] | None = None,
        verbose: bool = False,
        callback: Callable[[DynamicsEvent], Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.max_time = max_time
        self.random_state = random_state
        self.order = order
        self.use_time = use_time
        self.search = search
        self.units = units
        self.constants = constants
        self.constraints = constraints
        self.template = template
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    def fit(
        self,
        data: Any,
        X: Any = None,
        *,
        time: str | None = None,
        states: Sequence[str] | str | None = None,
        inputs: Any = None,
        trajectory: Any = None,
        groups: Any = None,
        guesses: Mapping[str, Sequence[str] | str] | None = None,
    ) -> DynamicsRegressor:
        """Search for a system.

        `data` is a table with the columns `time`, `states` and `inputs`, `trajectory` naming the column of runs;
        or the times, and `X` the states: arrays, or lists with one array for each run. Missing states (nan),
        uneven steps and gaps are fine. Ctrl-C stops the search and keeps what it has found. `groups`, a column or one
        label for each run, says which runs may have constants of their own in one common form. `guesses` maps a state
        to rates you suspect, as text.
        """
        from ..regressor.interrupt import Interrupts
        from .clock import Clock
        from .find import find_systems
        from .integrate import warm_up
        from .known.groups import group_labels
        from .known.rates import Known
        from .watch import Watch

        self._check()
        started = now()
        trajectory = groups if trajectory is None and isinstance(groups, str) else trajectory
        table = data
        if isinstance(groups, str) and states is None and X is None and groups != trajectory:
            table = {name: data[name] for name in data if str(name) != groups}  # a number, perhaps, but no state
        runs = read_runs(table, X, time=time, states=states, inputs=inputs, trajectory=trajectory)
        labels = None if groups is None else group_labels(runs, groups, data, trajectory)
        known = Known(self.units, self.constants, self.constraints, self.template)
        started += warm_up()
        interrupts = Interrupts()
        kept = None if self.checkpoint is None else Path(self.checkpoint)
        keeper = Watch(verbose=self.verbose, callback=self.callback, checkpoint=kept)
        deadline = Clock(started + float(self.max_time), stop=interrupts)
        with interrupts.caught(), one_thread(), np.errstate(all="ignore"):

            def search(course: Course, until: Deadline) -> Found:
                suspected = _guesses(guesses or {}, course.names, course.n_states)
                return find_systems(
                    course,
                    until,
                    guesses=suspected,
                    use_time=self.use_time,
                    general=self.search,
                    known=known.of(course),
                    watch=keeper,
                )

            self._keep(runs, labels, search, deadline)
        self.runs_ = runs
        self.interrupted_ = interrupts.requested
        if self.interrupted_:
            self.system_ = self.system_.with_notes("the search was stopped; this is the best system so far")
        self.system_ = self.system_.with_notes(*keeper.faults)
        self.notes_ = self.system_.notes
        self.seconds_ = now() - started
        return self

    def _check(self) -> None:
        """Raise for a parameter of a kind that cannot be used."""
        if self.order not in (1, 2):
            raise ValueError(f"order must be 1 or 2, got {quoted(self.order)}")
        number = isinstance(self.max_time, int | float) and not isinstance(self.max_time, bool)
        if not (number and self.max_time > 0):
            raise ValueError(f"max_time must be a positive number of seconds, got {quoted(self.max_time)}")
        for name in ("units", "constants", "template"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, Mapping):
                raise TypeError(f"{name} must be a dict by the names of columns, got {quoted(value)}")

    def _keep(
        self, runs: Runs, labels: dict[str, str] | None, search: Callable[[Course, Deadline], Found], deadline: Deadline
    ) -> None:
        """Search in all runs, or group by group, and keep what was found."""
        from .course import make_course
        from .finish import finished
        from .known.groups import fit_groups

        self.systems_: dict[str, System] = {}
        if labels is None:
            self.course_ = make_course(runs, self.order)
            self.found_ = search(self.course_, deadline.sooner(deadline.remaining() - _reserve(float(self.max_time))))
            self.system_ = finished(self.course_, self.found_.search, self.found_.systems[0])
            self.parts_ = [(self.system_, self.course_)]
            return
        grouped = fit_groups(runs, labels, lambda part: make_course(part, self.order), search, deadline)
        self.systems_, self.found_ = grouped.systems, grouped.found
        self.parts_ = [(grouped.systems[mark], grouped.courses[mark]) for mark in grouped.systems]
        self.system_, self.course_ = self.parts_[0]
        self.system_ = self.system_.with_notes(*grouped.notes(runs))

    def predict(self, t: ArrayLike, x0: ArrayLike | None = None, inputs: Inputs = None) -> Floats:
        """States at the times from the state `x0` at the first of them (default: the start of the first run)."""
        check_is_fitted(self, "system_")
        return self.system_.simulate(x0, t, inputs)

    def score(self, data: Any = None, X: Any = None, **names: Any) -> float:
        """R² of the simulated states over the variance of each state; 1 is perfect.

        Every run is simulated from one start, which is fitted to the run: its first row is as noisy as the others.
        """
        check_is_fitted(self, "system_")
        from .scoring import score_runs

        if data is not None:
            return score_runs([(self.system_, read_runs(data, X, **names))])
        if "parts_" not in vars(self):
            raise DataError("a loaded model has no data: give the runs to score")
        return score_runs([(system, course.runs) for system, course in self.parts_])

    @property
    def equations_(self) -> dict[str, pd.DataFrame]:
        """Tables: the rates considered for each state, best first, and the systems."""
        check_is_fitted(self, "system_")
        from .tables import equation_tables

        return equation_tables(self)

    def drawn_runs(self) -> list[Any]:
        """The runs of the fit with what the system predicts from their fitted or smoothed starts, for a report."""
        from ..report.system_page import Run

        check_is_fitted(self, "course_")
        found = []
        d, end = len(self.runs_.states), monotonic() + DRAWING
        for system, course in self.parts_:
            row = 0
            fitted = self.found_.systems[0].shot.starts if not self.systems_ else np.empty((0, 0))
            for place, smooth in enumerate(course.smooths):
                run, start = smooth.run, course.curves[row]
                if len(fitted) == len(course.smooths) and np.isfinite(fitted[place]).all():
                    start = fitted[place]  # one for each piece, and nearer to the truth than the smoothed data
                states = system.simulate(start, run.t, run.u if run.u.shape[1] else None, max_seconds=end - monotonic())
                found.append(Run(run.t, run.x[:, :d], states, run.name))
                row += len(run)
        return found

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write one HTML page: trajectories over data, what is left in time, the phase portrait."""
        from ..regressor.checkpoint import write_atomically
        from ..report.system_page import system_html

        lead = f"{self.runs_.n_points} points, {self.seconds_:.1f} s"
        page = system_html(self.system_, self.drawn_runs(), self.notes_, lead)
        write_atomically(Path(path), page)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the system and the tables as JSON; `load` reads them back without the data."""
        check_is_fitted(self, "system_")
        from ..regressor.checkpoint import write_atomically
        from .tables import saved_tables

        whole = {
            "schema": SCHEMA,
            "version": VERSION,
            "parameters": {k: v for k, v in self.get_params().items() if k not in OWN and stored.is_plain(v)},
            "system": self.system_.to_dict(),
            "systems": {mark: system.to_dict() for mark, system in self.systems_.items()},
            "tables": saved_tables(self),
            "seconds": self.seconds_,
        }
        write_atomically(Path(path), json.dumps(whole, ensure_ascii=False, indent=1))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DynamicsRegressor:
        """A fitted model from the file that `save` wrote."""
        from .tables import read_tables

        whole = stored.expect(stored.read_file(path, "a model"), SCHEMA, VERSION, "a saved DynamicsRegressor")
        with stored.reading(f"the model {os.fspath(path)}"):
            known = cls().get_params()
            model = cls(**{name: value for name, value in whole.get("parameters", {}).items() if name in known})
            model._check()
            model.system_ = System.from_dict(whole["system"])
            others = whole.get("systems", {})
            model.systems_ = {str(mark): System.from_dict(one) for mark, one in others.items()}
            model.notes_ = model.system_.notes
            model.seconds_ = stored.number(whole.get("seconds", 0.0))
            model.saved_tables_ = read_tables(whole.get("tables", {}))
        return model

    def __str__(self) -> str:
        if "system_" not in vars(self):
            return repr(self)
        from .tables import system_text

        return system_text(self)


def _guesses(given: Mapping[str, Sequence[str] | str], names: Sequence[str], n_states: int) -> list[list[Expr]]:
    unknown = [name for name in given if name not in names[:n_states]]
    if unknown:
        raise DataError(f"guesses are for states ({', '.join(names[:n_states])}), not for {', '.join(unknown)}")
    found: list[list[Expr]] = []
    for name in names[:n_states]:
        texts = given.get(name, ())
        found.append([parse(text, list(names)) for text in ([texts] if isinstance(texts, str) else texts)])
    return found


def _reserve(max_time: float) -> float:
    """Seconds that the search leaves for what follows it."""
    return max(FINISH * max_time, min(LEAST_FINISH, max_time / 3.0))
