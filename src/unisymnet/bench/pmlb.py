"""SRBench's black-box protocol on a folder of tables: three quarters to fit, one to test, its seeds, no scaling.

A folder holds one CSV or TSV file a set (also gzipped) with a column `target`. Results are JSON lines, one a run; what
the file holds is not run again. Beside ours stand published figures: medians over seeds of R² on test rows, one line
for each method and set (columns algorithm, dataset, r2_test, model_size).
"""

from __future__ import annotations

import csv
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata, studentized_range

from ..errors import DataError
from .experiments.base import Block, Cell, Table
from .records import Key, Record, chosen, resumed
from .run import provenance

TARGET = "target"
SUFFIXES = (".csv.gz", ".csv", ".tsv.gz", ".tsv")
# The seeds of SRBench's ten trials (experiment/seeds.py of its repository).
SEEDS = (23654, 15795, 860, 5390, 16850, 29910, 4426, 21962, 14423, 28020)
MAX_TRAIN = 10_000  # rows; SRBench draws as many
PUBLISHED = "pmlb_published.csv"
TIE = 0.01  # of R²
LINEAR_TOLERANCE = 0.02
FRIEDMAN = "_fri_"  # in the names of PMLB's sets that are made with Friedman's function

Published = dict[str, dict[str, tuple[float, float]]]  # R² and size by method and set


@dataclass(frozen=True)
class Run:
    """One set, one seed, one setting."""

    table: str
    seed: int
    goal: str
    max_time: float
    max_complexity: int


def tables_in(folder: str | Path) -> dict[str, Path]:
    """Sets by name, in the order of their names."""
    place = Path(folder)
    if not place.is_dir():
        raise DataError(f"there is no folder {str(folder)!r}; --data names a folder with one table a set")
    found = {}
    for path in sorted(place.iterdir()):
        suffix = next((s for s in SUFFIXES if path.name.endswith(s)), None)
        if suffix is not None:
            found[path.name.removesuffix(suffix)] = path
    if not found:
        raise DataError(f"{folder} holds no file that ends in {', '.join(SUFFIXES)}")
    return found


def run_tables(
    folder: str | Path,
    out: str | Path,
    *,
    seeds: int,
    goal: str,
    max_time: float,
    max_complexity: int = 60,
    only: Sequence[str] | None = None,
    cores: int = 1,
    jobs: int = 1,
    tell: Callable[[Record], None] = lambda record: None,
) -> list[Record]:
    """All records of these runs; missing ones are made first."""
    if not 1 <= seeds <= len(SEEDS):
        raise DataError(f"--seeds must be between 1 and {len(SEEDS)}, got {seeds}")
    known = tables_in(folder)
    names = chosen(list(known), only, str(folder))
    runs = [Run(name, seed, goal, max_time, max_complexity) for seed in SEEDS[:seeds] for name in names]

    def made(missing: list[Key]) -> Iterator[tuple[Key, Record]]:
        pool = Parallel(n_jobs=jobs, return_as="generator_unordered")
        wanted = [Run(**key["run"]) for key in missing]
        for record in pool(delayed(fit_one)(known[run.table], run, cores) for run in wanted):
            yield {"run": record["run"]}, record

    return resumed([{"run": asdict(run)} for run in runs], Path(out), made, tell)


def fit_one(path: Path, run: Run, cores: int = 1) -> Record:
    """Fit three quarters of a table and test on the rest; a linear model and gradient boosting beside it."""
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import train_test_split

    from ..regressor import UniSymNetRegressor

    try:
        frame = pd.read_csv(path, sep="\t" if ".tsv" in path.name else ",")
    except ValueError as mistake:  # a file of another kind: pandas' own errors of parsing are ValueErrors
        raise DataError(
            f"{path} is no table of PMLB ({str(mistake).strip()}); name the folder with the tables only"
        ) from None
    if TARGET not in frame.columns:
        raise DataError(f"{path} has no column {TARGET!r}; name the folder with PMLB's tables only")
    X, y = frame.drop(columns=TARGET), frame[TARGET]
    train, test, y_train, y_test = train_test_split(X, y, train_size=0.75, random_state=run.seed)
    if len(y_train) > MAX_TRAIN:
        rows = np.sort(np.random.default_rng(run.seed).choice(len(y_train), MAX_TRAIN, replace=False))
        train, y_train = train.iloc[rows], y_train.iloc[rows]
    began, cpu = time.monotonic(), time.process_time()
    model = UniSymNetRegressor(
        max_time=run.max_time, random_state=run.seed, n_jobs=cores, goal=run.goal, max_complexity=run.max_complexity
    )
    model.fit(train, y_train)
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    linear = LinearRegression().fit(train, y_train)
    trees = HistGradientBoostingRegressor(random_state=run.seed).fit(train, y_train)
    return {
        "suite": "pmlb",
        "run": asdict(run),
        "n_train": len(y_train),
        "n_columns": X.shape[1],
        "r2": float(model.formula_.score(test, y_test)),
        "r2_linear": float(linear.score(test, y_test)),
        "r2_boosting": float(trees.score(test, y_test)),
        "size": model.formula_.complexity,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "source": model.front_[model.picked_].source,
        "expression": str(model.formula_),
        **provenance(),
    }


