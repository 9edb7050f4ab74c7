"""Every short formula is listed once at its price, and the stage says how far it has come."""

import math
from dataclasses import replace

import numpy as np
import pytest

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.judge.judge import make_judge
from unisymnet.judge.prior import load_prior
from unisymnet.judge.scales import UNIT_NATS, assumed_units
from unisymnet.judge.tree import read
from unisymnet.judge.unseen import unseen_nats
from unisymnet.problem import make_problem
from unisymnet.propose.short.listing import Listing, TooMany
from unisymnet.propose.short.short import Short
from unisymnet.symbolic.expr import bind, n_params, variables
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.rewrite.simplify import simplify

X = np.random.default_rng(0).uniform(0.5, 3.0, (50, 2))


@pytest.mark.parametrize("text", ["x0*x1", "x0/x1", "x0**2", "sin(x0)", "x0 - x1", "x0 + 1", "x0**2*x1", "sqrt(x0)"])
def test_short_formulas_are_listed(text):
    wanted = simplify(parse(text))
    assert any(simplify(tree) == wanted for _, tree in Listing(2, 4.0).formulas(11.0))


def test_prices_are_those_of_the_judge():
    judge = make_judge(X, X[:, 0])
    for price, tree in Listing(2, 4.0).formulas(11.0):
        if n_params(tree) or not variables(simplify(tree)) or simplify(tree) != tree:
            continue
        numbers = judge.quick(tree)[0] - judge.structure(tree)
        # Not known while trees are put together, so that some are listed too early: units, and what the rows show.
        unknown = UNIT_NATS * assumed_units(read(tree).tree) + unseen_nats(tree, X)
        assert price >= judge.structure(tree) - unknown - 1e-9, tree
        assert price <= judge.structure(tree) + 6.0 + numbers, tree


def test_a_free_constant_costs_what_is_asked():
    cheap = {tree for _, tree in Listing(1, 1.0).formulas(9.0) if n_params(tree)}
    dear = {tree for _, tree in Listing(1, 6.0).formulas(9.0) if n_params(tree)}
    assert cheap and not dear


def test_operators_are_kept_to():
    trees = [tree for _, tree in Listing(2, 3.0, frozenset({"add", "mul"})).formulas(11.0)]
    assert trees and not any("sin" in str(tree) or "**" in str(tree) for tree in trees)


def test_the_law_is_put_forward_and_the_price_is_told():
    rng = np.random.default_rng(1)
    y = 1.7 * X[:, 0] / X[:, 1] + 0.02 * rng.normal(size=50)
    stage = Short(most=13.0)
    proposals = list(stage.propose(make_problem(X, y), ParetoFront(), rng=rng, deadline=Deadline.never()))
    assert max(proposal.tried for proposal in proposals) >= 12.0
    wanted = simplify(parse("c0*x0/x1"))
    found = [proposal.expr for proposal in proposals if not proposal.tried]
    assert any(simplify(bind(wanted, (c,))) == simplify(e) for e in found for c in _numbers(e))


def _numbers(expr):
    from unisymnet.judge.tree import read

    return read(expr).values


def test_more_formulas_than_memory_should_hold_are_not_listed(monkeypatch):
    monkeypatch.setattr("unisymnet.propose.short.listing.MAX_TREES", 200)
    with pytest.raises(TooMany):
        Listing(2, 4.0).formulas(12.0)
    X = np.random.default_rng(0).uniform(1.0, 2.0, (40, 2))
    rng, never = np.random.default_rng(0), Deadline.never()
    found = list(Short(most=15.0).propose(make_problem(X, X[:, 0]), ParetoFront(), rng=rng, deadline=never))
    assert max((one.tried for one in found if one.tried), default=0.0) < 12.0  # and it is not said that they were


@pytest.mark.parametrize("text", ["1/sqrt(1 - x0*x1)", "x1/(exp(x0) - 1)", "1/(1 + x0**2)"])
def test_common_parts_are_listed_at_their_own_price(text):
    wanted = simplify(parse(text))
    price = min(price for price, tree in Listing(2, 4.0).formulas(13.0) if simplify(tree) == wanted)
    plain = replace(load_prior(), parts=())
    assert price < min(
        (price for price, tree in Listing(2, 4.0, prior=plain).formulas(13.0) if simplify(tree) == wanted),
        default=math.inf,
    )
