"""One row of the table that a fit ends with. Apart from the rest, so that a saved model loads without the search."""

from __future__ import annotations

from dataclasses import dataclass

from ..formula import Formula


@dataclass(frozen=True)
class Entry:
    """One row of the table: a formula and how well it does."""

    formula: Formula
    complexity: int
    loss: float
    r2: float
    r2_valid: float | None
    score: float
    source: str
    remarks: tuple[tuple[str, str], ...] = ()  # head and cell of further columns: units, constraints
    nats: float | None = None  # length of formula, constants and data; None where loss and size decide (no noise)
    formula_nats: float | None = None  # the part of it that is formula and constants
    noise: str = ""  # the noise model under which the constants were fitted
