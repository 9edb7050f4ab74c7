"""DNO: training recovers known laws, repeats itself, obeys the clock, and speaks to the search."""

import sys
import time
from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unisymnet import UniSymNetRegressor  # noqa: E402
from unisymnet.candidate import Candidate, ParetoFront, Proposal, Status  # noqa: E402
from unisymnet.deadline import Deadline  # noqa: E402
from unisymnet.fit.dno.dno import DNO, DNOProposer, default_ops, formulas_of, structure_of  # noqa: E402
from unisymnet.fit.polish import Polish  # noqa: E402
from unisymnet.metrics import r2  # noqa: E402
from unisymnet.problem import Problem, make_problem  # noqa: E402
from unisymnet.search.order import dno_proposers  # noqa: E402
from unisymnet.symbolic.expr import Const, Param, Var, evaluate  # noqa: E402
from unisymnet.symbolic.network.identify import identify  # noqa: E402
from unisymnet.symbolic.parse import parse  # noqa: E402

torch.set_num_threads(1)
NEVER = Deadline.never()


def data(text: str, low: float = 0.5, high: float = 3.0, n: int = 120, **settings: object) -> Problem:
    X = np.random.default_rng(0).uniform(low, high, (n, 3))
    return make_problem(X, evaluate(parse(text), X), **settings)  # type: ignore[arg-type]


def polished(formulas: tuple, problem: Problem) -> ParetoFront:
    fitter, front = Polish(), ParetoFront()
    for expr in formulas:
        front.add(fitter.fit(Proposal(expr, "dno"), problem, rng=np.random.default_rng(0), deadline=NEVER))
    return front


@pytest.mark.parametrize("pruning", [True, False])
def test_a_law_is_recovered_from_its_structure(pruning: bool) -> None:
    problem = data("2*x0*x1/(x2 + 1)")
    structure = structure_of(parse("2*x0*x1/(x2 + 1)"), 3)
    assert structure is not None
    result = DNO(pruning=pruning).train(structure, problem, rng=np.random.default_rng(1), deadline=NEVER)
    assert result.status is Status.OK
    assert r2(problem.y, result.predict(problem.X)) > 0.999
    front = polished(result.formulas, problem)
    assert any(c.loss < 1e-20 * problem.spread**2 and c.complexity <= 11 for c in front)


def test_the_papers_own_settings_train_too() -> None:
    problem = data("2*x0*x1")
    structure = structure_of(parse("2*x0*x1"), 3)
    assert structure is not None
    dno = DNO(signed=False, screening=0, holdout=0.0, n_settling=0, n_cut=0, init="lhs", epochs=200, keep_history=True)
    result = dno.train(structure, problem, rng=np.random.default_rng(1), deadline=NEVER)
    assert len(result.history) == 200 and dno.n_epochs(3) == 200 and DNO().n_epochs(3) == 30
    assert all(a >= b for a, b in pairwise(result.history))
    assert result.history[-1] == pytest.approx(result.loss)
    assert result.loss < 0.2 * problem.spread**2


def test_same_seed_same_result() -> None:
    problem = data("x0*x1 + sin(x2)")
    structure = structure_of(parse("x0*x1 + sin(x2)"), 3)
    assert structure is not None
    dno = DNO(n_restarts=4, epochs=5, n_settling=5, screening=2)
    a, b = (dno.train(structure, problem, rng=np.random.default_rng(7), deadline=NEVER) for _ in range(2))
    assert a.formulas == b.formulas and a.loss == b.loss


def test_the_clock_is_obeyed() -> None:
    problem = data("x0*x1 + sin(x2)", n=500)
    dno = DNO(pruning=False, n_restarts=64, epochs=100_000)
    began = time.monotonic()
    result = dno.train_default(problem, rng=np.random.default_rng(0), deadline=Deadline.after(0.5))
    assert time.monotonic() - began < 5.0
    assert result.status in (Status.OK, Status.TIMED_OUT)


def test_training_works_in_any_unit() -> None:
    X = np.random.default_rng(0).uniform(0.5, 3.0, (100, 2)) * [300.0, 0.02]
    problem = make_problem(X, 1e-2 * X[:, 0] * X[:, 1])
    structure = structure_of(parse("x0*x1"), 2)
    assert structure is not None
    result = DNO(n_restarts=8).train(structure, problem, rng=np.random.default_rng(1), deadline=NEVER)
    assert r2(problem.y, result.predict(problem.X)) > 0.999999


def test_products_of_mixed_sign_need_the_signed_logarithm() -> None:
    problem = data("x0*x1*x2", low=-3.0)
    structure = structure_of(parse("x0*x1*x2"), 3)
    assert structure is not None
    scores = {}
    for signed in (False, True):
        result = DNO(signed=signed).train(structure, problem, rng=np.random.default_rng(1), deadline=NEVER)
        scores[signed] = r2(problem.y, result.predict(problem.X))
    assert scores[True] > 0.999 and scores[False] < 0.9


