"""`dynamics` and `simulate`: differential equations from a table of measured runs, and what they predict."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from ...errors import CheckpointError, DataError
from ...files.heads import without_units
from ..folder import check_folder, save_somewhere, says, start_of
from ..options import Constants, Constraints, Groups, Units, pairs
from ..quiet import ours_alone

MODEL, SO_FAR, SOURCE, REPORT = "model.json", "so-far.json", "system.py", "report.html"
INTERRUPTED = 130


def add_dynamics(app: typer.Typer) -> None:
    """Declare the commands."""
    app.command()(dynamics)
    app.command()(simulate)


def dynamics(
    data: Annotated[str, typer.Argument(metavar="DATA", help="CSV, TSV, Excel or Parquet file, or - for stdin")],
    time: Annotated[str | None, typer.Option(help="column of the time (default: t or time)")] = None,
    states: Annotated[
        str | None, typer.Option(help="columns of the states, separated by commas (default: all numbers)")
    ] = None,
    inputs: Annotated[str | None, typer.Option(help="columns of inputs that you set, separated by commas")] = None,
    trajectory: Annotated[str | None, typer.Option(help="column that says which run a row belongs to")] = None,
    order: Annotated[int, typer.Option(help="2 for second order, if only positions were measured")] = 1,
    use_time: Annotated[bool, typer.Option("--use-time", help="let the equations depend on time")] = False,
    units: Units = None,
    constant: Constants = None,
    constraint: Constraints = None,
    template: Annotated[
        list[str] | None, typer.Option(help='a rate known in part, "x=a*x - f(x, y)"; may be repeated')
    ] = None,
    groups: Groups = None,
    max_time: Annotated[float, typer.Option("--max-time", "--time-limit", help="seconds for the search")] = 60.0,
    out: Annotated[str | None, typer.Option(help="folder for the result (default: NAME-run)")] = None,
    delimiter: Annotated[str | None, typer.Option(help="character between cells (default: detected)")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON only")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="show no progress")] = False,
) -> None:
    """Find differential equations in time series. Saves the system, a report and source code."""
    from ...dynamics import DynamicsRegressor
    from ...files.read import read_frame

    if order not in (1, 2):
        raise typer.BadParameter(f"--order is 1 or 2, got {order}")
    if not max_time > 0:
        raise typer.BadParameter(f"--max-time must be positive, got {max_time:g}")
    frame, dialect = read_frame(data, delimiter)
    read = without_units(frame, () if dialect is None else dialect.units)
    used = {word.strip() for text in (time or "t", states, inputs) for word in (text or "").split(",")}
    heads = {name: unit for name, unit in read.units.items() if states is None or name in used}
    folder = Path(out or f"{Path(data).stem if data != '-' else 'stdin'}-run")
    check_folder(folder, _OURS, "`unisymnet dynamics`")
    model = DynamicsRegressor(
        max_time=max_time,
        order=order,
        use_time=use_time,
        units=_units(heads, units),
        constants=pairs(constant, "--constant", "g=9.81 m/s^2"),
        constraints=list(constraint) if constraint else None,
        template=_templates(template),
        verbose=not quiet and not as_json and sys.stderr.isatty(),
        checkpoint=place_so_far(folder),
    )
    table = frame if units == ["none"] else read.frame
    with ours_alone(as_json):
        model.fit(table, time=time, states=states, inputs=inputs, trajectory=trajectory, groups=groups)
    folder, fault = _save(model, folder)
    if as_json:
        print(json.dumps(model.system_.to_dict(), ensure_ascii=False, indent=2))
    else:
        _show(model, folder, fault)
    if fault is not None:
        print(f"note: {fault}", file=sys.stderr)
    if model.interrupted_:
        raise typer.Exit(INTERRUPTED)


def _show(model: Any, folder: Path, fault: str | None) -> None:
    print(model)
    points = model.system_.fixed_points() if not model.system_.inputs else []
    for point in points:
        place = ", ".join(f"{name} = {value:.5g}" for name, value in zip(model.system_.states, point.state))
        print(f"  fixed point ({point.kind}): {place}")
    if fault is None:
        print(f"\nsaved in {folder}: {', '.join((MODEL, REPORT, SOURCE))}")
    if (folder / MODEL).exists():
        print(f"next: unisymnet simulate {quote(str(folder))} --until {model.runs_.trajectories[0].t[-1]:g}")


def simulate(
    run: Annotated[str, typer.Argument(metavar="RUN", help="folder that `dynamics` wrote, or its model.json")],
    start: Annotated[
        str | None, typer.Option("--from", help="initial state, separated by commas (default: as in the data)")
    ] = None,
    until: Annotated[float, typer.Option(help="last time")] = 10.0,
    since: Annotated[float, typer.Option(help="first time")] = 0.0,
    points: Annotated[int, typer.Option(help="number of rows")] = 201,
    inputs: Annotated[str | None, typer.Option(help="constant values of the inputs, separated by commas")] = None,
    out: Annotated[str | None, typer.Option(help="CSV file to write (default: print)")] = None,
    to: Annotated[
        str | None, typer.Option(help="print source instead: python, c, julia, matlab, latex, text, json")
    ] = None,
) -> None:
    """Simulate a system that `dynamics` found. Or print it as source code."""
    import numpy as np
    import pandas as pd

    system = load_system(run)
    if to is not None:
        try:
            print(system.to(to))
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
        return
    if points < 2 or until == since:
        raise typer.BadParameter("--points must be at least 2, and --until another time than --since")
    x0 = None if start is None else _floats(start, "--from", len(system.states))
    given = None
    if system.inputs:
        values = _floats(inputs or "", "--inputs", len(system.inputs))
        given = np.tile(values, (points, 1))
    times = np.linspace(since, until, points)
    found = system.simulate(x0, times, given)
    frame = pd.DataFrame(found, columns=list(system.states))
    frame.insert(0, system.time, times)
    try:
        frame.to_csv(sys.stdout if out is None else out, index=False)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise DataError(f"cannot write to {out!r}: {error}") from error
    lost = int((~np.isfinite(found).all(axis=1)).sum())
    if lost:
        print(f"note: the solution blows up; the last {lost} of {points} rows have no value", file=sys.stderr)
    if out is not None:
        print(f"{points} rows written to {out}")


def _units(heads: dict[str, str], given: list[str] | None) -> dict[str, str] | None:
    """Units from the heads of the table, which those that were asked for replace."""
    return None if given == ["none"] else {**heads, **(pairs(given, "--units", "v=m/s") or {})} or None


def _templates(texts: list[str] | None) -> dict[str, str] | None:
    found = {}
    for text in texts or ():
        state, sign, form = text.partition("=")
        if not sign or not state.strip() or not form.strip():
            raise typer.BadParameter(f'--template is written "x=a*x - f(x, y)", got {text!r}')
        found[state.strip().removesuffix("'")] = form.strip()
    return found or None


def load_system(run: str) -> Any:
    """The system of a folder that `dynamics` wrote, or of the file itself."""
    from ...dynamics import System

    path = Path(run)
    path = path / MODEL if path.is_dir() else path
    if not path.is_file():
        raise CheckpointError(f"there is no system in {run!r}; `unisymnet dynamics DATA --out {run}` makes one")
    return System.load(path)


def place_so_far(folder: Path) -> Path:
    """Where a search leaves the best so far: in place of its result, unless an earlier one stands there."""
    return folder / (SO_FAR if (folder / MODEL).exists() else MODEL)


def _save(model: Any, folder: Path) -> tuple[Path, str | None]:
    """Save the system first and what only shows it last; the folder, and why it is another one."""
    from ...dynamics.tables import counted
    from ...regressor.checkpoint import write_atomically
    from ...report.system_page import system_html

    def write(place: Path) -> None:
        model.save(place / MODEL)
        (place / SO_FAR).unlink(missing_ok=True)
        write_atomically(place / SOURCE, model.system_.to("python"))
        runs = model.drawn_runs()
        lead = f"{counted(len(runs), 'run')}, {model.runs_.n_points} points, {model.seconds_:.1f} s"
        write_atomically(place / REPORT, system_html(model.system_, runs, model.notes_, lead))

    return save_somewhere(folder, write)


def _is_system(path: Path) -> bool:
    return says(path, "unisymnet-dynamics", "unisymnet-system")


_OURS: dict[str, Callable[[Path], bool]] = {
    MODEL: _is_system,
    SO_FAR: _is_system,
    SOURCE: lambda path: start_of(path, 4000).startswith("import math\n\nfrom scipy.integrate import solve_ivp\n"),
    REPORT: lambda path: b"<footer>Made by unisymnet " in path.read_bytes()[-300:],
}


def _floats(text: str, option: str, count: int) -> list[float]:
    try:
        values = [float(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise typer.BadParameter(f"{option} takes numbers separated by commas, got {text!r}") from error
    if len(values) != count:
        raise typer.BadParameter(f"{option} needs {count} numbers, got {len(values)}")
    return values
