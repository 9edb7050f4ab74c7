"""Floors of tables: pure noise, a law among a thousand columns, twenty million rows.

    python benchmarks/tables.py noise --tables 100 --goal predict --out FILE.jsonl   # how often a constant is picked
    python benchmarks/tables.py columns --seeds 10 --max-time 60 --out FILE.jsonl    # five columns among 1,000
    python benchmarks/tables.py sums --data FOLDER --seeds 1 --out FILE.jsonl        # sums of features without a search
    python benchmarks/tables.py rows --million 20 --folder FOLDER --out FILE.jsonl   # memory of a fit on Parquet files

Limits count processor time. What FILE holds is not run again, so a run may be cut off; the last lines sum up.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("UNISYMNET_CLOCK", "processor")

import numpy as np

SHAPES = ((100, 10), (300, 5), (60, 3), (500, 20))  # rows and columns of tables of pure noise
LAWS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    lambda c: c[0] * c[1] / c[2] + 2.0 * c[3] * np.sqrt(c[4]),
    lambda c: c[0] * c[1] ** 2 + 3.0 * c[2] / (c[3] * c[4]),
)


def noise_table(number: int, goal: str, max_time: float) -> dict[str, Any]:
    """A table in which nothing depends on anything: is a constant picked?"""
    from unisymnet import UniSymNetRegressor

    rng = np.random.default_rng(number)
    rows, columns = SHAPES[number % len(SHAPES)]
    X, y = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    model = UniSymNetRegressor(goal=goal, max_time=max_time, n_jobs=1, random_state=number).fit(X, y)
    found = str(model.formula_)
    return {
        "task": "noise",
        "number": number,
        "goal": goal,
        "max_time": max_time,
        "rows": rows,
        "columns": columns,
        "constant": not model.formula_.columns,
        "formula": found,
    }


def planted(seed: int, max_time: float) -> dict[str, Any]:
    """Five columns of a thousand make the target, with 1 % noise: is the law found, up to its constants?"""
    from unisymnet import UniSymNetRegressor

    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 3.0, (2000, 1000))
    chosen = rng.choice(1000, 5, replace=False)
    law = LAWS[seed % len(LAWS)]
    clean = law(X[:, chosen].T)
    y = clean + 0.01 * clean.std() * rng.normal(size=2000)
    began = time.process_time()
    model = UniSymNetRegressor(max_time=max_time, n_jobs=1, random_state=seed).fit(X, y)
    seconds = time.process_time() - began
    fresh = rng.uniform(0.5, 3.0, (5000, 1000))
    truth, found = law(fresh[:, chosen].T), model.predict(fresh)
    left = float(np.mean((truth - found) ** 2) / truth.var())
    used = sorted(int(name[1:]) for name in model.formula_.columns)
    # A tenth of the noise on rows never seen: only the form itself is that near.
    return {
        "task": "columns",
        "seed": seed,
        "max_time": max_time,
        "right_columns": used == sorted(chosen.tolist()),
        "left": left,
        "found": left < 1e-5,
        "seconds": round(seconds, 1),
        "size": model.formula_.complexity,
        "formula": str(model.formula_),
    }


def write_parts(folder: Path, million: int) -> None:
    """Twenty (or so) files of a million rows and eleven columns each."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    for part in range(million):
        path = folder / f"part{part:03d}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng(part)
        columns = {f"x{i}": rng.uniform(0.5, 3.0, 1_000_000).astype(np.float32) for i in range(10)}
        y = columns["x0"] * columns["x3"] ** 2 / columns["x7"] + 0.05 * rng.normal(size=1_000_000)
        parquet.write_table(pa.table({**columns, "y": y.astype(np.float32)}), path.with_suffix(".tmp"))
        path.with_suffix(".tmp").rename(path)


def many_rows(folder: Path, million: int, max_time: float) -> dict[str, Any]:
    """`unisymnet fit` on all files, in a process of its own: its largest memory, its time, what it found."""
    write_parts(folder, million)
    run = folder / "run"
    command = [sys.executable, "-m", "unisymnet", "fit", str(folder / "*.parquet"), "--target", "y"]
    command += ["--max-time", str(max_time), "--jobs", "1", "--json", "--out", str(run)]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = json.loads(done.stdout) if done.returncode == 0 else {}
    counted = [re.search(r"all (\d+) rows", note) for note in result.get("notes", [])]
    return {
        "task": "rows",
        "rows": million * 1_000_000,
        "max_time": max_time,
        "exit": done.returncode,
        "megabytes": round(used.ru_maxrss / 1024),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "wall_seconds": round(time.monotonic() - began, 1),
        "rows_used": next((int(m[1]) for m in counted if m), None),
        "formula": next((row["equation"] for row in result.get("equations", []) if row["picked"]), None),
        "r2": next((row["r2"] for row in result.get("equations", []) if row["picked"]), None),
    }


