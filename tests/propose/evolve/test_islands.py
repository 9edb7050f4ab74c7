"""The compiled evolution: genomes mean what their formulas mean, epochs repeat bit for bit, rules are kept."""

import math

import numpy as np
import pytest
from joblib import Parallel
from numba import njit

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.fit.kernels.interpreter import addresses
from unisymnet.metrics import complexity
from unisymnet.problem import Problem, make_problem
from unisymnet.propose.evolve.desk import lay, new_desk, release, run
from unisymnet.propose.evolve.epoch import epoch
from unisymnet.propose.evolve.fitting import resolve
from unisymnet.propose.evolve.genome import Genome
from unisymnet.propose.evolve.islands import Islands, best_of, compile_epoch, live, make_world
from unisymnet.propose.evolve.niches import N_CHILDREN, PLACES, State, new_state
from unisymnet.propose.evolve.program import build
from unisymnet.propose.evolve.stage import Evolve
from unisymnet.propose.evolve.terms import bake, cut
from unisymnet.propose.evolve.translate import packed, to_expr, to_tokens
from unisymnet.symbolic.expr import Call, evaluate, walk
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.rewrite.simplify import simplify

FORMULAS = (
    "x0",
    "3.5",
    "2*x0 + x1",
    "x0*sin(1.5*x1 + 0.3)/(1 + x2)",
    "exp(-2*x0 + 1)*x1 - 4/x2",
    "(2*x0*x1)**0.7 + 3*(2*x2)**-2 + 1",
    "sqrt(x0) + x1**1.5 - ln(x2)*tanh(x0 - 2)",
    "abs(x0 - x1)*cos(x2)**3 - -x1",
    "2/(x0*3) - x1**0.5/x2**2.5",
    "1 - x0 - (x1 - 2)/(3 - x2/4)",
)


def _problem(n_rows: int = 120, noise: float = 0.01, **settings: object) -> Problem:
    rng = np.random.default_rng(3)
    X = rng.uniform(0.5, 3.0, (n_rows, 3))
    y = X[:, 0] * np.sin(1.7 * X[:, 1]) + X[:, 2] ** 2 / (1.0 + X[:, 0])
    return make_problem(X, y + rng.normal(0.0, noise, n_rows), **settings)  # type: ignore[arg-type]


def _genome(text: str) -> Genome:
    tokens = to_tokens(parse(text))
    assert tokens is not None
    t, v, n = packed([tokens])
    return Genome(t[0], v[0], n)


@njit  # type: ignore[untyped-decorator]
def _projected(genome, desk, data, address):  # type: ignore[no-untyped-def]
    """The parts are compiled for one another and cannot be called from Python."""
    lay(desk, data)
    release(desk)
    if not cut(genome, desk.plan, True):
        return math.inf
    build(desk.plan, data.X.shape[0], True)
    run(desk, data, 0, data.y.shape[0], address)
    left = resolve(desk, data, data.y.shape[0])
    bake(desk.plan, desk.coefficients, True, desk.baked)
    return left


@pytest.mark.parametrize("text", FORMULAS)
def test_a_genome_means_its_formula(text: str) -> None:
    X = _problem().X
    genome = _genome(text)
    assert np.allclose(evaluate(to_expr(*genome[:2], int(genome.length[0])), X), evaluate(parse(text), X), rtol=1e-13)


@pytest.mark.parametrize("text", FORMULAS[2:])
def test_terms_with_free_coefficients_contain_the_formula(text: str) -> None:
    """Whatever constants were left to the coefficients, projection on the formula's own values finds it again."""
    problem = _problem()
    y = evaluate(parse(text), problem.X)
    data = make_world(make_problem(problem.X, y), 0, seed=0, work=1, solved=0.0, max_size=40).data
    desk = new_desk(3, len(y))
    assert _projected(_genome(text), desk, data, addresses()[0]) <= 1e-24 * float(data.y @ data.y)
    baked = to_expr(desk.baked.tokens, desk.baked.values, int(desk.baked.length[0]))
    assert np.allclose(evaluate(baked, problem.X), y, rtol=1e-9)


