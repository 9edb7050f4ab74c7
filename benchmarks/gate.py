"""The gate: what does every search find, with which formula, in how much processor time?  Two records compared.

    python benchmarks/gate.py record new.jsonl [--quick | --every 4] [--limit 10] [--jobs 1] [--groups laws noise0.01 …]
    python benchmarks/gate.py compare old.jsonl new.jsonl
    python benchmarks/gate.py ablate new.jsonl ablation.jsonl

Groups: ``catalog`` (all rows of the catalogs), ``laws`` (those of laws.py), ``corpus`` (60 random functions), and
``noise0.01`` and ``noise0.1`` (every third catalog row and law, the Strogatz rows all).  ``--quick`` takes every sixth
problem of each group.  Interrupt and start again at will: what is in the file is not run again.

A search is limited in processor time, so that records made on a busy machine can be compared: every clock that the
package reads is the process's own, and so is the alarm that ends a stage which forgets the clock.  Found is the law
itself, by the strict judge; under noise, a formula that becomes the law once its constants are fitted to clean data;
for laws.py, whose truths are functions and not formulas, one that leaves at most 1e-6 of the spread, or 0.3 of the
noise.  ``compare`` looks at the problems that both records hold, prints the laws lost and won and the ratio of median
times, and ends with status 1 if a group has lost more than it has won, or lost a law that took less than a second.
``ablate`` takes one stage after the other out of the search, for the laws that this stage has found (the others cannot
be lost by it), and prints beside what nobody else finds the time that the stage costs in all searches of the record.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import CORPUS_SEED, SUITES, holds
from laws import LAWS
from unisymnet import UniSymNetRegressor
from unisymnet.bench.problems import add_noise, find_problem, load_suite
from unisymnet.bench.score import numeric_scores
from unisymnet.bench.task import split
from unisymnet.corpus import LOW, Corpus, Example
from unisymnet.metrics import is_solution_strict
from unisymnet.regressor.warm import warm_all, warm_stages
from unisymnet.search.order import PROPOSERS
from unisymnet.symbolic.expr import Expr, evaluate

Floats = NDArray[np.float64]
Record = dict[str, Any]
Judge = Callable[[Expr], bool]
N_CORPUS, LEAST_ROWS, LAW_ROWS = 60, 20, 250
NOISE, NOISY_EVERY = (0.01, 0.1), 3
QUICK = 6  # every so many problems
LIMIT = 10.0  # seconds of processor time for a search
FAST = 1.0  # seconds: no law found sooner may be lost


class ProcessorTimer(threading.Timer):
    """Rings after so many seconds of processor time."""

    def run(self) -> None:
        end = time.process_time() + self.interval
        while not self.finished.wait(max(0.01, min(end - time.process_time(), 0.1))):
            if time.process_time() >= end:
                self.function(*self.args, **self.kwargs)
                return


def prepare() -> None:
    """The clocks of this process count processor time from now on; all kernels are compiled."""
    time.monotonic = time.process_time
    threading.Timer = ProcessorTimer  # type: ignore[misc]
    warm_all()
    warm_stages()


@dataclass(frozen=True, order=True)
class Case:
    """One search: the group it is counted in, where its law comes from, the law's name and the noise."""

    group: str
    source: str
    name: str
    noise: float = 0.0


def cases() -> list[Case]:
    catalog = [Case("catalog", "catalog", problem.name) for suite in SUITES for problem in load_suite(suite)]
    laws = [Case("laws", "laws", name) for name in LAWS]
    corpus = [Case("corpus", "corpus", str(number)) for number in _examples()]
    strogatz = len(load_suite(SUITES[0]))
    some = [*catalog[:strogatz], *catalog[strogatz::NOISY_EVERY], *laws[::NOISY_EVERY]]
    noisy = [Case(f"noise{noise:g}", case.source, case.name, noise) for noise in NOISE for case in some]
    return [*catalog, *laws, *corpus, *noisy]


@cache
def _examples() -> dict[int, Example]:
    """Random functions that are defined on enough rows."""
    examples = enumerate(Corpus(LOW, seed=CORPUS_SEED)(0, 2 * N_CORPUS))
    defined = {number: example for number, example in examples if len(_corpus_rows(example)[1]) >= LEAST_ROWS}
    return dict(list(defined.items())[:N_CORPUS])


def _corpus_rows(example: Example) -> tuple[Floats, Floats]:
    points = example.points.astype(np.float64)
    X = points[:, : example.n_features][np.any(points != 0.0, axis=1)]
    y = evaluate(example.expr, X)
    return X[np.isfinite(y)], y[np.isfinite(y)]


