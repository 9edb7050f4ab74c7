"""Common parts: found wherever they stand, their numbers belong to them, and nothing else becomes much dearer."""

import math
from dataclasses import replace

import numpy as np
import pytest

from unisymnet.judge.judge import make_judge
from unisymnet.judge.parts import HOLE, Part, holes_of, matches, read_part, written
from unisymnet.judge.prior import load_prior
from unisymnet.judge.tree import COLUMN, NUMBER, read, spread
from unisymnet.symbolic.parse import parse

ROOT_OF_ONE_AND = read_part(["pow", ["add", None, 1.0], -0.5])


def test_what_is_written_is_read_again():
    for part in load_prior().parts:
        assert read_part(written(part.tree)) == part.tree
        assert part.tree.symbol not in (HOLE, COLUMN, NUMBER)
        assert list(holes_of(part.tree))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1/sqrt(1 - x0**2)", True),
        ("1/sqrt(x0*x1 + 1)", True),
        ("1/sqrt(1.01 + x0)", False),
        ("sqrt(1 + x0)", False),
        ("1/sqrt(1 + x0 + x1)", False),
    ],
)
def test_a_part_is_the_top_of_a_tree(text, found):
    tree = read(parse(text)).tree
    assert bool(list(matches([Part(ROOT_OF_ONE_AND, 5.0)], tree))) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [("1/sqrt(1 - x0*x1)", True), ("1/sqrt(1 - (x0/x1)**2)", True), ("1/sqrt(1 + 0.0007*x0)", False)],
)
def test_a_number_times_a_column_is_no_product_of_two_things(text, found):
    product = read_part(["pow", ["add", ["mul", None, None], 1.0], -0.5])
    assert bool(list(matches([Part(product, 5.0)], spread(read(parse(text)).tree)))) is found


def test_holes_and_numbers_of_a_part():
    tree = read(parse("1/sqrt(1 - x0**2)")).tree
    (match,) = matches([Part(ROOT_OF_ONE_AND, 5.0)], tree)
    ((above, hole),) = match.holes
    assert (above, hole.symbol, hole.children[1].value) == ("add", "pow", 2.0)
    assert [(above, abs(number.value)) for above, number in match.numbers] == [("add", 1.0), ("exponent", 0.5)]


def test_the_numbers_of_a_part_cost_nothing_more():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (80, 2))
    law = parse("x0/sqrt(x1*x0 + 1)")
    judge = make_judge(X, X[:, 0] / np.sqrt(1.0 + X[:, 0] * X[:, 1]) + 0.05 * rng.normal(size=80))
    with_part = replace(judge, prior=replace(judge.prior, parts=(Part(ROOT_OF_ONE_AND, 5.0),)))
    without = replace(judge, prior=replace(judge.prior, parts=()))
    cheap, dear = with_part.lengths(law), without.lengths(law)
    assert cheap.constants == 0.0 < dear.constants
    assert cheap.data == dear.data
    assert cheap.total < dear.total - 2.0


def test_a_part_is_used_only_where_it_is_cheaper():
    prior = load_prior()
    dear = replace(prior, parts=(Part(ROOT_OF_ONE_AND, 50.0),))
    tree = read(parse("x0/sqrt(1 + x1**2)")).tree
    single = replace(prior, parts=()).price(tree, 2)
    assert dear.price(tree, 2).structure == pytest.approx(single.structure)
    assert not dear.price(tree, 2).parts


def test_what_has_no_common_part_hardly_costs_more():
    prior = load_prior()
    tree = read(parse("3.1*x0*sin(2.2*x1) + x0**3")).tree
    more = prior.price(tree, 2).structure - replace(prior, parts=()).price(tree, 2).structure
    assert 0.0 < more < 0.05 * sum(1 for _ in tree.walk())
    assert math.isfinite(more)
