"""SRBench's black-box protocol on a folder of tables: three quarters to fit, one to test, its seeds, no scaling.

A folder holds one CSV or TSV file a set (also gzipped) with a column `target`. Results are JSON lines, one a run; what
the file holds is not run again. Does not know what others have published.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from ...errors import DataError
from ..records import Key, Record, chosen, resumed
from ..run import provenance

TARGET = "target"
SUFFIXES = (".csv.gz", ".csv", ".tsv.gz", ".tsv")
# The seeds of SRBench's ten trials (experiment/seeds.py of its repository).
SEEDS = (23654, 15795, 860, 5390, 16850, 29910, 4426, 21962, 14423, 28020)
MAX_TRAIN = 10_000  # rows; SRBench draws as many


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


def _boosting(train: Any, y_train: Any, test: Any, y_test: Any, seed: int) -> float:
    """R² of scikit-learn's gradient boosting as it comes, on the same rows."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    trees = HistGradientBoostingRegressor(random_state=seed).fit(train, y_train)
    return float(trees.score(test, y_test))


def fit_one(path: Path, run: Run, cores: int = 1) -> Record:
    """Fit three quarters of a table and test on the rest; a linear model beside it."""
    import pandas as pd
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import train_test_split

    from ...regressor import UniSymNetRegressor

    frame = pd.read_csv(path, sep="\t" if ".tsv" in path.name else ",")
    if TARGET not in frame.columns:
        raise DataError(f"{path} has no column {TARGET!r}")
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
    return {
        "suite": "pmlb",
        "run": asdict(run),
        "n_train": len(y_train),
        "n_columns": X.shape[1],
        "r2": float(model.formula_.score(test, y_test)),
        "r2_linear": float(linear.score(test, y_test)),
        "r2_boosting": _boosting(train, y_train, test, y_test, run.seed),
        "size": model.formula_.complexity,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "source": model.front_[model.picked_].source,
        "expression": str(model.formula_),
        **provenance(),
    }