def data(case: Case) -> tuple[Floats, Floats, Judge]:
    """Rows, targets, and who decides whether a formula is the law.  The same for a case wherever it is run."""
    rng = np.random.default_rng([0, zlib.crc32(case.name.encode())])
    if case.source == "corpus":
        example = _examples()[int(case.name)]
        X, y = _corpus_rows(example)
        truth = example.expr
        return X, y, lambda expr: is_solution_strict(truth, expr, X) and holds(truth, expr, X)
    if case.source == "laws":
        ranges, law = LAWS[case.name]
        X = np.column_stack([rng.uniform(low, high, LAW_ROWS) for low, high in ranges])
        clean = np.asarray(law(*X.T), np.float64)
        most = max(1e-6, 0.3 * case.noise) * clean.std()
        noisy = add_noise(clean, case.noise, rng=rng)
        return X, noisy, lambda expr: bool(np.sqrt(np.mean((evaluate(expr, X) - clean) ** 2)) < most)
    problem = find_problem(case.name)
    rows = split(problem, rng=rng)
    judged = "form" if case.noise else "strict"
    return (
        rows.X_train,
        add_noise(rows.y_train, case.noise, rng=rng),
        lambda expr: bool(numeric_scores(problem, expr, rows.X_test, rows.y_test)[judged]),
    )


def run(case: Case, limit: float, without: tuple[str, ...] = ()) -> Record:
    X, y, judge = data(case)
    options: dict[str, Any] = {"max_time": limit, "random_state": 0, "n_jobs": 1}
    if without:
        options["proposers"] = [name for name in PROPOSERS if name not in without]
    began = time.process_time()
    model = UniSymNetRegressor(**options).fit(X, y)
    seconds = time.process_time() - began
    with np.errstate(all="ignore"):
        found = judge(model.formula_.expr)
    return {
        "group": case.group,
        "name": case.name,
        "found": found,
        "seconds": round(seconds, 3),
        "source": str(model.equations_["source"].iloc[model.picked_]),
        "formula": str(model.formula_),
        "limit": limit,
        "stages": _spent(model),
    }


def _spent(model: UniSymNetRegressor) -> dict[str, float]:
    """Seconds of every stage that had a turn."""
    spent: dict[str, float] = defaultdict(float)
    for row in model.trace_:
        spent[row.stage] += row.seconds
    return {stage: round(seconds, 3) for stage, seconds in spent.items() if seconds > 5e-4}


def record(options: argparse.Namespace) -> None:
    path = Path(options.out)
    done = {(row["group"], row["name"]) for row in read(path)} if path.exists() else set()
    chosen = [case for case in cases() if not options.groups or case.group in options.groups]
    by_group: dict[str, list[Case]] = defaultdict(list)
    for case in chosen:
        by_group[case.group].append(case)
    todo = [case for group in by_group.values() for case in group[:: options.every]]
    todo = [case for case in todo if (case.group, case.name) not in done]
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    with path.open("a", encoding="utf-8") as file:
        for row in _runs(todo, options):
            file.write(json.dumps({**row, "commit": commit}, ensure_ascii=False) + "\n")
            file.flush()
            verdict = "ok" if row["found"] else "--"
            line = f"{verdict} {row['group']:<10} {row['name']:<20} {row['seconds']:6.2f} s {row['source']:<14} "
            print((line + row["formula"])[:160], flush=True)
    show(read(path))


def _runs(todo: list[Case], options: argparse.Namespace) -> Iterator[Record]:
    without = tuple(options.without)
    if options.jobs == 1:
        prepare()
        yield from (run(case, options.limit, without) for case in todo)
        return
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=spawn, initializer=prepare) as pool:
        futures = [pool.submit(run, case, options.limit, without) for case in todo]
        yield from (future.result() for future in as_completed(futures))


def ablate(options: argparse.Namespace) -> None:
    """Every stage that found something, left out of the searches in which it did."""
    base, path = read(options.base), Path(options.out)
    known = {(case.group, case.name): case for case in cases()}
    done = {(row["without"], row["group"], row["name"]) for row in read(path)} if path.exists() else set()
    prepare()
    with path.open("a", encoding="utf-8") as file:
        for row in base:
            for stage in row["source"].split("/") if row["found"] else ():
                known_stage = stage in (options.stages or PROPOSERS)
                if (stage, row["group"], row["name"]) in done or not known_stage:
                    continue
                found = run(known[row["group"], row["name"]], options.limit, (stage,))
                file.write(json.dumps({"without": stage, **found}, ensure_ascii=False) + "\n")
                file.flush()
    show_ablation(base, read(path))


