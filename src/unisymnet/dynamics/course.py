"""The data of a search as all its parts see them: curves, noise, tables of columns, and how rows are cut into segments.

Columns are the states, then the inputs, then the time.  Of a system of second order only the positions are measured;
their velocities are states without data, known from the slopes of the curves.  Knows no candidate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Floats
from .integrate import Cut, Lanes, make_lanes
from .smoothing import Noise, Smooth, smooth_all
from .trajectory import Runs, pieces

GRID = (400, 2400)  # points of the tables for one piece, at least and at most


@dataclass(frozen=True)
class Course:
    """Pieces of trajectories made ready.  ``order`` 2: states are positions, then as many velocities."""

    runs: Runs
    smooths: tuple[Smooth, ...]
    noises: tuple[Noise, ...]
    order: int = 1

    @property
    def n_states(self) -> int:
        return len(self.runs.states) * self.order

    @property
    def n_columns(self) -> int:
        return self.n_states + len(self.runs.inputs) + 1

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all columns."""
        velocities = [f"{name}_dot" for name in self.runs.states] if self.order == 2 else []
        return (*self.runs.states, *velocities, *self.runs.inputs, self.runs.time)

    @property
    def clean(self) -> bool:
        return all(noise.clean for noise in self.noises)

    @cached_property
    def times(self) -> Floats:
        return np.concatenate([smooth.run.t for smooth in self.smooths])

    @cached_property
    def data(self) -> Floats:
        """(n, d): nan where nothing was measured."""
        measured = np.concatenate([smooth.run.x for smooth in self.smooths])
        return np.column_stack([measured, np.full_like(measured, np.nan)]) if self.order == 2 else measured

    @cached_property
    def curves(self) -> Floats:
        """(n, d): the smooth states at the measured times."""
        return np.concatenate([self.states_at(smooth, smooth.run.t) for smooth in self.smooths])

    @cached_property
    def deviation(self) -> Floats:
        """(n, d): standard deviation of the noise; one for what is not measured."""
        columns = [noise.deviation(self.curves[:, k]) for k, noise in enumerate(self.noises)]
        columns += [np.ones(len(self.times))] * (self.n_states - len(columns))
        return np.column_stack(columns)

    @cached_property
    def scales(self) -> Floats:
        """Typical size of the states."""
        values = np.concatenate([table[:, : self.n_states] for table in self.tables])
        scales = np.sqrt(np.mean(values**2, axis=0))
        return np.where(scales > 0.0, scales, 1.0)

    @cached_property
    def tolerance(self) -> float:
        """Of the integration: well below the noise."""
        shares = [float(np.median(self.deviation[:, k])) / self.scales[k] for k in range(len(self.noises))]
        return float(np.clip(0.02 * min(shares), 1e-11, 1e-4))

    @cached_property
    def grids(self) -> tuple[Floats, ...]:
        """Even times over every piece."""
        sizes = [int(np.clip(4 * len(smooth.run), *GRID)) for smooth in self.smooths]
        return tuple(np.linspace(s.run.t[0], s.run.t[-1], size) for s, size in zip(self.smooths, sizes))

    @cached_property
    def tables(self) -> tuple[Floats, ...]:
        """All columns on the grids."""
        return tuple(self.columns_at(smooth, grid, 0) for smooth, grid in zip(self.smooths, self.grids))

    @cached_property
    def lanes(self) -> Lanes:
        times = [(float(g[0]), float(g[1] - g[0])) for g in self.grids]
        pairs = list(zip(self.smooths, self.grids, times))
        # What an input does between two moments counts: samples shift its jumps, and terms are found that undo this.
        values = [self.columns_at(smooth, grid, 0, step) for smooth, grid, (_, step) in pairs]
        slopes = [self.columns_at(smooth, grid, 1, step) for smooth, grid, (_, step) in pairs]
        return make_lanes(values, slopes, times)

    def states_at(self, smooth: Smooth, t: Floats, order: int = 0) -> Floats:
        """Smooth states, with the velocities of a system of second order."""
        found = smooth.states(t, order)
        return np.column_stack([found, smooth.states(t, order + 1)]) if self.order == 2 else found

    def cut(self, n_segments: int, least: int = 4) -> Cut:
        """Every piece cut into about ``n_segments`` runs of neighbouring rows, at least ``least`` long."""
        firsts, lasts, lanes = [], [], []
        start = 0
        for number, smooth in enumerate(self.smooths):
            n = len(smooth.run)
            parts = max(1, min(n_segments, n // least))
            edges = start + np.round(np.linspace(0, n, parts + 1)).astype(int)
            firsts += edges[:-1].tolist()
            lasts += edges[1:].tolist()
            lanes += [number] * parts
            start += n
        return Cut(np.array(firsts), np.array(lasts), np.array(lanes))

    def wiggles(self) -> float:
        """Turning points a piece has on average, over all states: how fast things happen."""
        counts = []
        for table in self.tables:
            slopes = np.diff(table[:, : self.n_states], axis=0)
            counts.append(np.max(np.sum(np.diff(np.sign(slopes), axis=0) != 0, axis=0)))
        return float(np.mean(counts))

    def columns_at(self, smooth: Smooth, t: Floats, order: int = 0, width: float = 0.0) -> Floats:
        """All columns, or their slopes, at some times of a piece; inputs as means over so much time."""
        inputs = smooth.inputs(t, width)
        if order:
            inputs = np.gradient(inputs, t, axis=0) if inputs.shape[1] else inputs
        time = np.ones(len(t)) if order else t
        return np.column_stack([self.states_at(smooth, t, order), inputs, time])


def make_course(runs: Runs, order: int = 1) -> Course:
    """Smooth the runs and find their noise."""
    smooths, noises = smooth_all(pieces(runs.trajectories))
    return Course(runs, tuple(smooths), tuple(noises), order)


def effective_rows(course: Course, k: int) -> float:
    """Independent rows that the derivative of state ``k`` is worth: the smoother's degrees of freedom."""
    freedom = sum(smooth.curves[k % len(course.runs.states)].freedom for smooth in course.smooths)
    return max(float(freedom), 4.0) if math.isfinite(freedom) else 4.0
