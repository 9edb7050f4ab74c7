"""From data to the likeliest labels: beam search and sampling, constrained by the grammar of labels.

Every hypothesis that comes out decodes to a valid structure, because only tokens that `grammar.Prefix` allows are
ever followed.  Knows the runtime of a model, not formulas' constants or the search for formulas.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..symbolic.network.grammar import Prefix
from ..symbolic.network.structure import Structure
from ..symbolic.network.tokens import Vocabulary
from .alphabet import END, FIRST_DEPTH, START
from .runtime import Floats, Label, Runtime

Rows = NDArray[np.floating]


@dataclass(frozen=True)
class Found:
    """A finished label with its log-probability."""

    label: Label
    structure: Structure
    log_probability: float


@dataclass(frozen=True)
class _Hypothesis:
    """A label begun, as the grammar sees it, with its tokens and log-probability."""

    prefix: Prefix
    label: Label
    token: int
    log_probability: float


def vocabulary_of(runtime: Runtime) -> Vocabulary:
    c = runtime.config
    return Vocabulary(c.n_features, c.repeats, c.max_depth)


def beam_search(runtime: Runtime, rows: Rows, n_features: int, *, width: int = 20) -> list[Found]:
    """The best labels for one data set, given as rows (n, d_max + 1); at most ``width``, the likeliest first."""
    vocabulary = vocabulary_of(runtime)
    data = runtime.encode(rows[None])
    live = [_Hypothesis(Prefix.start(vocabulary, n_features), (), START, 0.0)]
    past = runtime.empty_cache(1)
    done: list[Found] = []
    for position in range(runtime.config.max_tokens):
        tokens = np.array([h.token for h in live])
        repeated = np.repeat(data, len(live), axis=2)
        log_probabilities, past = runtime.step(tokens, position, repeated, past)
        choices = _choices(runtime, live, log_probabilities)
        for i, hypothesis in enumerate(live):
            if hypothesis.prefix.legal().may_end:
                total = hypothesis.log_probability + float(log_probabilities[i, END])
                done.append(Found(hypothesis.label, vocabulary.decode(hypothesis.label), total))
        done = sorted(done, key=lambda f: -f.log_probability)[: 2 * width]
        # Log-probabilities only fall, so nothing below the worst kept one can come back.
        floor = done[width - 1].log_probability if len(done) >= width else -np.inf
        best = sorted((c for c in choices if c[0] > floor), key=lambda c: -c[0])[:width]
        if not best:
            break
        live, past = _advance(live, best, past)
    return _distinct(done)[:width]


def _choices(runtime: Runtime, live: list[_Hypothesis], log_probabilities: Floats) -> list[tuple[float, int, int, int]]:
    """(log-probability, hypothesis, token of the label, token of the model) for every legal continuation."""
    choices = []
    for i, hypothesis in enumerate(live):
        legal = hypothesis.prefix.legal().tokens
        ours = _model_tokens(runtime, hypothesis.prefix, legal)
        totals = hypothesis.log_probability + log_probabilities[i, ours]
        choices += [(float(t), i, token, int(o)) for t, token, o in zip(totals, legal, ours)]
    return choices


def _model_tokens(runtime: Runtime, prefix: Prefix, legal: tuple[int, ...]) -> NDArray[np.int64]:
    tokens = np.asarray(legal, dtype=np.int64)
    if prefix.depth == 0:
        return tokens + FIRST_DEPTH - 1
    return runtime.alphabet.edges(prefix.depth)[tokens - 1]


def _advance(
    live: list[_Hypothesis], chosen: list[tuple[float, int, int, int]], past: Floats
) -> tuple[list[_Hypothesis], Floats]:
    grown = []
    for total, i, token, ours in chosen:
        prefix, label = live[i].prefix.push(token), (*live[i].label, token)
        if len(label) == 1:  # the separator after the depth is no choice, and no token of the model
            prefix, label = prefix.push(0), (*label, 0)
        grown.append(_Hypothesis(prefix, label, ours, total))
    return grown, past[:, :, [i for _, i, _, _ in chosen]]


def _distinct(found: list[Found]) -> list[Found]:
    """One of each structure: labels that differ in the order of equal nodes only are the same structure."""
    seen: set[Structure] = set()
    kept = []
    for item in sorted(found, key=lambda f: -f.log_probability):
        if item.structure not in seen:
            seen.add(item.structure)
            kept.append(item)
    return kept


def sample(
    runtime: Runtime, rows: Rows, n_features: int, n: int, *, temperature: float = 1.0, rng: np.random.Generator
) -> list[Found]:
    """``n`` independent draws for one data set, duplicates merged, the likeliest first."""
    vocabulary = vocabulary_of(runtime)
    data = runtime.encode(rows[None])
    live = [_Hypothesis(Prefix.start(vocabulary, n_features), (), START, 0.0)] * n
    past = runtime.empty_cache(n)
    done: list[Found] = []
    for position in range(runtime.config.max_tokens):
        tokens = np.array([h.token for h in live])
        repeated = np.repeat(data, len(live), axis=2)
        log_probabilities, past = runtime.step(tokens, position, repeated, past)
        chosen: list[tuple[float, int, int, int]] = []
        for i, hypothesis in enumerate(live):
            legal = hypothesis.prefix.legal()
            ours = _model_tokens(runtime, hypothesis.prefix, legal.tokens)
            if legal.may_end:
                ours = np.append(ours, END)
            values = log_probabilities[i, ours].astype(np.float64)
            # Gumbel's trick: the largest of the perturbed values is a draw from the softmax.
            k = int(np.argmax(values / temperature + rng.gumbel(size=len(values))))
            total = hypothesis.log_probability + float(values[k])
            if ours[k] == END:
                done.append(Found(hypothesis.label, vocabulary.decode(hypothesis.label), total))
            else:
                chosen.append((total, i, legal.tokens[k], int(ours[k])))
        if not chosen:
            break
        live, past = _advance(live, chosen, past)
    return _distinct(done)
