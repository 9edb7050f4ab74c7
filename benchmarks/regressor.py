"""Measure what the estimator promises; ends with one line of key=value pairs.

    python benchmarks/regressor.py                  # everything, about an hour
    python benchmarks/regressor.py laws limits      # some parts
    python benchmarks/regressor.py kill --count 5   # fewer repetitions

Parts: laws (38 monomials, polynomials, Lotka–Volterra: exact, median time), limits (overshoot of max_time), memory
(1,000,000 rows), kill (kill -9 and resume), jobs (same front for n_jobs), checks (scikit-learn), demo, startup.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from unisymnet import UniSymNetRegressor
from unisymnet.bench.problems import BenchProblem, load_suite
from unisymnet.metrics import is_solution_strict
from unisymnet.symbolic.expr import Call, Const, Expr, walk

Result = dict[str, Any]


def laws(count: int | None) -> Result:
    """Easy laws: all exact, median under half a second once warm."""
    chosen = [*_monomials(), *_polynomials(), *_lotka_volterra()][:count]
    UniSymNetRegressor(max_time=5).fit(*chosen[0].sample(rng=np.random.default_rng(0)))  # compile
    seconds, exact, judged = [], 0, 0
    for problem in chosen:
        X, y = problem.sample(rng=np.random.default_rng(0))
        began = time.perf_counter()
        model = UniSymNetRegressor(max_time=10).fit(X, y)
        seconds.append(time.perf_counter() - began)
        wide, _ = problem.sample(200, rng=np.random.default_rng(1), part="wide")
        assert problem.expr is not None
        right = is_solution_strict(problem.expr, model.formula_.expr, X, wide)
        exact += model.stopped_ == "exact"
        judged += right
        mark = "" if right and model.stopped_ == "exact" else "   <-- missed"
        print(
            f"{problem.name:<24} {seconds[-1]:6.2f} s  {model.stopped_:<10} {str(model.formula_)[:70]}{mark}",
            flush=True,
        )
    return {
        "laws": len(chosen),
        "laws_exact": exact,
        "laws_solved": judged,
        "laws_median_s": round(statistics.median(seconds), 3),
        "laws_slowest_s": round(max(seconds), 2),
    }


def _monomials() -> list[BenchProblem]:
    """Laws c * x0^a * x1^b …: a straight line in logarithms."""
    found = []
    for problem in load_suite("feynman"):
        if problem.expr is None or min(problem.low) <= 0.0:
            continue
        X, y = problem.sample(100, rng=np.random.default_rng(0))
        if (y == 0).any() or not ((y > 0).all() or (y < 0).all()):
            continue
        logs = np.column_stack([np.ones(len(y)), np.log(X)])
        rest = np.log(np.abs(y)) - logs @ np.linalg.lstsq(logs, np.log(np.abs(y)), rcond=None)[0]
        if np.abs(rest).max() < 1e-9:
            found.append(problem)
    return found


def _polynomials() -> list[BenchProblem]:
    return [p for p in load_suite("standard") if p.expr is not None and _is_polynomial(p.expr)]


def _is_polynomial(expr: Expr) -> bool:
    for node in walk(expr):
        if isinstance(node, Call):
            if node.op == "pow":
                exponent = node.args[1]
                if not (isinstance(exponent, Const) and exponent.value % 1 == 0 and exponent.value >= 0):
                    return False
            elif node.op == "div":
                if not isinstance(node.args[1], Const):
                    return False
            elif node.op not in ("add", "sub", "mul", "neg", "square"):
                return False
    return True


def _lotka_volterra() -> list[BenchProblem]:
    return [problem for problem in load_suite("strogatz") if "lv" in problem.name.lower()]


def limits(count: int | None) -> Result:
    """Random data, random limits from 0.5 to 5 s: how far over the limit does a fit go?"""
    rng = np.random.default_rng(0)
    over, worst, late = [], 0.0, 0
    for k in range(count or 200):
        n_rows, n_columns = int(rng.integers(5, 3000)), int(rng.integers(1, 13))
        X, y = rng.normal(size=(n_rows, n_columns)), rng.normal(size=n_rows)
        limit = float(rng.uniform(0.5, 5.0))
        began = time.perf_counter()
        model = UniSymNetRegressor(max_time=limit, random_state=k).fit(X, y)
        extra = time.perf_counter() - began - limit
        over.append(extra)
        late += extra > max(0.1 * limit, 1.0)
        worst = max(worst, extra)
        print(
            f"{k:>4} {n_rows:>5} x {n_columns:<2} limit {limit:4.2f} s, over by {extra:6.2f} s, {model.stopped_}",
            flush=True,
        )
    return {"limit_fits": len(over), "limit_late": late, "limit_worst_over_s": round(worst, 2)}


def memory(count: int | None) -> Result:
    """Peak memory of one fit on a million rows, in a process of its own."""
    n_rows = count or 1_000_000
    code = f"""
import resource, time
import numpy as np
from unisymnet import UniSymNetRegressor
rng = np.random.default_rng(0)
X = rng.uniform(1.0, 5.0, ({n_rows}, 10))
y = 0.5 * X[:, 0] * X[:, 1] ** 2 + rng.normal(0.0, 0.1, {n_rows})
began = time.perf_counter()
model = UniSymNetRegressor(max_time=20).fit(X, y)
seconds = time.perf_counter() - began
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, seconds, model.score(X, y))
print(model)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    kilobytes, seconds, r2 = out.splitlines()[0].split()
    print(out)
    return {
        "memory_rows": n_rows,
        "memory_peak_gb": round(int(kilobytes) / 1e6, 2),
        "memory_s": round(float(seconds), 1),
        "memory_r2": round(float(r2), 6),
    }


