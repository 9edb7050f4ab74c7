"""Laws of every closed-form stage: what it finds does not depend on how the table happens to be written.

The order of columns and of rows, names, and units that differ by powers of two (exact in floating point): the stage
finds the same formula, with the same operators on the same columns, the constants in the new units.  Evolution, the
transformer and other stages that search from random places promise no such thing.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.problem import Problem, make_problem
from unisymnet.propose.pool import misfit
from unisymnet.search.order import PROPOSERS, default_proposers
from unisymnet.symbolic.expr import Call, Const, Expr, Var, evaluate, walk
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.rewrite.simplify import simplify

EXACT = 1e-9  # residual over the spread


@dataclass(frozen=True)
class Law:
    """A formula that a stage finds, ranges of its columns, and units in which it has the same form.

    Some functions have no constants of their own: exp(-a·t) is one only if the units of a and t cancel.
    """

    text: str
    ranges: tuple[tuple[float, float], ...]
    units: tuple[int, ...]


LAWS = {
    "monomial": Law("2.7*x0**1.5/x1", ((1, 5), (2, 3)), (2, -1)),
    "factors": Law("1.3*(x0 - x1)**2*x0", ((3, 5), (1, 2)), (1, 1)),
    "offset": Law("1.7 + 0.43*x0**1.3*x1", ((1, 5), (2, 3)), (1, -2)),
    "bases": Law("1.31*x0**2 - 0.77*x0*x1 + 2.9", ((-1, 5), (-2, 3)), (1, -2)),
    "rational": Law("(1.3*x0 + 0.7*x1)/(x0*x1 + 2.3)", ((1, 5), (2, 3)), (1, -2)),
    "roots": Law("1.3*x0 + sqrt(1.69*x0**2 + 2.3*x1)", ((1, 5), (2, 3)), (1, -2)),
    "outer": Law("4.3*ln(1.7*x0**2 + 3.1*x1)", ((1, 5), (2, 3)), (1, -2)),
    "signomial": Law("1.3*x0**1.37 + 0.7*x1**0.61", ((1, 5), (2, 9)), (1, -2)),
    "extended": Law("1.3*x0*ln(x0) - 0.7*x1", ((1, 5), (2, 9)), (1, -2)),
    "modulated": Law("1.3 + (x1 - 0.9)*exp(-0.37*x0)", ((0, 9), (2, 9)), (1, -2)),
    "coupled": Law("x0/(x0 - x1)*(exp(-x1*x2) - exp(-x0*x2))", ((1.5, 3), (0.1, 1), (0.1, 6)), (1, 1, -1)),
    "boltzmann": Law("1.3*x0**1.5*exp(-2.7*x1/x0)", ((1, 5), (2, 3)), (1, -2)),
    "stretched": Law("1.7 + 2.3*exp(-0.41*x0**1.6)", ((0.1, 3),), (1,)),
    "oscillations": Law("1.7 + 0.3*x0 + 2.3*sin(3.1*x0 + 0.4)", ((0, 9),), (1,)),
    "peaks": Law("1.7 + 2.3*exp(-0.81*(x0 - 3.3)**2)", ((0, 9),), (1,)),
    "planewaves": Law("1.7 + 2.3*sin(2.1*x0 - 3.3*x1 + 0.4)", ((0, 5), (0, 5)), (1, -1)),
    "joined": Law("2.1*exp(-0.7*x0**1.3)/(1.4*x1**1.7 + 1)", ((0, 6), (1, 4)), (1, -2)),
    "features": Law("1.3*x0**1.5/(exp(1.7*x0/x1) - 1)", ((1, 5), (2, 3)), (1, 1)),
    "seen": Law("1.7/(2.3*exp(0.9*x0) - 1)", ((0.2, 4),), (1,)),
    "exponentials": Law("3.1*exp(-1.7*x0) + 1.2*exp(-0.25*x0)", ((0, 9),), (1,)),
    "relevant": Law("1.31*x0**2 - 0.77*x0*x1 + 2.9", ((1, 5), (2, 3), (1, 5)), (1, -2, 1)),
    "reduce": Law("1.3*x0*(x1 - x2)**2", ((1, 3), (3, 5), (1, 2)), (1, 1, 1)),
}
# Stages with free starts promise nothing, nor does affine, which asks them for the best description of smooth fits.
# Units must be told (tests/knowledge/test_hiding_units.py).
OTHERS = {"transformer", "evolve", "textbook", "short", "subsets", "affine", "units"}


def rows(law: Law, n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.uniform(low, high, n) for low, high in law.ranges])
    return X, evaluate(parse(law.text), X)


def found(name: str, problem: Problem) -> Expr:
    """The first exact formula of a stage at any of its places."""
    best: tuple[float, Expr] = (np.inf, Const(0.0))
    with threadpool_limits(1), np.errstate(all="ignore"):
        for place in default_proposers([name]):
            stage = getattr(place, "proposer", place)
            deadline = Deadline.never()
            if name == "reduce":
                stage = replace(stage, stages=default_proposers(["monomial", "bases"])[:2])
            for proposal in stage.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=deadline):
                best = min(best, (misfit(problem, proposal.expr), proposal.expr), key=lambda item: item[0])
                if best[0] < EXACT:
                    return best[1]
    raise AssertionError(f"{name} left {best[0]:.1e} with {best[1]}")


def tokens(expr: Expr, places: dict[int, int] | None = None) -> Counter[str]:
    """Operators and columns of the simplified formula, numbers left out; columns as they were before a permutation."""
    counted: Counter[str] = Counter()
    for node in walk(simplify(expr)):
        if isinstance(node, Call):
            counted[node.op] += 1
        elif isinstance(node, Var):
            counted[f"x{node.index if places is None else places[node.index]}"] += 1
    return counted


def variables_only(counted: Counter[str]) -> dict[str, int]:
    return {name: n for name, n in counted.items() if name.startswith("x") and name[1:].isdigit()}


def test_every_stage_has_a_law_or_a_reason() -> None:
    assert set(PROPOSERS) - OTHERS <= set(LAWS)


@pytest.mark.parametrize("name", LAWS)
def test_names_say_nothing(name: str) -> None:
    X, y = rows(LAWS[name])
    names = [f"sin {i}" for i in range(X.shape[1])]
    assert str(found(name, make_problem(X, y))) == str(found(name, make_problem(X, y, names=names)))


@pytest.mark.parametrize("name", LAWS)
def test_the_order_of_rows_says_nothing(name: str) -> None:
    X, y = rows(LAWS[name])
    order = np.random.default_rng(5).permutation(len(y))
    assert tokens(found(name, make_problem(X, y))) == tokens(found(name, make_problem(X[order], y[order])))


@pytest.mark.parametrize("name", [name for name, law in LAWS.items() if len(law.ranges) > 1])
def test_the_order_of_columns_says_nothing(name: str) -> None:
    X, y = rows(LAWS[name])
    order = list(range(X.shape[1]))[::-1]
    turned = found(name, make_problem(X[:, order], y))
    before = tokens(found(name, make_problem(X, y)))
    after = tokens(turned, dict(enumerate(order)))
    assert variables_only(before) == variables_only(after)
    assert before.total() == after.total()  # a - b may have become -(b - a)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("times", [1, -1])
def test_units_say_nothing(name: str, times: int) -> None:
    law = LAWS[name]
    X, y = rows(law)
    scaled = X * 2.0 ** (times * np.array(law.units))
    before, after = (tokens(found(name, make_problem(*data))) for data in ((X, y), (scaled, y * 2.0 ** (3 * times))))
    assert variables_only(before) == variables_only(after)
