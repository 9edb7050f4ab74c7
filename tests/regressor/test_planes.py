"""A plane over the columns that are worth their constant is not replaced by the plane over all of them."""

from types import SimpleNamespace

import numpy as np
import pytest

from unisymnet.judge.tree import is_plane
from unisymnet.regressor import compare
from unisymnet.symbolic.parse import parse


@pytest.mark.parametrize(
    ("text", "plane"),
    [("2*x0 - 3*x1 + 1", True), ("x0", True), ("3.1", False), ("x0*x1 + 2", False), ("x0 + ln(x1)", False)],
)
def test_planes(text, plane):
    assert is_plane(parse(text)) == plane


class _Replaced(Exception):
    pass


def _held(text, monkeypatch, better):
    """What becomes of a pick whose errors on the folds are larger by these than those of the linear model."""
    mine = np.linspace(1.0, 2.0, 20)

    def added(*_given):
        raise _Replaced

    monkeypatch.setattr(compare, "fold_errors", lambda *_given: mine)
    monkeypatch.setattr(compare, "_entry", added)
    linear = SimpleNamespace(source="linear", errors=mine - better)
    rivals = SimpleNamespace(additive=SimpleNamespace(linear=linear, folds=SimpleNamespace(n_cuts=4)))
    entries = (SimpleNamespace(formula=SimpleNamespace(expr=parse(text)), noise=""),)
    return compare._held_to_linear(entries, 0, rivals, None, None)[1]


def test_a_plane_gives_way_only_beyond_doubt(monkeypatch):
    doubtful = np.tile([0.01, 0.02, 0.3, 0.01, -0.1], 4)
    assert _held("1.5*x0 + 0.7*x1 + 52", monkeypatch, doubtful) == 0
    with pytest.raises(_Replaced):
        _held("1.5*x0 + 0.7*x1 + 52", monkeypatch, np.full(20, 0.3) + 0.01 * doubtful)
    with pytest.raises(_Replaced):
        _held("1.5*x0*x1 + 52", monkeypatch, doubtful)
