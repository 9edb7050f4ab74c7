"""What every stage says, word for word: before and after a change that should change nothing.

    python benchmarks/proposals.py record before.jsonl [--every 20] [--stages rational roots …]
    python benchmarks/proposals.py compare before.jsonl after.jsonl [--digits 5]

Each stage, at each of its places in the order, is asked alone about some problems of gate.py, with a clock that stands
still: what it says depends on the data alone, so that two records can be compared as text.  ``compare`` ends with
status 1 if a stage says anything else, and shows how much processor time the stages took.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import gate
from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import Problem, make_problem
from unisymnet.search.order import PROPOSERS, default_proposers

# These ask other stages, or use all the time there is.
SILENT = ("transformer", "evolve", "relevant", "reduce", "features")
EVERY = 20
MOST = 8  # proposals of a stage that are compared
MAX_ROWS = 400


def record(options: argparse.Namespace) -> None:
    path = Path(options.out)
    done = {(row["stage"], row["place"], row["case"]) for row in gate.read(path)} if path.exists() else set()
    problems = {f"{case.group} {case.name}": _problem(case) for case in gate.cases()[:: options.every]}
    with path.open("a", encoding="utf-8") as file:
        for name in options.stages or [name for name in PROPOSERS if name not in SILENT]:
            for place, stage in enumerate(_places(name)):
                for case, problem in problems.items():
                    if (name, place, case) not in done:
                        row = {"stage": name, "place": place, "case": case, **_asked(stage, problem)}
                        file.write(json.dumps(row, ensure_ascii=False) + "\n")
                        file.flush()
            print(name, flush=True)


def _problem(case: gate.Case) -> Problem:
    X, y, _ = gate.data(case)
    return make_problem(X[:MAX_ROWS], y[:MAX_ROWS])


def _places(name: str) -> list[Any]:
    """The stage with each of its settings."""
    found = [getattr(stage, "proposer", stage) for stage in default_proposers([name])]
    return list({repr(stage): stage for stage in found}.values())


def _asked(stage: Any, problem: Problem) -> dict[str, Any]:
    began = time.process_time()
    with np.errstate(all="ignore"):
        proposals = stage.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never())
        formulas = [str(proposal.expr) for proposal in islice(proposals, MOST)]
    return {"formulas": formulas, "seconds": round(time.process_time() - began, 4)}


def _rounded(formulas: list[str], digits: int) -> list[str]:
    """The formulas with shorter numbers: what only rounding has changed is not another formula."""
    return [re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda m: f"{float(m[0]):.{digits}g}", text) for text in formulas]


def compare(old: list[dict[str, Any]], new: list[dict[str, Any]], digits: int = 17) -> bool:
    before, after = ({(r["stage"], r["place"], r["case"]): r for r in rows} for rows in (old, new))
    common = [key for key in before if key in after]
    seconds: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    for key in common:
        a, b = before[key], after[key]
        same = _rounded(a["formulas"], digits) == _rounded(b["formulas"], digits)
        numbers = seconds[key[0]]
        for i, value in enumerate((1.0, float(not same), a["seconds"], b["seconds"])):
            numbers[i] += value
        if not same:
            print(*key, *(f"\n  - {text}" for text in a["formulas"]), *(f"\n  + {text}" for text in b["formulas"]))
    print(f"{'stage':<14} {'asked':>6} {'other':>6} {'before':>8} {'after':>8} s of processor time")
    for stage, (n, other, one, two) in seconds.items():
        print(f"{stage:<14} {n:>6.0f} {other:>6.0f} {one:>8.2f} {two:>8.2f}")
    n_other = sum(numbers[1] for numbers in seconds.values())
    print(f"asked={len(common)} other={n_other:.0f}")
    return n_other == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recorder = verbs.add_parser("record")
    recorder.add_argument("out", help="file of JSON lines; what it holds is not asked again")
    recorder.add_argument("--every", type=int, default=EVERY, help="only every so many problems of the gate")
    recorder.add_argument("--stages", nargs="+", default=[], metavar="STAGE")
    comparer = verbs.add_parser("compare")
    comparer.add_argument("old", type=Path)
    comparer.add_argument("new", type=Path)
    comparer.add_argument("--digits", type=int, default=17, help="of numbers that must agree")
    options = parser.parse_args()
    if options.verb == "record":
        record(options)
    else:
        sys.exit(0 if compare(gate.read(options.old), gate.read(options.new), options.digits) else 1)


if __name__ == "__main__":
    main()
