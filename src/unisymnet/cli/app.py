"""Declaration of the commands and their options; nothing is computed here."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from ..errors import UniSymNetError
from .bench import bench
from .learn.training import add_commands
from .motion.dynamics import add_dynamics
from .motion.fields import pde
from .options import (
    Categories,
    Constants,
    Constraints,
    Groups,
    Missing,
    OwnOperators,
    Sigma,
    Template,
    Units,
    pairs,
    words,
)

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Formulas from data. Start with `unisymnet demo`, then `unisymnet fit data.csv --target y`.",
)

Data = Annotated[str, typer.Argument(metavar="DATA", help="CSV, TSV, Excel or Parquet file, or - for stdin")]
Run = Annotated[str, typer.Argument(metavar="RUN", help="folder that `fit` wrote, or its model.json")]
Pick = Annotated[int | None, typer.Option(help="row of the table (default: the chosen one)")]
Json = Annotated[bool, typer.Option("--json", help="print JSON only")]
Features = Annotated[str | None, typer.Option(help="columns to use, separated by commas (default: all numbers)")]
Weights = Annotated[str | None, typer.Option(help="column with the weight of each row")]
Delimiter = Annotated[str | None, typer.Option(help="character between cells (default: detected)")]


def _seconds(text: str | float) -> float:
    try:
        seconds = float(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a number of seconds, such as 60 or 2.5") from error
    if not seconds > 0.0:
        raise typer.BadParameter(f"{text!r} leaves no time; give a positive number of seconds, such as 60 or 2.5")
    return seconds


Seconds = Annotated[
    float, typer.Option("--max-time", "--time", parser=_seconds, metavar="SECONDS", help="seconds for the search")
]
Seed = Annotated[int, typer.Option(help="same seed, same formulas")]
Jobs = Annotated[int, typer.Option(help="threads or processes; -1: one for each core")]


def _languages(incomplete: str) -> list[str]:
    """For completion in a shell."""
    from ..formula.formula import LANGUAGES

    return [language for language in LANGUAGES if language.startswith(incomplete)]


def _columns(incomplete: str) -> list[str]:
    """For completion in a shell: the columns of the first file on the line, if it is a table.

    The line comes from the shell's variables, because a line that ends in "--target" cannot be parsed yet.
    """
    from ..files.read import read_frame

    words = (os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or "").split()
    files = [word for word in words[1:] if os.path.isfile(word)]
    try:
        columns = [str(name) for file in files[:1] for name in read_frame(file)[0].columns]
    except (UniSymNetError, OSError):
        return []
    return [name for name in columns if name.startswith(incomplete)]


Target = Annotated[
    str | None,
    typer.Option("--target", "-t", help="column to explain (default: the last)", autocompletion=_columns),
]
Language = Annotated[
    str,
    typer.Option(
        help="latex, python, numpy, c, excel, sympy, julia, matlab, js, json or text", autocompletion=_languages
    ),
]


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(f"unisymnet {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="print the version", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Formulas from data. Start with `unisymnet demo`, then `unisymnet fit data.csv --target y`."""


@app.command()
def demo(
    max_time: Annotated[float, typer.Option("--max-time", "--time", help="seconds for one law")] = 16.0,
    seed: Seed = 0,
    only: Annotated[str | None, typer.Option(help="one law by name: kepler, pendulum, enzyme, planck")] = None,
    save_data: Annotated[str | None, typer.Option(help="write the data files to this folder and stop")] = None,
) -> None:
    """Find three laws in data that come with the package."""
    from .demo import run_demo, write_data

    if save_data is not None:
        write_data(save_data)
    else:
        run_demo(max_time=max_time, seed=seed, only=only)


@app.command()
def fit(
    data: Data,
    target: Target = None,
    features: Features = None,
    drop: Annotated[str | None, typer.Option(help="columns to leave out, separated by commas")] = None,
    weights: Weights = None,
    max_time: Seconds = 60.0,
    sigma: Sigma = None,
    noise: Annotated[
        str | None, typer.Option(help="standard deviation of the noise, or its kind: equal, relative, counts, …")
    ] = None,
    operators: Annotated[str | None, typer.Option(help='allowed operators, e.g. "+,-,*,/,sin"')] = None,
    operator: OwnOperators = None,
    guess: Annotated[list[str] | None, typer.Option(help='a formula you suspect, e.g. "a*x/(b+x)"')] = None,
    max_complexity: Annotated[int, typer.Option(help="largest size of a formula")] = 60,
    selection: Annotated[str, typer.Option(help="which formula to pick: best, accuracy or simplest")] = "best",
    goal: Annotated[str, typer.Option(help="law, or predict: the best formula where no law exists")] = "law",
    loss: Annotated[str, typer.Option(help="what to minimise: mse, huber:2.5, quantile:0.9, poisson, …")] = "mse",
    max_evaluations: Annotated[int | None, typer.Option(help="try at most this many formulas")] = None,
    max_epochs: Annotated[int | None, typer.Option(help="run at most this many epochs of evolution")] = None,
    units: Units = None,
    constant: Constants = None,
    template: Template = None,
    groups: Groups = None,
    categories: Categories = None,
    missing: Missing = None,
    constraint: Constraints = None,
    out: Annotated[str | None, typer.Option(help="folder for the result (default: NAME-run)")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="continue from the formulas saved in the folder")] = False,
    seed: Seed = 0,
    jobs: Jobs = 2,
    backend: Annotated[str | None, typer.Option(help="where evolution runs: threading, loky, dask or ray")] = None,
    scheduler: Annotated[str | None, typer.Option(help="address of the cluster, e.g. tcp://host:8786")] = None,
    model: Annotated[str | None, typer.Option(help="transformer: a folder of weights, or `points`")] = None,
    delimiter: Delimiter = None,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="show no progress")] = False,
) -> None:
    """Find formulas for a column of a table."""
    if model is not None:
        os.environ["UNISYMNET_WEIGHTS"] = model
    if sys.stderr.isatty() and not (quiet or json):
        print(f"reading {data} …", end="\r", file=sys.stderr, flush=True)  # loading the libraries takes a second or two
    from .fitting import Request, loss_option, number_or_word, run_fit
    from .workers import workers

    settings = {
        "max_time": max_time,
        "random_state": seed,
        "n_jobs": jobs,
        "noise": number_or_word(noise),
        "operators": [*(words(operators) or ()), *operator] if operator else operators,
        "max_complexity": max_complexity,
        "selection": selection,
        "goal": goal,
        "loss": loss_option(loss),
        "max_evaluations": max_evaluations,
        "max_epochs": max_epochs,
        "units": pairs(units, "--units", "v=m/s"),
        "constants": pairs(constant, "--constant", "g=9.81 m/s^2"),
        "constraints": list(constraint) if constraint else None,
        "template": template,
    }
    request = Request(
        data, target, words(features), words(drop) or (), weights, delimiter, tuple(guess or ()), settings,
        heads=units != ["none"], groups=groups, sigma=sigma,
        categories=categories if categories == "drop" else words(categories), missing=missing,
    )  # fmt: skip
    with workers(backend, scheduler):
        code = run_fit(request, out=out, resume=resume, as_json=json, quiet=quiet)
    raise typer.Exit(code)


