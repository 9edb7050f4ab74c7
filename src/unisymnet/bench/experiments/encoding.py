"""Figures "encoding methods": labels of networks against prefixes of trees, the same model trained on either.

Training, measuring and printing are those of `unisymnet.bench.encoding`; results stand in a folder beside `--out`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..encoding import run
from .base import Block, Cell, Experiment, Record, Setup, Table

HEADS = ("examples", "tokens", "nll", "recall1", "recall5", "recall20", "solved", "r2_above_0.99")


def collect(setup: Setup) -> list[Record]:
    return run(setup.quick, setup.out.with_suffix(""))


def report(records: Sequence[Record]) -> list[Block]:
    own = [record for record in records if "writing" in record]
    rows: list[tuple[Cell, ...]] = [(record["writing"], *(record.get(head) for head in HEADS)) for record in own]
    title = "Encoding: labels of networks against prefixes of trees"
    note = "The paper shows figures without numbers: labels solve more than prefixes at every depth and noise."
    return [Table(title, ("writing", *HEADS), tuple(rows), note)] if rows else []


EXPERIMENT = Experiment(
    "encoding",
    "network labels against prefix trees: the same model trained on either",
    "two trainings on 100,000 functions: about 40 minutes on one core; needs torch",
    collect,
    report,
)
