"""The gallery: laws in data that people have really measured, from Ptolemy to Mauna Loa, one command each.

    python examples/gallery.py                  # what there is
    python examples/gallery.py boyle            # run one; the command line is printed first
    python examples/gallery.py --all --page docs/gallery.md    # run all, draw pictures, write the page

The tables are in `examples/gallery`, each with its source and licence in the first line. Pictures need matplotlib.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
TABLES = HERE / "gallery"
MAX_TIME = 10.0


@dataclass(frozen=True)
class Example:
    """One table: what is asked of it, the options of the command, and what to see in the answer."""

    name: str
    title: str
    story: str
    options: str = ""
    command: str = "fit"
    data: str = ""

    @property
    def table(self) -> str:
        return f"examples/gallery/{self.data or self.name}.csv"

    def words(self, max_time: float = MAX_TIME) -> list[str]:
        """The words behind `unisymnet`."""
        return [self.command, self.table, *shlex.split(self.options), "--max-time", f"{max_time:g}"]


EXAMPLES = (
    Example(
        "ptolemy",
        "Refraction before Snell",
        "The oldest known table of a physics experiment. It does not show the sine law: the angles follow a "
        "parabola exactly, so Ptolemy smoothed them by a rule. A perfect fit to measured data is suspicious.",
        "--target in_water",
    ),
    Example(
        "galileo",
        "A ball on an inclined plane",
        "Distance grows with the square of time. Units are given, so the constant comes out as an acceleration.",
        '--target distance --units "time=s, distance=m"',
    ),
    Example("boyle", "Boyle's law", "Pressure times volume is constant: 25 readings of 1662.", "--target pressure"),
    Example(
        "planets",
        "Kepler's third law",
        "The column names contain units, so the constant has one too: years per au to the power 3/2.",
        "--target period",
    ),
    Example(
        "rumford",
        "A cannon cools",
        "Newton's law of cooling says that the difference from the room's 60 degrees decays exponentially. The "
        "template asks for a formula of that difference, and the search finds something else: these data do not "
        "follow the law.",
        '--target temperature --template "60 + f(minutes)"',
    ),
    Example(
        "ohm",
        "Ohm's law as Ohm found it",
        "Ohm measured lengths of wire, not resistance. The current is a constant divided by the length of the wire "
        "plus that of the rest of the circuit.",
        "--target deflection",
    ),
    Example(
        "balmer",
        "Lines of hydrogen",
        "Nine wavelengths, one law: Balmer's n²/(n² - 4), given to the search as a guess with open constants.",
        '--target wavelength --guess "b*n^2/(n^2 - c)"',
    ),
    Example(
        "hubble",
        "Galaxies recede",
        "With so much scatter and so few rows, a line is all that the data support.",
        "--target velocity",
    ),
    Example(
        "mercury",
        "Vapour pressure of mercury",
        "Values over six decades, each known to a few percent: `--noise relative`.",
        "--target pressure --noise relative",
    ),
    Example(
        "puromycin",
        "An enzyme with and without a drug",
        "One form for both series, each with its own constants. Over this range a logarithm fits better than the "
        "textbook's Michaelis–Menten curve (mean square error 69 against 89, four constants each).",
        "--target rate --groups treated",
    ),
    Example(
        "braking",
        "Stopping distance of cars",
        "Drivers of the 1920s. The scatter is large, so a short formula is chosen.",
        "--target distance --constraint \"ddistance/dspeed >= 0\"",
    ),
    Example(
        "adsorption",
        "Gas on a surface",
        "A reference problem of NIST. Several forms fit to the last digit; the table lists them all.",
        "--target amount",
    ),
    Example(
        "carbon",
        "Carbon dioxide at Mauna Loa",
        "Yearly means over four decades: growth that accelerates. `year` counts from 1960.",
        "--target co2",
    ),
    Example(
        "lynx",
        "Hares and lynxes of the Hudson Bay",
        "Twenty-one years of pelts, and the differential equations behind them: lynxes live on hares.",
        "--time year --states hares,lynx",
        "dynamics",
    ),
    Example(
        "census",
        "A nation grows",
        "The census of the United States up to 1910 as a differential equation: Pearl and Reed's logistic growth.",
        "--time decade --states people",
        "dynamics",
    ),
)  # fmt: skip


def find(name: str) -> Example:
    for example in EXAMPLES:
        if example.name == name:
            return example
    raise SystemExit(f"there is no example {name!r}; there are {', '.join(one.name for one in EXAMPLES)}")


def source(example: Example) -> str:
    """The first line of the table: where it comes from, and its licence."""
    return (HERE.parent / example.table).read_text(encoding="utf-8").splitlines()[0].lstrip("# ")


def run(example: Example, out: Path, max_time: float) -> dict[str, Any]:
    """The command as a user types it; its JSON."""
    words = [*example.words(max_time), "--out", str(out), "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "unisymnet", *words], capture_output=True, text=True, cwd=HERE.parent, check=False
    )
    if done.returncode:
        raise RuntimeError(f"unisymnet {shlex.join(words)}\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def lines_of(example: Example, out: Path) -> list[str]:
    """What is shown of a result: the equations, with errors where they are known."""
    if example.command == "dynamics":
        from unisymnet import System

        return str(System.load(out / "model.json")).splitlines()
    from unisymnet import UniSymNetRegressor

    formula = UniSymNetRegressor.load(out / "model.json").formula_
    lines = [f"{formula.target} = {formula.text(5)}"]
    constants = [str(c) for c in formula.constants if c.stderr is not None]  # as the command prints them, with units
    if constants:
        lines.append(f"constants: {', '.join(constants)}")
    if formula.groups is not None:
        lines += str(formula.groups).splitlines()
    return lines


def draw(example: Example, out: Path, path: Path) -> None:
    """The data and the curve through them."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    table = pd.read_csv(HERE.parent / example.table, comment="#").rename(columns=lambda name: name.split(" [")[0])
    figure, axes = pyplot.subplots(figsize=(4.6, 3.0), dpi=110, layout="constrained")
    x = table.columns[0]
    if example.command == "dynamics":
        _draw_system(axes, table, x, out)
    else:
        _draw_formula(axes, table, x, out)
    axes.set_xlabel(x)
    axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    pyplot.close(figure)


