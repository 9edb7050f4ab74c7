"""What the three ablations of SFO's settings share: the paper's mode with other settings, on the standard suites.

`unisymnet-paper[init=grid]` is a method like any other (methods.py), so the runner, the limits and the records are the
same as everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..problems import STANDARD, load_suite
from ..task import Task
from .base import Record, Setup
from .tally import tasks_among

QUICK_PROBLEMS = (
    *("Koza-2", "Keijzer-6", "Keijzer-14", "Nguyen-1", "Nguyen-8", "Nguyen-10"),
    *("Constant-4", "Livermore-15"),
)


def method(**settings: str | float) -> str:
    inner = ",".join(f"{key}={value}" for key, value in settings.items())
    return f"unisymnet-paper[{inner}]"


def tasks_for(methods: Sequence[str], setup: Setup, suites: Sequence[str] = STANDARD) -> list[Task]:
    problems = [problem.name for suite in suites for problem in load_suite(suite)]
    if setup.quick:
        problems = [name for name in problems if name in QUICK_PROBLEMS]
    return [
        Task(name, problem, seed=setup.seed, max_time=setup.max_time, cores=setup.cores)
        for name in methods
        for problem in problems
    ]


def of_methods(records: Sequence[Record], methods: Sequence[str]) -> dict[str, list[Record]]:
    """Records by method, in the order of the methods; none if one of them is missing."""
    found = {name: [r for r in tasks_among(records) if r["method"] == name] for name in methods}
    return found if all(found.values()) else {}
