"""Notes name the formulas that the data cannot tell from the chosen one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unisymnet import Formula
from unisymnet.judge.noise import WORDS
from unisymnet.regressor.compare import _shorter
from unisymnet.regressor.losses import Judgement
from unisymnet.regressor.notes import careful_notes, outlier_note, rivals, weakness_note
from unisymnet.regressor.rows import Ordered
from unisymnet.regressor.table import Entry
from unisymnet.symbolic.parse import parse


def _entry(text: str, complexity: int, loss: float) -> Entry:
    return Entry(Formula(parse(text), ("x0",), "y"), complexity, loss, 1.0 - loss, None, 0.0, "test")


TABLE = [
    _entry("x0", 1, 0.5), _entry("exp(x0)", 2, 0.101), _entry("x0**2", 3, 0.1), _entry("x0**2 + 1", 5, 0.0999),
    _entry("x0**2 + sin(x0)", 6, 0.09),
]  # fmt: skip


def test_formulas_of_equal_length_are_rivals_and_others_are_not() -> None:
    assert rivals(TABLE, 2, 200) == [1, 4]
    assert rivals(TABLE[:4], 2, 200) == [1]  # the same law with a useless term is no rival
    assert rivals(TABLE, 2, 20_000) == [4]  # more rows can tell


def test_an_exact_formula_has_no_rival() -> None:
    assert rivals([_entry("x0", 1, 0.0), _entry("x0**1", 3, 0.0)], 0, 200) == []


def test_rivals_are_told_by_their_place_in_the_table() -> None:
    rows = np.ones((50, 1)), np.linspace(0.0, 1.0, 50), np.ones(50)
    notes = careful_notes(
        200, 200, TABLE[:4], 2, (), Judgement.first(("mse", None), rows, None), rows[0], Ordered(*rows[1:])
    )
    assert notes == ["the data cannot tell the chosen formula apart from pick 1, exp(x0)"]


def test_a_weak_formula_is_told_by_logarithms_where_noise_is_a_factor() -> None:
    X = np.geomspace(1.0, 1e3, 40)[:, None]
    y = Ordered(2.0 * X[:, 0] * np.where(np.arange(40) % 2, 1.6, 0.6), np.ones(40))
    weak = replace(_entry("2*x0", 3, 1.0), r2=0.2, noise=WORDS["factor"])
    assert "R² of the logarithms is 0.9" in weakness_note(weak, X, y)[0]
    shuffled = replace(y, y=np.roll(y.y, 20))
    assert "misses most of the variation" in weakness_note(weak, X, shuffled)[0]
    assert "misses most of the variation" in weakness_note(replace(weak, noise=WORDS["equal"]), X, y)[0]
    assert weakness_note(replace(weak, r2=0.9), X, y) == []


def test_the_judge_says_who_is_a_rival() -> None:
    table = [replace(entry, nats=nats) for entry, nats in zip(TABLE, (50.0, 12.0, 10.0, 14.0, 12.5), strict=True)]
    assert rivals(table, 2, 200) == [1, 4]  # within 3 nats, the nearest first


def test_a_linear_model_that_was_picked_for_its_predictions_has_no_rival() -> None:
    table = [*(replace(entry, nats=nats) for entry, nats in zip(TABLE, (50.0, 12.0), strict=False)), TABLE[2]]
    assert rivals(table, 2, 200) == []


def test_a_slip_of_the_pen_is_named() -> None:
    y = np.linspace(1.0, 3.0, 40)
    assert outlier_note(y) == [] == outlier_note(np.full(9, 2.0)) == outlier_note(np.exp(np.linspace(0.0, 40.0, 60)))
    y[7] = 1e12
    assert "1e+12, lies 1000 times further out than any other" in outlier_note(y)[0]


def test_the_pick_with_other_digits_is_not_called_shorter() -> None:
    entries = [
        Entry(Formula.parse(text), size, 0.1, 0.9, 0.9, 0.0, "test")
        for text, size in (("x0", 1), ("2.98*x0 + 1.9", 5), ("2.982*x0 + 1.94", 5))
    ]
    assert _shorter(entries, [1], 2) == [] and _shorter(entries, [0, 1], 2) == [0]
