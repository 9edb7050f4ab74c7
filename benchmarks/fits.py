"""Speed of the constant fits: how many more successful fits a second than scipy, and node-points a second.

    python benchmarks/fits.py [--skeletons 200] [--starts 10] [--seed 0]

Skeletons come from the training corpus (2 to 8 constants, 200 points).  A fit is successful if the best of its
starts reaches R² > 1 - 1e-6; every method gets the same starts and stops at the first success.  scipy's methods
run on plain numpy functions with their own numerical derivatives, as the paper's code does.  "peeled" is what SFO
calls: the same starts, then easier forms of the equation and a screening of more starts.  All on one core.  The last
line holds the figures of the bars; those of true structures come from benchmarks/true_structures.py if it is there.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.optimize import least_squares, minimize
from scipy.stats import qmc
from threadpoolctl import threadpool_limits

from unisymnet.corpus.points import sample_inputs
from unisymnet.corpus.settings import LOW
from unisymnet.corpus.trees import TreeSampler, uniforms
from unisymnet.fit.constants import fit_constants
from unisymnet.fit.kernels import elementary
from unisymnet.fit.kernels.fit import evaluate_tape, fit_tape, program_of, warm_up
from unisymnet.fit.kernels.projection import Program, load, move, stride_of
from unisymnet.fit.kernels.tape import compile_tape
from unisymnet.symbolic.constants import free_constants
from unisymnet.symbolic.expr import Call, Const, Expr, Param, Var, call, evaluate, n_params, size

Floats = NDArray[np.float64]
N_POINTS = 200
SUCCESS = 1e-6  # share of the variance of y that a successful fit may leave
SPREAD = 3.0  # start values lie in [-SPREAD, SPREAD]


@dataclass(frozen=True)
class Task:
    """One skeleton with data that it fits exactly, and start values for all constants."""

    expr: Expr
    X: Floats
    y: Floats
    starts: Floats

    @property
    def goal(self) -> float:
        return SUCCESS * float(np.var(self.y))


def draw_tasks(n: int, n_starts: int, seed: int) -> list[Task]:
    """Random functions of the training corpus with 2 to 8 free constants."""
    rng = np.random.default_rng(seed)
    sampler, draws, tasks = TreeSampler(LOW), uniforms(rng), []
    while len(tasks) < n:
        n_features = sampler.dimension(draws)
        skeleton, values = free_constants(sampler.draw(n_features, draws))
        if not 2 <= len(values) <= 8:
            continue
        X = sample_inputs(n_features, 2 * N_POINTS, LOW, rng=rng)
        y = evaluate(skeleton, X, values)
        defined = np.flatnonzero(np.abs(y) < 1e6)[:N_POINTS]
        if len(defined) < N_POINTS or not np.std(y[defined]) > 1e-3 * np.max(np.abs(y[defined])):
            continue
        lhs = qmc.LatinHypercube(len(values), rng=rng).random(n_starts)
        tasks.append(Task(skeleton, X[defined], y[defined], (2.0 * lhs - 1.0) * SPREAD))
    return tasks


def as_numpy(expr: Expr, X: Floats) -> Callable[[Floats], Floats]:
    """The formula as one Python lambda over numpy, which is as fast as numpy gets."""
    names = {"ln": "log", "asin": "arcsin", "acos": "arccos", "atan": "arctan"}
    signs = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}

    def text(node: Expr) -> str:
        if isinstance(node, Const):
            return repr(node.value)
        if isinstance(node, Var):
            return f"x{node.index}"
        if isinstance(node, Param):
            return f"c[{node.index}]"
        assert isinstance(node, Call)
        args = [text(a) for a in node.args]
        if node.op in signs:
            return "(" + signs[node.op].join(args) + ")"
        if node.op in ("neg", "inv"):
            return f"(-{args[0]})" if node.op == "neg" else f"(1.0/{args[0]})"
        return f"np.{names.get(node.op, node.op)}({args[0]})"

    scope = {"np": np, **{f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])}}
    return eval(f"lambda c: {text(expr)} + np.zeros({len(X)})", scope)


def fit_ours(task: Task) -> float:
    tape = compile_tape(task.expr, task.X.shape[1])
    return fit_tape(tape, task.X, task.y, task.starts).loss


def fit_peeled(task: Task) -> float:
    """All that ``fit_constants`` does beyond plain starts; it draws its own."""
    return fit_constants(task.expr, task.X, task.y, n_starts=len(task.starts), rng=np.random.default_rng(0)).loss


def fit_scipy_bfgs(task: Task) -> float:
    """The paper's optimiser: BFGS on the mean square error."""
    f, best = as_numpy(task.expr, task.X), np.inf

    def objective(c: Floats) -> float:
        value = float(np.mean((f(c) - task.y) ** 2))
        return value if np.isfinite(value) else 1e300

    for start in task.starts:
        best = min(best, float(minimize(objective, start, method="BFGS").fun))
        if best <= task.goal:
            break
    return best


def fit_scipy_lm(task: Task) -> float:
    """MINPACK's Levenberg-Marquardt."""
    f, best = as_numpy(task.expr, task.X), np.inf
    for start in task.starts:
        if not np.isfinite(f(start)).all():
            continue
        try:
            found = least_squares(lambda c: f(c) - task.y, start, method="lm")
        except ValueError:  # residuals became non-finite on the way
            continue
        loss = 2.0 * float(found.cost) / len(task.y)
        best = min(best, loss) if np.isfinite(loss) else best
        if best <= task.goal:
            break
    return best


