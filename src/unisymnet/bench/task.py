"""One run of a benchmark: draw the data, fit, score. Yields what it learns as soon as it is known.

Runs in whatever process calls it: it does not know workers, time or memory limits, or files. The same task
gives the same data everywhere, because every random draw is seeded by the seed and the problem's name.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..arrays import Floats
from ..deadline import on_processor
from ..errors import ParseError
from ..symbolic import Expr, parse
from .methods import Method, get_method
from .problems import BenchProblem, Form, add_noise, find_problem
from .score import accuracy, numeric_scores, symbolic_scores

TRAIN_SHARE = 0.75
WIDE_ROWS = 200  # of the doubled range, for extrapolation
FEYNMAN_ROWS = 1000  # training rows where the caller names none; the published protocol uses 10,000


@dataclass(frozen=True)
class Task:
    """What identifies a run: two runs with equal tasks are the same run."""

    method: str
    problem: str
    form: Form = "paper"
    seed: int = 0
    noise: float = 0.0
    max_time: float = 60.0
    rows: int | None = None
    cores: int = 1

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Split:
    X_train: Floats
    y_train: Floats
    X_test: Floats
    y_test: Floats


def perform(task: Task, *, judge_time: float = 60.0) -> Iterator[dict[str, Any]]:
    """Run a task. Yields dicts to be merged; a key "phase" announces what begins next (fit, score, judge)."""
    method = get_method(task.method)
    problem = find_problem(task.problem, form=task.form)
    rng = np.random.default_rng([task.seed, zlib.crc32(problem.name.encode())])
    data = split(problem, rng=rng, rows=task.rows)
    y_train = add_noise(data.y_train, task.noise, rng=rng)
    names = tuple(f"x{i}" for i in range(problem.n_features))
    yield {"version": method.load(), "n_train": len(y_train), "phase": "fit"}
    start, processor = time.perf_counter(), time.process_time()
    model = method.fit(data.X_train, y_train, max_time=task.max_time, seed=task.seed, names=names, cores=task.cores)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    text = method.expression(model)
    times: dict[str, Any] = {"time": round(seconds, 4), "cpu": round(processor, 4)}
    if on_processor():
        times["clock"] = "processor"
    yield {"status": "ok", **times, "expression": text, "phase": "score"}
    start = time.perf_counter()
    expr, complaint = _read(text)
    y_pred = method.predict(model, data.X_test)
    scores = numeric_scores(problem, expr, data.X_test, data.y_test, y_pred=y_pred)
    scores["r2_wide"] = _extrapolation(problem, method, model, rng)
    yield {"scores": scores, "message": complaint, "phase": "judge"}
    scores |= symbolic_scores(problem, expr, scores, judge_time=judge_time)
    yield {"scores": scores, "judging": round(time.perf_counter() - start, 4)}


def split(problem: BenchProblem, *, rng: np.random.Generator, rows: int | None = None) -> Split:
    """Training and test rows as published; `rows` overrides the number of training rows.

    Classic suites draw both sets by their own numbers. SRBench's problems and the black-box sets are one
    table, split 75 to 25 at random; Feynman tables are drawn just large enough for the wanted training rows.
    """
    if problem.suite not in ("feynman", "strogatz", "blackbox"):
        return Split(*problem.sample(rows, rng=rng, part="train"), *problem.sample(rng=rng, part="test"))
    if problem.kind in ("orbit", "diabetes"):
        X, y = problem.sample(rng=rng)
        n_train = int(TRAIN_SHARE * len(y))
    else:
        n_train = rows or (FEYNMAN_ROWS if problem.suite == "feynman" else problem.n_train)
        X, y = problem.sample(round(n_train / TRAIN_SHARE), rng=rng)
    order = rng.permutation(len(y))
    train, test = order[:n_train], order[n_train:]
    if rows is not None and rows > n_train:
        raise ValueError(f"{problem.name} has only {n_train} training rows, {rows} were asked for")
    train = train[:rows]
    return Split(X[train], y[train], X[test], y[test])


def _extrapolation(problem: BenchProblem, method: Method, model: Any, rng: np.random.Generator) -> float | None:
    """R² of the method's own predictions where each range is twice as long; None where nothing is known there."""
    if problem.expr is None or problem.kind == "orbit":
        return None
    X, y = problem.sample(WIDE_ROWS, rng=rng, part="wide", factor=0.5)
    return accuracy(y, method.predict(model, X))


def _read(text: str | None) -> tuple[Expr | None, str | None]:
    if text is None:
        return None, None
    try:
        return parse(text), None
    except ParseError as error:
        return None, f"the method's formula cannot be read: {error}"
