"""The laws turned round: every row of the catalog is right, and the halves are kept apart."""

import numpy as np
import pytest

from unisymnet.bench.problems import BenchProblem, find_problem, load_suite, suites
from unisymnet.bench.score import numeric_scores
from unisymnet.bench.task import split

ALL = load_suite("transform")
LAWS = {law.name: (number, law) for number, law in enumerate(load_suite("feynman"), 1)}


@pytest.mark.parametrize("problem", ALL, ids=lambda problem: problem.name)
def test_a_row_of_the_law_is_a_row_of_the_problem(problem: BenchProblem) -> None:
    _, law = LAWS[problem.law]
    X, y = problem.sample(50, rng=np.random.default_rng(5))
    assert X.shape == (50, law.n_features) and problem.names[-1] == "y"
    back = np.insert(X[:, :-1], problem.pivot, y, axis=1)
    np.testing.assert_allclose(law.evaluate(back), X[:, -1], rtol=1e-9)
    np.testing.assert_allclose(problem.evaluate(X), y, rtol=1e-6)


def test_even_laws_are_the_test_half() -> None:
    halves = {problem.name: problem.half for problem in ALL}
    assert halves == {p.name: "development" if LAWS[p.law][0] % 2 else "test" for p in ALL}
    one, other = load_suite("transform-development"), load_suite("transform-test")
    assert len(one) + len(other) == len(ALL) == suites()["transform"][1] > 90
    assert not {p.law for p in one} & {p.law for p in other}


def test_one_problem_a_law() -> None:
    assert len({problem.law for problem in ALL}) == len(ALL)
    assert len({problem.name for problem in ALL}) == len(ALL)


def test_the_truth_passes_the_judge_and_a_wrong_branch_does_not() -> None:
    problem = find_problem(ALL[0].name)
    data = split(problem, rng=np.random.default_rng(0))
    assert len(data.y_train) == 1000
    assert numeric_scores(problem, problem.expr, data.X_test, data.y_test)["strict"]
    other = next(p for p in ALL if p.n_features == problem.n_features and p.name != problem.name)
    assert not numeric_scores(problem, other.expr, data.X_test, data.y_test)["strict"]
