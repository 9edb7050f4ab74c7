"""Judge recorded formulas again by `form`: what a judge that has become better says of runs that need no repeating.

    python benchmarks/rejudge.py benchmarks/results/ours_10s.jsonl benchmarks/results/peers_10s.jsonl

Only verdicts that were "no" are looked at, and only of formulas with exponents other than whole numbers, which are
what the judge did not refit before 2026-11-16.  The file is replaced in one step.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path

import numpy as np

from unisymnet import parse
from unisymnet.bench.problems import find_problem
from unisymnet.bench.records import read_records
from unisymnet.bench.score import numeric_scores
from unisymnet.errors import UniSymNetError

BROKEN_POWER = re.compile(r"(\*\*|\^)\s*\(?-?\d*\.\d")


def better(record: dict) -> bool:
    """Was `form` refused, and is it granted now?"""
    scores, text = record.get("scores") or {}, record.get("expression")
    if scores.get("form") is not False or not text or not BROKEN_POWER.search(text):
        return False
    problem = find_problem(record["problem"], form=record["form"])
    X, y = problem.sample(100, rng=np.random.default_rng(0))
    try:
        return bool(numeric_scores(problem, parse(text), X, y)["form"])
    except (UniSymNetError, ValueError):
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    for path in parser.parse_args().files:
        changed = {json.dumps(record) for record in read_records(path) if better(record)}
        lines = []
        for line in path.read_text().splitlines():
            record = json.loads(line)
            if json.dumps(record) in changed:
                record["scores"]["form"] = True
                line = json.dumps(record)
                print(path.name, record["method"], record["noise"], record["problem"], record["expression"][:80])
            lines.append(line)
        fresh = path.with_suffix(".new")
        fresh.write_text("\n".join(lines) + "\n")
        os.replace(fresh, path)
        print(f"{path}: {len(changed)} of {len(lines)} verdicts changed")


if __name__ == "__main__":
    main()
