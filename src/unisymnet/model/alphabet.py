"""The model's own tokens: the paper's label with meanings that do not depend on the depth L.

In a label `[L, 0, i1, i2, …]` index i means another edge for every L, because the matrices of all layers are
concatenated.  Inside the model one token stands for one edge (layer, row, column), one bias (layer, row), or one edge
into the output node, which is the same for all L.  Order is kept: larger index, larger token.  PAD, END, START and the
depths come first (ADR 3).  The translation is one look-up; validity of labels is the business of `Vocabulary`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

PAD, END, START = 0, 1, 2
FIRST_DEPTH = 3  # the token of depth L is FIRST_DEPTH + L - 1
N_OPERATORS = 5


@dataclass(frozen=True)
class Alphabet:
    """Tokens for labels of ``Vocabulary(n_features, repeats, max_depth)``.

    ``layer``, ``row`` and ``column`` describe every token, for embeddings that share what they have in common.
    Layer 0, row 0 and column 0 mean "not an edge".
    """

    n_features: int
    repeats: int
    max_depth: int
    layer: Ints = field(init=False, repr=False, compare=False)
    row: Ints = field(init=False, repr=False, compare=False)
    column: Ints = field(init=False, repr=False, compare=False)
    _by_index: dict[int, Ints] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        width, top = N_OPERATORS * self.repeats, self.max_depth
        first_node, bias = 1 + self.n_features, 1 + self.n_features + width
        inputs = range(1, first_node)
        nodes = range(first_node, bias)
        entries: list[tuple[int, int, int]] = []
        for layer in range(1, top):
            entries += [(layer, r, c) for r in range(1, width + 1) for c in (inputs if layer == 1 else nodes)]
        entries += [(top, 1, c) for c in (*inputs, *nodes)]
        for layer in range(1, top):
            entries += [(layer, r, bias) for r in range(1, width + 1)]
        entries.append((top, 1, bias))
        table = np.array([(0, 0, 0)] * self.first_edge + entries, dtype=np.int64)
        for name, values in zip(("layer", "row", "column"), table.T):
            object.__setattr__(self, name, values)
        object.__setattr__(self, "_by_index", {d: self._edges(d, bias) for d in range(1, top + 1)})

    @property
    def first_edge(self) -> int:
        return FIRST_DEPTH + self.max_depth

    def ranks(self) -> tuple[Ints, Ints]:
        """Two numbers per token: a token may follow another if its first is larger than the other's second.

        Coarser than the grammar: START is never written, edges ascend, no second depth, END comes last.
        """
        own = np.arange(self.size)
        own[[PAD, START]] = -1
        own[FIRST_DEPTH : self.first_edge] = 1
        own[END] = self.size
        bound = np.arange(self.size)
        bound[FIRST_DEPTH : self.first_edge] = 1
        bound[[PAD, START]] = 0
        return own, bound

    @property
    def size(self) -> int:
        return len(self.layer)

    @property
    def n_rows(self) -> int:
        return 1 + N_OPERATORS * self.repeats

    @property
    def n_columns(self) -> int:
        return 2 + self.n_features + N_OPERATORS * self.repeats

    def edges(self, depth: int) -> Ints:
        """Tokens of a label of this depth in the order of its indices: index i is ``edges(L)[i - 1]``."""
        return self._by_index[depth]

    def _edges(self, depth: int, bias: int) -> Ints:
        hidden = (self.layer > 0) & (self.layer < depth)
        output = self.layer == self.max_depth
        from_inputs = (self.column > 0) & (self.column <= self.n_features)
        output &= from_inputs | (self.column == bias) if depth == 1 else ~from_inputs
        return np.flatnonzero(hidden | output)

    def from_label(self, label: Sequence[int]) -> list[int]:
        """Tokens of `[L, 0, i1, …]`, END included, START not."""
        depth = label[0]
        edges = self._by_index[depth]
        return [FIRST_DEPTH + depth - 1, *(int(edges[i - 1]) for i in label[2:]), END]

    def occurring(self, labels: Iterable[Sequence[int]]) -> tuple[int, ...]:
        """The special tokens and those of the labels, ascending."""
        return tuple(sorted({*range(self.first_edge), *(t for label in labels for t in self.from_label(label))}))
