"""The judge's four parts against values worked out by hand, and what must win on data whose law is known."""

import math

import numpy as np
import pytest

from unisymnet.fit.settle import settled, shortest, stepped
from unisymnet.formula.constants import refit, settle
from unisymnet.judge.data import data_nats, last_digit, level_nats, spread_nats
from unisymnet.judge.forms import FORMS, _whole_weight, form_share
from unisymnet.judge.judge import CONSTANT_SHARE, make_judge
from unisymnet.judge.noise import EQUAL, MODELS, models_called, read_noise
from unisymnet.judge.numbers import written_nats
from unisymnet.judge.prior import Prior, load_prior
from unisymnet.judge.special import canonical
from unisymnet.judge.tree import read
from unisymnet.symbolic.expr import bind, evaluate
from unisymnet.symbolic.parse import parse
from unisymnet.symbolic.rewrite.simplify import simplify

RELATIVE = MODELS[1]


def test_data_with_the_noise_level_integrated_out():
    # n = 4, Q = 4: the integral of prod N(r_i; 0, s) ds/s is Gamma(2) / (2 pi^2 Q^2).
    residuals = np.array([1.0, -1.0, 1.0, -1.0])
    nats = data_nats(residuals, np.ones(4), EQUAL, 0.0)
    assert nats == pytest.approx(-math.log(1.0 / (2.0 * math.pi**2 * 16.0)))


def test_a_known_noise_level_gives_the_likelihood():
    nats = data_nats(np.array([2.0, 0.0]), np.ones(2), EQUAL, 0.0, sigma=2.0)
    assert nats == pytest.approx(0.5 + 2.0 * math.log(2.0 * math.sqrt(2.0 * math.pi)))


def test_weights_cost_their_volume():
    residuals, roots = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5, 2.0])
    plain = data_nats(roots * residuals, np.ones(3), EQUAL, 0.0)
    assert data_nats(residuals, roots, RELATIVE, 0.0) == pytest.approx(plain - np.log(roots).sum())


def test_noise_level_of_many_rows_is_the_mean_square():
    assert spread_nats(500.0, 1000, 3) == pytest.approx(math.log(2.0 * math.pi * 0.5), abs=0.01)


@pytest.mark.parametrize(
    ("values", "digit"), [([1.0, 2.5, 3.25], 0.01), ([100.0, 2000.0], 100.0), ([1.0 / 3.0, 2.0], 0.0)]
)
def test_last_digit(values, digit):
    assert last_digit(np.array(values)) == pytest.approx(digit)


@pytest.mark.parametrize(
    ("value", "nats"),
    [
        (2.0, math.log(2.0 * 6.0 * 2.0)),
        (-0.5, math.log(2.0 * 2.0 * 6.0)),
        (math.pi, math.log(2.0 * 2.0 * 2.0) + 4.0),
        (1.37, math.log(137.0 * 138.0 * 3.0 * 12.0)),
        (1.0 / 7.123456789012345, math.inf),
    ],
)
def test_written_numbers(value, nats):
    assert written_nats(value) == pytest.approx(nats)


def test_a_tree_costs_its_symbols():
    table = {parent: {"column": 8.0, "sin": 4.0} for parent in ("root", "sin")}
    prior = Prior(table, {}, {}, {})
    even = 0.3 / (9 + 8 * 0.3)
    column = 0.7 * (8 + 4 * 2 / 3) / 16 + even
    sine = 0.7 * (4 + 4 * 1 / 3) / 16 + even
    nats = prior.price(read(parse("sin(x0)")).tree, 3).structure
    assert nats == pytest.approx(-math.log(sine) - math.log(column) + math.log(3.0))


def test_shares_below_every_parent_add_up_to_one():
    from unisymnet.judge.prior import _shares

    parts = sum(math.exp(-part.nats) for part in load_prior().parts)
    assert 0.0 < parts < 0.1
    for parent in ("root", "add", "mul", "pow", "sin", "exponent"):
        assert sum(_shares(load_prior(), parent).values()) == pytest.approx(1.0 - parts)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("3.2*x0 + 1.1", "line"),
        ("2.5*x1/(x1 + 0.3)", "Michaelis-Menten"),
        ("x0/(0.2*x0 + 0.1)", "Michaelis-Menten"),
        ("5/(1 + exp(2 - 0.3*x0))", "logistic"),
        ("2*x0**1.7", "power law"),
        ("exp(11.3 - 3800/(x0 - 46))", "Antoine"),
        ("3*exp(-(x0 - 2)**2/5)", "Gaussian"),
        ("7.1*x0**1.3/(x0**1.3 + 2.2)", "Hill"),
    ],
)
def test_whole_forms_are_recognised(text, name):
    found = form_share(canonical(parse(text)))
    assert found is not None and found[0].name == name


