"""sympy and back, LaTeX, and a sympy that cannot hang or leak processes."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
import sympy
from agreement import assert_agree
from hypothesis import given
from joblib import Parallel, delayed

from strategies import expressions, many, points
from unisymnet.symbolic import Call, Const, Var, evaluate, parse
from unisymnet.symbolic.expr import Expr
from unisymnet.symbolic.writers.latex import latex
from unisymnet.symbolic.writers.sympy_bridge import from_sympy, n_nodes, same_up_to_constant, to_sympy
from unisymnet.symbolic.writers.sympy_worker import Worker, run_limited

CLASHING = ["N", "E", "S", "I", "pi", "lambda", "beta", "Q", "zeta", "O"]
ENDLESS = "(x0+x1+x2+1)**60*(x0-x1)**40/(x0**2-x1**2)**30+sin(x0*x1)**20*cos(x0)**20+(x0+x1+x2+1)**61*tan(x0)**20"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("2*x0**0.5/(x1+3)", "2*sqrt(x0)/(x1 + 3)"),
        ("x0 - x1", "x0 - x1"),
        ("square(x0) + inv(x1)", "x0**2 + 1/x1"),
        ("ln(x0)*abs(x1)", "log(x0)*Abs(x1)"),
        ("x0**(1/3)", "x0**(1/3)"),
        ("0.5*x0", "0.5*x0"),
        ("c0*exp(c1*x0)", "c0*exp(c1*x0)"),
        ("sinh(x0)*atan(x1)", "sinh(x0)*atan(x1)"),
    ],
)
def test_to_sympy(formula: str, text: str) -> None:
    assert str(to_sympy(parse(formula))) == text


def test_symbols_are_plain_symbols() -> None:
    s = to_sympy(parse("x0*x1", ["x0", "x1"]), ["N", "lambda"])
    assert s == sympy.Symbol("N") * sympy.Symbol("lambda")


@pytest.mark.parametrize("index", range(len(CLASHING)))
def test_names_of_sympy_are_just_columns(index: int) -> None:
    expr = Call("add", (Call("mul", (Const(2.0), Var(index))), Call("sin", (Var(index),))))
    s = to_sympy(expr, CLASHING)
    assert {symbol.name for symbol in s.free_symbols} == {CLASHING[index]}
    X = np.linspace(0.1, 0.9, 10 * len(CLASHING)).reshape(10, -1)
    np.testing.assert_allclose(evaluate(from_sympy(s, CLASHING), X), evaluate(expr, X))


def test_a_column_called_c0_is_not_the_parameter() -> None:
    s = to_sympy(parse("c0*x0"), ["c0"])
    assert len(s.free_symbols) == 2
    assert from_sympy(s, ["c0"]) in (parse("x0*c0"), parse("c0*x0"))


@many(400)
@given(expressions(tame=True, max_leaves=6), points())
def test_there_and_back(expr: Expr, X: np.ndarray) -> None:
    try:
        back = from_sympy(to_sympy(expr))
    except ValueError:
        return  # a part of it is no real number
    # sympy computes with 15 digits and moves constants around
    assert_agree(expr, back, X, rel=1e-6)


@pytest.mark.parametrize(
    "formula",
    ["10**10**9 + x0", "exp(exp(exp(1000)))*x0", "(2*x0)**1000000000", "3**-1000000*x0", "((2*x0)**90)**90", "1/0"],
)
def test_astronomical_numbers_do_not_hang(formula: str) -> None:
    start = time.monotonic()
    str(to_sympy(parse(formula)))
    n_nodes(parse(formula))
    assert time.monotonic() - start < 5.0


@pytest.mark.parametrize(
    ("s", "formula"),
    [
        (sympy.sec(sympy.Symbol("x0")), "inv(cos(x0))"),
        (sympy.Rational(1, 4) * sympy.Symbol("x1"), "0.25*x1"),
        (sympy.pi * sympy.E, f"{np.e!r}*{np.pi!r}"),
        (sympy.sqrt(sympy.Symbol("x0")), "sqrt(x0)"),
        (3, "3"),
    ],
)
def test_from_sympy(s: object, formula: str) -> None:
    found = from_sympy(s)
    X = np.array([[0.5, 0.7]])
    np.testing.assert_allclose(evaluate(found, X), evaluate(parse(formula), X))


@pytest.mark.parametrize("s", [sympy.I, sympy.oo, sympy.Symbol("y"), sympy.gamma(sympy.Symbol("x0")), sympy.nan])
def test_what_no_real_formula_holds_is_refused(s: object) -> None:
    with pytest.raises(ValueError, match=r"no counterpart|not a column"):
        from_sympy(s)


def test_time_limit_is_hard_and_the_worker_comes_back() -> None:
    double = parse("x0 + x0")
    assert same_up_to_constant(double, parse("2*x0"), 60.0)  # starts the worker
    start = time.monotonic()
    assert not same_up_to_constant(double, parse(ENDLESS), 0.3)
    assert time.monotonic() - start < 5.0
    assert same_up_to_constant(double, parse("2*x0"), 60.0)
    assert not same_up_to_constant(double, parse("2*x0"), 0.0)


def test_a_failure_is_none_and_the_worker_lives() -> None:
    worker = Worker()
    try:
        assert worker.ask("from_sympy", ("no expression at all (",), 60.0) is None
        assert worker.ask("no_such_function", (), 60.0) is None
        process = worker._process
        assert worker.ask("n_nodes", (parse("x0 + 1"),), 60.0) == 3
        assert worker._process is process
        assert process is not None
        process.kill()  # as if the system had done it
        process.wait()
        assert worker.ask("n_nodes", (parse("x0 + 1"),), 60.0) == 3
    finally:
        worker.close()
    assert worker._process is None


def _in_pool(n: int) -> bool:
    return same_up_to_constant(parse(f"x0 + {n}*x0"), parse(f"{n + 1}*x0"), 60.0)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_inside_joblib(backend: str) -> None:
    results = Parallel(n_jobs=2, backend=backend)(delayed(_in_pool)(n) for n in (1, 2, 3))
    assert results == [True] * 3


def test_no_process_is_left_behind() -> None:
    code = (
        "from unisymnet.symbolic import parse\n"
        "from unisymnet.symbolic.writers import sympy_worker\n"
        "from unisymnet.symbolic.writers.sympy_bridge import same_up_to_constant\n"
        f"x = parse('x0'); same_up_to_constant(x, parse({ENDLESS!r}), 0.2); same_up_to_constant(x, x, 60.0)\n"
        "import os; print(sympy_worker._worker(os.getpid())._process.pid)\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    pid = int(done.stdout)
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail(f"worker {pid} outlived its parent")


def test_run_limited_knows_only_the_bridge() -> None:
    assert run_limited("os.system", ("true",), 60.0) is None


@pytest.mark.parametrize(
    ("formula", "names", "text"),
    [
        ("x0/x1", None, r"\frac{x_{0}}{x_{1}}"),
        ("2*x0*x1", ["m_1", "lambda"], r"2 \, m_{1} \, \lambda"),
        ("x0 + x1", ["v_max", "flow rate"], r"v_{\mathrm{max}} + \mathrm{flow\ rate}"),
        ("x0 + x1", ["100%", "a_b_c"], r"\mathrm{100\%} + a_{\mathrm{b\_c}}"),
        ("x0 + x1", ["pi", "N"], r"\mathrm{pi} + N"),
        ("pi*x0", ["r"], r"\pi \, r"),
        ("x0**2 - sqrt(x1)", None, r"x_{0}^{2} - \sqrt{x_{1}}"),
        ("(x0 + 1)**2", None, r"\left(x_{0} + 1\right)^{2}"),
        ("exp(-x0)*ln(abs(x1))", None, r"e^{-x_{0}} \, \ln\left(\left|x_{1}\right|\right)"),
        ("x0*1.5e-7", None, r"x_{0} \cdot 1.5 \cdot 10^{-7}"),
        ("asin(x0)*3", None, r"\arcsin\left(x_{0}\right) \cdot 3"),
        ("x0 - (x1 - 2)", None, r"x_{0} - \left(x_{1} - 2\right)"),
        ("x0 + (-2)", None, r"x_{0} + \left(-2\right)"),
        ("(-2)**x0", None, r"\left(-2\right)^{x_{0}}"),
        ("(x0**2)**3", None, r"\left(x_{0}^{2}\right)^{3}"),
        ("-(x0 + x1)", None, r"-\left(x_{0} + x_{1}\right)"),
        ("c0*x0", None, r"c_{0} \, x_{0}"),
        ("x0", ["omega_0"], r"\omega_{0}"),
        ("x0", ["_"], r"\mathrm{\_}"),
        ("x0", ["a^b\\c{d}$"], r"\mathrm{a{\wedge}b{\backslash}c\{d\}\$}"),
    ],
)
def test_latex(formula: str, names: list[str] | None, text: str) -> None:
    assert latex(parse(formula), names) == text


def test_latex_rounds() -> None:
    assert latex(parse("3.14159*x0 + 0.000123456"), digits=3) == r"3.14 \, x_{0} + 0.000123"


@many(500)
@given(expressions(n_params=1))
def test_latex_is_balanced(expr: Expr) -> None:
    text = latex(expr, ["speed of light", "50%", "k_B"])
    assert text.count("{") == text.count("}")
    assert text.count(r"\left") == text.count(r"\right")


def test_text_is_never_executed() -> None:
    with pytest.raises(ValueError, match="use parse"):
        from_sympy("__import__('os').getcwd()")
