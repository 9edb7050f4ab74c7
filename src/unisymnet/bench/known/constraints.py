"""Feynman laws from few noisy rows, with and without constraints that the true law keeps.

The constraints are derived from the truth, not written by hand: columns in which it is monotone, proved by intervals on
twice the ranges of the data, columns at whose zero it vanishes, and columns for which it tends to 0.  Every law is
fitted twice, with them and without; the same judges decide, and a violation is looked for on twice the box.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from ...arrays import Floats
from ...knowledge.shape.check import PROVED, VIOLATED
from ...knowledge.shape.shapes import make_shapes
from ...symbolic import Expr, evaluate, parse
from ..problems import BenchProblem, add_noise, load_suite
from ..records import Key, Record, chosen
from ..score import score_run
from ..task import split

ROWS, LAWS = 100, 60
MAX_EACH = 2  # limits and zeros that are told; monotone columns are all told
FAR = 1e9
POINTS = 50
NOTHING = 1e-6  # of the median size: what counts as 0


def keys(folder: str | None, problems: Sequence[str] | None) -> list[Key]:
    """Two runs a law, with and without; the first sixty by name unless problems are named."""
    names = sorted(p.name for p in load_suite("feynman") if p.expression is not None)
    laws = chosen(names, problems, "the suite feynman")[:LAWS]
    return [{"rows": ROWS, "problem": name, "given": given} for name in laws for given in (True, False)]


def perform(key: Key, folder: str | None, *, judge_time: float = 20.0) -> Record:
    """One fit, with or without constraints."""
    from ...regressor import UniSymNetRegressor

    problem = next(p for p in load_suite("feynman") if p.name == key["problem"])
    rng = np.random.default_rng([key["seed"], zlib.crc32(problem.name.encode())])
    data = split(problem, rng=rng)
    X, clean = data.X_train[:ROWS], data.y_train[:ROWS]
    y = add_noise(clean, key["noise"], rng=rng)
    truths = true_constraints(problem, X, clean)
    model = UniSymNetRegressor(
        max_time=key["max_time"],
        random_state=key["seed"],
        n_jobs=1,
        constraints=truths if key["given"] and truths else None,
    ).fit(X, y)
    expr = model.formula_.expr
    shapes = make_shapes(truths, X, clean, _names(problem), "y")
    verdicts = [] if shapes is None else shapes.verdicts(expr)
    return {
        "expression": str(expr),
        "stopped": model.stopped_,
        "scores": score_run(problem, expr, data.X_test, data.y_test, judge_time=judge_time),
        "constraints": truths,
        "violated": [t for t, verdict in zip(truths, verdicts, strict=True) if verdict.kind == VIOLATED],
        "proved": sum(verdict.kind == PROVED for verdict in verdicts),
    }


def summary(records: Sequence[Record]) -> str:
    """Laws found with and without, over the same laws, and what the picks violate."""
    shown = []
    for given, word in ((True, "with"), (False, "without")):
        mine = [r for r in records if r["given"] is given]
        found = sum(bool(r["scores"].get("strict")) for r in mine)
        form = sum(bool(r["scores"].get("form")) for r in mine)
        broken = sum(bool(r["violated"]) for r in mine)
        shown.append(f"{word}: laws={len(mine)} found={found} form={form} picks_that_violate={broken}")
    return "\n".join(shown)


def true_constraints(problem: BenchProblem, X: Floats, y: Floats) -> list[str]:
    """What the law does, as texts that the estimator takes; all of them hold for the truth."""
    assert problem.expression is not None
    truth, names = parse(problem.expression), _names(problem)
    found = []
    for i in range(X.shape[1]):
        for sign in (">=", "<="):
            if _proved(truth, f"dy/dx{i} {sign} 0", X, y, names):
                found.append(f"dy/dx{i} {sign} 0")
                break
    rng = np.random.default_rng(0)
    points = rng.uniform(X.min(axis=0), X.max(axis=0), (POINTS, X.shape[1]))
    size = float(np.median(np.abs(evaluate(truth, points))))
    for text, value in (("y(x{0}=0) = 0", 0.0), ("y -> 0 as x{0} -> inf", FAR)):
        told = [text.format(i) for i in range(X.shape[1]) if _vanishes(truth, points, i, value, size)]
        found += [one for one in told if not _violated(truth, one, X, y, names)][:MAX_EACH]
    return found


def _vanishes(truth: Expr, points: Floats, column: int, value: float, size: float) -> bool:
    moved = points.copy()
    moved[:, column] = value
    with np.errstate(all="ignore"):
        values = np.abs(evaluate(truth, moved))
    return bool(np.isfinite(values).all() and values.max() < NOTHING * size)


def _proved(truth: Expr, text: str, X: Floats, y: Floats, names: Sequence[str]) -> bool:
    shapes = make_shapes([text], X, y, names, "y")
    return shapes is not None and shapes.allows(truth) and shapes.verdicts(truth)[0].kind == PROVED


def _violated(truth: Expr, text: str, X: Floats, y: Floats, names: Sequence[str]) -> bool:
    shapes = make_shapes([text], X, y, names, "y")
    return shapes is None or shapes.verdicts(truth)[0].kind == VIOLATED


def _names(problem: BenchProblem) -> list[str]:
    return [f"x{i}" for i in range(problem.n_features)]