@pytest.mark.parametrize("text", ["x0*x1", "sin(x0)*ln(x0)", "3*x0/(x1 + 0.3)"])
def test_other_formulas_are_no_form(text):
    assert form_share(canonical(parse(text))) is None


def test_spelling_does_not_matter():
    x = np.linspace(1.0, 5.0, 30)[:, None]
    judge = make_judge(x, np.sin(x[:, 0]))
    assert judge.structure(parse("2.5*x0/(x0 + 1.3)")) == judge.structure(parse("2.5/(x0 + 1.3)*x0"))
    assert judge.structure(parse("sqrt(x0)")) == judge.structure(parse("x0**0.5"))


def test_a_constant_costs_half_of_the_belief():
    x = np.linspace(1.0, 5.0, 30)[:, None]
    assert make_judge(x, x[:, 0]).structure(parse("3.14")) == pytest.approx(-math.log(CONSTANT_SHARE))


def _picked(texts, x, y):
    judge = make_judge(x, y)
    found = {text: judge.lengths(settle(parse(text), x, y)) for text in texts}
    return min((lengths.total, text) for text, lengths in found.items() if lengths is not None)[1]


def test_the_law_wins_over_longer_and_shorter_formulas():
    rng = np.random.default_rng(1)
    x = np.linspace(0.3, 8.0, 40)[:, None]
    y = 4.0 * x[:, 0] / (x[:, 0] + 1.7) + 0.05 * rng.normal(size=40)
    rivals = [
        "2.1", "0.3*x0 + 1.4", "1.6*x0**0.37", "0.86*ln(x0) + 1.5", "3.5*tanh(0.45*x0**0.63)",
        "3.9*x0/(x0 + 1.6) + 0.1*sin(3.3*x0)", "3.3 - 2.9*exp(-0.43*x0)",
    ]  # fmt: skip
    assert _picked([*rivals, "3.9*x0/(x0 + 1.6)"], x, y) == "3.9*x0/(x0 + 1.6)"


def test_relative_noise_is_seen():
    rng = np.random.default_rng(2)
    x = np.geomspace(0.1, 100.0, 60)[:, None]
    y = 3.0 * x[:, 0] ** 2 * (1.0 + 0.1 * rng.normal(size=60))
    lengths = make_judge(x, y).lengths(parse("3.0012*x0**2"))
    assert lengths is not None and lengths.model.kind == "relative"


def test_outliers_are_seen():
    rng = np.random.default_rng(3)
    x = np.linspace(0.0, 1.0, 80)[:, None]
    y = 2.0 * x[:, 0] + 0.02 * rng.standard_t(1.5, size=80)
    lengths = make_judge(x, y).lengths(parse("2.001*x0"))
    assert lengths is not None and lengths.model.kind == "heavy tails"


def test_as_many_constants_as_rows_are_no_formula():
    x = np.array([[1.0], [2.0], [3.0]])
    judge = make_judge(x, np.array([1.234567891234, 5.01234567891, 2.98765432198]))
    assert judge.lengths(settle(parse("1.1234*x0**2 + 2.2345*x0 + 3.3456"), x, judge.y)) is None


def test_undefined_formulas_are_not_judged():
    x = np.array([[-1.0], [2.0], [3.0]])
    assert make_judge(x, np.array([1.0, 2.0, 3.0])).lengths(parse("2.2*ln(x0)")) is None


def test_redundant_constants_are_not_paid_twice():
    rng = np.random.default_rng(0)
    x = rng.uniform(1.0, 2.0, (30, 1))
    y = np.sqrt(3.7 * x[:, 0]) + 0.01 * rng.normal(size=30)
    judge = make_judge(x, y)
    one, two = judge.lengths(parse("1.92354*sqrt(x0)")), judge.lengths(parse("1.2345*sqrt(2.4278*x0)"))
    assert one is not None and two is not None
    assert two.n_free == one.n_free == 1


@pytest.mark.parametrize("given", ["loud", -1.0, True, [1.0]])
def test_noise_that_nobody_can_mean_is_refused(given):
    with pytest.raises(ValueError, match="noise must be"):
        read_noise(given)


