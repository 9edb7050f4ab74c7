"""The transformer as one more proposer of the search: data in, skeletons with free constants out.

Beam search on bags of rows, then cheap samples, then the labels that are most frequent for this number of columns.
Weights come from the package (or a folder); without weights for the problem the stage says nothing.  No torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..arrays import Floats
from ..candidate import ParetoFront, Proposal
from ..deadline import Deadline
from ..problem import Problem
from ..symbolic.expr import renumbered
from ..symbolic.network.skeleton import to_skeleton
from ..symbolic.network.structure import Structure
from .beam import Found, beam_search, sample, vocabulary_of
from .runtime import Runtime
from .weights import weights_for as weights_for

N_BINS = 12
LOADING = 1.0  # seconds that must be left, or loading a model would go beyond the end
LOADED: set[Path] = set()  # folders of models that this process has loaded


@dataclass(frozen=True)
class TransformerProposer:
    """Settings of the stage.  ``weights`` is a folder with an exported model; None takes the package's own.  ``named``
    is a name of some of the package's models (weights.py), which go before the others where they fit.

    ``n_candidates`` is how many of each beam are proposed (paper: 5 of 20), ``n_samples`` how many draws at
    ``temperature`` follow, ``n_frequent`` how many of the most frequent labels come last.  With ``brief`` whole beams
    come first, for a look at so many choices of exponents each, and draws and frequent labels get no more than that.
    The first ``n_skipped`` of each beam, which were looked at before, get none.  ``seconds``, if given, is how long the
    stage may go on, fits included, and no more than a ``share`` of the time left.
    """

    name: str = "transformer"
    width: int = 20
    n_candidates: int = 10
    n_bags: int = 2
    max_rows: int = 200
    n_samples: int = 40
    temperature: float = 1.0
    n_frequent: int = 10
    brief: int = 0
    n_skipped: int = 0
    weights: Path | None = None
    named: str | None = None
    seconds: float | None = None
    share: float = 0.1

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        """Skeletons in the problem's scaled units, the likeliest first, each once."""
        folder = self._folder(problem.n_features)
        if folder is None or problem.n_rows < 3 or problem.spread == 0.0:
            return
        if folder not in LOADED and deadline.whole().remaining() < LOADING:
            return
        widest = load_weights(folder)
        if self.seconds is not None:
            deadline = deadline.sooner(min(self.seconds, self.share * deadline.whole().remaining()))
        seen: set[Proposal] = set()
        for columns in column_sets(problem, widest.config.n_features):
            narrower = self._folder(len(columns))
            runtime = widest if narrower is None else load_weights(narrower)
            for structure, brief in self._structures(runtime, problem, columns, rng, deadline):
                proposal = Proposal(renumbered(to_skeleton(structure).expr, columns), self.name, brief)
                if proposal not in seen and problem.allows_formula(proposal.expr):
                    seen.add(proposal)
                    yield proposal
                if deadline.expired():
                    return

    def _folder(self, n_columns: int) -> Path | None:
        """Where the model for so many columns is, if there is one."""
        return self.weights if self.weights is not None else weights_for(n_columns, named=self.named)

    def _structures(
        self, runtime: Runtime, problem: Problem, columns: list[int], rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[tuple[Structure, int]]:
        """Structures, and how brief a look at them is enough."""
        n_bags = self.n_bags if problem.n_rows > self.max_rows else 1
        bags = [bag(problem, columns, runtime, self.max_rows, rng=rng) for _ in range(n_bags)]
        best: list[Found] = []
        for rows in bags:
            found = beam_search(runtime, rows, len(columns), width=self.width)
            best += found[: self.n_candidates]
            yield from ((item.structure, self.brief) for item in found[self.n_skipped :] if self.brief)
            if deadline.expired():
                return
        yield from ((item.structure, 0) for item in best)
        if self.n_samples:
            found = sample(runtime, bags[0], len(columns), self.n_samples, temperature=self.temperature, rng=rng)
            yield from ((item.structure, self.brief) for item in found)
        vocabulary = vocabulary_of(runtime)
        for label in runtime.frequent.get(len(columns), ())[: self.n_frequent]:
            yield vocabulary.decode(label), self.brief


@lru_cache(maxsize=4)
def load_weights(folder: Path) -> Runtime:
    """Loaded once in a process: the graphs never change, and loading costs more than a beam."""
    runtime = Runtime.load(folder)
    LOADED.add(folder)
    return runtime


def bag(problem: Problem, columns: list[int], runtime: Runtime, max_rows: int, *, rng: np.random.Generator) -> Floats:
    """Some rows of the problem as the model reads them: chosen columns first, zeros, y last."""
    chosen = np.arange(problem.n_rows)
    if problem.n_rows > max_rows:
        chosen = rng.choice(problem.n_rows, max_rows, replace=False)
    rows = np.zeros((len(chosen), runtime.config.n_features + 1))
    rows[:, : len(columns)] = problem.X[chosen][:, columns]
    rows[:, -1] = problem.y[chosen]
    return rows


def column_sets(problem: Problem, limit: int) -> list[list[int]]:
    """Which columns to show the model: at most ``limit`` of them, then only those that seem to matter, if fewer.

    The model learned on functions that use every column, so an idle one misleads it.
    """
    varying = [j for j in range(problem.n_features) if np.ptp(problem.X[:, j]) > 0.0] or [0]
    scores = {j: relevance(problem.X[:, j], problem.y) for j in varying}
    best = sorted(varying, key=lambda j: -scores[j])[:limit]
    telling = [j for j in best if scores[j] > 1.5 * 2 * (N_BINS - 1) / problem.n_rows]
    sets = [sorted(best), sorted(telling)]
    return sets[:1] if not telling or sets[0] == sets[1] else sets


def relevance(x: Floats, y: Floats, n_bins: int = N_BINS) -> float:
    """How much of the variation of y's ranks the bins of x explain, in level and in spread.

    Between 0 and 2; by chance about 2 (bins - 1) / rows.
    """
    ranks = np.argsort(np.argsort(y, kind="stable"), kind="stable") / len(y) - 0.5
    order = np.argsort(x, kind="stable")
    score = 0.0
    for values in (ranks, np.abs(ranks) - np.mean(np.abs(ranks))):
        groups = np.array_split(values[order], min(n_bins, max(len(y) // 4, 1)))
        between = sum(len(g) * float(np.mean(g)) ** 2 for g in groups)
        score += between / max(float(np.sum((values - values.mean()) ** 2)), 1e-300)
    return score
