"""`bench pde`: every equation with noise, the terms found against the true ones, errors of the coefficients."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import DataError
from ...pde import PDERegressor
from ..records import append_record, read_records
from ..run import provenance
from .problems import PROBLEMS, PDEProblem


def run_pdes(names: Sequence[str] | None, noise: float, seed: int, out: Path | None) -> list[dict[str, Any]]:
    """One record for every problem; what the file holds is not run again."""
    unknown = [name for name in names or () if name not in PROBLEMS]
    if unknown:
        raise DataError(f"unknown equations {', '.join(unknown)}; known are {', '.join(PROBLEMS)}")
    done = {(r["problem"], r["noise"], r["seed"]): r for r in read_records(out)} if out is not None else {}
    found = []
    for name in names or PROBLEMS:
        key = (name, noise, seed)
        if key not in done:
            done[key] = {"suite": "pde", **judged(PROBLEMS[name](), noise, seed), **provenance()}
            if out is not None:
                append_record(out, done[key])
        found.append(done[key])
    return found


def judged(problem: PDEProblem, noise: float, seed: int) -> dict[str, Any]:
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
