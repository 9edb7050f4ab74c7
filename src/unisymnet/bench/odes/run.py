"""`bench odebench` and `bench systems`: systems fitted by a method, judged, and written to a file of JSON lines."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ...arrays import Floats
from ...dynamics import DynamicsRegressor, System
from ...dynamics.library import power
from ...dynamics.rate import sum_of
from ...errors import DataError, UniSymNetError
from ...symbolic.expr import Const, Var, product
from ..records import Record, performed
from ..run import provenance
from .catalog import Task
from .judging import judge_system

METHODS = ("ours", "pysindy")
DEGREE, THRESHOLD = 3, 0.05  # of PySINDy


@dataclass(frozen=True)
class Setting:
    """What one run of the suite is; records of another setting do not count."""

    method: str = "ours"
    noise: float = 0.0
    subsample: float = 0.0
    both: bool = False
    seed: int = 0
    max_time: float = 15.0


def run_systems(
    tasks: Sequence[Task],
    setting: Setting,
    out: str | None,
    problems: Sequence[str] | None = None,
    tell: Callable[[Record], None] = lambda record: None,
) -> list[Record]:
    """Records of all systems; those that the file holds already are not run again."""
    if setting.method not in METHODS:
        raise DataError(f"unknown method {setting.method!r} for systems; choose one of {', '.join(METHODS)}")
    if problems:
        tasks = [task for task in tasks if {str(task.number), task.name} & set(problems)]
    known = {task.number: task for task in tasks}
    keys = [{"system": number, **asdict(setting)} for number in known]
    path = None if out is None else Path(out)
    return performed(keys, path, lambda key: run_task(known[key["system"]], setting), tell)


def run_task(task: Task, setting: Setting) -> Record:
    """One system: data, fit, verdict."""
    runs = task.data(setting.noise, setting.subsample, setting.seed, setting.both)
    started, wall = time.process_time(), time.monotonic()
    system: System | None = None
    status = "ok"
    try:
        if setting.method == "ours":
            model = DynamicsRegressor(max_time=setting.max_time)
            system = model.fit([t for t, _ in runs], [x for _, x in runs]).system_
            if model.interrupted_:  # what was found until then is no measurement
                raise KeyboardInterrupt
        else:
            system = fit_pysindy(runs)
    except (UniSymNetError, ValueError, np.linalg.LinAlgError) as error:
        status = f"{type(error).__name__}: {error}"
    spent = time.process_time() - started
    return {
        "suite": task.suite,
        "system": task.number,
        "name": task.name,
        "dim": len(task.system.states),
        **asdict(setting),
        "status": status,
        "cpu": round(spent, 3),
        "wall": round(time.monotonic() - wall, 3),
        **judge_system(task, system),
        "equations": [] if system is None else system.lines(8),
        "truth": task.system.lines(8),
        "notes": [] if system is None else list(system.notes),
        **provenance(),
    }


def fit_pysindy(runs: list[tuple[Floats, Floats]]) -> System:
    """PySINDy as a peer: polynomials of degree 3, smoothed finite differences, STLSQ with the threshold 0.05."""
    try:
        import pysindy
    except ImportError as error:
        raise DataError("PySINDy is not installed: pip install 'unisymnet[bench]'") from error
    library = pysindy.PolynomialLibrary(degree=DEGREE)
    model = pysindy.SINDy(
        optimizer=pysindy.STLSQ(threshold=THRESHOLD),
        feature_library=library,
        differentiation_method=pysindy.SmoothedFiniteDifference(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit([x for _, x in runs], t=[t for t, _ in runs])
    powers = np.asarray(library.powers_)
    coefficients = np.asarray(model.coefficients())
    exprs = []
    for row in coefficients:
        terms = []
        for value, exponents in zip(row, powers):
            if value:
                factors = [power(Var(k), int(e)) for k, e in enumerate(exponents) if e]
                terms.append((float(value), product(factors)))
        exprs.append(sum_of(terms) if terms else Const(0.0))
    return System(tuple(exprs), tuple(f"x{k}" for k in range(len(exprs))))


def summary(records: Sequence[Record]) -> str:
    """Counts, and by dimension."""

    def count(some: Sequence[Record]) -> str:
        first = sum((r["r2"] or 0.0) > 0.9 for r in some)
        second = sum((r["r2_second"] or 0.0) > 0.9 for r in some)
        sharp = sum((r["r2_second"] or 0.0) > 0.999 for r in some)
        rest = " ".join(f"{name} {sum(bool(r[name]) for r in some)}" for name in ("form", "strict", "true"))
        return f"reconstruction {first}, second start {second} (> 0.999: {sharp}), {rest} of {len(some)}"

    if not records:
        return "no systems"
    lines = [count(records)]
    for dim in sorted({r["dim"] for r in records}):
        lines.append(f"  {dim}-dimensional: " + count([r for r in records if r["dim"] == dim]))
    cpu = sorted(r["cpu"] for r in records)
    lines.append(f"  processor time: median {cpu[len(cpu) // 2]:.2f} s, largest {cpu[-1]:.1f} s")
    return "\n".join(lines)
