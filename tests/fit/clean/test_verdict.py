"""Rows of the table under noise: no repeats, nothing that only rounding has written."""

from contextlib import nullcontext

import numpy as np
import pytest

from unisymnet.candidate import Candidate
from unisymnet.deadline import Deadline
from unisymnet.fit.clean.verdict import tidied, verdict
from unisymnet.fit.subset import best_subsets
from unisymnet.formula.constants import settle
from unisymnet.judge.judge import make_judge
from unisymnet.judge.tree import read
from unisymnet.metrics import complexity
from unisymnet.symbolic.expr import evaluate, variables
from unisymnet.symbolic.parse import parse

X = np.random.default_rng(0).uniform(0.5, 4.0, (60, 2))


def _table(texts, y):
    judge = make_judge(X, y)
    exprs = [settle(parse(text), X, y) for text in texts]
    found = [Candidate(e, float(np.mean((evaluate(e, X) - y) ** 2)), complexity(e), 1) for e in exprs]
    return judge, verdict(found, judge, Deadline.never(), nullcontext())


def test_a_formula_with_a_superfluous_exponent_is_no_row_of_its_own():
    y = 2.006 * np.sqrt(X[:, 0]) + 0.02 * np.random.default_rng(1).normal(size=60)
    _, table = _table(["2.1", "1.2*x0 + 0.4", "2.1*sqrt(x0)", "2.1*x0**0.501"], y)
    assert sum("**" in str(row.expr) or "sqrt" in str(row.expr) for row in table) == 1


def test_an_exponent_that_the_data_ask_for_keeps_its_row():
    y = 2.006 * X[:, 0] ** 1.7 + 0.02 * np.random.default_rng(1).normal(size=60)
    _, table = _table(["2.1*x0**2", "2.1*x0**1.6"], y)
    assert read(table[0].expr).values[-1] == pytest.approx(1.7, abs=0.01)


def test_no_two_rows_say_the_same():
    y = 3.1 * X[:, 0] / (X[:, 0] + 1.2) + 0.03 * np.random.default_rng(2).normal(size=60)
    texts = [
        "3*x0/(x0 + 1)",
        "1/(0.3 + 0.4/x0)",
        "x0/(0.3*x0 + 0.4)",
        "3*x0/(x0 + 1) + 0.000001*x1",
        "1.2*ln(x0) + 1.3",
    ]
    _judge, table = _table(texts, y)
    values = [evaluate(row.expr, X) for row in table]
    noise = float(np.std(y - values[0]))
    for i, one in enumerate(values):
        assert all(float(np.sum((one - other) ** 2)) > 0.3 * noise**2 for other in values[:i])


def test_constants_that_follow_the_noise_make_no_row():
    y = X[:, 0] + X[:, 1] + 0.1 * np.random.default_rng(3).normal(size=60)
    texts = ["x0 + x1", "x0 + 1.003*x1", "0.99*(x0 + x1)**1.01", "1.01*x0 + 1.02*x1 - 0.09", "1.2*x0 + 2.6"]
    _, table = _table(texts, y)
    forms = [str(row.expr) for row in table]
    assert forms[0] == "x0 + x1"
    assert not any("x0 + 1." in form for form in forms)


def test_a_row_is_spelled_even_when_the_time_is_over():
    y = 3.0 * (X[:, 0] + 4.0) ** 1.7 + 0.02 * np.random.default_rng(5).normal(size=60)
    judge = make_judge(X, y)
    expr = settle(parse("15*(0.4*x0 + 1.6)**1.7"), X, y)
    late = Candidate(expr, float(np.mean((evaluate(expr, X) - y) ** 2)), complexity(expr), 4)
    (row,) = verdict([late], judge, Deadline.after(0.0), nullcontext())
    assert complexity(row.expr) == complexity(parse("3*(x0 + 4)**1.7"))


def test_a_constant_gets_its_noise_model_however_late_it_is():
    y = np.exp(1.5 * np.random.default_rng(6).normal(size=60))
    judge = make_judge(X, y)
    exprs = [parse(text) for text in ("0.02*x0 + 1.05", "1.1*x0**0.03", f"{float(np.mean(y))!r}")]
    found = [Candidate(e, float(np.mean((evaluate(e, X) - y) ** 2)), complexity(e), 1) for e in exprs]
    table = verdict(found, judge, Deadline.after(0.0), nullcontext())
    assert not variables(table[0].expr) and table[0].lengths.model.kind == "factor"


def test_what_is_longer_than_nothing_makes_no_row():
    y = 3.0 + 0.1 * np.random.default_rng(4).normal(size=60)
    _, table = _table(["3.1", "3 + 0.1*sin(9.7*x0) + 0.08*cos(14.3*x1 + 0.3) - 0.07*sin(4.1*x0**2)", "0.02*x0 + 3"], y)
    assert "sin" not in " ".join(str(row.expr) for row in table)


def test_formulas_that_the_data_cannot_tell_apart_are_both_shown():
    """Different forms with as many constants are rivals, not repeats."""
    rng = np.random.default_rng(4)
    y = 1.6 * np.log(X[:, 0]) + 2.5 + 0.15 * rng.normal(size=60)
    _, table = _table(["1.5*ln(x0) + 2.4", "2.4*x0**0.5 + 0.2", "6*x0/(1.3 + x0)"], y)
    assert len(table) >= 2


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("x0 + 0.9999999999999998*x1 + 8.9e-16", "x0 + x1"),
        ("x0 + 1e-14*x1", "x0"),
        ("2.5*x0 + 1e-3*x1", "2.5*x0 + 0.001*x1"),
        ("8.9e-16", "8.9e-16"),
    ],
)
def test_what_rounding_has_written_goes(text, clean):
    assert tidied(parse(text), X, 1.0) == tidied(parse(clean), X, 1.0)
    assert str(tidied(parse(text), X, 1.0)).count("e-16") == clean.count("e-16")


def test_a_long_formula_that_follows_the_noise_is_no_row():
    """It explains a little more than the law does, for many more nats."""
    y = 2.0 * X[:, 0] + 0.3 * np.random.default_rng(4).normal(size=60)
    waves = [f"{op}({k}*x{i})" for op in ("sin", "cos") for k in range(3, 23) for i in (0, 1)]
    columns = np.column_stack([evaluate(parse(wave), X) for wave in waves])
    best_waves = best_subsets(columns, y - 2.0 * X[:, 0], max_size=5, keep=1)[-1]
    parts = zip(best_waves.coefficients.tolist(), best_waves.columns, strict=True)
    long = "2*x0 + " + " + ".join(f"({c!r})*{waves[i]}" for c, i in parts)
    judge, table = _table(["2*x0", "4.1", long], y)
    lengths, best = judge.lengths(parse(long)), table[0].lengths
    assert lengths.evidence < best.evidence and lengths.total > best.total + 12.0
    assert not any("sin" in str(row.expr) or "cos" in str(row.expr) for row in table)
