"""`bench pde`: every equation with noise, the terms found against the true ones, errors of the coefficients."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ...pde import PDERegressor
from ..records import Key, Record, chosen, resumed
from ..run import provenance
from .problems import PROBLEMS, PDEProblem


def run_pdes(names: Sequence[str] | None, noise: float, seed: int, out: Path | None) -> list[Record]:
    """One record for every problem; what the file holds is not run again."""
    keys = [{"problem": name, "noise": noise, "seed": seed} for name in chosen(list(PROBLEMS), names, "bench pde")]

    def made(missing: list[Key]) -> Iterator[tuple[Key, Record]]:
        for key in missing:
            yield key, {"suite": "pde", **judged(PROBLEMS[key["problem"]](), noise, seed), **provenance()}

    return resumed(keys, out, made)


def judged(problem: PDEProblem, noise: float, seed: int) -> Record:
    """Fit with noise relative to each field's spread; is the form right, and how far are the coefficients off?"""
    rng = np.random.default_rng(seed)
    fields = {k: v + noise * np.std(v) * rng.standard_normal(v.shape) for k, v in problem.fields.items()}
    began = time.process_time()
    model = PDERegressor(order=problem.order).fit(fields, problem.axes, given=problem.given)
    seconds = time.process_time() - began
    right, worst = True, 0.0
    for equation in model.system_.equations:
        truth = problem.truth.get(equation.field)
        if truth is None:
            continue
        found = dict(zip(equation.terms, equation.coefficients, strict=True))
        right &= set(found) == set(truth)
        worst = max([worst, *(abs(found.get(term, 0.0) - c) / abs(c) for term, c in truth.items())])
    return {
        "problem": problem.name, "noise": noise, "seed": seed, "form": right, "error": worst,
        "time": round(seconds, 3), "found": model.system_.lines(),
    }  # fmt: skip