def find_published(folder: str | Path) -> Path | None:
    """The table of published figures in the folder of the data, or beside it."""
    place = Path(folder)
    found = [path / PUBLISHED for path in (place, place.parent) if (path / PUBLISHED).is_file()]
    return found[0] if found else None


def read_published(path: Path) -> Published:
    """R² and size by method and set."""
    found: Published = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["r2_test"]:
                size = float(row["model_size"]) if row["model_size"] else float("nan")
                found[row["algorithm"].lstrip("*")][row["dataset"]] = float(row["r2_test"]), size
    return dict(found)


def report(records: Sequence[Record], published: Published) -> list[Block]:
    """Tables: set by set, and method by method."""
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[record["run"]["table"]].append(record)
    ours = {name: median(r["r2"] for r in rows) for name, rows in groups.items()}
    linear = {name: median(r["r2_linear"] for r in rows) for name, rows in groups.items()}
    sizes = {name: median(r["size"] for r in rows) for name, rows in groups.items()}
    lines = []
    for name, rows in groups.items():
        best = max(((figures[name][0], m) for m, figures in published.items() if name in figures), default=(None, ""))
        seconds = median(r["seconds"] for r in rows)
        lines.append((name, len(rows), ours[name], sizes[name], linear[name], best[0], best[1], seconds))
    columns = ("set", "runs", "R²", "size", "linear here", "best published", "by", "seconds")
    below = [name for name in ours if ours[name] < linear[name] - LINEAR_TOLERANCE]
    note = f"below linear by more than {LINEAR_TOLERANCE}: {', '.join(below) or 'none'}"
    blocks: list[Block] = [Table("Tables, median test R² over the seeds", columns, tuple(lines), note)]
    boosted = [(r["r2_boosting"], r["r2"]) for r in records if r.get("r2_boosting") is not None]
    return [*blocks, _kinds(ours, sizes, linear, boosted), _duels(ours, sizes, published), _ranks(ours, published)]


def _kinds(
    ours: dict[str, float], sizes: dict[str, float], linear: dict[str, float], boosted: Sequence[tuple[float, float]]
) -> Table:
    """Medians over all sets, over Friedman's artificial ones and over the others."""
    rows: list[tuple[Cell, ...]] = []
    for kind, names in (
        ("all", list(ours)),
        ("Friedman's", [name for name in ours if FRIEDMAN in name]),
        ("others", [name for name in ours if FRIEDMAN not in name]),
    ):
        if names:
            rows.append((kind, len(names), *(median(what[n] for n in names) for what in (ours, sizes, linear))))
    note = ""
    if boosted:
        gap = median(theirs - own for theirs, own in boosted)
        note = f"gradient boosting on the same rows: median R² {median(r for r, _ in boosted):.3f}, " + (
            f"ahead of the formula by {gap:.3f} in the median" if gap > 0.0 else f"behind the formula by {-gap:.3f}"
        )
    return Table("Medians by kind of set", ("sets", "number", "R²", "size", "linear here"), tuple(rows), note)


def _ranks(ours: dict[str, float], published: Published) -> Table:
    """Mean ranks over the sets that every method has, and how far apart two must be to differ (Nemenyi, 5 %)."""
    methods = {name: figures for name, figures in published.items() if all(s in figures for s in ours)}
    everyone = {"unisymnet (here)": ours} | {m: {s: f[s][0] for s in ours} for m, f in methods.items()}
    ranks = rankdata([[-figures[name] for figures in everyone.values()] for name in ours], axis=1)
    rows = sorted(zip(everyone, ranks.mean(axis=0).tolist(), strict=True), key=lambda row: row[1])
    k, n = len(everyone), len(ours)
    note = "methods that have all these sets; rank 1 is the best"
    if k > 1:
        apart = studentized_range.ppf(0.95, k, math.inf) / math.sqrt(2.0) * math.sqrt(k * (k + 1) / (6.0 * n))
        note += f"; ranks less than {apart:.2f} apart do not differ (Nemenyi, 5 %)"
    return Table("Mean ranks", ("method", "mean rank"), tuple(rows), note)


def _duels(ours: dict[str, float], sizes: dict[str, float], published: Published) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for method, figures in published.items():
        shared = [name for name in ours if name in figures]
        if not shared:
            continue
        gaps = [ours[name] - figures[name][0] for name in shared]
        won, lost = sum(gap > TIE for gap in gaps), sum(gap < -TIE for gap in gaps)
        theirs = median(figures[name][0] for name in shared)
        size = median(figures[name][1] for name in shared)
        rows.append((method, len(shared), theirs, size, won, len(shared) - won - lost, lost))
    rows.sort(key=lambda row: -float(row[2] or 0.0))
    mine = (median(ours.values()), median(sizes.values()))
    rows.insert(0, ("unisymnet (here)", len(ours), *mine, None, None, None))
    columns = ("method", "sets", "median R²", "median size", "we win", "tie", "we lose")
    note = f"a tie is a difference of at most {TIE} in R²; sizes are counted by each tool in its own way"
    return Table("Win, tie, loss against published medians", columns, tuple(rows), note)
