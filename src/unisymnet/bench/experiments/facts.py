"""Published numbers that ours are printed beside: the paper's tables, and SRBench 2021 by method and noise level.

Facts only, read from catalogs/paper.csv and catalogs/srbench_published.csv.  The paper's figures are not here: it
prints no numbers for them.  Numbers of a row, by table:

- in domain: complexity, accuracy rate, solution rate, by suite and method
- initialisation: the same and seconds, by suite and kind of start; Livermore's accuracy of the grid is printed as
  0.09091, most likely for 0.9091
- losses: change of R², of the solution rate and of the complexity against mean squares, by suite and loss
- sensitivity: mean R², solution rate, complexity, by schedule of the temperature and entropy, on Nguyen
- srbench: solution rate, mean R², complexity, by suite and noise
- optimisers: solution rate, mean R², by strategy and noise
- equations: 1 if marked as solved, by table of discovered equations and problem; the two Livermore rows that the paper
  marks as solved are not (ADR 11), and II.10.9 is printed as II.10.19
- subset: no numbers; the Feynman problems for which DNO-NP takes the place of SFO
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

Numbers = tuple[float, ...]


@cache
def _rows(name: str) -> list[dict[str, str]]:
    path = files(__package__.rpartition(".")[0]).joinpath("catalogs", f"{name}.csv")
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def paper(table: str, part: str) -> dict[str, Numbers]:
    """One part of a table of the paper: name -> its numbers."""
    rows = (row for row in _rows("paper") if (row["table"], row["part"]) == (table, part))
    return {row["name"]: tuple(map(float, row["numbers"].split())) for row in rows}


def by_number(table: str, part: str) -> dict[float, Numbers]:
    """The same where names are numbers: noise levels, entropies."""
    return {float(name): numbers for name, numbers in paper(table, part).items()}


INITS = tuple(paper("initialisation", "koza"))
ENTROPIES = tuple(by_number("sensitivity", "linear"))
NOISES = tuple(by_number("srbench", "feynman"))


@cache
def published(suite: str, noise: float) -> dict[str, dict[str, float | None]]:
    """SRBench 2021's methods on one suite at one noise level: method -> rate, r2, complexity, time."""
    keys = ("rate", "r2", "complexity", "time")
    return {
        row["method"]: {key: float(row[key]) if row[key] else None for key in keys}
        for row in _rows("srbench_published")
        if row["suite"] == suite and float(row["noise"]) == noise
    }
