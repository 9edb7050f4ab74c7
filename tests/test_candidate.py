"""The front: complexity rises, loss falls, and the order of insertion does not matter."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import many
from unisymnet.candidate import RARE_NATS, Candidate, ParetoFront, Status, description_length, is_exact
from unisymnet.symbolic import parse


def candidate(loss: float, complexity: int, formula: str = "x0", n_constants: int = 0) -> Candidate:
    return Candidate(parse(formula), loss, complexity, n_constants)


CANDIDATES = st.lists(
    st.builds(
        candidate,
        st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0]),
        st.integers(1, 6),
        st.sampled_from(["x0", "x1", "x0 + x1"]),
        st.integers(0, 2),
    ),
    max_size=12,
)


@many(500)
@given(CANDIDATES, st.randoms(use_true_random=False))
def test_front_is_sorted_and_independent_of_order(candidates: list[Candidate], random) -> None:  # type: ignore[no-untyped-def]
    front = list(ParetoFront(candidates))
    shuffled = candidates.copy()
    random.shuffle(shuffled)
    assert list(ParetoFront(shuffled)) == front
    for simple, good in pairwise(front):
        assert simple.complexity < good.complexity
        assert simple.loss > good.loss
    for one in candidates:
        assert any(m.complexity <= one.complexity and m.loss <= one.loss for m in front)


def test_add_says_whether_it_entered() -> None:
    front = ParetoFront()
    assert front.add(candidate(1.0, 3))
    assert not front.add(candidate(1.0, 3))
    assert not front.add(candidate(2.0, 4))
    assert front.add(candidate(0.5, 4))
    assert front.add(candidate(0.1, 2))
    assert [c.complexity for c in front] == [2]
    assert len(front) == 1
    assert front[0].loss == 0.1


def test_failed_fits_stay_out() -> None:
    front = ParetoFront()
    assert not front.add(Candidate(parse("x0"), math.inf, 1, 0, status=Status.NON_FINITE))
    assert len(front) == 0


def test_ties_go_to_fewer_constants() -> None:
    few, many = candidate(1.0, 3, "x1", 1), candidate(1.0, 3, "x0", 2)
    assert list(ParetoFront([many, few])) == [few]
    assert list(ParetoFront([few, many])) == [few]


@pytest.mark.parametrize(
    ("plain", "rare"),
    [("sin(x0)", "asin(x0)"), ("sin(x0) + cos(x1)", "sin(x0 + cos(x1))"), ("exp(sin(x0))", "exp(ln(x0))")],
)
def test_rare_functions_and_nestings_cost_more(plain: str, rare: str) -> None:
    first, second = (description_length(candidate(0.1, 4, text), n_rows=100, spread=1.0) for text in (plain, rare))
    assert second == pytest.approx(first + RARE_NATS)


def test_a_formula_with_many_constants_is_exact_only_to_more_digits() -> None:
    def exact(n_constants: int, left: float) -> bool:
        return is_exact(Candidate(parse("x0"), (left * 3.0) ** 2, 9, n_constants), spread=3.0)

    assert exact(2, 0.9e-11) and not exact(2, 1.1e-11)
    assert not exact(12, 1e-12)  # what an approximation of a smooth function reaches
    assert exact(12, 1e-14)


def test_numbers_rounded_as_far_as_the_data_let_them_count_as_fitted_ones() -> None:
    fitted = " + ".join(f"{0.1234567 * k}*x0**{k}" for k in range(1, 10))
    rounded = " + ".join(f"{0.1234 * k:.4g}*x0**{k}" for k in range(1, 10))
    guessed = " + ".join(f"{k / 2}*x0**{k}" for k in range(1, 10))

    def exact(text: str, left: float) -> bool:
        return is_exact(Candidate(parse(text), (left * 3.0) ** 2, 30, 0), spread=3.0)

    assert not exact(fitted, 0.9e-11) and not exact(rounded, 0.9e-11)
    assert exact(fitted, 1e-14) and exact(rounded, 1e-14)
    assert exact(guessed, 0.9e-11)
