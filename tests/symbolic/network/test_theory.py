"""Lemma 1 of the paper, enumerated: where it holds and the one place where it does not (docs/theory.md)."""

import math


def halves(d: int) -> int:
    """S(d), the multiplication nodes of a product of d factors in a binary tree, rounded up layer by layer."""
    return sum(math.ceil(d / 2**i) for i in range(1, math.ceil(math.log2(d)) + 1))


def test_lemma_1_fails_at_one_place_only() -> None:
    broken = [(K, d) for K in range(2, 61) for d in range(2, 301) if K * (halves(d) + 1) < d + K + 1]
    assert broken == [(2, 2)]