def show_ablation(base: list[Record], rows: list[Record]) -> None:
    total = sum(row["seconds"] for row in base)
    before = {(row["group"], row["name"]): row["seconds"] for row in base}
    print(f"{'stage':<14} {'finds':>5} {'lost without':>13} {'slower':>7} {'share of all time':>18}")
    for stage in PROPOSERS:
        mine = [row for row in rows if row["without"] == stage]
        lost = [row["name"] for row in mine if not row["found"]]
        ratios = [row["seconds"] / before[row["group"], row["name"]] for row in mine if row["found"]]
        slower = f"{statistics.median(ratios):.1f}" if ratios else "-"
        share = sum(row.get("stages", {}).get(stage, 0.0) for row in base) / total
        print(f"{stage:<14} {len(mine):>5} {len(lost):>13} {slower:>7} {share:>17.1%}  {', '.join(lost)}"[:150])


def read(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def show(rows: list[Record]) -> None:
    for group in dict.fromkeys(row["group"] for row in rows):
        mine = [row for row in rows if row["group"] == group]
        found = [row["seconds"] for row in mine if row["found"]]
        median = statistics.median(found) if found else float("nan")
        print(f"{group:<10} found {len(found):>3} of {len(mine):>3}, median {median:6.2f} s of processor time")
    print(f"found={sum(row['found'] for row in rows)} of={len(rows)} processor_s={sum(r['seconds'] for r in rows):.0f}")


def compare(old: list[Record], new: list[Record]) -> bool:
    """Print what changed; False if something was lost on balance."""
    before, after = ({(row["group"], row["name"]): row for row in rows} for rows in (old, new))
    common = [key for key in before if key in after]
    good = True
    print(
        f"{'group':<10} {'of':>4} {'before':>7} {'after':>6} {'lost':>5} {'won':>4} {'time':>6} {'other formula':>14}"
    )
    for group in [*dict.fromkeys(group for group, _ in common), "all"]:
        pairs = [(before[key], after[key]) for key in common if group in (key[0], "all")]
        lost = [a for a, b in pairs if a["found"] and not b["found"]]
        won = [b for a, b in pairs if b["found"] and not a["found"]]
        both = [(a["seconds"], b["seconds"]) for a, b in pairs if a["found"] and b["found"]]
        ratio = statistics.median(b for _, b in both) / statistics.median(a for a, _ in both) if both else float("nan")
        other = sum(a["formula"] != b["formula"] for a, b in pairs)
        n_before, n_after = (sum(pair[i]["found"] for pair in pairs) for i in (0, 1))
        numbers = f"{len(pairs):>4} {n_before:>7} {n_after:>6} {len(lost):>5} {len(won):>4} {ratio:>6.2f} {other:>14}"
        print(f"{group:<10} {numbers}")
        if group != "all":
            fast = [row["name"] for row in lost if row["seconds"] < FAST]
            good &= len(lost) <= len(won) and not fast
            for word, rows in (("lost", lost), ("won", won)):
                for row in rows:
                    print(f"  {word} {row['name']} ({row['source']}, {row['seconds']:.2f} s): {row['formula']}"[:150])
    if {row["limit"] for row in old} != {row["limit"] for row in new}:
        print("The records were made with different limits: the times cannot be compared.")
    print("nothing lost on balance" if good else "LOST on balance, or a law that took less than a second")
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recorder = verbs.add_parser("record", help="run the searches that the file does not hold yet")
    add = recorder.add_argument
    add("out", help="file of JSON lines")
    add("--limit", type=float, default=LIMIT, help="seconds of processor time for a search")
    add("--every", type=int, default=1, help="only every so many problems of a group")
    add("--quick", action="store_const", dest="every", const=QUICK, help=f"the same as --every {QUICK}")
    add("--groups", nargs="+", default=[], metavar="GROUP")
    add("--without", nargs="+", default=[], metavar="STAGE", help="leave stages out: an ablation")
    add("--jobs", type=int, default=1, help="searches at a time")
    ablater = verbs.add_parser("ablate", help="what nobody else finds")
    ablater.add_argument("base", type=Path)
    ablater.add_argument("out", help="file of JSON lines")
    ablater.add_argument("--limit", type=float, default=LIMIT)
    ablater.add_argument("--stages", nargs="+", default=[], metavar="STAGE", choices=PROPOSERS, help="only these")
    comparer = verbs.add_parser("compare", help="what was lost and won, and at what speed")
    comparer.add_argument("old", type=Path)
    comparer.add_argument("new", type=Path)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    if options.verb == "record":
        record(options)
    elif options.verb == "ablate":
        ablate(options)
    else:
        sys.exit(0 if compare(read(options.old), read(options.new)) else 1)


if __name__ == "__main__":
    main()
