"""What a result looks like: a coloured table in a terminal, the same table as plain text elsewhere."""

from __future__ import annotations

import sys

from ..regressor import UniSymNetRegressor
from ..regressor.table import DIGITS, beside_text, chosen_text, r2_text, remark_heads
from ..report.cautions import cautions
from ..report.rows import influence, rows_to_draw, slice_of

MAX_CAREFUL = 4


def print_result(model: UniSymNetRegressor) -> None:
    """The front, the chosen formula, the notes, and what to be careful about where the rows of the fit are known."""
    careful = _careful(model)
    if not sys.stdout.isatty():
        print(model)
        print("".join(f"  careful: {text}\n" for text in careful), end="")
        return
    from rich.console import Console
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 1))
    valid = any(entry.r2_valid is not None for entry in model.front_)
    table.add_column("pick", justify="right")
    heads = remark_heads(model.front_)
    for head in ("size", *(["R² valid"] if valid else []), "R² train", "score", *heads):
        table.add_column(head, justify="right")
    table.add_column("formula", overflow="ellipsis", no_wrap=True)
    for index, entry in enumerate(model.front_):
        chosen = index == model.picked_
        cells = [
            f">>> {index}" if chosen else str(index),
            str(entry.complexity),
            *([r2_text(entry.r2_valid)] if valid else []),
            r2_text(entry.r2),
            f"{entry.score:.2f}",
            *(dict(entry.remarks).get(head, "") for head in heads),
            entry.formula.text(DIGITS),
        ]
        table.add_row(*map(Text, cells), style="bold green" if chosen else None)
    console.print(table)
    console.print(Panel(Text(chosen_text(model.front_[model.picked_])), expand=False, border_style="green"))
    for entry in model.beside_:
        console.print(Text(beside_text(entry), style="yellow"))
    for note in model.notes_:
        console.print(Text(f"note: {note}", style="yellow"))
    for text in careful:
        console.print(Text(f"careful: {text}", style="yellow"))


def _careful(model: UniSymNetRegressor) -> list[str]:
    """The first sentences of the report's warnings."""
    rows = rows_to_draw(model, None, None)
    if rows is None:
        return []
    slices = [slice_of(model.formula_, rows, column) for column in influence(model.formula_, rows)]
    return cautions(model, model.front_[model.picked_], rows, slices)[:MAX_CAREFUL]
