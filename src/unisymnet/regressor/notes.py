"""Sentences about a finished fit: few rows, outliers, weak formulas, proposers that failed."""

from __future__ import annotations

from collections.abc import Sequence

from ..trace import TraceRow
from .entry import Entry
from .losses import Judgement

FEW_ROWS = 20
WEAK = 0.5


def careful_notes(
    n_rows: int, n_fit: int, chosen: Entry, trace: Sequence[TraceRow], judgement: Judgement
) -> list[str]:
    """What a careful person would say about this result."""
    notes = []
    if n_rows < FEW_ROWS:
        notes.append(f"only {n_rows} different rows: several formulas may fit them by chance")
    if n_fit < 0.5 * n_rows:
        notes.append(f"searched on {n_fit} of {n_rows} rows, checked on all")
    r2 = chosen.r2 if chosen.r2_valid is None else chosen.r2_valid
    n_outliers = int((~judgement.trusted).sum())
    if n_outliers:
        far = f"{n_outliers} of {n_fit} rows lie far from every formula"
        notes.append(f"{far}: the search did not see them, the Huber loss counts them little; R² counts them fully")
    elif n_rows > 1 and r2 < WEAK and judgement.loss.kind == "mse":
        notes.append(f"R² is only {max(r2, 0.0):.2f}: most of what moves the target is not in this formula")
    notes += [f"the proposer {row.stage} failed: {row.failure}" for row in trace if row.failure]
    return notes