def compare(tasks: list[Task]) -> dict[str, tuple[float, float]]:
    """(successful fits a second, share of successes) of every method."""
    figures = {}
    methods: dict[str, Callable[[Task], float]] = {
        "ours": fit_ours,
        "peeled": fit_peeled,
        "bfgs": fit_scipy_bfgs,
        "lm": fit_scipy_lm,
    }
    if importlib.util.find_spec("pyoperon") is not None:
        from operon_fits import fit_operon

        methods["operon"] = lambda task: fit_operon(task.expr, task.X, task.y, task.starts, task.goal)
    for name, fit in methods.items():
        n_good, seconds = 0, 0.0
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for task in tasks:
                began = time.process_time()
                loss = fit(task)
                seconds += time.process_time() - began
                n_good += loss <= task.goal
        figures[name] = n_good / seconds, n_good / len(tasks)
        print(
            f"{name:>6}: {n_good} of {len(tasks)} reach the global fit, {seconds:.2f} s,"
            f" {n_good / seconds:.1f} successful fits a second",
            flush=True,
        )
    return figures


def seventeen_nodes() -> Expr:
    """c0·sin(c1·x0 + c2) + c3·exp(c4·x1) + c5: 17 nodes as a tree of binary operators."""
    c, x = [Param(i) for i in range(6)], [Var(0), Var(1)]
    wave = c[0] * call("sin", c[1] * x[0] + c[2])
    expr = (wave + c[3] * call("exp", c[4] * x[1])) + c[5]
    assert size(expr) == 17 and n_params(expr) == 6
    return expr


@njit
def _repeat(program: Program, X: Floats, theta: Floats, n_times: int) -> float:
    n, total = X.shape[1], 0.0
    work = np.empty(program.layout[1] * stride_of(n))
    load(program, X, work)
    for _ in range(n_times):
        move(program, theta, work, n)
        total += work[program.layout[4] * stride_of(n)]
    return total


@njit(error_model="numpy", fastmath={"contract"})
def _repeat_sin(x: Floats, out: Floats, n_times: int) -> None:
    for _ in range(n_times):
        for i in range(x.shape[0]):
            out[i] = elementary.sin_cos(x[i])[0]


@njit(error_model="numpy", fastmath={"contract"})
def _repeat_exp(x: Floats, out: Floats, n_times: int) -> None:
    for _ in range(n_times):
        for i in range(x.shape[0]):
            out[i] = elementary.exp(x[i])


def best_time(run: Callable[[int], object], n_times: int = 2000, repeats: int = 15) -> float:
    """Seconds of one repetition; the best of several, because other programs only ever slow it down."""
    run(1)
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run(n_times)
        times.append(time.perf_counter() - began)
    return min(times) / n_times


def measure_nodes() -> float:
    """Node-points a second on the 17-node tape, and how close that is to the cost of its sin and exp alone."""
    rng = np.random.default_rng(0)
    expr, X = seventeen_nodes(), rng.uniform(0.5, 2.0, (N_POINTS, 2))
    tape, params = compile_tape(expr, 2, project=False), rng.uniform(0.5, 1.5, 6)
    program, columns = program_of(tape), np.ascontiguousarray(X.T)
    seconds = best_time(lambda k: _repeat(program, columns, params, k))
    x, out = np.ascontiguousarray(X[:, 0]), np.empty(N_POINTS)
    sine, power = best_time(lambda k: _repeat_sin(x, out, k)), best_time(lambda k: _repeat_exp(x, out, k))
    python = best_time(lambda k: [evaluate_tape(tape, X, params) for _ in range(k)], 200)
    rate = 17 * N_POINTS / seconds
    print(
        f"17 nodes, 200 points: {seconds * 1e6:.2f} us inside a kernel ({rate / 1e6:.0f} million node-points a second),"
        f" {python * 1e6:.1f} us from Python"
    )
    print(
        f"sin alone {N_POINTS / sine / 1e6:.0f}, exp alone {N_POINTS / power / 1e6:.0f} million a second:"
        f" the tape runs at {100 * (sine + power) / seconds:.0f} % of the limit they set"
    )
    return rate


def true_structure_rates() -> tuple[float, float]:
    """Share of catalog rows solved by SFO given the true structure, without noise and at noise 0.01; nan if absent."""
    path = Path(__file__).with_name("true_structures.py")
    if not path.is_file():
        return float("nan"), float("nan")
    spec = importlib.util.spec_from_file_location("true_structures", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.rates()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skeletons", type=int, default=200)
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.perf_counter()
    warm_up(print)
    print(f"kernels ready after {time.perf_counter() - began:.2f} s")
    with threadpool_limits(1):
        rate = measure_nodes()
        figures = compare(draw_tasks(options.skeletons, options.starts, options.seed))
    x_bfgs, x_lm = (figures["ours"][0] / figures[name][0] for name in ("bfgs", "lm"))
    solved, noisy = true_structure_rates()
    print(
        f"x_bfgs={x_bfgs:.1f} x_lm={x_lm:.1f} node_points_per_s={rate:.3g}"
        f" true_structure_rate={solved:.3f} true_structure_rate_noise01={noisy:.3f}"
    )


if __name__ == "__main__":
    main()
