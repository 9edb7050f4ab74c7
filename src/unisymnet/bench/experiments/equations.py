"""The paper's two tables of discovered equations, and its subset of Feynman for which DNO-NP takes the place of SFO.

The tables show formulas as they were found, beside the truth.  The problems are those that the paper shows.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import UniSymNetError
from ...symbolic import parse, to_text
from ..problems import find_problem
from ..task import Task
from .base import Block, Cell, Experiment, Record, Setup, Table, available, run_tasks_of
from .tally import mean_r2, share, tasks_among

STANDARD_SHOWN = (
    *("Koza-2", "Koza-4", "Keijzer-3", "Keijzer-6", "Keijzer-7", "Keijzer-10", "Keijzer-11", "Keijzer-13"),
    *("Nguyen-1", "Nguyen-2", "Nguyen-5", "Nguyen-7", "Nguyen-8", "Nguyen-9", "Nguyen-10"),
    *("Nguyen-1c", "Nguyen-5c", "Nguyen-8c", "Nguyen-10c", "R-1", "R-2", "Jin-2", "Jin-4"),
    *("Livermore-5", "Livermore-6", "Livermore-7", "Livermore-12", "Livermore-15", "Livermore-20"),
    *("Constant-4", "Constant-8"),
)
_STROGATZ = ("bacres2", "glider1", "lv1", "lv2", "predprey2")
_FEYNMAN = (
    *("I_6_2a", "I_8_14", "I_11_19", "I_12_2", "I_12_11", "I_13_4", "I_13_12", "I_18_14", "I_24_6", "I_25_13"),
    *("I_27_6", "I_30_5", "I_32_5", "I_37_4", "I_38_12", "I_44_4", "I_47_23", "II_6_11", "II_6_15b", "II_10_9"),
    *("II_11_28", "II_13_23", "II_21_32", "II_35_18", "III_4_32", "III_15_12"),
)
# II.10.9 is printed as II.10.19.
SRBENCH_SHOWN = (*(f"strogatz_{name}" for name in _STROGATZ), *(f"feynman_{name}" for name in _FEYNMAN))
# The paper marks these as not solved; the two Livermore rows that it marks as solved are not (ADR 11).
NOT_SOLVED = frozenset(
    (
        *("Koza-4", "Keijzer-10", "Keijzer-11", "Nguyen-2", "Nguyen-5", "Nguyen-7", "Nguyen-1c", "Nguyen-5c"),
        *("R-2", "Constant-8", "strogatz_bacres2", "strogatz_predprey2", "feynman_I_30_5", "feynman_II_6_11"),
        *("feynman_II_11_28", "feynman_II_35_18"),
    )
)
SUBSET = tuple(
    f"feynman_{name}"
    for name in (
        *("I_18_4", "I_40_1", "I_50_26", "III_14_14"),
        *("test_2", "test_4", "test_6", "test_7", "test_16", "test_19"),
    )
)
METHODS = ("unisymnet", "unisymnet-paper", "unisymnet-literal")
SUBSET_METHODS = ("unisymnet-literal", "unisymnet-dno-np", "unisymnet-paper")
_LONGEST = 90


def equation_tasks(setup: Setup) -> list[Task]:
    """Quick: every third of the problems."""
    return _tasks(setup, METHODS, (*STANDARD_SHOWN, *SRBENCH_SHOWN)[:: 3 if setup.quick else 1])


def subset_tasks(setup: Setup) -> list[Task]:
    """Quick: every third of the ten."""
    return _tasks(setup, SUBSET_METHODS, SUBSET[:: 3 if setup.quick else 1])


def _tasks(setup: Setup, methods: Sequence[str], names: Sequence[str]) -> list[Task]:
    return [
        Task(method, name, seed=setup.seed, max_time=setup.max_time, cores=setup.cores)
        for method in available(setup, methods)
        for name in names
    ]


def _clean(records: Sequence[Record]) -> dict[str, dict[str, Record]]:
    """Noise-free runs, by problem and by method with its budget; of several seeds the first."""
    found: dict[str, dict[str, Record]] = {}
    for record in sorted(tasks_among(records), key=lambda r: (r["seed"], r["max_time"])):
        if record["noise"] == 0 and "[" not in record["method"]:
            label = f"{record['method']} ({record['max_time']:g} s)"
            found.setdefault(record["problem"], {}).setdefault(label, record)
    return found


def report_equations(records: Sequence[Record]) -> list[Block]:
    found = _clean([record for record in records if record.get("method") in METHODS])
    blocks: list[Block] = []
    for title, names in (("Standard benchmarks", STANDARD_SHOWN), ("SRBench", SRBENCH_SHOWN)):
        rows: list[tuple[Cell, ...]] = []
        for name in names:
            truth = find_problem(name).expression
            for label, record in found.get(name, {}).items():
                scores = record["scores"]
                said = "F" if name in NOT_SOLVED else "T"
                solved = "T" if scores.get("srbench") else "F"
                rows.append((name, truth, label, _short(record["expression"]), scores.get("r2"), solved, said))
        if rows:
            note = "Sol: SRBench's procedure. One run each; problems that the paper shows."
            columns = ("problem", "truth", "method", "discovered equation", "R²", "Sol", "Sol of the paper")
            blocks.append(Table(f"Discovered equations: {title}", columns, tuple(rows), note))
    return blocks


def _short(text: str | None) -> str | None:
    """A formula with its constants rounded to be read; the record keeps every digit."""
    if text is None:
        return None
    try:
        short = to_text(parse(text), digits=4)
    except (UniSymNetError, TypeError):
        short = text
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}…"


def report_subset(records: Sequence[Record]) -> list[Block]:
    chosen = [r for r in records if r.get("method") in SUBSET_METHODS and r.get("problem") in SUBSET]
    by_problem = _clean(chosen)
    if not any(label.startswith("unisymnet-dno-np") for runs in by_problem.values() for label in runs):
        return []
    rows: list[tuple[Cell, ...]] = []
    for label in sorted({label for runs in by_problem.values() for label in runs}):
        runs = [group[label] for group in by_problem.values() if label in group]
        values = {name: group[label]["scores"].get("r2") for name, group in by_problem.items() if label in group}
        rows.append((label, len(runs), share(runs, "srbench"), mean_r2(runs), *(values.get(name) for name in SUBSET)))
    columns = ("method", "runs", "Sol", "mean R²", *(name.removeprefix("feynman_") for name in SUBSET))
    note = "The paper names these ten as its Feynman problems optimised with DNO-NP and prints no numbers for them."
    return [Table("Feynman problems for which the paper takes DNO-NP: R²", columns, tuple(rows), note)]


EQUATIONS = Experiment(
    "equations",
    "the formulas found for the problems of the paper's two tables of discovered equations",
    f"{len(STANDARD_SHOWN) + len(SRBENCH_SHOWN)} problems, three methods of 10 s: 25 minutes on two cores",
    run_tasks_of(equation_tasks),
    report_equations,
    compares=True,
)
DNO_SUBSET = Experiment(
    "subset",
    "the ten Feynman problems for which the paper takes DNO-NP instead of SFO",
    "ten problems, three methods of 10 s: 3 minutes on two cores; needs torch",
    run_tasks_of(subset_tasks),
    report_subset,
    compares=True,
)