def _draw_system(axes: Any, table: pd.DataFrame, x: str, out: Path) -> None:
    from unisymnet import System

    system = System.load(out / "model.json")
    t = np.linspace(table[x].min(), table[x].max(), 300)
    path = system.simulate(table.iloc[0, 1:].to_numpy(float), t)
    for i, name in enumerate(table.columns[1:]):
        axes.plot(table[x], table[name], "o", ms=4, color=f"C{i}", label=name)
        axes.plot(t, path[:, i], color=f"C{i}")
    axes.legend(frameon=False)


def _draw_formula(axes: Any, table: pd.DataFrame, x: str, out: Path) -> None:
    from unisymnet import UniSymNetRegressor

    formula = UniSymNetRegressor.load(out / "model.json").formula_
    y = table.columns[-1]
    groups = list(dict.fromkeys(table[table.columns[1]])) if len(table.columns) > 2 else [None]
    for i, group in enumerate(groups):
        rows = table if group is None else table[table[table.columns[1]] == group]
        grid = pd.DataFrame({x: np.linspace(rows[x].min(), rows[x].max(), 300)})
        if group is not None:
            grid[table.columns[1]] = group
        axes.plot(
            rows[x], rows[y], "o", ms=4, color=f"C{i}", label=None if group is None else f"{table.columns[1]}: {group}"
        )
        axes.plot(grid[x], formula.predict(grid), color=f"C{i}")
    if table[y].min() > 0 and table[y].max() > 1e3 * table[y].min():
        axes.set_yscale("log")
    axes.set_ylabel(y)
    if groups != [None]:
        axes.legend(frameon=False)


def page(results: Sequence[tuple[Example, list[str]]], pictures: str) -> str:
    """The page as Markdown."""
    parts = [
        "# Gallery",
        "Laws in real measurements. Each example is one command. The tables are in `examples/gallery`, with source "
        "and licence in the first line. `make gallery` runs them all and builds this page.",
    ]
    for example, lines in results:
        command = shlex.join(["unisymnet", *example.words()]).replace("'", '"')
        parts += [
            f"## {example.title}",
            example.story,
            f"```sh\n{command}\n```",
            "```text\n" + "\n".join(line.rstrip() for line in lines) + "\n```",
            f"![Data and curve: {example.title}]({pictures}/{example.name}.png)",
            f"*Data: {source(example)}*",
        ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="examples to run")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--max-time", type=float, default=MAX_TIME)
    parser.add_argument("--page", type=Path, help="write this Markdown page and its pictures")
    parser.add_argument("--keep", type=Path, help="folder of results; what it holds is not run again")
    args = parser.parse_args()
    chosen = EXAMPLES if args.all else tuple(map(find, args.names))
    if not chosen:
        print("\n".join(f"{one.name:<12} {one.title}" for one in EXAMPLES))
        return
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        for example in chosen:
            out = folder / example.name
            print(f"unisymnet {shlex.join(example.words(args.max_time))}", flush=True)
            if not (out / "model.json").is_file():
                run(example, out, args.max_time)
            results.append((example, lines_of(example, out)))
            print("\n".join(f"  {line}" for line in results[-1][1]), flush=True)
            if args.page:
                draw(example, out, args.page.parent / "_static" / "gallery" / f"{example.name}.png")
    if args.page:
        args.page.write_text(page(results, "_static/gallery"), encoding="utf-8")


if __name__ == "__main__":
    main()
