"""The diary of a search: what it tells while it runs, and what each proposer did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..candidate import Candidate, ParetoFront

IDLE = 0.005  # seconds


@dataclass(frozen=True)
class Event:
    """Something worth telling: ``stage`` begins, or the front has grown."""

    kind: str
    stage: str
    seconds: float
    n_evaluations: int
    front: ParetoFront


@dataclass
class TraceRow:
    """What one proposer did: how users and we learn why a law was missed."""

    stage: str
    n_turns: int = 0
    n_proposals: int = 0
    n_kept: int = 0
    seconds: float = 0.0
    best_loss: float = float("inf")
    failure: str = ""


@dataclass(frozen=True)
class SearchResult:
    """The front in the caller's units and how it came about."""

    front: ParetoFront
    trace: tuple[TraceRow, ...]
    stopped: str  # "exact", "noise", "time", "evaluations", "interrupted" or "exhausted"
    seconds: float
    n_evaluations: int
    listed: tuple[Candidate, ...] = ()  # what the judge may choose from besides the front
    proven: bool = False  # only noise is left, and nothing shorter than the best was left untried


def trace_table(rows: Iterable[TraceRow]) -> str:
    """The trace as lines of text: stage, time, proposals, how many entered the front, best loss.

    Stages that were not asked, or had nothing to say and said so at once, share the last line.
    """
    lines = [f"{'stage':<12}{'turns':>6}{'seconds':>9}{'proposals':>11}{'kept':>6}{'best loss':>12}"]
    idle: dict[str, None] = {}
    for row in rows:
        if not row.n_proposals and not row.failure and row.seconds < IDLE:
            idle[row.stage] = None
            continue
        lines.append(
            f"{row.stage:<12}{row.n_turns:>6}{row.seconds:>9.2f}{row.n_proposals:>11}{row.n_kept:>6}{row.best_loss:>12.3g}"
        )
        if row.failure:
            lines.append(f"{'':<12}stopped by {row.failure}")
    if idle:
        lines.append(f"silent or not asked: {', '.join(idle)}")
    return "\n".join(lines)
