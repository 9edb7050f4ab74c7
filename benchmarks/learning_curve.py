"""How far would more training go?  Power laws through the committed curves, and what the goals for recall would take.

    python benchmarks/learning_curve.py [--figure docs/_static/training-curve.svg]

Nats of a label on fresh functions are taken to fall as a + b·N^-c with the number N of examples.  Recall at 20 is taken
to be linear in these nats, through the weights whose recall was measured.  Three curves say how sure that is: the best
fit, offset 0 (training never stops paying), and the largest offset that fits nearly as well (it soon does).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

RUNS = Path(__file__).resolve().parents[1] / "runs"
UNIT = 1e6  # examples
EXPONENTS = np.geomspace(0.02, 2.0, 300)


@dataclass(frozen=True)
class Curve:
    """A model, the goal for its recall at 20, and what was measured of its weights."""

    file: str
    name: str
    goal: float
    per_second: float  # examples a second where it was trained
    per_second_gpu: float  # one card fed by 16 cores, estimated: docs/training.md
    runs: tuple[str | None, ...]  # those lines of the curve that the fit uses
    first: int  # examples before which they do not count
    recalls: tuple[tuple[float, float], ...]  # validation nats of cooled weights, recall at 20 of the same


SMALL_LOW = ((10.584, 0.290), (9.878, 0.323), (8.932, 0.382), (8.773, 0.385))
CURVES = (
    # Cooled weights only; a wider network and better statistics came on the way, so this is the kinder reading.
    Curve("small-low", "small-low, as it grew", 0.45, 460.0, 5_000.0, ("cooled",), 400_000, SMALL_LOW),
    Curve("small-low", "small-low, last network", 0.45, 460.0, 5_000.0, ("sixth session, with large relations",
          "sixth session, cooled", "seventh session, warmed up again and cooled"), 0, SMALL_LOW),
    Curve("small-high", "small-high", 0.12, 110.0, 2_500.0, (None, "seventh session, with relations, cooled",
          "eighth session, cooled"), 150_000, ((23.115, 0.043), (22.980, 0.043), (22.729, 0.057))),
    # The first was measured on 300 functions, on which the second had 0.317: taken as 0.260 - 0.317 + 0.294.
    Curve("points-low", "points-low", 0.30, 130.0, 10_000.0, ("longer", "session 16"), 30_000,
          ((11.697, 0.237), (11.210, 0.294), (11.127, 0.298))),
)  # fmt: skip


@dataclass(frozen=True)
class Law:
    """a + b·(N / 1e6)^-c, and the sum of squares that it leaves."""

    a: float
    b: float
    c: float
    left: float

    def nats(self, examples: np.ndarray) -> np.ndarray:
        return self.a + self.b * (examples / UNIT) ** -self.c

    def examples(self, nats: float) -> float:
        """Examples until so many nats; infinite below the offset."""
        return float(((nats - self.a) / self.b) ** (-1.0 / self.c) * UNIT) if nats > self.a else np.inf


def power_laws(examples: Sequence[float], nats: Sequence[float]) -> tuple[Law, Law, Law]:
    """The best fit, the best with offset 0, and the largest offset within one standard error of the best."""
    n, y = np.asarray(examples, dtype=float) / UNIT, np.asarray(nats, dtype=float)
    laws = []
    for c in EXPONENTS:
        (a, b), left = nnls(np.stack([np.ones_like(n), n**-c], axis=1), y)
        laws.append(Law(a, b, float(c), left**2))
    best = min(laws, key=lambda law: law.left)
    likely = [law for law in laws if law.left <= best.left * (1.0 + 1.0 / max(len(y) - 3, 1))]
    slope, level = np.polyfit(np.log(n), np.log(y), 1)
    steady = Law(0.0, float(np.exp(level)), float(-slope), np.nan)
    return best, steady, max(likely, key=lambda law: law.a)


def read(curve: Curve) -> list[dict]:
    """The lines of the curve that are fitted."""
    rows = [json.loads(line) for line in (RUNS / f"{curve.file}.jsonl").read_text().splitlines()]
    if curve.runs == ("cooled",):
        top = max(row["rate"] for row in rows)
        ends = [row for row, after in zip(rows, [*rows[1:], {"rate": top}]) if row["rate"] < 0.1 * top < after["rate"]]
        rows = [*ends, rows[-1]] if rows[-1] not in ends else ends
    else:
        rows = [row for row in rows if row.get("run") in curve.runs]
    return [row for row in rows if row["examples"] >= curve.first]


def goal_nats(curve: Curve) -> tuple[float, float]:
    """Nats at which recall reaches its goal, by the line through the measured recalls, and its slope."""
    nats, recalls = np.array(curve.recalls).T
    slope, level = np.polyfit(nats, recalls, 1)
    return float((curve.goal - level) / slope), float(slope)


def draw(found: list[tuple[Curve, list[dict], tuple[Law, Law, Law], float]], path: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams |= {"svg.hashsalt": "unisymnet", "svg.fonttype": "none", "font.size": 8}
    figure, axes = plt.subplots(1, len(found), figsize=(9.6, 2.4), layout="constrained")
    for ax, (curve, rows, laws, target) in zip(axes, found):
        done = [row["examples"] for row in rows]
        n = np.geomspace(min(done), 50 * max(done), 60)
        ax.fill_between(n, laws[1].nats(n), laws[2].nats(n), alpha=0.2, lw=0)
        ax.plot(n, laws[0].nats(n), lw=1)
        ax.plot(done, [row["nll"] for row in rows], "k.", ms=3)
        ax.axhline(target, color="tab:red", lw=0.8, ls="--")
        ax.set(xscale="log", title=f"{curve.name}\ndashed: recall {curve.goal:g}", xlabel="examples")
    axes[0].set_ylabel("nats of a label, fresh functions")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", type=Path, help="figure to write")
    args = parser.parse_args()
    found = []
    for curve in CURVES:
        rows = read(curve)
        laws = power_laws([row["examples"] for row in rows], [row["nll"] for row in rows])
        target, slope = goal_nats(curve)
        found.append((curve, rows, laws, target))
        now = rows[-1]
        state = f"{len(rows)} lines to {now['examples'] / UNIT:.2f} M examples, {now['nll']:.2f} nats"
        print(f"{curve.name}: {state}; recall {-slope:.3f} a nat; {curve.goal:g} at {target:.2f} nats")
        for kind, law in zip(("best fit", "offset 0", "largest offset"), laws):
            need = law.examples(target)
            more = max(need - now["examples"], 0.0) / 3600
            formula = f"{law.a:6.2f} + {law.b:5.2f}·(N/1e6)^-{law.c:.3f}"
            here, gpu = more / curve.per_second, more / curve.per_second_gpu
            print(
                f"  {kind:14} {formula}: {need / UNIT:.3g} M examples, {here:.3g} hours more here, {gpu:.2g} on a GPU"
            )
    if args.figure is not None:
        draw(found, args.figure)


if __name__ == "__main__":
    main()
