from types import SimpleNamespace

import numpy as np
import pytest

from unisymnet.bench.methods import METHODS, MissingMethod, get_method
from unisymnet.bench.peers import program_to_infix
from unisymnet.symbolic import evaluate, parse


def _node(name, arity):
    return SimpleNamespace(name=name, arity=arity)


def test_gplearn_programs_become_infix():
    sub, mul, sqrt, div = _node("sub", 2), _node("mul", 2), _node("sqrt", 1), _node("div", 2)
    assert program_to_infix([3]) == "x3"
    assert program_to_infix([np.float64(-0.1234567)]) == "(-0.1234567)"
    text = program_to_infix([sub, mul, 12, -1e-05, sqrt, div, 1, np.int64(0)])
    assert text == "((x12 * (-1e-05)) - sqrt((x1 / x0)))"
    parse(text)


def test_the_linear_formula_is_the_linear_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = 1.5 - 2 * X[:, 0] + 1e-9 * X[:, 2]
    method = METHODS["linear"]
    model = method.fit(X, y, max_time=1, seed=0, names=("x0", "x1", "x2"))
    text = method.expression(model)
    assert text is not None
    np.testing.assert_allclose(evaluate(parse(text), X), method.predict(model, X), rtol=1e-12)


@pytest.mark.parametrize("name", ["boosting", "mlp", "svr"])
def test_black_box_methods_predict_without_a_formula(name):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    y = X[:, 0] * X[:, 1]
    method = METHODS[name]
    model = method.fit(X, y, max_time=5, seed=0, names=("x0", "x1"), cores=1)
    assert method.expression(model) is None
    assert np.corrcoef(method.predict(model, X), y)[0, 1] > 0.9
    assert method.load()


@pytest.mark.parametrize("name", ["gplearn", "pyoperon"])
@pytest.mark.filterwarnings("ignore")
def test_peers_find_a_product_and_say_it_in_our_words(name):
    pytest.importorskip(name)
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 3, size=(50, 2))
    y = X[:, 0] * X[:, 1]
    method = METHODS[name]
    model = method.fit(X, y, max_time=1, seed=0, names=("x0", "x1"))
    text = method.expression(model)
    assert text is not None
    np.testing.assert_allclose(evaluate(parse(text), X), method.predict(model, X), rtol=1e-4)


def test_the_equation_learner_says_what_it_predicts():
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 3, size=(60, 2))
    y = X[:, 0] / X[:, 1]
    method = METHODS["eql"]
    # Beside other jobs one second ends before anything is pruned, and the whole network is too long to be read.
    model = method.fit(X, y, max_time=5.0, seed=0, names=("x0", "x1"))
    predicted = method.predict(model, X)
    assert np.corrcoef(predicted, y)[0, 1] > 0.9
    text = method.expression(model)
    assert text is not None
    np.testing.assert_allclose(evaluate(parse(text), X), predicted, rtol=1e-8)


def test_modes_of_ours_take_parts_away():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3, size=(60, 2))
    y = 2.0 * X[:, 0] ** 1.37
    settings = {"max_time": 3.0, "seed": 0, "names": ("x0", "x1"), "cores": 1}
    for name in ("unisymnet", "unisymnet-no-policy", "unisymnet-paper[init=grid]"):
        method = get_method(name)
        model = method.fit(X, y, **settings)
        np.testing.assert_allclose(method.predict(model, X), y, rtol=1e-6, err_msg=name)
        stages = {row.stage for row in model.trace_ if row.n_turns}
        assert ("monomial" in stages) is (name == "unisymnet")
        assert ("transformer" in stages) is (name != "unisymnet")
    model = get_method("unisymnet-no-transformer").fit(X, y, **settings)
    stages = {row.stage for row in model.trace_}
    assert "evolve" in stages and "transformer" not in stages


def test_methods_are_found_by_name_or_by_place(monkeypatch):
    monkeypatch.syspath_prepend(__file__.rpartition("/")[0])
    assert get_method("linear") is METHODS["linear"]
    assert get_method("bench_fakes:TRUTH").name == "truth"
    with pytest.raises(ValueError, match="unknown method 'linaer'; use one of unisymnet"):
        get_method("linaer")
    with pytest.raises(TypeError, match="must be a unisymnet"):
        get_method("bench_fakes:recognise")
    with pytest.raises(MissingMethod, match=r"no-such-package.*unisymnet\[bench\]"):
        get_method("bench_fakes:MISSING").load()