KILLED = """
import sys
import numpy as np
from unisymnet import UniSymNetRegressor
rng = np.random.default_rng(int(sys.argv[2]))
X = rng.uniform(1.0, 5.0, (200, 3))
y = np.sin(X[:, 0]) * X[:, 1] + 1.0 / (1.0 + X[:, 2] ** 2) + rng.normal(0.0, 0.01, 200)
print("started", flush=True)
model = UniSymNetRegressor(max_time=float(sys.argv[3]), checkpoint=sys.argv[1]).fit(X, y)
for entry in model.front_:
    print(entry.complexity, repr(entry.loss))
"""


def kill(count: int | None) -> Result:
    """kill -9 at random moments: is the saved front readable, and nothing on it lost by the next fit?"""
    rng = np.random.default_rng(0)
    kept = saved_rows = 0
    runs = count or 20
    for k in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", KILLED, folder, str(k)]
            process = subprocess.Popen([*command, "60"], stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            process.stdout.readline()
            files: list[Path] = []
            while not files:  # until something has been saved there is nothing to lose
                time.sleep(0.01)
                files = list(Path(folder).glob("front-*.json"))
            time.sleep(float(rng.uniform(0.0, 4.0)))
            process.send_signal(signal.SIGKILL)
            process.wait()
            before = json.loads(next(Path(folder).glob("front-*[0-9a-f].json")).read_text())["candidates"]
            out = subprocess.run([*command, "2"], capture_output=True, text=True, check=True).stdout
            after = json.loads(next(Path(folder).glob("front-*[0-9a-f].json")).read_text())["candidates"]
            covered = all(
                any(b["complexity"] <= a["complexity"] and b["loss"] <= a["loss"] * (1 + 1e-9) for b in after)
                for a in before
            )
            kept += covered
            saved_rows += len(before)
            n_after = len(out.splitlines()) - 1
            print(f"{k:>3} killed with {len(before)} formulas, kept: {covered}, {n_after} in the end", flush=True)
    return {"kill_runs": runs, "kill_kept": kept, "kill_saved_formulas": saved_rows}


def jobs(count: int | None) -> Result:
    """Same seed, same front for n_jobs 1, 2 and 4, when formulas and not seconds are counted."""
    rng = np.random.default_rng(0)
    same = 0
    runs = count or 3
    for k in range(runs):
        X = rng.uniform(1.0, 5.0, (150, 3))
        y = np.sin(X[:, 0]) * X[:, 1] + X[:, 2] ** (k - 2) + rng.normal(0.0, 0.05, 150)
        fronts = []
        for n_jobs in (1, 2, 4):
            model = UniSymNetRegressor(max_time=None, max_evaluations=100, n_jobs=n_jobs, random_state=k).fit(X, y)
            fronts.append([str(entry.formula) for entry in model.front_])
        same += fronts[0] == fronts[1] == fronts[2]
        print(f"{k:>3} {len(fronts[0])} formulas, the same: {fronts[0] == fronts[1] == fronts[2]}", flush=True)
    return {"jobs_runs": runs, "jobs_same": same}


def checks(count: int | None) -> Result:
    """All of scikit-learn's estimator checks."""
    import warnings

    from sklearn.utils.estimator_checks import check_estimator

    quick = UniSymNetRegressor(max_evaluations=12, max_time=None, proposers=["monomial", "evolve"])
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(quick, on_fail=None)
    states = [row["status"] for row in found]
    for row in found:
        if row["status"] not in ("passed", "skipped"):
            print(row["check_name"], row["status"], row["exception"])
    return {
        "checks": len(states),
        "checks_passed": states.count("passed"),
        "checks_skipped": states.count("skipped"),
        "checks_failed": len(states) - states.count("passed") - states.count("skipped"),
        "checks_s": round(time.perf_counter() - began, 1),
    }


def demo(count: int | None) -> Result:
    """`unisymnet demo`, start to formula, and whether each pick is the law behind the data."""
    began = time.perf_counter()
    done = subprocess.run(["unisymnet", "demo"], capture_output=True, text=True, check=True, env=_path())
    seconds = time.perf_counter() - began
    print(done.stdout)
    return {"demo_s": round(seconds, 1), "demo_laws": done.stdout.count("the law behind the data")}


def startup(count: int | None) -> Result:
    """`unisymnet --help`, and `fit` of a 100-row power law, warm."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1.0, 5.0, (100, 2))
    table = np.column_stack([X, 0.5 * X[:, 0] * X[:, 1] ** 2])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "law.csv"
        np.savetxt(path, table, delimiter=",", header="m,v,E", comments="")
        fit = ["unisymnet", "fit", str(path), "--target", "E", "--out", folder]
        found = {}
        for name, command in (("help_s", ["unisymnet", "--help"]), ("fit_s", fit)):
            seconds = []
            for _ in range(3):
                began = time.perf_counter()
                subprocess.run(command, capture_output=True, check=True, env=_path())
                seconds.append(time.perf_counter() - began)
            found[name] = round(min(seconds), 2)
    return found


def _path() -> dict[str, str]:
    """The environment with this interpreter's commands first."""
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}


PARTS: dict[str, Callable[[int | None], Result]] = {
    part.__name__: part for part in (laws, limits, memory, kill, jobs, checks, demo, startup)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    parser.add_argument("--count", type=int, default=None, help="repetitions (for memory: rows)")
    arguments = parser.parse_args()
    found: Result = {}
    for name in arguments.parts or PARTS:
        found |= PARTS[name](arguments.count)
    found["peak_gb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)
    print(" ".join(f"{key}={value}" for key, value in found.items()))


if __name__ == "__main__":
    main()
