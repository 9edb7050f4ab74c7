"""Figures "encoding methods": labels of networks against prefixes of trees, the same model trained on either.

Training, measuring and printing are those of `unisymnet.bench.encoding`; trainings stand in a folder beside `--out`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..encoding import run
from .base import CYCLE, Block, Cell, Experiment, Figure, Record, Setup, Table
from .tally import groups, mean

MEASURES = {"solved": "Sol", "accurate": "Acc (R² > 0.99)", "r2": "mean R²"}
HEADS = ("examples", "tokens", "nll", "recall1", "recall5", "recall20", "solved", "r2_above_0.99")


def collect(setup: Setup) -> list[Record]:
    return run(setup.quick, setup.out)


def report(records: Sequence[Record]) -> list[Block]:
    own = [record for record in records if "writing" in record]
    rows: list[tuple[Cell, ...]] = [(record["writing"], *(record.get(head) for head in HEADS)) for record in own]
    title = "Encoding: labels of networks against prefixes of trees"
    note = "The paper shows figures without numbers: labels solve more than prefixes at every depth and noise."
    blocks: list[Block] = [Table(title, ("writing", *HEADS), tuple(rows), note)] if rows else []
    fits = [{"writing": record["writing"], **fit} for record in own for fit in record.get("fits", ())]
    if fits:
        blocks += [_by("depth", "depth L", [fit for fit in fits if fit["noise"] == 0]), _by("noise", "noise", fits)]
        blocks.append(_figure(fits))
    return blocks


def _by(key: str, name: str, fits: Sequence[Record]) -> Table:
    """Sol, Acc and R² of the fitted candidates by depth or by noise."""
    rows = tuple(
        (writing, value, len(chosen), *(mean(float(fit[verdict]) for fit in chosen) for verdict in MEASURES))
        for (writing, value), chosen in groups(fits, "writing", key).items()
    )
    return Table(f"Encoding by {name}: constants by BFGS alone", ("writing", name, "fits", *MEASURES.values()), rows)


def _figure(fits: Sequence[Record]) -> Figure:
    def draw(fig: Any) -> None:
        panels = fig.subplots(2, len(MEASURES))
        for line, (key, name) in enumerate((("depth", "layers L"), ("noise", "noise"))):
            chosen = fits if key == "noise" else [fit for fit in fits if fit["noise"] == 0]
            for axis, (verdict, title) in zip(panels[line], MEASURES.items()):
                for place, (writing,) in enumerate(groups(chosen, "writing")):
                    mine = groups([fit for fit in chosen if fit["writing"] == writing], key)
                    values = [mean(float(fit[verdict]) for fit in cell) for cell in mine.values()]
                    axis.plot([str(x) for (x,) in mine], values, "o-", color=CYCLE[place], label=writing)
                axis.set(title=title, xlabel=name, ylim=(0, 1.02))
        panels[0][0].legend()

    return Figure("encoding", "Labels against prefixes, by depth and under noise", draw, (8.0, 5.0))


EXPERIMENT = Experiment(
    "encoding",
    "network labels against prefix trees: the same model trained on either",
    "two trainings on 100,000 functions: about 40 minutes on one core; needs torch",
    collect,
    report,
)
