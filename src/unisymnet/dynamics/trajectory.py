"""Trajectories as a search wants them: times that rise, states that may be missing, inputs that are known.

Reads frames and arrays, says what is wrong with them, and cuts at gaps and into pieces that are short enough to be
smoothed as one curve.  Knows no equation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats
from ..errors import DataError
from ..formula.given import numbers
from ..problem import check_powers

MIN_POINTS = 8  # fewer cannot tell a rate from a wiggle
MAX_PIECE = 600  # points that are smoothed as one curve
MAX_PIECES = 12
GAP = 12.0  # a step so many times longer than its neighbours is a gap


@dataclass(frozen=True)
class Trajectory:
    """One run: times (n,) ascending, states (n, d) with nan where not measured, inputs (n, m)."""

    t: Floats
    x: Floats
    u: Floats
    name: str = ""

    def __len__(self) -> int:
        return len(self.t)


@dataclass(frozen=True)
class Runs:
    """All trajectories with the names of what they hold, and what had to be said about them."""

    trajectories: tuple[Trajectory, ...]
    time: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def n_points(self) -> int:
        return sum(len(run) for run in self.trajectories)


def read_runs(
    data: Any,
    values: Any = None,
    *,
    time: str | None = None,
    states: Sequence[str] | str | None = None,
    inputs: Sequence[Any] | str | Any | None = None,
    trajectory: Any = None,
) -> Runs:
    """Trajectories from a table with named columns, or from times and values as arrays (or lists of arrays)."""
    if values is None:
        return _from_frame(data, time, _names(states), _names(inputs), trajectory)
    return _from_arrays(data, values, time or "t", _names(states), inputs, trajectory)


def _names(given: Any) -> list[str] | None:
    if given is None or isinstance(given, np.ndarray):
        return None
    if isinstance(given, str):
        return [name.strip() for name in given.split(",") if name.strip()]
    if not isinstance(given, Iterable):
        raise DataError(f"states and inputs are names of columns, or arrays, got {given!r}")
    return [str(name) for name in given] if all(isinstance(name, str) for name in given) else None


def _from_frame(
    frame: Any, time: str | None, states: list[str] | None, inputs: list[str] | None, trajectory: Any
) -> Runs:
    columns = list(frame) if isinstance(frame, Mapping) else getattr(frame, "columns", None)
    if columns is None:
        raise DataError(
            f"fit takes a table with named columns, or times and states: fit(t, X). Got {type(frame).__name__} alone"
        )
    known = {str(column): column for column in columns}
    if len(known) < len(columns):
        twice = next(name for name in known if [str(column) for column in columns].count(name) > 1)
        raise DataError(f"two columns are called {twice!r}; rename one of them")
    inputs = inputs or []
    if time is None:
        time = next((name for name in known if name.lower() in ("t", "time")), None)
        if time is None:
            raise DataError(f"which column is the time? Say time=…; the table has {', '.join(known)}")
    label = str(trajectory) if trajectory is not None else None
    if states is None:
        states = [name for name in known if name not in (time, label, *inputs) and _is_number(frame[known[name]])]
    for name in [time, *states, *inputs, *([label] if label is not None else [])]:
        if name not in known:
            raise DataError(f"there is no column {name!r}; the table has {', '.join(known)}")
    if time in states:
        raise DataError(f"the column {time!r} cannot be both the time and a state; leave it out of states")
    table = {name: _column(frame[known[name]], name) for name in [time, *states, *inputs]}
    labels = None if label is None else np.asarray(frame[known[label]])
    return _checked(table[time], _stack(table, states), _stack(table, inputs), labels, time, states, inputs)


def _stack(table: dict[str, Floats], names: list[str]) -> Floats:
    n_rows = len(next(iter(table.values())))
    return np.column_stack([table[name] for name in names]) if names else np.empty((n_rows, 0))


def _is_number(column: Any) -> bool:
    return np.asarray(column).dtype.kind in "fiub"


def _column(values: Any, name: str) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind == "M":
        return (array - array.min()) / np.timedelta64(1, "s")
    if array.dtype.kind == "m":
        return array / np.timedelta64(1, "s")
    return numbers(values, f"the column {name!r}")


def _from_arrays(times: Any, values: Any, time: str, states: list[str] | None, inputs: Any, trajectory: Any) -> Runs:
    several = isinstance(values, list | tuple) and len(values) > 0 and np.ndim(values[0]) >= 1
    if several and all(np.ndim(moment) == 0 for moment in times):
        several = len(times) != len(values)  # a list of rows, or runs that share their times
        times = [times] * len(values) if several else times
    if not several:
        times, values, inputs = [times], [values], None if inputs is None else [inputs]
    if len(times) != len(values):
        raise DataError(f"there are {len(times)} arrays of times and {len(values)} of states; give one for each run")
    runs: list[tuple[Floats, Floats, Floats]] = []
    for number, (t, x) in enumerate(zip(times, values)):
        t, x = numbers(t, "the times"), numbers(x, "the states")
        x = x[:, None] if x.ndim == 1 else x
        u = np.empty((len(x), 0)) if inputs is None else numbers(inputs[number], "the inputs")
        u = u[:, None] if u.ndim == 1 else u
        if t.ndim != 1 or x.ndim != 2 or len(t) != len(x) or len(u) != len(x):
            raise DataError(
                f"times must be (n,), states (n, d) and inputs (n, m); got {t.shape}, {x.shape} and {u.shape}"
            )
        runs.append((t, x, u))
    if len({(x.shape[1], u.shape[1]) for _, x, u in runs}) != 1:
        raise DataError("all runs must have the same states and inputs; they differ in the number of columns")
    d, m = runs[0][1].shape[1], runs[0][2].shape[1]
    states = states or (["x"] if d == 1 else [f"x{i}" for i in range(d)])
    if len(states) != d:
        raise DataError(f"{len(states)} names of states for {d} columns: {', '.join(states)}")
    labels = np.repeat(np.arange(len(runs)), [len(t) for t, _, _ in runs]) if len(runs) > 1 else trajectory
    joined = [np.concatenate([run[k] for run in runs]) for k in range(3)]
    named = ["u"] if m == 1 else [f"u{i}" for i in range(m)]
    return _checked(joined[0], joined[1], joined[2], labels, time, states, named)


def _checked(t: Floats, x: Floats, u: Floats, labels: Any, time: str, states: list[str], inputs: list[str]) -> Runs:
    if not states:
        raise DataError("there is no state: no column of numbers is left besides the time")
    notes: list[str] = []
    marks = np.zeros(len(t)) if labels is None else np.asarray(labels)
    if len(marks) != len(t):
        raise DataError(f"the labels of runs have {len(marks)} rows, the times {len(t)}")
    runs, places = [], dict[Any, list[int]]()
    for row, mark in enumerate(marks.tolist()):
        places.setdefault(mark, []).append(row)
    for mark, rows in places.items():
        run = _one_run(t[rows], x[rows], u[rows], "" if labels is None else str(mark), time, notes)
        if run is not None:
            runs.append(run)
    if not runs:
        given = "1 row" if len(t) == 1 else f"{len(t)} rows"
        raise DataError(
            f"no run has values at {MIN_POINTS} different times, of {given}; rates need at least that many, better 50"
        )
    check_powers(np.array([run.t[-1] - run.t[0] for run in runs]), f"the time {time!r}")
    for k, name in enumerate(states):
        column = np.concatenate([run.x[:, k] for run in runs])
        if np.isfinite(column).sum() < MIN_POINTS:
            raise DataError(f"the state {name!r} has fewer than {MIN_POINTS} values; leave it out or measure more")
        check_powers(column, f"the state {name!r}")
        if np.nanmax(column) == np.nanmin(column):
            notes.append(f"{name} never changes, so its equation is {name}' = 0")
    return Runs(tuple(runs), time, tuple(states), tuple(inputs), tuple(notes))


def _one_run(t: Floats, x: Floats, u: Floats, name: str, time: str, notes: list[str]) -> Trajectory | None:
    where = f" of run {name}" if name else ""
    good = np.isfinite(t) & np.isfinite(u).all(axis=1) & np.isfinite(x).any(axis=1)
    if not good.all():
        gone = int((~good).sum())
        rows, were = ("1 row", "was") if gone == 1 else (f"{gone} rows", "were")
        notes.append(f"{rows}{where} without a time, an input or any state {were} left out")
    t, x, u = t[good], np.where(np.isfinite(x[good]), x[good], np.nan), u[good]
    back = np.flatnonzero(np.diff(t) < 0.0)
    if len(back):
        if (np.diff(t) <= 0.0).all():
            t, x, u = t[::-1], x[::-1], u[::-1]
        else:
            at = int(back[0])
            raise DataError(
                f"the time {time!r}{where} runs backwards, from {t[at]:g} to {t[at + 1]:g} in row {at + 2}; if the "
                f"table holds several runs, name their column: trajectory=…; if rows are out of order, sort them"
            )
    same = np.flatnonzero(np.diff(t) == 0.0)
    if len(same):
        notes.append(
            f"{len(same)} times{where} occur more than once, the first is {t[same[0]]:g}; their values are averaged"
        )
        t, x, u = _averaged(t, x, u)
    if len(t) < MIN_POINTS:
        notes.append(f"a run of {len(t)} points{where} was left out; at least {MIN_POINTS} are needed")
        return None
    return Trajectory(t, x, u, name)


def _averaged(t: Floats, x: Floats, u: Floats) -> tuple[Floats, Floats, Floats]:
    times, place = np.unique(t, return_inverse=True)

    def mean(values: Floats) -> Floats:
        good = np.isfinite(values)
        sums, counts = np.zeros((len(times), values.shape[1])), np.zeros((len(times), values.shape[1]))
        np.add.at(sums, place, np.where(good, values, 0.0))
        np.add.at(counts, place, good)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    return times, mean(x), mean(u)


def pieces(runs: Sequence[Trajectory]) -> list[Trajectory]:
    """The runs cut at gaps, and long ones into parts; at most ``MAX_PIECES``, evenly chosen."""
    found: list[Trajectory] = []
    for run in runs:
        steps = np.diff(run.t)
        usual = np.array([np.median(np.delete(steps[max(0, i - 4) : i + 5], min(i, 4))) for i in range(len(steps))])
        cuts = np.flatnonzero(steps > GAP * usual) + 1
        for rows in np.split(np.arange(len(run)), cuts):
            for part in np.array_split(rows, -(-len(rows) // MAX_PIECE)):
                if len(part) >= MIN_POINTS:
                    found.append(Trajectory(run.t[part], run.x[part], run.u[part], run.name))
    if len(found) > MAX_PIECES:
        found = [found[i] for i in np.linspace(0, len(found) - 1, MAX_PIECES).round().astype(int)]
    return found
