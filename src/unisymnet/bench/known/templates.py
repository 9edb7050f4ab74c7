"""Twenty laws whose outer form is known: how much sooner they are found with the template than without.

Every law is fitted twice on the same clean rows, with its template and without; what counts is whether it is found
and how much processor time that took.  The laws are such that the search without needs more than a quarter of a second:
below that, loading, judging and reporting are most of the time of both.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...metrics import is_solution_strict
from ...symbolic import evaluate, parse
from ..records import Key, Record, chosen

ROWS = 200


@dataclass(frozen=True)
class Task:
    """A law in x0, x1, …, what is known of it, and the range of every column."""

    name: str
    law: str
    template: str
    low: float = 0.5
    high: float = 3.0


TASKS: tuple[Task, ...] = (
    Task("sum of two", "x0**2/(1 + x0) + 3*sqrt(x1)*x2", "f(x0) + g(x1, x2)"),
    Task("product of two", "(x0**2 + exp(-x0))*(x1 + ln(x2 + 1))", "f(x0)*g(x1, x2)"),
    Task("quotient", "(x0*exp(x1) + 1)/(x2 + sin(x2))", "f(x0, x1)/g(x2)"),
    Task("exponential of a function", "exp(-(x0 + sqrt(x1*x2))/(1 + x0*x2))", "exp(-f(x0, x1, x2))"),
    Task("decay with an amplitude", "(x2 + 0.5*sin(3*x2))*exp(-x0**2/(1 + x1))", "g(x2)*exp(f(x0, x1))"),
    Task("logarithm", "ln(x0**2 + x1*sin(x2) + 2)", "ln(f(x0, x1, x2))"),
    Task("root of a sum", "sqrt(x0**3 + sin(x1*x2) + 2)", "sqrt(f(x0, x1, x2))"),
    Task("saturation", "x0*ln(1 + x1)/(x0*ln(1 + x1) + x2**1.5)", "f(x0, x1)/(f(x0, x1) + g(x2))"),
    Task("reciprocal of a sum", "1/(x0*exp(-x1) + ln(1 + x2))", "1/(f(x0, x1) + g(x2))"),
    Task("wave of a function", "sin(x0*x1) + x2**2/(1 + x2)", "sin(f(x0, x1)) + g(x2)", 0.2, 1.2),
    Task("tanh", "2*tanh(x0*x1/x2)", "2*tanh(f(x0, x1, x2))", 0.3, 1.5),
    Task("squared difference", "(x0**1.5 - x1*x2)**2 + x2", "f(x0, x1, x2)**2 + x2"),
    Task("known factor", "x0**2*(exp(-x1) + 0.3*x2**2)", "x0**2*(f(x1) + g(x2))"),
    Task("known offset", "5 - x0*exp(-x1)/sqrt(x2)", "5 - f(x0, x1, x2)"),
    Task("Gaussian in one column", "exp(-(x0 - 1.5)**2/0.8)*(1 + x1/(x1 + x2**2))", "f(x0)*(1 + g(x1, x2))"),
    Task("sum under a logarithm", "x2*ln(x0**2 + 2*x1)", "x2*ln(f(x0, x1))"),
    Task("power of a function", "(1 + x0/x1)**1.7 + 0.5*x2", "f(x0, x1)**1.7 + g(x2)"),
    Task("law and its derivative", "2*x0*x1/(1 + x0**2) + ln(1 + x0**2)", "D(f, x0)*x1 + f(x0)"),
    Task("two exponentials", "exp(-x0*x1) + 2*exp(-x2**2)", "exp(-f(x0, x1)) + 2*exp(-g(x2))"),
    Task("inside a cosine", "x2*cos(x0**2*x1)", "x2*cos(f(x0, x1))", 0.3, 1.2),
)


def keys(folder: str | None, problems: Sequence[str] | None) -> list[Key]:
    names = chosen([task.name for task in TASKS], problems, "bench templates")
    return [{"problem": name, "given": given} for name in names for given in (True, False)]


def perform(key: Key, folder: str | None, *, judge_time: float = 20.0) -> Record:
    """One fit, with or without the template; `seconds` counts what `--clock` says."""
    from ...regressor import UniSymNetRegressor

    task = next(t for t in TASKS if t.name == key["problem"])
    law = parse(task.law)
    rng = np.random.default_rng([key["seed"], zlib.crc32(task.name.encode())])
    X = rng.uniform(task.low, task.high, (ROWS, n_columns(task)))
    y = evaluate(law, X)
    y = y + rng.normal(0.0, key["noise"] * float(np.sqrt(np.mean(y**2))), ROWS) if key["noise"] else y
    for template in (None, "f(x0)*exp(x1)"):  # whoever is first must not pay for loading the kernels
        easy = UniSymNetRegressor(max_time=None, max_evaluations=30, n_jobs=1, template=template)
        easy.fit(X[:40, :2], (X[:40, 0] + 0.37) * np.exp(X[:40, 1]))
    model = UniSymNetRegressor(
        max_time=key["max_time"],
        random_state=key["seed"],
        n_jobs=1,
        template=task.template if key["given"] else None,
    ).fit(X, y)
    fresh = rng.uniform(task.low, task.high, (ROWS, X.shape[1]))
    tolerance = 1e-6 if not key["noise"] else 3.0 * key["noise"]
    found = is_solution_strict(law, model.formula_.expr, fresh, tol=tolerance)
    return {
        "expression": str(model.formula_),
        "stopped": model.stopped_,
        "seconds": round(model.seconds_, 3),
        "scores": {"strict": bool(found)},
    }


def n_columns(task: Task) -> int:
    return 1 + max(int(digit) for digit in "012" if f"x{digit}" in task.law)


def summary(records: Sequence[Record]) -> str:
    """Tasks solved with and without, and how many of them in at most half the time."""
    by_name: dict[str, dict[bool, Record]] = {}
    for record in records:
        by_name.setdefault(record["problem"], {})[record["given"]] = record
    pairs = [pair for pair in by_name.values() if len(pair) == 2]
    solved = {given: sum(p[given]["scores"]["strict"] for p in pairs) for given in (True, False)}
    # A task that the search without does not solve has used all its time.
    ratios = [p[True]["seconds"] / max(p[False]["seconds"], 1e-3) for p in pairs if p[True]["scores"]["strict"]]
    half = sum(ratio <= 0.5 for ratio in ratios)
    middle = float(np.median(ratios)) if ratios else float("nan")
    return (
        f"tasks={len(pairs)}  solved_with={solved[True]}  solved_without={solved[False]}  "
        f"in_half_the_time={half}  median_ratio_of_times={middle:.2f}"
    )
