"""Structure to label and back: the fixed-width layout E of the masks, the sparse label T(E), and its grammar.

Section "Structure-to-Sequence Encoding" of the paper.  A layer of the fixed-width network holds every operator of
the library ``repeats`` times; the label is [L, 0, i1, i2, …] with the 1-based places of the open mask entries: all
weight masks, bottom layer first and row by row, then all bias masks.  The first mask always has ``n_features``
columns, so that a token means the same whatever the number of columns in the data (ADR 2).  PAD and END belong to
the model, not to the label (ADR 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ...errors import EncodingError
from ..operators import UNARY_LIBRARY
from .grammar import Legal, Prefix
from .order import RANKS
from .structure import Network, Row, Structure

N_OPS = len(UNARY_LIBRARY)
Label = tuple[int, ...]


@dataclass(frozen=True)
class Vocabulary:
    """The label space for at most ``n_features`` inputs, ``repeats`` copies of an operator and ``max_depth`` layers.

    The paper's settings are ``Vocabulary(4, 5, 6)`` and ``Vocabulary(10, 7, 7)``.
    """

    n_features: int
    repeats: int
    max_depth: int

    def __post_init__(self) -> None:
        for name in ("n_features", "repeats", "max_depth"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")

    @property
    def width(self) -> int:
        """Nodes of a layer of the fixed-width network (5m)."""
        return N_OPS * self.repeats

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """Where the masks of a network of depth L lie: ``layouts[L]`` (there is no depth 0)."""
        empty = Layout((), (), (), 0)
        return (empty, *(self._layout(depth) for depth in range(1, self.max_depth + 1)))

    @property
    def size(self) -> int:
        """Number of distinct tokens: 0, the depths, and the places of the deepest network's masks."""
        return max(self.layouts[-1].end, self.max_depth + 1)

    def encode(self, structure: Structure) -> Label:
        """The label of a structure; EncodingError says which limit it breaks."""
        depth = len(structure.ops)
        if depth > self.max_depth:
            raise EncodingError(f"the network has {depth} layers, the vocabulary {self.max_depth}")
        if structure.n_features > self.n_features:
            raise EncodingError(f"the network has {structure.n_features} inputs, the vocabulary {self.n_features}")
        weights, columns, biases, _ = self.layouts[depth]
        label = [depth, 0]
        bias_tokens = []
        below: Sequence[int] = range(structure.n_features)
        layers = zip(structure.ops, structure.inputs, structure.biases, weights, columns, biases, strict=True)
        for at, (ops, inputs, flags, start, n_columns, bias_start) in enumerate(layers, 1):
            rows = self._rows(ops, at) if at < depth else [0]
            for row, sources in zip(rows, inputs, strict=True):
                first = start + row * n_columns
                label += [first + below[j] for j in sources]
            if True in flags:
                bias_tokens += [bias_start + row for row, flag in zip(rows, flags, strict=True) if flag]
            below = rows
        return tuple(label + bias_tokens)

    def decode(self, label: Sequence[int]) -> Structure:
        """The structure of a label; EncodingError says what is wrong with it."""
        depth, layout = self._checked(label)
        sources: list[dict[int, list[int]]] = [{} for _ in range(depth)]
        biased: list[set[int]] = [set() for _ in range(depth)]
        for token in label[2:]:
            at, row, column = layout.place(token)
            if column is None:
                biased[at].add(row)
            else:
                sources[at].setdefault(row, []).append(column)
        layers: list[list[Row]] = []
        below: dict[int, int] = {column: column for column in range(self.n_features)}
        for at in range(depth):
            last = at == depth - 1
            rows = [0] if last else sorted(sources[at])
            _check_connections(at, below, sources[at], biased[at], rows, depth)
            ops = ["id" if last else UNARY_LIBRARY[row // self.repeats] for row in rows]
            layers.append(
                [
                    (op, {below[j]: 1.0 for j in sources[at].get(row, ())}, 1.0 if row in biased[at] else None)
                    for op, row in zip(ops, rows, strict=True)
                ]
            )
            below = {row: i for i, row in enumerate(rows)}
        return Network.from_rows(layers, pruned=True).structure

    def legal_next(self, prefix: Sequence[int], n_features: int | None = None) -> Legal:
        """What may follow ``prefix`` so that the label can still become that of a valid structure.

        Tokens rise, a node is fed by nodes that are fed, every node is used, and the copies of an operator are taken
        in order.  ``n_features`` is the number of columns of the data, if smaller than the vocabulary's.
        In a search keep a grammar.Prefix and ``push`` tokens instead of starting over.
        """
        state = Prefix.start(self, n_features)
        for token in prefix:
            state = state.push(token)
        return state.legal()

    def _layout(self, depth: int) -> Layout:
        shapes = [(self.width, self.n_features if at == 0 else self.width) for at in range(depth)]
        shapes[-1] = (1, shapes[-1][1])
        starts, end = [], 1
        for rows, columns in shapes:
            starts.append(end)
            end += rows * columns
        bias_starts = []
        for rows, _ in shapes:
            bias_starts.append(end)
            end += rows
        return Layout(tuple(starts), tuple(columns for _, columns in shapes), tuple(bias_starts), end)

    def _rows(self, ops: Sequence[str], layer: int) -> list[int]:
        """The rows that the nodes of a layer, in canonical order, take in the fixed-width layer."""
        rows, last, copies = [], "", 0
        for op in ops:
            copies = copies + 1 if op == last else 0
            if copies >= self.repeats:
                raise EncodingError(f"layer {layer} has {ops.count(op)} copies of {op}, the vocabulary {self.repeats}")
            last = op
            rows.append(RANKS[op] * self.repeats + copies)
        return rows

    def _checked(self, label: Sequence[int]) -> tuple[int, Layout]:
        if len(label) < 2 or not 1 <= label[0] <= self.max_depth or label[1] != 0:
            raise EncodingError(f"a label starts with a depth of 1 to {self.max_depth} and 0, got {list(label[:2])}")
        layout = self.layouts[label[0]]
        for before, token in pairwise((0, *label[2:])):
            if token <= before:
                raise EncodingError(f"the tokens of a label must rise, but {token} follows {before}")
        if len(label) > 2 and label[-1] >= layout.end:
            raise EncodingError(
                f"the token {label[-1]} lies beyond the masks of depth {label[0]}, which end at {layout.end - 1}"
            )
        return label[0], layout


class Layout(NamedTuple):
    """For one depth: where each layer's weight mask starts, its number of columns, where each bias mask starts."""

    weights: tuple[int, ...]
    columns: tuple[int, ...]
    biases: tuple[int, ...]
    end: int

    def place(self, token: int) -> tuple[int, int, int | None]:
        """Layer (from 0), row and column of a token; the column is None for a bias."""
        starts = self.biases if token >= self.biases[0] else self.weights
        at = max(i for i, start in enumerate(starts) if start <= token)
        if starts is self.biases:
            return at, token - starts[at], None
        return at, *divmod(token - starts[at], self.columns[at])


def _check_connections(
    at: int, below: dict[int, int], sources: dict[int, list[int]], biased: set[int], rows: list[int], depth: int
) -> None:
    fed_by = {column for columns in sources.values() for column in columns}
    unknown = sorted(fed_by - below.keys())
    if unknown:
        raise EncodingError(f"layer {at + 1} is fed by node {unknown[0]} of layer {at}, which nothing feeds")
    unused = sorted(below.keys() - fed_by)
    if at > 0 and unused:
        raise EncodingError(f"node {unused[0]} of layer {at} feeds nothing")
    unfed = sorted(biased - set(rows))
    if unfed:
        raise EncodingError(f"node {unfed[0]} of layer {at + 1} has a bias, but nothing feeds it")
    if not fed_by and not (depth == 1 and biased):
        raise EncodingError(f"layer {at + 1} is empty")
