"""What a person sees while a fit runs: one live line in a terminal, plain lines elsewhere, nothing when quiet.

Everything goes to stderr, so that stdout stays free for results. Does not know the search: it is told events.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from ..candidate import Candidate, ParetoFront
from ..symbolic.text import to_text

SECONDS_BETWEEN_LINES = 2.0
MAX_FORMULA = 60


class Progress:
    """Shows events; use as a context manager, so that the live line is cleared at the end."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        max_time: float | None,
        best: Callable[[ParetoFront], Candidate],
        stream: TextIO | None = None,
    ) -> None:
        self.names = names
        self.max_time = max_time
        self.best = best
        self.stream = sys.stderr if stream is None else stream
        self._live: Any = None
        self._last = -SECONDS_BETWEEN_LINES
        self._shown = ""
        self._line = ""

    def __enter__(self) -> Progress:
        if self.stream.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self.stream)
            self._live = Live("searching …", console=console, refresh_per_second=8, transient=True)
            self._live.start()
        return self

    def __exit__(self, *details: object) -> None:
        if self._live is not None:
            self._live.stop()
        elif self._line:
            print(self._line, file=self.stream, flush=True)

    def tell(self, seconds: float, n_evaluations: int, front: ParetoFront, stage: str) -> None:
        """Show the state; in a terminal at every event, elsewhere when the best formula is another one."""
        if not len(front):
            return
        best = self.best(front)
        formula = to_text(best.expr, self.names, 4)
        formula = formula if len(formula) <= MAX_FORMULA else formula[: MAX_FORMULA - 1] + "…"
        limit = "" if self.max_time is None else f" of {self.max_time:g}"
        rate = n_evaluations / max(seconds, 1e-9)
        line = f"{seconds:5.1f}{limit} s  {stage:<10} {n_evaluations} tried, {rate:.0f}/s  {formula}"
        if self._live is not None:
            from rich.text import Text

            self._live.update(Text(line, no_wrap=True, overflow="ellipsis"))
        elif formula != self._shown:
            self._line = line  # shown when the next line is due, or at the end
            if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
                print(line, file=self.stream, flush=True)
                self._shown, self._line, self._last = formula, "", time.monotonic()
