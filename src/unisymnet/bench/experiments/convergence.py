"""Figures "convergence": the transformer's training, DNO on four functions, SFO's reward, and the fits inside SFO.

The training curve is read from the log of the shipped weights' training (runs/small-low.jsonl of a checkout); the
others are computed anew in seconds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Floats
from ...deadline import Deadline
from ...fit.sfo.sfo import SFO
from ...problem import Problem, make_problem
from ...symbolic import evaluate, parse
from ...symbolic.expr import Expr, bind
from ...symbolic.network.identify import identify
from ...symbolic.network.skeleton import to_skeleton
from ..optimiser_judging import draw_data
from ..optimisers import PLAIN
from ..records import append_record, read_records
from ..run import provenance
from .base import CYCLE, Block, Experiment, Figure, Record, Setup
from .tally import groups

LAW = "x1/(2.3*x2 + 4.6) + sin(x0)"  # the paper's example for SFO
TRAINING = Path("runs/small-low.jsonl")
STEPS = (20, 40, 100, 200)  # of the policy; the paper shows the fits at these
FUNCTIONS = (0, 1, 2, 3)  # of the 200 random ones; not chosen


def collect(setup: Setup) -> list[Record]:
    known = _own(list(read_records(setup.out)))
    if {record["curve"] for record in known} >= {"sfo", "fits"}:
        return known
    found = [*_training(), *_dno(setup.seed), *_sfo(setup.seed)]
    for record in found:
        append_record(setup.out, {"kind": "convergence", "seed": setup.seed} | record | provenance())
    return _own(list(read_records(setup.out)))


def _training() -> list[Record]:
    """Losses of the training, if this is a checkout that holds its log."""
    rows = list(read_records(TRAINING))
    if not rows:
        return []
    keys = ("examples", "train", "nll")
    return [{"curve": "training", **{key: [row.get(key) for row in rows] for key in keys}}]


def _dno(seed: int) -> list[Record]:
    if find_spec("torch") is None:
        return []
    found = []
    for number in FUNCTIONS:
        data = draw_data(number, seed=seed)
        if data is None:
            continue
        problem = make_problem(data.X, data.y)
        structure = identify(data.truth, problem.n_features).structure
        for pruning in (False, True):
            dno = replace(PLAIN, pruning=pruning, keep_history=True, epochs=100, n_restarts=8)
            rng, deadline = np.random.default_rng([seed, number]), Deadline.after(30.0)
            result = dno.train(structure, problem, rng=rng, deadline=deadline)
            name = "dno-p" if pruning else "dno-np"
            losses = [float(loss) / problem.spread**2 for loss in result.history]
            found.append({"curve": name, "function": str(data.truth), "number": number, "losses": losses})
    return found


def _sfo(seed: int) -> list[Record]:
    """Best reward after every step of the policy alone, and four fits of constants from random starts."""
    rng = np.random.default_rng(seed)
    truth = parse(LAW)
    X = rng.uniform(0.5, 5.0, (200, 3))
    problem = make_problem(X, evaluate(truth, X))
    skeleton = to_skeleton(identify(truth, 3).structure).expr
    pure: dict[str, Any] = {"warm": False, "climb": False, "sweep": 0, "deepen": 0, "parsimony": False}
    alone = SFO(n_steps=max(STEPS), n_restarts=2, keep_history=True, **pure)
    result = alone.fit_expr(skeleton, problem, rng=rng, deadline=Deadline.after(60.0))
    found: list[Record] = [{"curve": "sfo", "function": LAW, "rewards": list(result.rewards)}]
    for step in STEPS:
        short = replace(alone, n_steps=step)
        best = short.fit_expr(skeleton, problem, rng=np.random.default_rng(seed), deadline=Deadline.after(60.0))
        losses = _bfgs(best.expr, problem, rng=np.random.default_rng([seed, step]))
        found.append({"curve": "fits", "step": step, "losses": losses})
    return found


def _bfgs(fitted: Expr, problem: Problem, *, rng: np.random.Generator) -> list[float]:
    """BFGS on the constants of a fitted formula, started away from them: the loss after every iteration."""
    from scipy.optimize import minimize

    from ...symbolic.constants import free_constants

    form, constants = free_constants(fitted)
    spread = float(np.var(problem.y))

    def loss(params: Floats) -> float:
        with np.errstate(all="ignore"):
            error = float(np.mean((evaluate(bind(form, params.tolist()), problem.X) - problem.y) ** 2)) / spread
        return error if np.isfinite(error) else 1e6

    start = np.asarray(constants) * rng.uniform(0.3, 1.7, len(constants))
    losses = [loss(start)]
    minimize(loss, start, method="BFGS", callback=lambda params: losses.append(loss(params)))
    return losses


def _own(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.get("kind") == "convergence"]


def report(records: Sequence[Record]) -> list[Block]:
    curves = {name: some for (name,), some in groups(_own(records), "curve").items()}
    small, large = (5.6, 3.6), (8.0, 4.6)
    return [
        Figure(f"convergence-{name}", title, partial(draw, curves[name]), size)
        for name, title, draw, size in (
            ("training", "Training of the transformer", _draw_training, small),
            ("sfo", f"SFO: best reward by step, {LAW}", _draw_sfo, small),
            ("fits", "Constants of SFO's best choice after so many steps: BFGS", _draw_fits, small),
            ("dno-np", "DNO-NP: loss by epoch, four random functions", _draw_dno, large),
            ("dno-p", "DNO-P: loss by epoch, four random functions", _draw_dno, large),
        )
        if name in curves
    ]


def _draw_training(records: list[Record], fig: Any) -> None:
    axis, last = fig.subplots(), records[-1]
    thousands = [number / 1000 for number in last["examples"]]
    axis.plot(thousands, last["train"], color=CYCLE[0], label="training")
    axis.plot(thousands, last["nll"], "o--", color=CYCLE[1], label="validation")
    axis.set(xlabel="thousands of examples seen", ylabel="nats a function")
    axis.legend()


def _draw_sfo(records: list[Record], fig: Any) -> None:
    axis, rewards = fig.subplots(), records[-1]["rewards"]
    axis.step(range(1, len(rewards) + 1), rewards, where="post", color=CYCLE[0])
    axis.set(xlabel="step of the policy", ylabel="best reward 1/(1 + error)")


def _draw_fits(records: list[Record], fig: Any) -> None:
    axis = fig.subplots()
    for number, record in enumerate(records[-len(STEPS) :]):
        axis.plot(np.maximum(record["losses"], 1e-18), color=CYCLE[number], label=f"step {record['step']}")
    axis.set(xlabel="iteration of BFGS", ylabel="error / variance of y", yscale="log")
    axis.legend()


def _draw_dno(records: list[Record], fig: Any) -> None:
    axes = fig.subplots(2, 2).ravel()
    for axis, record in zip(axes, records[-len(FUNCTIONS) :], strict=False):
        axis.plot(range(1, len(record["losses"]) + 1), record["losses"], color=CYCLE[0])
        text = re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.2g}", record["function"])
        low, high = min(record["losses"]), max(record["losses"])
        scale = "log" if low > 0 and high > 20 * low else "linear"
        axis.set(yscale=scale, title=text if len(text) < 46 else text[:43] + "…", xlabel="epoch")
        axis.title.set_fontsize(8)
    axes[0].set(ylabel="error / variance")


EXPERIMENT = Experiment(
    "convergence",
    "curves of the training, of DNO-P and DNO-NP, of SFO's reward and of its fits",
    "a minute on one core; DNO needs torch",
    collect,
    report,
)
