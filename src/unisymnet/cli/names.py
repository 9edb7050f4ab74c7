"""Names in a formula that a user typed: which are taken for constants, and which of these were meant as columns.

A slip in the name of a column makes a constant of it, and the formula is then another one without a word.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..files.table import Table, listed, near


def about_names(text: str, unknown: Sequence[str], table: Table) -> str:
    """The constants to fit in a formula and, in lines of their own, what looks like a slip."""
    hints = [hint for hint in (_slip(name, table) for name in unknown) if hint] + _unquoted(text, table)
    return "\n".join([f"fitted constants: {listed(unknown)}", *(f"warning: {hint}" for hint in hints)])


def _slip(name: str, table: Table) -> str:
    """What was meant by a name that is no column to learn from; empty for a constant."""
    if name == str(table.y.name):
        return f"{name} is the target, which its own formula cannot contain; here it is a constant to fit"
    if name in table.columns:
        return f"{name} is a column that is left out; here it is a constant to fit"
    hint = near(name, table.columns or list(table.X.columns))
    return f"{name} is not a column{hint}" if hint else ""


def _unquoted(text: str, table: Table) -> list[str]:
    """Columns such as x-1 that stand in the formula as if they were several names."""
    odd = [str(name) for name in table.X.columns if not str(name).isidentifier()]
    return [f"write the column {name} as `{name}`" for name in odd if name in text.replace(f"`{name}`", "")]
