"""Who hears of a fit while it runs: a person (a live panel in a terminal, plain lines elsewhere), files, a callback.

Everything goes to stderr, so that stdout stays free for results. Does not know the search: it is told events. The
panel's clock goes on between events, because some stages think for seconds without a word.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TextIO

from ..candidate import Candidate, ParetoFront
from ..pulse import Pulse, listening
from ..symbolic.text import to_text
from .checkpoint import Checkpoint
from .options import FitEvent
from .table import r2_text

SECONDS_BETWEEN_LINES = 2.0
MAX_FORMULA = 60
MAX_FRONT = 8
BAR = 24


@dataclass(frozen=True)
class _State:
    """The last event, as the panel draws it from another thread."""

    n_evaluations: int
    stage: str
    front: tuple[Candidate, ...]
    best: Candidate


class Listeners:
    """The checkpoint and the caller's function.  What they raise is their own matter: a full disk or a mistake in a
    callback must neither end a stage nor be blamed on it.  Whoever fails is not told any more, and `notes` say so.
    """

    def __init__(self, callback: Callable[[FitEvent], Any] | None = None) -> None:
        self.notes: list[str] = []
        self._callback = callback
        self._full: set[str] = set()  # folders that could not be written

    @property
    def wanted(self) -> bool:
        return self._callback is not None

    def save(self, checkpoint: Checkpoint | None, front: ParetoFront) -> None:
        """Save the front, unless the folder has failed before."""
        if checkpoint is None or str(checkpoint.folder) in self._full:
            return
        try:
            checkpoint.write(front)
        except OSError as error:
            self._full.add(str(checkpoint.folder))
            why = f"the checkpoint in {checkpoint.folder} could not be written ({error.strerror or error})"
            self.notes.append(f"{why}; the fit went on without it")

    def tell(self, event: FitEvent) -> None:
        """Call the function; a KeyboardInterrupt that it raises ends the search, as it should."""
        if self._callback is None:
            return
        try:
            self._callback(event)
        except Exception as error:
            self._callback = None
            self.notes.append(f"the callback raised {type(error).__name__}: {error}; it was not called again")


class Progress:
    """Shows events; use as a context manager, so that the panel is cleared at the end."""

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
        self._width = 80
        self._state: _State | None = None
        self._pulse: Pulse | None = None
        self._open = ExitStack()
        self._began = time.monotonic()
        self._last = -SECONDS_BETWEEN_LINES
        self._shown = ""
        self._line = ""

    def __enter__(self) -> Progress:
        self._began = time.monotonic()
        self._pulse = self._open.enter_context(listening())
        if self.stream.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self.stream)
            # Narrower than the terminal: it prints ^C behind the panel, and a line that breaks would stay for good.
            self._width = max(console.width - 6, 20)
            self._live = Live(get_renderable=self._panel, console=console, refresh_per_second=8, transient=True)
            self._live.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._open.close()
        if self._live is not None:
            self._live.stop()
        elif self._line:
            print(self._line, file=self.stream, flush=True)

    def tell(self, seconds: float, n_evaluations: int, front: ParetoFront, stage: str) -> None:
        """Take note of the state; without a panel, a line when the best formula is another one."""
        if not len(front):
            return
        best = self.best(front)
        self._state = _State(n_evaluations, stage, tuple(front), best)
        if self._live is not None:
            return
        formula = self._text(best)
        if formula != self._shown:
            limit = "" if self.max_time is None else f" of {self.max_time:g}"
            rate = n_evaluations / max(seconds, 1e-9)
            # Shown when the next line is due, or at the end.
            self._line = f"{seconds:5.1f}{limit} s  {stage:<10} {n_evaluations} tried, {rate:.0f}/s  {formula}"
            # The islands try many thousands for each formula that they propose.
            if self._pulse is not None and stage.startswith("evolve") and self._pulse.text():
                self._line += f"  ({self._pulse.text()})"
            if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
                print(self._line, file=self.stream, flush=True)
                self._shown, self._line, self._last = formula, "", time.monotonic()

    def _text(self, candidate: Candidate) -> str:
        formula = to_text(candidate.expr, self.names, 4)
        return formula if len(formula) <= MAX_FORMULA else formula[: MAX_FORMULA - 1] + "…"

    def _panel(self) -> Any:
        """Clock, stage and speed, and below them the front as it grows, the best formula marked."""
        from rich.console import Group
        from rich.panel import Panel
        from rich.table import Table
        from rich.text import Text

        state = self._state
        lines: list[Any] = [Text(self._clock(), no_wrap=True, overflow="ellipsis")]
        if state is not None:
            table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
            table.add_column("size", justify="right")
            table.add_column("R²", justify="right")
            table.add_column("formula", no_wrap=True, overflow="ellipsis")
            worst = state.front[0].loss  # the mean of y, so 1 - loss/worst is R²
            for candidate in state.front[-MAX_FRONT:]:
                r2 = 1.0 - candidate.loss / worst if worst > 0.0 else 1.0
                cells = (str(candidate.complexity), r2_text(r2), self._text(candidate))
                table.add_row(*map(Text, cells), style="bold green" if candidate is state.best else None)
            lines += [Text(""), table]
        hint = Text("Ctrl-C: stop and keep the best", style="dim")
        title: dict[str, Any] = {"title": "searching", "title_align": "left", "subtitle_align": "right"}
        return Panel(Group(*lines), subtitle=hint, width=self._width, **title)

    def _clock(self) -> str:
        seconds = time.monotonic() - self._began
        text = f"{seconds:.1f} s"
        if self.max_time is not None:
            done = round(BAR * min(seconds / self.max_time, 1.0))
            left = max(self.max_time - seconds, 0.0)
            text += f"  {'━' * done}{'┄' * (BAR - done)}  {left:.0f} s left"
        if self._state is None:
            return f"{text}   getting ready"
        n, stage = self._state.n_evaluations, self._state.stage
        islands = "" if self._pulse is None or not stage.startswith("evolve") else self._pulse.text()
        if islands:
            return f"{text}   {stage}: {islands}"
        return f"{text}   {n} formulas, {n / max(seconds, 1e-9):.0f}/s   {stage}"
