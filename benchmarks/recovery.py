"""How many laws are found again: runs a method on whole suites and prints a table for each.

    python benchmarks/recovery.py strogatz feynman --noise 0 --max-time 60 --seed 0 --out recovery.jsonl

Interrupt and start again at will: what is in the file is not run again. This script only prints; the
protocol is in unisymnet.bench.run.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

from rich.console import Console
from rich.table import Table

from unisymnet.bench.methods import METHODS
from unisymnet.bench.pool import Limits
from unisymnet.bench.problems import suites
from unisymnet.bench.run import run_suite

Record = dict[str, Any]
Summary = dict[str, Any]
COUNTS = {"strict": "strict judge", "srbench": "SRBench procedure", "accurate": "R² > 0.999"}
console = Console(soft_wrap=True, highlight=False, markup=False)


def main(argv: list[str] | None = None) -> None:
    options = _options(argv)
    pairs: dict[str, Any] = {"method": options.method, "max_time": options.max_time, "seed": options.seed}
    for noise in options.noise:
        for suite in options.suites:
            records = _run(suite, noise, options)
            summary = summarise(records)
            _print(f"{suite}, noise {noise:g}", records, summary)
            pairs |= {f"{suite}@{noise:g}.{key}": value for key, value in summary.items()}
    console.print(" ".join(f"{key}={_short(value)}" for key, value in pairs.items()))


def summarise(records: list[Record]) -> Summary:
    """Counts by both judges, and for the solved (by either) the median time and the mean size ratio."""
    solved = [record for record in records if is_solved(record)]
    return {
        "n": len(records),
        "strict": sum(bool(record["scores"].get("strict")) for record in records),
        "srbench": sum(bool(record["scores"].get("srbench")) for record in records),
        "accurate": sum((record["scores"].get("r2") or 0.0) > 0.999 for record in records),
        "failed": sum(record["status"] != "ok" for record in records),
        "median_time": statistics.median(record["time"] for record in solved) if solved else None,
        "under_1s": sum(record["time"] < 1.0 for record in solved),
        "size_ratio": _mean_ratio(solved, "complexity"),
        "srbench_size_ratio": _mean_ratio(solved, "srbench_complexity"),
    }


def is_solved(record: Record) -> bool:
    return bool(record["scores"].get("strict") or record["scores"].get("srbench"))


def _mean_ratio(records: list[Record], score: str) -> float | None:
    pairs = [(record["scores"].get(score), record["scores"].get(f"true_{score}")) for record in records]
    ratios = [found / true for found, true in pairs if found and true]
    return statistics.fmean(ratios) if ratios else None


def _run(suite: str, noise: float, options: argparse.Namespace) -> list[Record]:
    return run_suite(
        suite,
        method=options.method,
        noise=noise,
        max_time=options.max_time,
        seed=options.seed,
        jobs=options.jobs,
        out=options.out,
        limit_problems=options.limit,
        rows=options.rows,
        form=options.form,
        cores=options.cores,
        problems=options.problems,
        limits=Limits(grace=options.grace, judge_time=options.judge_time, max_memory_mb=options.max_memory),
        python=options.python,
        on_result=None if options.quiet else _report,
    )


def _report(record: Record) -> None:
    """One line a run: T and S for the two judges, then what was found."""
    scores = record["scores"]
    verdict = ("T" if scores.get("strict") else "-") + ("S" if scores.get("srbench") else "-")
    text = record["expression"] or record["message"] or ""
    shown = text if len(text) <= 90 else text[:87] + "..."
    seconds = _short(record["time"])
    console.print(f"{verdict} {record['problem']:<20} {record['status']:<8} {seconds:>8} s  {shown}")


def _print(title: str, records: list[Record], summary: Summary) -> None:
    table = Table(title=title, title_justify="left")
    for heading in ("", "solved", "of", "share"):
        table.add_column(heading, justify="right" if heading else "left")
    for key, label in COUNTS.items():
        share = f"{100 * summary[key] / summary['n']:.1f} %" if records else "-"
        table.add_row(label, str(summary[key]), str(summary["n"]), share)
    console.print(table)
    times = f"{_short(summary['median_time'])} s ({summary['under_1s']} under 1 s)"
    console.print(f"median time of the solved: {times}")
    sizes = f"{_short(summary['size_ratio'])} (by SRBench's count {_short(summary['srbench_size_ratio'])})"
    console.print(f"mean size of the solved against the truth: {sizes}")
    unsolved = [record["problem"] for record in records if not is_solved(record)]
    console.print(f"unsolved ({len(unsolved)}): {', '.join(unsolved) or 'none'}")
    for record in records:
        if record["status"] != "ok":
            console.print(f"  {record['problem']}: {record['status']}: {record['message']}")


def _short(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("suites", nargs="+", metavar="SUITE", help=f"any of {', '.join(suites())}")
    add("--out", required=True, help="file of JSON lines; what it holds is not run again")
    add("--method", default="unisymnet", help=f"{', '.join(METHODS)}, or package.module:NAME")
    add("--noise", type=float, nargs="+", default=[0.0], help="levels of noise on the target")
    add("--max-time", type=float, default=60.0, help="seconds that a run may take")
    add("--seed", type=int, default=0)
    add("--jobs", type=int, default=1, help="runs at a time")
    add("--cores", type=int, default=1, help="threads that one run may use")
    add("--rows", type=int, help="training rows instead of the protocol's own number")
    add("--form", choices=("paper", "canonical"), default="paper", help="which spelling of standard")
    add("--limit", type=int, help="only the first so many problems of a suite")
    add("--problems", nargs="+", metavar="NAME", help="only these problems")
    add("--grace", type=float, default=30.0, help="a run is killed at 1.5 max-time + this")
    add("--judge-time", type=float, default=60.0, help="seconds for SRBench's procedure")
    add("--max-memory", type=float, default=8192.0, help="megabytes that a run may use")
    add("--python", help="another interpreter for the workers (peers with clashing needs)")
    add("--quiet", action="store_true", help="no line for each run")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
