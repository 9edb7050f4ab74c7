"""Given the true structure, how often does SFO find the law?  The inner level of the bi-level problem alone.

Every row of the standard and Feynman catalogs that has a label in one of the paper's two settings is identified,
encoded and decoded; SFO gets the skeleton and 200 points (the catalog's own number for the standard suites).

    python benchmarks/true_structures.py            both noise levels, one table
    python benchmarks/true_structures.py --noise 0 --suite standard
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from cleanest import fit_law
from unisymnet.bench.problems import BenchProblem, add_noise, load_suite
from unisymnet.candidate import Status
from unisymnet.deadline import Deadline
from unisymnet.errors import EncodingError
from unisymnet.fit.kernels.fit import warm_up
from unisymnet.metrics import is_solution_srbench, is_solution_strict, r2
from unisymnet.problem import make_problem
from unisymnet.symbolic.expr import Expr, evaluate
from unisymnet.symbolic.network.identify import identify
from unisymnet.symbolic.network.skeleton import to_skeleton
from unisymnet.symbolic.network.tokens import Vocabulary
from unisymnet.symbolic.rewrite.simplify import simplify

SETTINGS = (Vocabulary(4, 5, 6), Vocabulary(10, 7, 7))
MAX_TIME = 20.0
SEED = 0


class CpuDeadline(Deadline):
    """A limit in seconds of this process: other jobs on the machine must not change what is found."""

    def expired(self) -> bool:
        return time.process_time() >= self.moment

    def remaining(self) -> float:
        return max(0.0, self.moment - time.process_time())

    def sooner(self, seconds: float) -> Deadline:
        return CpuDeadline(min(self.moment, time.process_time() + seconds))


def encodable(suites: tuple[str, ...]) -> Iterator[tuple[BenchProblem, Expr]]:
    """Problems with a label in one of the two settings, and the skeleton their label decodes to."""
    for suite in suites:
        for problem in load_suite(suite):
            for vocabulary in SETTINGS:
                try:
                    structure = identify(simplify(problem.expr)).structure
                    skeleton = to_skeleton(vocabulary.decode(vocabulary.encode(structure)))
                except EncodingError:
                    continue
                yield problem, skeleton.expr
                break


def solve(
    problem: BenchProblem, skeleton: Expr, noise: float, max_time: float, seed: int = SEED
) -> tuple[bool, float, str]:
    """Was the law found (strict judge without noise, SRBench's with), in what time, and what was the answer?"""
    rng = np.random.default_rng(seed)
    rows = 200 if problem.suite == "feynman" else None
    X, y = problem.sample(rows, rng=rng)
    data = make_problem(X, add_noise(y, noise, rng=rng) if noise else y)
    began = time.process_time()
    law = fit_law(skeleton, data, rng=rng, deadline=CpuDeadline(time.process_time() + max_time))
    seconds = time.process_time() - began
    if law.status is not Status.OK:
        return False, seconds, law.status.value
    found = law.expr
    X_in, y_in = problem.sample(400, rng=rng, part="test")
    if noise:
        return is_solution_srbench(problem.expr, found, r2(y_in, evaluate(found, X_in))), seconds, str(found)
    X_out, _ = problem.sample(400, rng=rng, part="wide")
    return is_solution_strict(problem.expr, found, X_in, X_out), seconds, str(found)


def rates(suites: tuple[str, ...] = ("standard", "feynman")) -> tuple[float, float]:
    """Share of laws found without noise and at noise 0.01 (the hook of benchmarks/fits.py)."""
    warm_up()
    return _table(0.0, suites), _table(0.01, suites)


def _table(
    noise: float,
    suites: tuple[str, ...],
    only: list[str] | None = None,
    max_time: float = MAX_TIME,
    part: tuple[int, int] = (0, 1),
    seed: int = SEED,
) -> float:
    missed, times = [], []
    for place, (problem, skeleton) in enumerate(encodable(suites)):
        if place % part[1] != part[0] or (only is not None and problem.name not in only):
            continue
        solved, seconds, found = solve(problem, skeleton, noise, max_time, seed)
        times.append(seconds)
        if not solved:
            missed.append(problem.name)
            print(f"  {problem.name} ({seconds:.1f} s)\n    law   {problem.expr}\n    found {found}", flush=True)
    rate = 1.0 - len(missed) / len(times)
    print(f"noise {noise}: {len(times) - len(missed)} of {len(times)} ({rate:.1%}), median {np.median(times):.3f} s")
    print(f"  missed: {', '.join(missed)}")
    return rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--noise", type=float, nargs="*", default=[0.0, 0.01])
    parser.add_argument(
        "--max-time", type=float, default=MAX_TIME, help="seconds a row, of processor time like all times here"
    )
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("K", "N"), help="every N-th row from K")
    parser.add_argument("--seed", type=int, default=SEED, help="of rows, noise and starts")
    parser.add_argument("--only", nargs="*", default=None, help="names of rows")
    parser.add_argument("--suite", nargs="*", default=["standard", "feynman"])
    arguments = parser.parse_args()
    warm_up()
    values = [
        _table(noise, tuple(arguments.suite), arguments.only, arguments.max_time, arguments.part, arguments.seed)
        for noise in arguments.noise
    ]
    print(" ".join(f"rate_{noise:g}={value:.3f}" for noise, value in zip(arguments.noise, values, strict=True)))


if __name__ == "__main__":
    main()
