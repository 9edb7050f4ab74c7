"""The transformer as a proposer: shipped weights, columns, operators, scales, and no torch."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from unisymnet.candidate import ParetoFront
from unisymnet.deadline import Deadline
from unisymnet.model.proposer import TransformerProposer, column_sets, relevance, weights_for
from unisymnet.model.runtime import WEIGHTS, Runtime, shipped
from unisymnet.problem import make_problem
from unisymnet.symbolic.expr import Call, n_params, renumbered, variables, walk
from unisymnet.symbolic.parse import parse

needs_weights = pytest.mark.skipif(not shipped(), reason="no exported weights in the package yet")
QUICK = TransformerProposer(width=5, n_samples=5, n_frequent=5)


def proposals(proposer: TransformerProposer, X, y, **options):
    problem = make_problem(X, y, **options)
    return list(proposer.propose(problem, ParetoFront(), rng=np.random.default_rng(0), deadline=Deadline.never()))


def table(n_rows: int, n_columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(1, 5, (n_rows, n_columns))


@needs_weights
def test_skeletons_with_free_constants_each_once() -> None:
    X = table(300, 2)
    found = proposals(QUICK, X, X[:, 0] * X[:, 1])
    assert 5 <= len(found) and len({p.expr for p in found}) == len(found)
    assert all(p.source == "transformer" and n_params(p.expr) > 0 for p in found)


@needs_weights
def test_a_small_model_runs_on_one_thread_unless_told_otherwise() -> None:
    # Two threads took three times the processor time of one, and longer, because the second spins.
    plain, told = (Runtime.load(WEIGHTS / "small-low", **kw) for kw in ({}, {"n_threads": 2}))
    assert [m.decoder.get_session_options().intra_op_num_threads for m in (plain, told)] == [1, 2]


@needs_weights
def test_brief_looks_at_whole_beams_come_before_full_fits() -> None:
    X = table(100, 2)
    found = proposals(replace(QUICK, width=8, n_candidates=3, brief=5, n_samples=0), X, X[:, 0] * X[:, 1])
    looks = [p.brief for p in found]
    assert looks[:8] == [5] * 8 and looks[8:11] == [0] * 3 and set(looks[11:]) == {5}
    assert {p.expr for p in found[8:11]} == {p.expr for p in found[:3]}
    assert len(set(found)) == len(found)
    beam = replace(QUICK, width=8, n_candidates=0, brief=5, n_skipped=6, n_samples=0, n_frequent=0)
    later = proposals(beam, X, X[:, 0] * X[:, 1])
    assert later == found[6:8]


@needs_weights
@pytest.mark.parametrize("s", [1.0, 2.0**-60, 1e20])
def test_extreme_units_do_no_harm(s: float) -> None:
    X = table(100, 2)
    beam = replace(QUICK, n_samples=0, n_frequent=0)
    found = proposals(beam, X * s, s * X[:, 0] / X[:, 1])
    assert any(str(p.expr) == "c0*x0**c1*x1**c2" for p in found)


@needs_weights
def test_forbidden_operators_do_not_appear() -> None:
    X = table(100, 2)
    found = proposals(QUICK, X, np.sin(X[:, 0]) + X[:, 1], operators=frozenset({"add", "mul", "pow"}))
    ops = {node.op for p in found for node in walk(p.expr) if isinstance(node, Call)}
    assert found and ops <= {"add", "mul", "pow"}


@needs_weights
def test_many_columns_are_cut_to_what_the_model_reads() -> None:
    X = table(200, 30)
    found = proposals(QUICK, X, X[:, 7] * X[:, 23])
    used = {j for p in found for j in variables(p.expr)}
    assert {7, 23} <= used


@needs_weights
def test_dull_problems_give_nothing() -> None:
    X = table(20, 2)
    assert proposals(QUICK, X, np.ones(20)) == []
    assert proposals(QUICK, X[:2], np.array([1.0, 2.0])) == []


def test_no_weights_no_proposals(tmp_path) -> None:
    assert weights_for(2, tmp_path) is None


@needs_weights
def test_there_is_a_model_for_few_and_one_for_many_columns() -> None:
    names = [folder.name for n in (1, 4, 5, 10, 30) if (folder := weights_for(n)) is not None]
    assert names == ["small-low", "small-low", "small-high", "small-high", "small-high"]


@needs_weights
def test_the_model_for_many_columns_reads_them() -> None:
    X = table(200, 7)
    found = proposals(replace(QUICK, n_samples=0, n_frequent=0), X, X.prod(axis=1))
    assert any(set(variables(p.expr)) == set(range(7)) for p in found)
    assert "c0*x0**c1*x1**c2*x2**c3*x3**c4*x4**c5*x5**c6*x6**c7" in [str(p.expr) for p in found]


def test_relevance_finds_levels_and_spreads() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] ** 2 + 0.01 * X[:, 1]
    scores = [relevance(X[:, j], y) for j in range(3)]
    assert scores[0] > 3 * max(scores[1:])
    spread = rng.normal(size=400) * np.abs(X[:, 2])
    assert relevance(X[:, 2], spread) > 2 * relevance(X[:, 0], spread)


def test_columns_are_renamed_back() -> None:
    X = table(50, 6)
    X[:, 0] = 3.0  # constant: never chosen
    problem = make_problem(X, X[:, 1] + X[:, 5])
    assert column_sets(problem, 2) == [[1, 5]]
    assert renumbered(parse("x0 + 2*x1"), [1, 5]) == parse("x1 + 2*x5")


def test_idle_columns_are_left_out_the_second_time() -> None:
    X = table(300, 4)
    assert column_sets(make_problem(X, X[:, 1] * X[:, 3]), 4) == [[0, 1, 2, 3], [1, 3]]
    assert column_sets(make_problem(X, X.prod(axis=1)), 4) == [[0, 1, 2, 3]]


def test_a_power_is_allowed_by_its_kin() -> None:
    X = table(10, 1)
    assert make_problem(X, X[:, 0], operators=frozenset({"square", "mul"})).allows_formula(parse("x0**2"))
    assert not make_problem(X, X[:, 0], operators=frozenset({"add", "mul"})).allows_formula(parse("x0**2"))


WITHOUT_TORCH = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "onnx", "onnxscript", "safetensors"):
            raise ImportError(name + " is blocked")
sys.meta_path.insert(0, Block())
import numpy as np
from unisymnet import UniSymNetRegressor
X = np.random.default_rng(0).uniform(1, 5, (100, 2))
model = UniSymNetRegressor(proposers=["transformer"], max_time=40, random_state=0).fit(X, X[:, 0] * X[:, 1])
assert "torch" not in sys.modules
print(model.front_[model.picked_].source, model.formula_)
"""


@needs_weights
def test_fit_uses_the_transformer_without_torch() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("transformer") and "x0*x1" in done.stdout


@needs_weights
def test_shipped_weights_are_small() -> None:
    assert sum(f.stat().st_size for f in WEIGHTS.rglob("*") if f.is_file()) < 60e6