def test_noise_as_it_may_be_told():
    assert read_noise(None) == (None, None)
    assert read_noise(0.5) == (0.5, None)
    assert read_noise("relative") == (None, "relative")


def test_a_rate_of_one_does_not_come_for_nothing():
    x = np.linspace(1.0, 5.0, 30)[:, None]
    judge = make_judge(x, np.sin(x[:, 0]))
    with_rate = judge.structure(parse("49.78*exp(-11.655*exp(-1.23*x0))"))
    assert judge.structure(parse("49.78*exp(-11.655*exp(-x0))")) > with_rate + 1.0


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("2.3*sin(1.7*x0)", "wave"),  # neither phase nor level
        ("2.3*cos(1.7*x0) + 0.4", "wave"),
        ("1.9*exp(-0.3*x0)*sin(2.2*x0)", "damped wave"),
        ("0.7*x0**2 + 3.1*x0", "parabola"),
        ("x0**1.7", "power law"),
        ("exp(-0.7*x0)", "exponential"),
        ("x0/(x0 + 2.7)", "Michaelis-Menten"),
    ],
)
def test_special_cases_are_forms_too(text, name):
    found = form_share(canonical(parse(text)))
    assert found is not None and found[0].name == name


@pytest.mark.parametrize(
    ("special", "general"),
    [
        ("2.3*sin(1.7*x0)", "2.3*sin(1.7*x0 + 0.1)"),
        ("2.3*sin(1.7*x0 + 0.1)", "2.3*sin(1.7*x0 + 0.1) + 0.4"),
        ("0.7*x0**2 + 3.1*x0", "0.7*x0**2 + 3.1*x0 + 0.2"),
        ("0.7*x0**2 + 3.1", "0.7*x0**2 + 3.1*x0 + 0.2"),
        ("3.3*exp(-0.7*x0**2)", "3.3*exp(-0.7*(x0 - 0.3)**2)"),
        ("1.9*exp(-0.3*x0)*cos(2.2*x0)", "1.9*exp(-0.3*x0)*cos(2.2*x0 + 0.2)"),
    ],
)
def test_a_special_case_is_cheaper_than_the_form_with_its_constant_fitted(special, general):
    """The same values, so the shorter one must win: that is what its price is for."""
    x = np.linspace(0.5, 6.0, 40)[:, None]
    data = evaluate(parse(special), x) + 0.05 * np.random.default_rng(4).normal(size=40)
    judge = make_judge(x, data)
    short, long = (judge.lengths(refit(parse(text), x, data)[0]) for text in (special, general))
    assert short is not None and long is not None
    assert short.formula < long.formula


@pytest.mark.parametrize("text", ["2.1*x0 + 1.1*x1", "2.1*x0 + 1.1*x1 - 3.3", "2.1*x0**1.3*x1**0.7", "2.1*x0*x1**2"])
def test_planes_and_products_of_powers_are_forms_of_several_columns(text):
    x = np.random.default_rng(0).uniform(1.0, 5.0, (40, 3))
    judge = make_judge(x, x[:, 0])
    assert judge.structure(parse(text)) < judge.structure(parse("2.1*x0/(3.3 - x1)")) - 3.0


@pytest.mark.parametrize("text", ["2.1*x0 + 1.1*x0*x1", "2.1*x0*(x1 - 3.3)", "sin(2.1*x0)*x1", "2.1*x0 + 1.1*x1**2"])
def test_other_formulas_of_several_columns_are_not(text):
    from unisymnet.judge.forms import many_share

    assert many_share(simplify(parse(text)), 3) == 0.0


def test_columns_are_not_cheap_where_there_are_many():
    few, many = (make_judge(np.ones((9, d)), np.arange(9.0)) for d in (2, 10))
    assert many.structure(parse("2.1*x0 + 1.1*x1 - 3.3")) > few.structure(parse("2.1*x0 + 1.1*x1 - 3.3")) + 3.0


def _named(form):
    """The form with some constants, none of them simple."""
    values = [2.7183 * (1.0 + 0.37 * i) for i in range(10)]
    if form.falling:
        for index, role in form.roles:
            values[index] *= -1.0 if role == "rate" else 1.0
    return bind(parse(form.spellings[0]), values)


@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
def test_every_form_is_recognised_as_the_judge_compares_it(form):
    found = form_share(canonical(_named(form)))
    assert found is not None
    assert found[1] >= form.weight / _whole_weight() * 0.99  # under its own name or that of its equal


