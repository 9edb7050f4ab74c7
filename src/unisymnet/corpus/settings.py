"""The distribution of random functions: the paper's table of hyper-parameters as values.

Two settings, `LOW` (at most four inputs) and `HIGH` (five to ten).  Where the table and the text disagree ADR 5
decides.  Nothing here draws anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

Frequencies = tuple[tuple[str, float], ...]

BINARY: Frequencies = (("add", 1.0), ("sub", 1.0), ("mul", 1.0), ("div", 1.0))
UNARY: Frequencies = (
    ("ln", 0.3),
    ("exp", 1.1),
    ("sin", 1.1),
    ("cos", 1.1),
    ("sqrt", 3.0),
    ("inv", 5.0),
    ("abs", 1.0),
    ("square", 2.0),
)


@dataclass(frozen=True)
class CorpusSettings:
    """Everything that decides which functions, points and labels come out.

    ``dimensions`` are (d, probability) pairs.  A function of d inputs has d - 1 to d + ``extra_binary`` binary and
    up to min(``max_unary``, d + 1) unary operators.  A variable or unary operator is wrapped into w·u + b with
    probability ``affine_rate``; the paper says "selected" without a rate, 0.3 keeps labels short.  A wrapped one
    has a bias with probability ``bias_rate``.  ``max_tokens`` bounds the length of a label.
    """

    dimensions: tuple[tuple[int, float], ...] = ((1, 0.1), (2, 0.2), (3, 0.3), (4, 0.4))
    extra_binary: int = 5
    max_unary: int = 5
    max_depth: int = 6
    repeats: int = 5
    binary: Frequencies = BINARY
    unary: Frequencies = UNARY
    affine_rate: float = 0.3
    bias_rate: float = 0.33
    max_tokens: int = 48
    n_points: int = 200
    low: float = -10.0
    high: float = 10.0
    min_width: float = 1.0
    min_defined: float = 0.5
    box_tries: int = 3
    # Options beyond the paper, off by default: heavy-tailed ranges, trajectories, and noise on y (relative to its rms:
    # up to ``noise`` and over two decades below it) for a share ``noisy`` of the functions.
    heavy_tails: float = 0.0
    noise: float = 0.0
    noisy: float = 1.0
    trajectories: float = 0.0
    min_points: int | None = None

    @property
    def n_features(self) -> int:
        """d_max: the number of columns a row is padded to."""
        return max(d for d, _ in self.dimensions)


LOW = CorpusSettings()
HIGH = CorpusSettings(
    dimensions=((5, 0.2), (6, 0.2), (7, 0.15), (8, 0.15), (9, 0.15), (10, 0.15)),
    extra_binary=1,
    max_depth=7,
    repeats=7,
    max_tokens=80,
)


def easier(settings: CorpusSettings) -> CorpusSettings:
    """Smaller functions of the same kind, all dimensions equally likely: what a model learns to read first."""
    even = tuple((d, 1.0) for d, _ in settings.dimensions)
    return replace(settings, dimensions=even, extra_binary=min(settings.extra_binary, 1), max_unary=2)


SETTINGS: Mapping[str, CorpusSettings] = {"low": LOW, "high": HIGH}
