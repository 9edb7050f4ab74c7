"""What a result looks like: a coloured table in a terminal, the same table as plain text elsewhere."""

from __future__ import annotations

import sys

from ..regressor import UniSymNetRegressor
from ..regressor.table import beside_text, chosen_text, front_text, table_cells
from ..report.cautions import cautions
from ..report.rows import influence, rows_to_draw, slice_of

MAX_CAREFUL = 4
LEAST_FORMULA = 16  # characters, however narrow the terminal


def print_result(model: UniSymNetRegressor) -> None:
    """The front, the chosen formula, the notes, and what to be careful about where the rows of the fit are known."""
    careful = _careful(model)
    if not sys.stdout.isatty():
        print(model)
        print("".join(f"  careful: {text}\n" for text in careful), end="")
        return
    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text

    console = Console()
    console.print(Text(str(model).split("\n", 1)[0], style="dim"))
    print_table(model)
    console.print(Panel(Text(chosen_text(model.front_[model.picked_])), expand=False, border_style="green"))
    for entry in model.beside_:
        console.print(Text(beside_text(entry), style="yellow"))
    for note in model.notes_:
        console.print(Text(f"note: {note}", style="yellow"))
    for text in careful:
        console.print(Text(f"careful: {text}", style="yellow"))


def print_table(model: UniSymNetRegressor) -> None:
    """The front alone; in a terminal no line is longer than the terminal is wide."""
    if not sys.stdout.isatty():
        print(front_text(model.front_, model.picked_))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 1))
    rows = table_cells(model.front_, model.picked_)
    for head in rows[0][:-1]:
        table.add_column(head, justify="right", no_wrap=True)  # numbers are never squeezed, the formula is cut
    table.add_column("formula", no_wrap=True)
    taken = sum(max(len(row[k]) for row in rows) + 2 for k in range(len(rows[0]) - 1))
    room = max(console.width - taken, LEAST_FORMULA)
    for index, (*cells, formula) in enumerate(rows[1:]):
        shown = formula if len(formula) <= room else formula[: room - 1] + "…"
        table.add_row(*map(Text, [*cells, shown]), style="bold green" if index == model.picked_ else None)
    # A terminal too narrow for the numbers breaks the lines itself: better than numbers without digits.
    Console(width=max(console.width, taken + LEAST_FORMULA)).print(table)


def _careful(model: UniSymNetRegressor) -> list[str]:
    """The first sentences of the report's warnings."""
    rows = rows_to_draw(model, None, None)
    if rows is None:
        return []
    slices = [slice_of(model.formula_, rows, column) for column in influence(model.formula_, rows)]
    return cautions(model, model.front_[model.picked_], rows, slices)[:MAX_CAREFUL]