@pytest.mark.parametrize(
    "text", ["7.86/(0.0538*x0^2.47 + 1)", "96/(1 + (x0/3.2)^-1.8)", "5.1 + 9.6/(1 + (x0/3.2)^1.8)"]
)
def test_dose_response_is_a_form_however_it_is_written(text):
    found = form_share(canonical(parse(text)))
    assert found is not None and found[0].name.startswith("Hill")


def test_one_falling_and_one_growing_exponential_are_no_form():
    assert form_share(canonical(parse("2.31*(exp(-0.37*x0) - exp(-1.61*x0))"))) is not None
    assert form_share(canonical(parse("2.31*(exp(0.37*x0) - exp(-1.61*x0))"))) is None
    assert form_share(canonical(parse("2.31*exp(0.37*x0) + 0.02*exp(5.61*x0)"))) is None  # nobody fits two that grow


def _scattered(n=80, seed=4):
    rng = np.random.default_rng(seed)
    X = np.exp(rng.uniform(-5.0, 8.0, (n, 1)))
    return X, 8.5 * X[:, 0] ** 0.75 * np.exp(0.7 * rng.normal(size=n))


def test_noise_by_a_factor_is_seen_over_powers_of_ten():
    X, y = _scattered()
    found = shortest(parse("10.1*x0^0.8"), make_judge(X, y))
    assert found is not None and found[1].model.kind == "factor"
    slope, level = np.polyfit(np.log(X[:, 0]), np.log(y), 1)
    assert sorted(read(found[0]).values) == pytest.approx(sorted([np.exp(level), slope]), rel=1e-4)


def test_noise_by_a_factor_is_the_density_of_the_logarithm():
    X, y = _scattered()
    model = models_called("factor")[0]
    lengths = make_judge(X, y).lengths(parse("8.5*x0^0.75"), model)
    left = np.log(y) - np.log(8.5 * X[:, 0] ** 0.75)
    expected = level_nats(float(np.mean(left**2)), len(y)) + float(np.sum(np.log(y)))
    assert lengths is not None and lengths.data == pytest.approx(expected, abs=1e-3)


def test_noise_by_a_factor_needs_positive_values():
    X = np.linspace(-2.0, 3.0, 30)[:, None]
    assert make_judge(X, X[:, 0] + 0.1).each(parse("1.1*x0"), models_called("factor")) == []


def test_errors_under_outliers_are_as_wide_as_the_constants_scatter():
    rng, model, found, said = np.random.default_rng(2), models_called("heavy tails")[0], [], []
    for _ in range(200):
        y = rng.standard_t(3.0, size=60)
        place = float(np.median(y))
        for _ in range(30):
            roots = model.roots(np.zeros(60), y - place)
            place = float(np.average(y, weights=roots**2))
        left = y - place
        weights = model.roots(np.zeros(60), left) ** 2
        found.append(place)
        said.append(math.sqrt(np.sum((weights * left) ** 2)) / np.sum(weights) * model.widening(left))
    assert np.std(found) == pytest.approx(np.mean(said), rel=0.15)
    assert EQUAL.widening(left) == 1.0


def test_noise_by_a_factor_bears_values_of_any_size():
    X = np.array([[1e-3], [1.0], [30.0], [50.0], [70.0]])
    y = np.exp(np.array([0.1, 0.9, 3.0, 5.0, 7.0]))
    judge, model = make_judge(X, y), models_called("factor")[0]
    with np.errstate(all="ignore"):
        for text in ("1.1*exp(9.7*x0)", "1.1*exp(-9.7*x0)"):
            moved = settled(parse(text), judge, [0, 1], model)
            assert moved is None or np.isfinite(evaluate(moved, X)).all()


def test_one_step_under_noise_by_a_factor_goes_where_the_fit_in_logarithms_is():
    X, y = _scattered()
    slope, level = np.polyfit(np.log(X[:, 0]), np.log(y), 1)
    judge, wanted = make_judge(X, y), sorted([np.exp(level), slope])
    start = parse(f"{np.exp(level) * 1.02}*x0^{slope + 0.01}")
    moved = stepped(start, judge, [0, 1], models_called("factor")[0])
    assert moved is not None and sorted(read(moved).values) == pytest.approx(wanted, rel=1e-2)
    assert stepped(parse("8.1*x0 - 900.1"), judge, [0, 1], models_called("factor")[0]) is None  # not positive
