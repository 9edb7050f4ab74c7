"""Depth and node counts, and the paper's two theorems as properties."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from unisymnet.symbolic import Const, Expr, Var, parse
from unisymnet.symbolic.expr import call, product, total
from unisymnet.symbolic.network.counts import Size, counts, eql_size, tree_size

Exponents = tuple[tuple[float, ...], ...]


@st.composite
def polynomials(draw: st.DrawFn) -> Exponents:
    """Exponents m_ki of P(x), d >= 2, no zeros, distinct terms, at least one |m| != 1."""
    d, K = draw(st.integers(2, 7)), draw(st.integers(1, 5))
    exponent = st.sampled_from((1.0, 1.0, 2.0, -1.0, 0.5, 3.0, -2.0, 1.5, 2.5))
    terms = draw(st.lists(st.tuples(*[exponent] * d), min_size=K, max_size=K, unique=True))
    assume(any(abs(m) != 1.0 for term in terms for m in term))
    return tuple(terms)


def polynomial(terms: Exponents, inputs: list[Expr]) -> Expr:
    monomials = []
    for k, term in enumerate(terms):
        powers = [x if m == 1.0 else call("pow", x, m) for m, x in zip(term, inputs, strict=True)]
        monomials.append(product([Const(1.5 + k), *powers]))
    return total(monomials)


@settings(max_examples=500)
@given(polynomials())
def test_theorem_1(terms: Exponents) -> None:
    """UniSymNet needs L1 <= L2 layers and N1 <= N2 nodes, and exactly the numbers of the proof."""
    d, K = len(terms[0]), len(terms)
    size = counts(polynomial(terms, [Var(i) for i in range(d)]))
    assert size.unisymnet == (Size(2, d + 1) if K == 1 else Size(3, d + K + 1))
    assert size.unisymnet.depth <= size.eql.depth
    assert size.unisymnet.nodes <= size.eql.nodes
    layers = math.ceil(math.log2(d))
    halves = sum(math.ceil(d / 2**i) for i in range(1, layers + 1))
    if K == 1:
        assert size.eql == Size(layers + 1, halves + d)
    else:
        assert size.eql.depth == layers + 2
        assert size.eql.nodes >= halves + 1


def test_theorem_1_needs_more_than_the_paper_asks() -> None:
    """The paper asks for some m != 1; with ÷ among the operators m = -1 is not enough: the proof takes a layer of
    powers for granted there, but x0/x1 is one node of an EQL-type network."""
    size = counts(parse("x0/x1"))
    assert (size.unisymnet, size.eql) == (Size(2, 3), Size(1, 1))


# Functions that EQL-type networks need at least as much for.  No exp at the top: a factor exp(u) melts into the
# product's own exp node, so P(g) is then no longer the composition that the theorem speaks of.
PARTS = (
    "sin({0} + 0.5)",
    "cos(2*{0})",
    "ln({0} + 3)",
    "cos({0}) + sin({1})",
    "sin(cos({0}))",
    "sin({0}**2*{1}*{2})",
    "{0}**2*{1}**3*{2} + 1",
)


@settings(max_examples=300)
@given(polynomials(), st.data())
def test_theorem_2(terms: Exponents, data: st.DataObject) -> None:
    d = len(terms[0])
    texts = data.draw(st.lists(st.sampled_from(PARTS), min_size=d, max_size=d))
    # Each with variables of its own: the theorem adds nodes up, so nothing may be shared.
    inputs = [parse(t.format(*(f"x{3 * i + s}" for s in range(3)))) for i, t in enumerate(texts)]
    parts = [counts(g) for g in inputs]
    assume(max(p.unisymnet.depth for p in parts) <= max(p.eql.depth for p in parts))
    assume(sum(p.unisymnet.nodes for p in parts) <= sum(p.eql.nodes for p in parts))
    size = counts(polynomial(terms, inputs))
    assert size.unisymnet.depth <= size.eql.depth
    assert size.unisymnet.nodes <= size.eql.nodes


@pytest.mark.parametrize(
    ("formula", "depth", "nodes"),
    [
        ("x0", 0, 1),
        ("sin(x0)", 1, 2),
        ("x0 + x1", 1, 3),
        ("x0 + x1 + x2 + x3 + x4", 3, 9),  # balanced: ceil(log2 5)
        ("sin(sin(x0)) + x1 + x2", 3, 7),  # the deep term joins last
    ],
)
def test_trees(formula: str, depth: int, nodes: int) -> None:
    assert tree_size(parse(formula)) == Size(depth, nodes)


@pytest.mark.parametrize(
    ("formula", "depth", "nodes"),
    [
        ("x0 + 2*x1", 1, 1),
        ("x0*x1", 1, 1),
        ("1/x0", 1, 1),
        ("x0*x1/x2", 2, 3),  # the odd one is carried by an id
        ("x0**2", 1, 1),
        ("abs(x0 + 1)", 1, 1),
        ("x0*exp(x1)", 2, 3),
        ("1/(x0*x1)", 2, 3),  # (·)^-1 and id, then ×
    ],
)
def test_eql_networks(formula: str, depth: int, nodes: int) -> None:
    assert eql_size(parse(formula)) == Size(depth, nodes)


def test_label_counts_the_final_node_and_theorems_do_not() -> None:
    size = counts(parse("x0*x1"))
    assert (size.label, size.unisymnet) == (Size(3, 4), Size(2, 3))
    size = counts(parse("x0*x1 + 1"))  # here the final id adds something
    assert (size.label, size.unisymnet) == (Size(3, 4), Size(3, 4))
    assert size.unisymnet.complexity == 12