def sums_alone(path: Path, name: str, seed: int, max_complexity: int) -> dict[str, Any]:
    """`goal="predict"` on three quarters of a table, without a search for laws: what its sums of features are worth."""
    import pandas as pd
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import train_test_split

    from unisymnet import UniSymNetRegressor
    from unisymnet.bench.pmlb import MAX_TRAIN, TARGET

    frame = pd.read_csv(path, sep="\t" if ".tsv" in path.name else ",")
    X, y = frame.drop(columns=TARGET), frame[TARGET]
    train, test, y_train, y_test = train_test_split(X, y, train_size=0.75, random_state=seed)
    train, y_train = train.iloc[:MAX_TRAIN], y_train.iloc[:MAX_TRAIN]
    began = time.process_time()
    model = UniSymNetRegressor(
        goal="predict",
        max_time=None,
        max_evaluations=20,
        proposers=["monomial"],
        n_jobs=1,
        random_state=seed,
        max_complexity=max_complexity,
    ).fit(train, y_train)
    return {
        "task": "sums",
        "set": name,
        "seed": seed,
        "max_complexity": max_complexity,
        "r2": float(model.score(test, y_test)),
        "r2_linear": float(LinearRegression().fit(train, y_train).score(test, y_test)),
        "size": model.formula_.complexity,
        "source": model.front_[model.picked_].source,
        "seconds": round(time.process_time() - began, 1),
        "formula": str(model.formula_),
    }


def sum_up(records: list[dict[str, Any]]) -> None:
    """Medians over the seeds of every set, and over the sets."""
    names = sorted({r["set"] for r in records})
    mid = {
        key: {name: median(r[key] for r in records if r["set"] == name) for name in names}
        for key in ("r2", "r2_linear", "size")
    }
    below = [name for name in names if mid["r2"][name] < mid["r2_linear"][name] - 0.02]
    for kind, some in (
        ("all", names),
        ("Friedman's", [n for n in names if "_fri_" in n]),
        ("others", [n for n in names if "_fri_" not in n]),
    ):
        if some:
            shown = ", ".join(f"{key} {median(mid[key][n] for n in some):.3f}" for key in mid)
            print(f"{kind}, {len(some)} sets: median {shown}")
    print(f"more than 0.02 below linear: {', '.join(below) or 'none'}")


def missing(path: Path, tasks: Iterable[tuple[dict[str, Any], Callable[[], dict[str, Any]]]]) -> list[dict[str, Any]]:
    """Records of all tasks; those that the file does not hold are made."""
    known = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    found = []
    for key, work in tasks:
        record = next((r for r in known if key.items() <= r.items()), None)
        if record is None:
            record = work()
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            print(json.dumps(record), flush=True)
        found.append(record)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["noise", "columns", "sums", "rows"])
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--goal", default="predict")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--max-time", type=float, default=None)
    parser.add_argument("--million", type=int, default=20)
    parser.add_argument("--folder", default="bench_results/rows")
    parser.add_argument("--data", help="folder of tables, one CSV or TSV file a set")
    parser.add_argument("--sets", help="only these, with commas")
    parser.add_argument("--max-complexity", type=int, default=60)
    parser.add_argument("--out", default="benchmarks/results/tables.jsonl")
    given = parser.parse_args()
    path = Path(given.out)
    if given.what == "noise":
        limit = given.max_time or 10.0
        records = missing(
            path,
            (
                (
                    {"task": "noise", "number": i, "goal": given.goal, "max_time": limit},
                    lambda i=i: noise_table(i, given.goal, limit),
                )
                for i in range(given.tables)
            ),
        )
        print(f"a constant in {sum(r['constant'] for r in records)} of {len(records)} (goal={given.goal}, {limit:g} s)")
    elif given.what == "columns":
        limit = given.max_time or 60.0
        records = missing(
            path,
            (
                ({"task": "columns", "seed": seed, "max_time": limit}, lambda seed=seed: planted(seed, limit))
                for seed in range(given.seeds)
            ),
        )
        columns = sum(r["right_columns"] for r in records)
        print(f"law found in {sum(r['found'] for r in records)} of {len(records)}, its columns in {columns}")
    elif given.what == "sums":
        from unisymnet.bench.pmlb import SEEDS, tables_in

        known = tables_in(given.data)
        wanted = [(name, s) for s in SEEDS[: given.seeds] for name in (given.sets.split(",") if given.sets else known)]
        size = given.max_complexity
        sum_up(
            missing(
                path,
                (
                    (
                        {"task": "sums", "set": name, "seed": s, "max_complexity": size},
                        lambda name=name, s=s: sums_alone(known[name], name, s, size),
                    )
                    for name, s in wanted
                ),
            )
        )
    else:
        limit = given.max_time or 20.0
        key = {"task": "rows", "rows": given.million * 1_000_000, "max_time": limit}
        record = missing(path, [(key, lambda: many_rows(Path(given.folder), given.million, limit))])[0]
        print(f"{record['rows']} rows: {record['megabytes']} MB, {record['cpu_seconds']} s of processor time")


if __name__ == "__main__":
    main()
