"""A system of differential equations as a user holds it: simulate, inspect, print, export, store as JSON.

Frozen, and free of the search and its kernels: a saved system is read by our own parser and computed by numpy and
scipy.  Columns of the equations are the states, then the inputs, then the time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Floats
from ...errors import DataError
from ...formula import Formula, stored
from ...formula.constants import Constant
from ...formula.derivative import value_and_jacobian
from ...symbolic.expr import Expr, Param, Var, evaluate, rebuild, variables
from ...symbolic.parse import parse
from ...symbolic.writers.names import comment_line
from .fixed import FixedPoint, find_fixed_points

Inputs = Callable[[float], ArrayLike] | Mapping[str, ArrayLike] | ArrayLike | None

SCHEMA, VERSION = "unisymnet-system", 1


@dataclass(frozen=True)
class System:
    """`state' = equation` for every state.

    >>> growth = System.parse({"n": "0.5*n*(1 - n/10)"})
    >>> round(float(growth.simulate([1.0], [0.0, 20.0])[-1, 0]), 3)
    9.996
    """

    exprs: tuple[Expr, ...]
    states: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    time: str = "t"
    constants: tuple[tuple[Constant, ...], ...] = ()
    ranges: tuple[tuple[float, float], ...] = ()  # of the states in the data
    start: tuple[float, ...] = ()  # of the first run
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if len(self.exprs) != len(self.states):
            raise ValueError(f"{len(self.exprs)} equations for {len(self.states)} states")

    @staticmethod
    def parse(equations: Mapping[str, str], inputs: Sequence[str] = (), time: str = "t") -> System:
        """A system written down by hand: the rate of every state as text."""
        names = [*equations, *inputs, time]
        return System(tuple(parse(text, names) for text in equations.values()), tuple(equations), tuple(inputs), time)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns of the equations."""
        return (*self.states, *self.inputs, self.time)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The right-hand sides, one `Formula` each."""
        found = []
        for k, expr in enumerate(self.exprs):
            own = self.constants[k] if k < len(self.constants) else ()
            found.append(Formula(expr, self.names, rate_name(self.states[k]), own))
        return tuple(found)

    def __str__(self) -> str:
        return "\n".join(self.lines(6))

    def lines(self, digits: int | None = 6) -> list[str]:
        """One line an equation."""
        return [f"{comment_line(formula.target)} = {formula.text(digits)}" for formula in self.formulas]

    def rhs(self, x: ArrayLike, t: ArrayLike = 0.0, inputs: ArrayLike | None = None) -> Floats:
        """Rates at one state (d,) or many (n, d)."""
        rows = self._rows(x, t, inputs)
        found = np.column_stack([evaluate(expr, rows) for expr in self.exprs])
        return found[0] if np.ndim(x) == 1 else found

    def jacobian(self, x: ArrayLike, t: float = 0.0, inputs: ArrayLike | None = None) -> Floats:
        """Derivatives of the rates by the states at one state, exact."""
        row = self._rows(np.asarray(x, dtype=np.float64).ravel(), t, inputs)[0]
        found = np.zeros((len(self.exprs), len(self.states)))
        for k, expr in enumerate(self.exprs):
            form = rebuild(expr, lambda node: Param(node.index) if isinstance(node, Var) else node)
            found[k] = value_and_jacobian(form, np.zeros((1, 0)), tuple(row))[1][0, : len(self.states)]
        return found

    def simulate(
        self,
        x0: ArrayLike | None,
        t: ArrayLike,
        inputs: Inputs = None,
        *,
        rtol: float = 1e-8,
        max_seconds: float = 60.0,
    ) -> Floats:
        """States (n, d) at the times ``t`` from the state ``x0`` at the first of them; nan after a blow-up.

        ``inputs`` is a function of the time, a table with a column for each input, or an array (n, m) at the times.
        ``x0`` None starts where the first run of the data did.
        """
        from .simulate import simulate

        start = np.asarray(self.start if x0 is None else x0, dtype=np.float64).ravel()
        if start.shape != (len(self.states),):
            raise DataError(f"x0 must have a value for each of {', '.join(self.states)}, got {start.tolist()}")
        times = np.asarray(t, dtype=np.float64).ravel()
        drive = self.drive(inputs, times)

        def rates(now: float, x: Floats) -> Floats:
            return self.rhs(x, now, drive(now) if self.inputs else None)

        return simulate(rates, start, times, rtol=rtol, max_seconds=max_seconds)

    def predict(self, x0: ArrayLike | None, t: ArrayLike, inputs: Inputs = None) -> Floats:
        """The same as `simulate`."""
        return self.simulate(x0, t, inputs)

    def drive(self, inputs: Inputs, times: Floats) -> Callable[[float], Floats]:
        """The inputs as a function of the time."""
        m = len(self.inputs)
        if m == 0:
            return lambda now: np.empty(0)
        if inputs is None:
            raise DataError(f"the system has inputs: say inputs=… with values for {', '.join(self.inputs)}")
        if callable(inputs):
            return lambda now: np.asarray(inputs(now), dtype=np.float64).reshape(m)
        table: Any = inputs
        if isinstance(inputs, Mapping) or hasattr(inputs, "columns"):
            missing = [name for name in self.inputs if name not in table]
            if missing:
                raise DataError(f"the inputs lack {', '.join(missing)}")
            table = np.column_stack([np.asarray(table[name], dtype=np.float64) for name in self.inputs])
        else:
            table = np.asarray(inputs, dtype=np.float64)
            table = table[:, None] if table.ndim == 1 else table
        if table.shape != (len(times), m):
            raise DataError(f"inputs must have a row for each of {len(times)} times and {m} columns, got {table.shape}")
        return lambda now: np.array([np.interp(now, times, column) for column in table.T])

    def fixed_points(self, inputs: ArrayLike | None = None, ranges: ArrayLike | None = None) -> list[FixedPoint]:
        """States where nothing changes, with their stability; searched in the ranges of the data and around them."""
        box = np.asarray(self.ranges if ranges is None else ranges, dtype=np.float64)
        if box.shape != (len(self.states), 2):
            raise DataError("say where to look: ranges=[(low, high), …], one pair for each state")
        if len(self.names) - 1 in {i for expr in self.exprs for i in variables(expr)}:
            return []  # the time stands in the equations: nothing stays where it is
        return find_fixed_points(lambda x: self.rhs(x, 0.0, inputs), lambda x: self.jacobian(x, 0.0, inputs), box)

    def latex(self, digits: int | None = 4) -> str:
        """The equations as aligned lines of LaTeX."""
        from .export import system_latex

        return system_latex(self, digits)

    def to(self, language: str) -> str:
        """Source text: "python" (with scipy's solve_ivp), "c", "julia", "matlab", "latex", "text" or "json"."""
        from .export import write_system

        if language in ("text", "json"):
            return str(self) if language == "text" else self.to_json()
        return write_system(self, language)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "states": list(self.states),
            "inputs": list(self.inputs),
            "time": self.time,
            "equations": [formula.to_dict() for formula in self.formulas],
            "ranges": [list(pair) for pair in self.ranges],
            "start": list(self.start),
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> System:
        """The inverse of `to_dict`; refuses what it does not know."""
        data = stored.expect(data, SCHEMA, VERSION, "a saved system")
        with stored.reading("the saved system"):
            formulas = [Formula.from_dict(formula) for formula in stored.listed(data["equations"])]
            states, inputs, time = stored.words(data["states"]), stored.words(data["inputs"]), stored.word(data["time"])
            ranges = tuple((stored.number(low), stored.number(high)) for low, high in stored.listed(data["ranges"]))
            start = tuple(stored.number(value) for value in stored.listed(data["start"]))
            names = (*states, *inputs, time)
            if not states or len(formulas) != len(states) or any(formula.names != names for formula in formulas):
                raise ValueError("its equations do not fit its states and inputs")
            if len(ranges) not in (0, len(states)) or len(start) not in (0, len(states)):
                raise ValueError("its ranges and its start do not fit its states")
            exprs = tuple(formula.expr for formula in formulas)
            constants = tuple(formula.constants for formula in formulas)
            return System(exprs, states, inputs, time, constants, ranges, start, stored.words(data["notes"]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the system as JSON."""
        from ...regressor.checkpoint import write_atomically

        write_atomically(Path(path), self.to_json())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> System:
        """A system from the file that `save` wrote."""
        data = stored.read_file(path, "a system")
        return System.from_dict(data.get("system", data))

    def with_notes(self, *notes: str) -> System:
        return replace(self, notes=(*self.notes, *notes))

    def _rows(self, x: ArrayLike, t: ArrayLike, inputs: ArrayLike | None) -> Floats:
        states = np.atleast_2d(np.asarray(x, dtype=np.float64))
        if states.shape[1] != len(self.states):
            raise DataError(f"a state has {len(self.states)} values ({', '.join(self.states)}), got {states.shape[1]}")
        n, m = len(states), len(self.inputs)
        given = np.zeros((n, m)) if inputs is None else np.asarray(inputs, dtype=np.float64).reshape(-1, m)
        return np.column_stack([states, np.broadcast_to(given, (n, m)), np.broadcast_to(np.asarray(t, float), n)])


def rate_name(state: str) -> str:
    """x' for x; the rate of x' is x''."""
    return f"{state}'"