def _lived(n_epochs: int, problem: Problem, seed: int = 1, work: int = 4_000_000) -> State:
    state = new_state()
    for number in range(n_epochs):
        world = make_world(problem, 0, seed=0, work=work, solved=0.2, max_size=40)
        after = live(world, state, [], (seed, 0, number))
        assert after is not None
        state = after
    return state


def test_the_epoch_is_compiled_ahead_for_what_it_is_called_with() -> None:
    """Otherwise it would be compiled twice, the second time inside the time limit of a search."""
    problem = _problem()
    compile_epoch(make_world(problem, 0, seed=0, work=1, solved=0.0, max_size=1))
    before = list(epoch.signatures)
    _lived(1, problem)
    assert list(epoch.signatures) == before


def test_an_epoch_repeats_bit_for_bit_whatever_lies_in_memory() -> None:
    problem = _problem()
    first = _lived(2, problem)
    rng = np.random.default_rng(0)
    for _ in range(6):
        rubbish = [np.full(int(rng.integers(10, 200_000)), math.nan) for _ in range(20)]
        del rubbish[::2]
        again = _lived(2, problem)
        assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    other = _lived(2, problem, seed=2)
    assert not np.array_equal(first.losses, other.losses)


def test_an_epoch_ends_after_its_work_and_keeps_the_best() -> None:
    problem = _problem()
    short, long = _lived(1, problem), _lived(4, problem)
    assert 0 < short.counts[N_CHILDREN] < long.counts[N_CHILDREN]
    assert long.losses.min() <= short.losses.min() < problem.spread**2


def test_losses_and_sizes_of_members_are_those_of_their_formulas() -> None:
    problem = _problem()
    state = _lived(3, problem)
    checked = 0
    for place in np.flatnonzero(state.lengths):
        expr = to_expr(state.tokens[place], state.values[place], int(state.lengths[place]))
        loss = float(np.mean((evaluate(expr, problem.X) - problem.y) ** 2))
        assert loss == pytest.approx(float(state.losses[place]), rel=1e-6)
        if place % PLACES == 0:
            size = place // PLACES  # counted in the epoch, nearly as complexity counts
            assert complexity(simplify(expr)) <= 1.15 * size + 4
            checked += 1
    assert checked > 10


@pytest.mark.parametrize("allowed", ["add,mul", "add,sub,mul,div,sin", "mul,div,pow,exp", "add,cos"])
def test_forbidden_operators_never_appear(allowed: str) -> None:
    problem = _problem(operators=frozenset(allowed.split(",")))
    stage = Evolve(work=2_000_000, max_epochs=3, n_islands=2, n_proposals=50)
    proposals = list(stage.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never()))
    assert proposals
    for proposal in proposals:
        used = {node.op for node in walk(proposal.expr) if isinstance(node, Call)}
        assert used <= set(allowed.split(","))


def test_small_formulas_are_clean() -> None:
    """Pruning takes idle summands and coefficients away: a law without them is found without them."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (100, 2))
    problem = make_problem(X, X[:, 0] * X[:, 1] + X[:, 0] ** 2 + rng.normal(0.0, 0.01, 100))
    state = _lived(6, problem, work=20_000_000)
    sizes = [found.size for found in best_of(state) if found.loss < 2e-4]
    assert min(sizes) <= 7


def test_islands_exchange_their_best() -> None:
    islands = Islands(_problem(), 0, n_islands=3, work=1_000_000)
    with Parallel(n_jobs=1) as parallel:
        for _ in range(4):
            assert islands.step(parallel, Deadline.never())
    assert all(island.newcomers for island in islands.islands)


def test_a_law_is_found() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (100, 2))
    problem = make_problem(X, 1.3 * np.sin(0.7 * X[:, 0]) / X[:, 1])
    stage = Evolve(max_epochs=12)
    proposals = list(stage.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never()))
    best = min(float(np.mean((evaluate(p.expr, problem.X) - problem.y) ** 2)) for p in proposals)
    assert best < 1e-20