def test_a_pole_is_found_where_the_target_is_bent() -> None:
    """Squared error sees the rows beside the pole only, and they tell nothing about where it is."""
    problem = data("1/(x0 - 0.7*x1 + 0.3)")
    structure = structure_of(parse("1/(x0 - 0.7*x1 + 0.3)"), 3)
    assert structure is not None
    scores = {}
    for bend in (0.0, 0.3):
        dno = DNO(bend=bend, n_restarts=16, n_cut=0)
        result = dno.train(structure, problem, rng=np.random.default_rng(1), deadline=NEVER)
        scores[bend] = r2(problem.y, result.predict(problem.X))
    assert scores[0.3] > 0.999 and scores[0.0] < 0.9


@pytest.mark.parametrize("settings", [{"n_settling": 0}, {"n_restarts": 1}, {"screening": 0, "holdout": 0.0}])
def test_bent_targets_are_judged_as_they_are(settings: dict[str, float]) -> None:
    problem = data("1/(x0 - 0.7*x1 + 0.3)")
    structure = structure_of(parse("1/(x0 - 0.7*x1 + 0.3)"), 3)
    assert structure is not None
    dno = DNO(n_cut=0, keep_history=True, **settings)  # type: ignore[arg-type]
    result = dno.train(structure, problem, rng=np.random.default_rng(1), deadline=NEVER)
    assert result.loss == pytest.approx(np.mean((problem.y - result.predict(problem.X)) ** 2))


def test_formulas_are_defined_on_the_data() -> None:
    X = np.random.default_rng(0).uniform(-3.0, -0.5, (50, 2))
    network = identify(parse("3*x0**2*x1"), 2)
    assert any(np.allclose(evaluate(f, X), 3 * X[:, 0] ** 2 * X[:, 1]) for f in formulas_of(network, X))
    for text in ("x0**1.7 + ln(x1)", "x0**2.04 - sqrt(x1)"):
        for expr in formulas_of(identify(parse(text), 2), X):
            assert np.isfinite(evaluate(expr, X)).all()


def test_operators_that_are_not_allowed_are_not_used() -> None:
    problem = data("x0*x1", operators=frozenset({"add", "mul"}))
    assert set(default_ops(problem)[0]) == {"id", "exp", "ln"}
    assert problem.allows_formula(parse("x0*x1 + x2")) and not problem.allows_formula(parse("sin(x0)"))


class Fake:
    """A source of structures with open constants."""

    name = "fake"

    def propose(self, problem, front, *, rng, deadline):  # type: ignore[no-untyped-def]
        yield Proposal(Param(0) * Var(0) * Var(1), self.name)


def test_the_stage_trains_structures_of_its_sources() -> None:
    problem = data("2*x0*x1")
    stage = DNOProposer(DNO(n_restarts=4), sources=(Fake(),), n_structures=1)
    proposals = stage.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.after(20.0))
    first = next(proposals)
    assert first.source == "dno"
    assert np.allclose(evaluate(first.expr, problem.X), problem.y, rtol=1e-3)


def test_the_stage_keeps_silent_where_the_front_is_good_enough() -> None:
    problem = data("2*x0*x1")
    good = ParetoFront([Candidate(Const(1.0), 0.005 * problem.spread**2, 1, 1)])
    poor = ParetoFront([Candidate(Const(1.0), 0.5 * problem.spread**2, 1, 1)])
    stage = DNOProposer(DNO(pruning=False, n_restarts=4, epochs=3), enough=0.99)
    deadline = Deadline.after(20.0)
    assert list(stage.propose(problem, good, rng=np.random.default_rng(0), deadline=deadline)) == []
    assert next(stage.propose(problem, poor, rng=np.random.default_rng(0), deadline=deadline), None) is not None


@pytest.mark.parametrize("strategy", ["dno-p", "dno-np"])
def test_the_estimator_trains_networks(strategy: str) -> None:
    problem = data("2*x0*x1/(x2 + 1)")
    model = UniSymNetRegressor(strategy=strategy, max_time=30, proposers=["monomial"]).fit(problem.X, problem.y)
    assert model.score(problem.X, problem.y) > 0.9999
    assert [row.stage for row in model.trace_][-1] == "dno"
    x = torch.tensor(problem.X, requires_grad=True)
    module = model.torch_module()
    np.testing.assert_allclose(module(x).detach().numpy(), model.predict(problem.X), rtol=1e-9)
    module(x).sum().backward()
    assert torch.isfinite(x.grad).all()


def test_without_torch_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = data("2*x0*x1")
    model = UniSymNetRegressor(max_time=10, proposers=["monomial"]).fit(problem.X, problem.y)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"unisymnet\[torch\]"):
        model.torch_module()
    with pytest.raises(ImportError, match=r"unisymnet\[torch\]"):
        UniSymNetRegressor(strategy="dno-p", max_time=10).fit(problem.X, problem.y)


def test_which_strategy_trains_what() -> None:
    assert dno_proposers("sfo") == ()
    kinds = {s: dno_proposers(s)[0] for s in ("auto", "dno-p", "dno-np")}
    assert all(isinstance(stage, DNOProposer) for stage in kinds.values())
    assert [kinds[s].dno.pruning for s in ("auto", "dno-p", "dno-np")] == [False, True, False]  # type: ignore[attr-defined]
    assert kinds["auto"].enough == 0.99 and kinds["dno-p"].enough is None  # type: ignore[attr-defined]
