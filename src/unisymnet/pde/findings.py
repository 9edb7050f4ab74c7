"""What a search for equations of fields has found so far, kept where no limit, signal or kill can take it away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from .grid import Grid
from .system import Equation, PDESystem

UNFINISHED = "the search had not ended; these are the best equations so far"


class Findings:
    """The best equation of every field wanted, for each order of the time derivative; in a file, too, if it has one."""

    def __init__(self, grid: Grid, fields: tuple[str, ...], wanted: Sequence[str], path: Path | None) -> None:
        self.grid, self.fields, self.wanted, self.path = grid, fields, tuple(wanted), path
        self.faults: list[str] = []
        self._found: dict[int, dict[str, Equation]] = {}

    def put(self, order: int, equation: Equation) -> None:
        """A first equation of its field, or a better one."""
        self._found.setdefault(order, {})[equation.field] = equation
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.system((UNFINISHED,)).save(self.path)
        except OSError as error:
            self.faults.append(f"the best so far could not be written to {self.path}: {error}")
            self.path = None

    def system(self, notes: Sequence[str]) -> PDESystem:
        """The equations of the order that leaves less unexplained."""
        order = max(self._found, key=self._worst, default=1)
        equations = tuple(self._found.get(order, {}).values())
        return PDESystem(self.fields, self.grid.space, self.grid.time, equations, order, tuple(notes))

    def notes(self, *, interrupted: bool) -> list[str]:
        """What to say where the search was stopped, had too little time, or could not write."""
        said = ["the search was stopped; these are the best equations so far"] if interrupted else []
        known = {equation.field for equation in self.system(()).equations}
        lacking = [name for name in self.wanted if name not in known]
        if lacking:
            said.append(f"there was no time for an equation for {', '.join(lacking)}; give more with max_time")
        return said + self.faults

    def _worst(self, order: int) -> float:
        """The smallest R²; less than any where an equation is lacking."""
        found = self._found[order]
        lacking = len(found) < len(self.wanted)
        return -math.inf if lacking else min((e.r2 for e in found.values() if e.terms), default=0.0)
