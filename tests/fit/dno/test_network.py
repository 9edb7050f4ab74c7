"""The torch network: the paper's activations and penalty, masks, derivatives, signs, the way to the symbolic side."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from unisymnet.fit.dno.network import (  # noqa: E402
    Activations,
    Blueprint,
    SymbolicNetwork,
    default_ops,
    initial,
    with_plain_exponents,
)
from unisymnet.formula.torch_module import FormulaModule  # noqa: E402
from unisymnet.symbolic.expr import evaluate  # noqa: E402
from unisymnet.symbolic.network.identify import identify  # noqa: E402
from unisymnet.symbolic.network.skeleton import network_to_expr  # noqa: E402
from unisymnet.symbolic.parse import parse  # noqa: E402


def network_of(text: str, n_features: int, **settings: bool) -> SymbolicNetwork:
    """The network of a formula with the formula's own numbers."""
    known = identify(parse(text), n_features)
    blueprint = Blueprint.sparse(known.structure, n_features)
    parts = []
    for mask, weights, biases in zip(blueprint.masks, known.weights, known.biases):
        table = np.zeros(mask.shape)
        table[:, : weights.shape[1]] = weights
        table[:, -1] = biases
        parts.append(table.ravel())
    return SymbolicNetwork(blueprint, torch.tensor(np.concatenate(parts))[None], Activations(**settings))


def random_network(*, signed: bool, dense: bool = True, n_restarts: int = 3) -> SymbolicNetwork:
    rng = np.random.default_rng(4)
    structure = identify(parse("sin(1.5*x0)*x1 + 2/(x2 + 3) + exp(0.3*x0)"), 3).structure
    blueprint = Blueprint.dense(structure.ops, 3) if dense else Blueprint.sparse(structure, 3)
    theta = initial(blueprint, n_restarts, scale=2.0, init="scaled", rng=rng)
    return SymbolicNetwork(blueprint, theta, Activations(signed=signed))


def test_activations_are_those_of_the_paper() -> None:
    net = network_of("ln(x0)", 1)
    x = torch.tensor([[-3.0], [0.0], [0.5e-4], [1e-4], [2.0]], dtype=torch.float64)
    expected = [0.0, 0.0, 0.0, math.log(1e-4 + 1e-8), math.log(2.0 + 1e-8)]
    assert net(x)[0].tolist() == pytest.approx(expected)
    net = network_of("exp(x0)", 1)
    x = torch.tensor([[-120.0], [1.0], [100.0], [150.0]], dtype=torch.float64)
    assert net(x)[0].tolist() == pytest.approx([math.exp(v) for v in (-120.0, 1.0, 100.0, 100.0)])


def test_penalty_is_that_of_the_paper() -> None:
    x = torch.tensor([[-2.0], [3.0]], dtype=torch.float64)
    assert network_of("ln(x0)", 1).run(x)[1].tolist() == pytest.approx([(2.0 + 1e-4) / 2])
    x = torch.tensor([[-130.0], [3.0], [120.0]], dtype=torch.float64)
    assert network_of("exp(x0)", 1).run(x)[1].tolist() == pytest.approx([(30.0 + 20.0) / 3])
    assert network_of("ln(x0)", 1, signed=True).run(x)[1].tolist() == [0.0]
    assert network_of("x0 + 1", 1).run(x)[1].tolist() == [0.0]


def test_gradients_are_finite_where_ln_is_switched_off() -> None:
    net = network_of("ln(x0)", 1)
    net(torch.tensor([[-1.0], [0.0], [2.0]], dtype=torch.float64)).sum().backward()
    assert torch.isfinite(net.theta.grad).all()


@pytest.mark.parametrize("text", ["2*x0*x1 - 3", "x0**2/x1 + sin(x2)", "exp(-x0)*x1 + 4*x2"])
def test_values_are_those_of_the_formula(text: str) -> None:
    X = np.random.default_rng(0).uniform(0.5, 2.0, (20, 3))
    values = network_of(text, 3)(torch.tensor(X))[0].detach().numpy()
    np.testing.assert_allclose(values, evaluate(parse(text), X), rtol=1e-6)


@pytest.mark.parametrize("text", ["2*x0*x1 - 3", "x0**3/x1", "x0**2 + x1*x2", "1/(x0*x1*x2)"])
def test_signed_products_are_right_for_any_sign(text: str) -> None:
    X = np.random.default_rng(0).uniform(-2.0, 2.0, (30, 3))
    X += 0.1 * np.sign(X)
    truth = evaluate(parse(text), X)
    np.testing.assert_allclose(network_of(text, 3, signed=True)(torch.tensor(X))[0].detach(), truth, rtol=1e-5)
    plain = network_of(text, 3)(torch.tensor(X))[0].detach().numpy()
    assert not np.allclose(plain, truth, rtol=0.1)


