"""The grammar of labels: which tokens may follow a prefix, kept up to date token by token for beam search.

Every prefix that ``push`` accepts can be completed, and every completed label decodes to a valid structure.  Knows the
layout of the masks (tokens.py), not probabilities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...errors import EncodingError

if TYPE_CHECKING:
    from .tokens import Layout, Vocabulary


class Legal(NamedTuple):
    """What may follow a prefix of a label: tokens, ascending, and whether the label may end here."""

    tokens: tuple[int, ...]
    may_end: bool


class Prefix(NamedTuple):
    """A label begun.  Immutable: ``push`` returns a new one, so that beams can share their past.

    ``sources`` are the rows of the layer below (or input columns) that may feed the current ``layer`` (counted from
    0; -1 before the masks), ``waiting`` those of them that nothing uses yet, ``rows`` the rows of the current layer
    fed so far, ``done`` those of finished layers, ``last`` the last token.
    """

    vocabulary: Vocabulary
    n_features: int
    depth: int = 0
    layer: int = -1
    last: int = 0
    sources: tuple[int, ...] = ()
    waiting: frozenset[int] = frozenset()
    rows: tuple[int, ...] = ()
    done: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def start(cls, vocabulary: Vocabulary, n_features: int | None = None) -> Prefix:
        """The empty prefix, for data with ``n_features`` columns."""
        limit = vocabulary.n_features
        if n_features is not None and not 1 <= n_features <= limit:
            raise ValueError(f"n_features must be between 1 and the vocabulary's {limit}, got {n_features}")
        return cls(vocabulary, n_features or limit)

    def push(self, token: int) -> Prefix:
        """The prefix one token longer; EncodingError if the token may not follow."""
        if token not in self.legal().tokens:
            raise EncodingError(f"the token {token} may not follow here; ask legal() for those that may")
        if self.depth == 0:
            return self._replace(depth=token)
        if self.layer < 0:
            return self._replace(layer=0, sources=tuple(range(self.n_features)))
        layout = self._layout()
        state = self
        if token >= layout.biases[0]:
            if not state.is_biasing():
                # For a constant the output has no inputs, but a row all the same.
                state = state._replace(done=(*state.done, (0,)), rows=(), layer=state.depth)
            return state._replace(last=token)
        if state.layer + 1 < state.depth and token >= layout.weights[state.layer + 1]:
            state = state._above()
        row, column = divmod(token - layout.weights[state.layer], layout.columns[state.layer])
        rows = state.rows if state.rows and state.rows[-1] == row else (*state.rows, row)
        return state._replace(last=token, rows=rows, waiting=state.waiting - {column})

    def legal(self) -> Legal:
        """The tokens that may follow, ascending, and whether the label may end here."""
        if self.depth == 0:
            return Legal(tuple(range(1, self.vocabulary.max_depth + 1)), False)
        if self.layer < 0:
            return Legal((0,), False)
        if self.is_biasing():
            return Legal(self._bias_tokens(self.done), True)
        tokens = self._weight_tokens()
        if self.waiting:
            return Legal(tuple(tokens), False)
        if self.layer < self.depth - 1:
            if self.rows:
                tokens += self._above()._weight_tokens()
            return Legal(tuple(tokens), False)
        return Legal((*tokens, *self._bias_tokens((*self.done, (0,)))), bool(self.rows))

    def is_biasing(self) -> bool:
        """Are the weights finished and the bias tokens begun?"""
        return self.layer == self.depth and self.depth > 0

    def _layout(self) -> Layout:
        return self.vocabulary.layouts[self.depth]

    def _above(self) -> Prefix:
        """The same label at the start of the next layer."""
        return self._replace(
            layer=self.layer + 1,
            sources=self.rows,
            waiting=frozenset(self.rows),
            rows=(),
            done=(*self.done, self.rows),
        )

    def _bias_tokens(self, layers: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
        starts = self._layout().biases
        return tuple(
            [start + row for start, rows in zip(starts, layers, strict=True) for row in rows if start + row > self.last]
        )

    def _weight_tokens(self) -> list[int]:
        """Tokens of the current layer that may follow."""
        layout = self._layout()
        start, n_columns = layout.weights[self.layer], layout.columns[self.layer]
        if self.layer == self.depth - 1:
            if self.layer == 0:
                return [start + column for column in self.sources if start + column > self.last]
            return [start + min(self.waiting)] if self.waiting else []  # the output takes every node, in order
        repeats, final = self.vocabulary.repeats, self.vocabulary.width - 1
        candidates: list[int] = []
        next_op = 0
        if self.rows:
            row = self.rows[-1]
            candidates = [row] if (row + 1) % repeats == 0 else [row, row + 1]
            next_op = row // repeats + 1
        candidates += range(next_op * repeats, final + 1, repeats)
        tokens: list[int] = []
        for row in candidates:
            first = start + row * n_columns
            # The last row must still be able to use all nodes that wait.
            limit = min(self.waiting) if row == final and self.waiting else n_columns
            tokens += [first + j for j in self.sources if first + j > self.last and j <= limit]
        return tokens