@app.command()
def show(run: Run, pick: Pick = None, json: Json = False) -> None:
    """Print the table of a finished fit, or one formula in full."""
    from .results import show_run

    show_run(run, pick, json)


@app.command()
def predict(
    run: Run,
    data: Annotated[str, typer.Argument(metavar="DATA", help="table with the columns of the formula, or - for stdin")],
    pick: Pick = None,
    out: Annotated[str | None, typer.Option(help="CSV file to write (default: stdout)")] = None,
    delimiter: Delimiter = None,
    interval: Annotated[float | None, typer.Option(help="e.g. 0.95: add the range of 95 % of new measurements")] = None,
) -> None:
    """Compute a formula on new rows."""
    from .results import predict_rows

    predict_rows(run, data, pick, out, delimiter, interval)


@app.command()
def export(
    run: Run,
    to: Language,
    pick: Pick = None,
) -> None:
    """Print a formula as LaTeX, source code, an Excel cell or JSON."""
    from .results import export_formula

    export_formula(run, to, pick)


@app.command()
def report(
    run: Run,
    data: Annotated[str | None, typer.Argument(metavar="[DATA]", help="the table (default: the one fitted)")] = None,
    out: Annotated[str, typer.Option("--out", "-o", help="HTML file to write")] = "report.html",
    delimiter: Delimiter = None,
) -> None:
    """Write one HTML page about a finished fit; it needs no network."""
    from .reporting import write_report

    write_report(run, data, out, delimiter)


@app.command()
def score(
    data: Data,
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help='like "a*x/(b+x)"; other names are fitted')],
    run: Annotated[str | None, typer.Option(help="folder of a fit; adds the formula to its table")] = None,
    target: Target = None,
    weights: Weights = None,
    operator: OwnOperators = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Fit the constants of your own formula and score it."""
    from .own import score_formula

    score_formula(data, formula, target, weights, delimiter, json, run, operator)


@app.command()
def refit(
    run: Run,
    data: Data,
    pick: Pick = None,
    target: Target = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Fit a found formula's constants to other data."""
    from .own import refit_formula

    refit_formula(run, data, pick, target, delimiter, json)


@app.command()
def check(
    data: Data,
    target: Target = None,
    units: Units = None,
    constant: Constants = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Look at a table before a search. With units: which laws they allow."""
    from .check import check_table

    known = pairs(units, "--units", "v=m/s"), pairs(constant, "--constant", "g=9.81 m/s^2")
    check_table(data, target, delimiter, json, known)


@app.command()
def serve(
    what: Annotated[str | None, typer.Argument(metavar="[DATA | RUN]", help="table or run to open first")] = None,
    port: Annotated[int | None, typer.Option(help="port (default: the first free one from 8345)")] = None,
    host: Annotated[str, typer.Option(help="address to listen on; by default this machine only")] = "127.0.0.1",
    folder: Annotated[str | None, typer.Option(help="folder that the page may read (default: this one)")] = None,
    at_once: Annotated[int, typer.Option(help="searches at a time; others wait")] = 1,
    browser: Annotated[bool, typer.Option(help="open the browser")] = True,
) -> None:
    """Search in your browser. Needs the extra `web`."""
    import runpy

    given = ["--host", host, "--at-once", str(at_once)]
    given += [] if port is None else ["--port", str(port)]
    given += [] if folder is None else ["--folder", folder]
    given += [] if browser else ["--no-browser"]
    given += [] if what is None else ["--", what]
    # The page is a program of its own: it uses the command line, not the other way round.
    sys.argv = ["unisymnet serve", *given]
    runpy.run_module("unisymnet.serve", run_name="__main__")


@app.command()
def info(json: Json = False) -> None:
    """Versions, threads, cache and weights."""
    from .info import print_info

    print_info(json)


add_dynamics(app)
app.command()(pde)
app.command()(bench)
add_commands(app)
