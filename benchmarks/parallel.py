"""What two jobs are good for: kernel threads, threads or processes over skeletons; and where a search spends its time.

    python benchmarks/parallel.py

Wall and processor seconds for the same eight SFO fits (2 data sets, fixed seeds, equal results are checked), then the
share of a search that lies in the fitter. Ends with one line of key=value pairs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed

from unisymnet import UniSymNetRegressor
from unisymnet.bench.problems import add_noise, load_suite
from unisymnet.deadline import Deadline
from unisymnet.fit import polish
from unisymnet.fit.kernels.fit import warm_up
from unisymnet.fit.sfo.sfo import SFO
from unisymnet.problem import Problem, make_problem
from unisymnet.symbolic.parse import parse

SKELETONS = ("c0*x0**c1*x1**c2 + c3", "c0*sin(c1*x0 + c2)*x1**c3", "c0*exp(c1*x0**c2)/x1", "c0*x0**c1/(x1 + c2)")
SETTINGS = SFO(n_steps=10, sweep=60, deepen=0)


def problems() -> list[Problem]:
    rng = np.random.default_rng(0)
    X = rng.uniform(1.0, 4.0, (200, 2))
    laws = (np.sin(1.3 * X[:, 0]) + X[:, 1] ** 1.7, np.exp(-(X[:, 0] ** 2) / 5) * X[:, 1])
    return [make_problem(X, law + rng.normal(0.0, 0.05, 200)) for law in laws]


def one(text: str, problem: Problem, n_threads: int = 1) -> str:
    names = [f"x{i}" for i in range(2)]
    settings = replace(SETTINGS, n_threads=n_threads)
    skeleton = parse(text, names, free=True)
    return str(settings.fit_expr(skeleton, problem, rng=np.random.default_rng(0), deadline=Deadline.never()).expr)


def sfo_ways() -> dict[str, tuple[float, float]]:
    jobs = [(text, problem) for problem in problems() for text in SKELETONS]

    def parallel(backend: str) -> list[str]:
        return Parallel(n_jobs=2, backend=backend)(delayed(one)(*job) for job in jobs)

    ways: dict[str, Callable[[], list[str]]] = {
        "one": lambda: [one(*job) for job in jobs],
        "kernel_threads": lambda: [one(*job, n_threads=2) for job in jobs],
        "threads": lambda: parallel("threading"),
        "processes_cold": lambda: parallel("loky"),
        "processes_warm": lambda: parallel("loky"),
    }
    expected = ways["one"]()
    found = {}
    for name, way in ways.items():
        began, used = time.perf_counter(), sum(os.times()[:4])
        assert way() == expected, f"{name} changed the result"
        found[name] = time.perf_counter() - began, sum(os.times()[:4]) - used
        print(f"{name:<16} {found[name][0]:6.2f} s wall, {found[name][1]:6.2f} s of this process", flush=True)
    return found


def fitter_share() -> float:
    """Share of processor time that searches spend in the fitter: all that fitting side by side could save."""
    spent, original = [0.0], polish.Polish.fit

    def timed(self, *args, **named):  # type: ignore[no-untyped-def]
        began = time.process_time()
        try:
            return original(self, *args, **named)
        finally:
            spent[0] += time.process_time() - began

    suite = {problem.name: problem for problem in load_suite("feynman")}
    shares = []
    polish.Polish.fit = timed  # type: ignore[method-assign]
    try:
        for name in ("feynman_I_6_2", "feynman_I_24_6", "feynman_III_9_52"):
            for noise in (0.0, 0.01):
                rng = np.random.default_rng(0)
                X, y = suite[name].sample(400, rng=rng)
                spent[0], began = 0.0, time.process_time()
                model = UniSymNetRegressor(max_time=30, n_jobs=1).fit(X, add_noise(y, noise, rng=rng) if noise else y)
                total = time.process_time() - began
                shares.append(spent[0] / total)
                print(f"{name} noise {noise:g}: {model.n_evaluations_} fits, {total:.2f} s, fitter {shares[-1]:.1%}")
    finally:
        polish.Polish.fit = original  # type: ignore[method-assign]
    return float(np.median(shares))


def main() -> None:
    warm_up()
    found = sfo_ways()
    ratios = {name: found["one"][0] / wall for name, (wall, _) in found.items() if name != "one"}
    share = fitter_share()
    print(" ".join(f"x_{name}={ratio:.2f}" for name, ratio in ratios.items()), f"fitter_share={share:.3f}")


if __name__ == "__main__":
    main()