def test_closed_connections_have_no_value_and_no_gradient() -> None:
    net = random_network(signed=True, dense=False)
    x = torch.tensor(np.random.default_rng(1).uniform(0.5, 2.0, (10, 3)))
    before = net(x)
    with torch.no_grad():
        net.theta[~net.open] = 7.0
    assert torch.equal(net(x), before)
    net(x).sum().backward()
    assert net.theta.grad is not None and (net.theta.grad[~net.open] == 0).all()
    assert (net.jacobian(x)[1].transpose(1, 2)[~net.open] == 0).all()


@pytest.mark.parametrize("signed", [False, True])
def test_jacobian_agrees_with_autograd(signed: bool) -> None:
    net = random_network(signed=signed)
    x = torch.tensor(np.random.default_rng(1).uniform(-2.0, 2.0, (6, 3)))
    values, slopes = net.jacobian(x)
    torch.testing.assert_close(values, net(x).detach())
    for restart in range(net.n_restarts):
        for row in range(len(x)):
            net.theta.grad = None
            net(x)[restart, row].backward()
            slope = net.theta.grad
            assert slope is not None
            torch.testing.assert_close(slopes[restart, row], slope[restart], rtol=1e-9, atol=1e-12)


def test_dense_masks_survive_and_nodes_keep_their_order() -> None:
    net = random_network(signed=False)
    X = np.random.default_rng(2).uniform(0.5, 2.0, (400, 3))
    values = net(torch.tensor(X)).detach().numpy()
    for restart in range(net.n_restarts):
        known = net.network(restart)
        assert all(mask.all() for mask in known.structure.weights)
        raw = known.forward(X)
        usable = np.isfinite(raw)  # the symbolic side has no regularised ln
        np.testing.assert_allclose(raw[usable], values[restart][usable], rtol=1e-5)
        expr = evaluate(network_to_expr(known), X)
        np.testing.assert_allclose(expr[usable], raw[usable], rtol=1e-6)


def test_rescaling_changes_units_only() -> None:
    net = random_network(signed=True)
    x = torch.tensor(np.random.default_rng(3).uniform(0.5, 2.0, (10, 3)))
    scales = torch.tensor([2.0, 0.1, 5.0], dtype=torch.float64)
    expected = 3.0 * net(x / scales)
    net.rescale(scales, 3.0)
    torch.testing.assert_close(net(x), expected)


def test_default_form_and_starts() -> None:
    ops = default_ops()
    assert [len(layer) for layer in ops] == [10, 10, 1] and ops[0].count("sin") == 2
    blueprint = Blueprint.dense(ops, 2)
    assert sum(mask.sum() for mask in blueprint.masks) == 10 * 3 + 10 * 11 + 11
    for init in ("scaled", "lhs"):
        a, b = (initial(blueprint, 4, scale=2.0, init=init, rng=np.random.default_rng(1)) for _ in range(2))
        assert torch.equal(a, b) and a.shape == (4, sum(mask.sum() for mask in blueprint.masks))
    assert a.abs().max() <= 2.0
    with pytest.raises(ValueError, match="scaled"):
        initial(blueprint, 4, scale=2.0, init="zeros", rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    "text", ["2.5*x0**2 - sin(x1)/x2", "sqrt(x0) + ln(x1)*tanh(x2)", "atan(x0)/(1 + x1**2) + abs(x2)**1.5", "3"]
)
def test_any_formula_is_a_module_with_gradients(text: str) -> None:
    expr = parse(text)
    X = np.random.default_rng(0).uniform(0.2, 0.9, (15, 3))
    module = FormulaModule(expr, ["a", "b", "c"])
    x = torch.tensor(X, requires_grad=True)
    values = module(x)
    np.testing.assert_allclose(values.detach().numpy(), evaluate(expr, X), rtol=1e-12)
    assert module(x[0]).shape == ()
    if "x0" in text:
        values.sum().backward()
        step = np.array([1e-6, 0.0, 0.0])
        expected = (evaluate(expr, X + step) - evaluate(expr, X - step)) / 2e-6
        np.testing.assert_allclose(x.grad[:, 0].numpy(), expected, rtol=1e-5, atol=1e-7)
        slope = module.constants.grad
        assert slope is None or torch.isfinite(slope).all()
    assert "a" in repr(module) or text == "3"


def test_whole_exponents_are_no_constants() -> None:
    module = FormulaModule(parse("2*x0**2 + x0**1.5"), ["x0"])
    assert module.constants.tolist() == [2.0, 1.5]
    with pytest.raises(ValueError, match="columns"):
        module(torch.zeros(3, 2))


def test_half_of_the_restarts_can_begin_with_plain_exponents() -> None:
    structure = identify(parse("x0**1.7/x1 + sin(x0)"), 2).structure
    blueprint = Blueprint.dense(structure.ops, 2)
    rng = np.random.default_rng(0)
    theta = initial(blueprint, 8, scale=2.0, init="scaled", rng=rng)
    changed = with_plain_exponents(blueprint, theta.clone(), rng) != theta
    n_exponents = sum(
        (ops.count("exp") * below.count("ln")) for below, ops in zip(structure.ops, structure.ops[1:], strict=False)
    )
    assert n_exponents > 0 and changed.sum(dim=1).tolist() == [0, 0, n_exponents, n_exponents] * 2
