"""Write the catalogs of `unisymnet.bench` from the published facts kept outside the repository.

Run once, or when a fact is corrected: `python benchmarks/make_catalogs.py [FACTS_FOLDER]`. The result is
committed; the package never reads the facts themselves. This script does not know how a problem is sampled
or judged.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FACTS = ROOT.parent / "shared" / "benchmarks"
CATALOGS = ROOT / "src" / "unisymnet" / "bench" / "catalogs"

COLUMNS = (
    "suite", "name", "expression", "canonical", "names", "low", "high", "kind", "n_train", "n_test",
    "starts", "scored", "inverse", "same_as",
)  # fmt: skip
KINDS = {"U": "uniform", "E": "grid"}
# SRBench draws at most 10,000 training rows and tests on a quarter of PMLB's 100,000. Strogatz splits its 400
# rows three to one.
FEYNMAN_ROWS = {"n_train": "10000", "n_test": "25000"}
STROGATZ_ROWS = {"n_train": "300", "n_test": "100"}

Row = dict[str, str]


def main(facts: Path = FACTS) -> None:
    CATALOGS.mkdir(parents=True, exist_ok=True)
    write(CATALOGS / "standard.csv", map(standard, read(facts / "standard.csv")))
    write(CATALOGS / "feynman.csv", map(feynman, read(facts / "feynman.csv")))
    write(CATALOGS / "strogatz.csv", map(strogatz, read(facts / "strogatz.csv")))
    results = [published(fact) for fact in read(facts / "srbench_published.csv") if fact["data_group"] != "All"]
    write(CATALOGS / "srbench_published.csv", results, tuple(results[0]))


def standard(fact: Row) -> Row:
    if fact["train_kind"] == "E" and fact["n_vars"] != "1":
        raise ValueError(f"{fact['name']}: only grids of one variable are understood, got {fact['n_vars']}")
    return {
        "suite": fact["suite"].lower(),
        "name": fact["name"],
        "expression": spelled(fact["expression"]),
        "canonical": spelled(fact["canonical_expression"]) if fact["paper_differs"] == "1" else "",
        "names": fact["variables"],
        "low": fact["low"],
        "high": fact["high"],
        "kind": KINDS[fact["train_kind"]],
        "n_train": fact["n_train"],
        "n_test": fact["n_test"],
        "scored": "0",
        "same_as": fact["same_function_as"],
    }


def feynman(fact: Row) -> Row:
    return {
        "suite": "feynman",
        "name": fact["name"],
        "expression": spelled(fact["expression"]),
        "names": fact["variables"],
        "low": fact["low"],
        "high": fact["high"],
        "kind": "uniform",
        "scored": fact["scored_in_srbench_2021"],
        "inverse": "1" if fact["uses_inverse_or_hyperbolic"] in ("asin", "acos") else "0",
        **FEYNMAN_ROWS,
    }


def strogatz(fact: Row) -> Row:
    return {
        "suite": "strogatz",
        "name": fact["name"],
        "expression": spelled(fact["expression"]),
        "names": fact["variables"],
        "low": fact["low"],
        "high": fact["high"],
        "kind": "orbit",
        "starts": fact["initial_conditions"],
        "scored": "1",
        **STROGATZ_ROWS,
    }


def published(fact: Row) -> Row:
    """SRBench 2021 by method: rates as shares, R² with negative values as 0, size after sympy, seconds of one fit."""
    return {
        "method": fact["algorithm"],
        "suite": fact["data_group"].lower(),
        "noise": fact["target_noise"],
        "rate": f"{float(fact['symbolic_solution_rate_pct']) / 100:.4f}",
        "r2": fact["r2_zero_test_mean"],
        "complexity": fact["simplified_complexity_mean"],
        "time": fact["training_time_s_mean"],
    }


def spelled(expression: str) -> str:
    """In the functions that our parser has: it knows no cot."""
    return re.sub(r"\bcot\((\w+)\)", r"cos(\1)/sin(\1)", expression)


def read(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Iterable[Row], columns: tuple[str, ...] = COLUMNS) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        out.writeheader()
        out.writerows({"inverse": "0"} | row if columns == COLUMNS else row for row in rows)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
