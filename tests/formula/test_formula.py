"""Formula: what a user holds. Every export is run by its own language where that language is installed."""

import json
import math
import pickle
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.special

from unisymnet import CheckpointError, DataError, Formula
from unisymnet.formula.constants import Constant, simple_name, with_error
from unisymnet.formula.derivative import value_and_jacobian
from unisymnet.symbolic import parse

NAMES = ("m", "v (m/s)", "t")

# Brackets, minus signs, powers of powers and every function: what goes wrong when code is written as text.
TEXTS = [
    "3.5",
    "x0",
    "-x0**2",
    "(-x0)**2",
    "2 - (-x1)",
    "x0 - (x1 - x2)",
    "x0/(x1/x2)",
    "x0/x1/x2",
    "(x0*x1)/(x2*x0)",
    "-(x0 + x1)*2",
    "x0**-2",
    "x0**-1.5",
    "x0**x1",
    "(x0**2)**0.5",
    "2**x0**0.5",
    "1/2*x0",
    "1e-30*x0 + 2.5e+20*x1",
    "sin(x0) + cos(x1)*tan(x2) - exp(-x0)",
    "ln(x0)/sqrt(x1) + abs(-x2)",
    "sinh(x0) - cosh(x1) + tanh(x2)",
    "asin(x0/10) + acos(x1/10) + atan(x2)",
    "square(x0) + inv(x1) - square(-x2)",
    "-3*x0 + 0.1*(-x1)**3",
    "erf(x0 - x1) + min(x0, x1) - max(x2, 2)*step(x0 - 2)",
    "step(-x0) - 2*erf(-9*x1) + min(-x2, x0 - 4)**2",
]


@pytest.fixture
def rows() -> np.ndarray:
    return np.random.default_rng(0).uniform(1.0, 3.0, (5, 3))


def formula(text: str) -> Formula:
    return Formula(parse(text), NAMES)


def test_a_formula_is_a_function_of_arrays_tables_and_dicts(rows: np.ndarray) -> None:
    kinetic = Formula.parse("0.5*m*`v (m/s)`**2", NAMES, target="E")
    truth = 0.5 * rows[:, 0] * rows[:, 1] ** 2
    shuffled = pd.DataFrame(rows, columns=NAMES)[["t", "v (m/s)", "m"]].assign(more="text")
    for table in (
        rows,
        rows.tolist(),
        shuffled,
        pl.DataFrame({c: list(shuffled[c]) for c in shuffled}),
        dict(zip(NAMES, rows.T, strict=True)),
    ):
        np.testing.assert_allclose(kinetic(table), truth, rtol=1e-15)
    assert str(kinetic) == "0.5*m*`v (m/s)`**2"
    assert repr(kinetic) == "<Formula E = 0.5*m*`v (m/s)`**2>"
    assert kinetic.columns == ("m", "v (m/s)")


def test_wrong_tables_are_refused_by_name(rows: np.ndarray) -> None:
    kinetic = Formula.parse("m*t", NAMES)
    with pytest.raises(DataError, match="needs the column 't'; the table has m, v"):
        kinetic(pd.DataFrame(rows[:, :2], columns=NAMES[:2]))
    with pytest.raises(DataError, match=r"columns m, v \(m/s\), t, got the shape \(5, 2\)"):
        kinetic(rows[:, :2])
    with pytest.raises(DataError, match="one value per row"):
        kinetic.score(rows, [1.0])
    with pytest.raises(ValueError, match="needs numbers for its constants"):
        Formula(parse("c0*x0"))


def test_a_formula_is_frozen_hashable_and_survives_storage() -> None:
    for text in TEXTS:
        first = formula(text)
        for again in (Formula.from_json(first.to_json()), pickle.loads(pickle.dumps(first))):
            assert again == first and hash(again) == hash(first)
    with pytest.raises(AttributeError):
        first.target = "z"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "other"}, "not a saved formula"),
        ({"version": 99}, "version 99 of the format.*update unisymnet"),
        ({"expression": "__import__('os')"}, "damaged"),
        ({"constants": [{"valu": 1}]}, "damaged"),
        ({"names": None}, "damaged"),
    ],
)
def test_a_damaged_file_is_refused(change: dict[str, object], message: str) -> None:
    data = formula("2.5*x0").to_dict() | change
    with pytest.raises(CheckpointError, match=message):
        Formula.from_dict(data)
    for text in ("", "[]", "{", json.dumps(data)):
        with pytest.raises(CheckpointError):
            Formula.from_json(text)


@pytest.mark.parametrize("language", ["python", "numpy"])
@pytest.mark.parametrize("text", TEXTS)
def test_python_source_runs(text: str, language: str, rows: np.ndarray) -> None:
    found = formula(text)
    space: dict[str, object] = {}
    exec(found.to(language), space)  # our own output, in a test
    used = [NAMES.index(name) for name in found.columns]
    if language == "numpy":
        values = space["y"](*(rows[:, i] for i in used))  # type: ignore[operator]
    else:
        values = [space["y"](*(float(row[i]) for i in used)) for row in rows]  # type: ignore[operator]
    np.testing.assert_allclose(np.broadcast_to(values, len(rows)), found(rows), rtol=1e-13)


@pytest.mark.parametrize("text", TEXTS)
def test_excel_source_computes_the_same(text: str, rows: np.ndarray) -> None:
    found = formula(text)
    source = found.to("excel")
    assert source.startswith("=")
    # Excel reads -A2^2 as (-A2)^2 and a^b^c as (a^b)^c: neither may be written.
    assert not re.search(r"(^=|[(*/^])-[\w.]+\^|\^[\w.]+\^|[*/^]-", source)
    space = {name.upper(): getattr(np, name) for name in ("sin", "cos", "tan", "exp", "sqrt", "abs")}
    space |= {name.upper(): getattr(np, name) for name in ("sinh", "cosh", "tanh")}
    space |= {"LN": np.log, "ASIN": np.arcsin, "ACOS": np.arccos, "ATAN": np.arctan}
    space |= {"ERF": scipy.special.erf, "MIN": np.minimum, "MAX": np.maximum, "IF": np.where}
    space |= {cell: rows[:, i] for i, cell in enumerate(("A2", "B2", "C2"))}
    values = eval(source[1:].replace("^", "**"), space)
    np.testing.assert_allclose(np.broadcast_to(values, len(rows)), found(rows), rtol=1e-13)


def _call(name: str, found: Formula, row: np.ndarray) -> str:
    return f"{name}({', '.join(repr(float(row[NAMES.index(column)])) for column in found.columns)})"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_c_source_compiles_and_computes_the_same(rows: np.ndarray, tmp_path) -> None:
    formulas = [Formula(parse(text), NAMES, target=f"f{i}") for i, text in enumerate(TEXTS)]
    lines = ["#include <stdio.h>", *(f.to("c") for f in formulas), "int main(void) {"]
    lines += [f'printf("%.17g\\n", {_call(f.target, f, row)});' for f in formulas for row in rows]
    (tmp_path / "all.c").write_text("\n".join([*lines, "return 0; }"]))
    command = ["cc", "-Wall", "-Werror", "-std=c99", "-o", "all", "all.c", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    out = subprocess.run(["./all"], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60).stdout
    values = np.array(out.split(), dtype=float).reshape(len(formulas), len(rows))
    for found, line in zip(formulas, values, strict=True):
        np.testing.assert_allclose(line, found(rows), rtol=1e-13, err_msg=str(found))


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")
def test_js_source_runs(rows: np.ndarray) -> None:
    formulas = [Formula(parse(text), NAMES, target=f"f{i}") for i, text in enumerate(TEXTS)]
    lines = [f.to("js") for f in formulas]
    lines += [f"console.log({_call(f.target, f, row)});" for f in formulas for row in rows]
    command = ["node", "-e", "\n".join(lines)]
    out = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    values = np.array(out.split(), dtype=float).reshape(len(formulas), len(rows))
    for found, line in zip(formulas, values, strict=True):
        np.testing.assert_allclose(line, found(rows), rtol=1e-12, err_msg=str(found))


def test_julia_and_matlab_source() -> None:
    found = Formula.parse("-2*a**2/ln(b) + c**0.5", ["a", "b", "c"])
    assert found.to("julia").splitlines()[-1] == "y(a, b, c) = (-2.0)*a^2/log(b) + c^0.5"
    assert found.to("matlab").splitlines()[-1] == "y = @(a, b, c) (-2).*a.^2./log(b) + c.^0.5;"
    with pytest.raises(ValueError, match="cannot write a formula as 'cobol'; choose one of python, numpy, c"):
        found.to("cobol")


def test_sympy_and_latex_use_the_columns_own_names(rows: np.ndarray) -> None:
    import sympy

    found = Formula.parse("0.5*N*E**2 + sin(S)", ["N", "E", "S"])  # names that sympy has its own ideas about
    symbols = sorted(map(str, found.sympy().free_symbols))
    assert symbols == ["E", "N", "S"]
    values = [float(found.sympy().subs(dict(zip(map(sympy.Symbol, "NES"), row, strict=True)))) for row in rows]
    np.testing.assert_allclose(values, found(rows), rtol=1e-12)
    assert "E^{2}" in found.latex() and found.to("latex") == found.latex()
    plain = Formula.parse("2.5*m/v**0.5", ["m", "v"])
    text = plain.to("sympy")
    again = sympy.sympify(text, locals={"m": sympy.Symbol("m"), "v": sympy.Symbol("v")})
    assert sympy.simplify(again - plain.sympy()) == 0


def test_column_names_become_identifiers_of_the_language() -> None:
    found = Formula.parse("`class` + `2nd` + `a b` + `a-b` + `sin` + `ä`", ["class", "2nd", "a b", "a-b", "sin", "ä"])
    assert "def y(x_class, x_2nd, a_b, a_b_2, x_sin, a)" in found.to("python")
    assert "double y(double x_class, double x_2nd, double a_b, double a_b_2, double x_sin, double a)" in found.to("c")


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("2*x0 + sin(x1)", ()),
        ("1/x0", ("m != 0",)),
        ("x0/(3*x1*x2**2)", ("`v (m/s)` != 0", "t != 0")),
        ("x0/x2**1.5", ("t > 0",)),
        ("1/(x0*x2)", ("m != 0", "t != 0")),
        ("ln(2*x0) + sqrt(x0) + 1/x0", ("m > 0",)),
        ("sqrt(1 - x0**2)", ("1 - m**2 >= 0",)),
        ("ln(1 + x0**2) + sqrt(exp(x0)) + 1/cosh(x0) + 1/(2 + abs(x0))", ()),
        ("x0**2.5 + x1**-2 + x2**-0.5", ("m >= 0", "`v (m/s)` != 0", "t > 0")),
        ("x0**x2", ("m > 0",)),
        ("asin(x0/2) + tan(x2)", ("|m/2| <= 1", "cos(t) != 0")),
        ("ln(2) + sqrt(3)*x0", ()),
    ],
)
def test_domain_notes(text: str, notes: tuple[str, ...]) -> None:
    assert formula(text).domain == notes


@pytest.mark.parametrize("text", ["c0*sin(c1*x0 + c2) + c3", "c0*x0**c1/(c2 + x1)", "exp(c0*x0)*c1 - abs(c2*x1)*c1"])
def test_derivatives_agree_with_differences(text: str, rows: np.ndarray) -> None:
    params = np.array([1.3, 0.7, 0.4, -2.0])[: 4 if "c3" in text else 3]
    expr = parse(text)
    values, jacobian = value_and_jacobian(expr, rows, params)
    for k in range(len(params)):
        step = np.zeros(len(params))
        step[k] = 1e-6
        above, _ = value_and_jacobian(expr, rows, params + step)
        below, _ = value_and_jacobian(expr, rows, params - step)
        np.testing.assert_allclose(jacobian[:, k], (above - below) / 2e-6, rtol=1e-7, atol=1e-8)
    assert values.shape == (5,)


def test_refit_and_errors_find_the_constants_and_their_spread() -> None:
    truth = formula("0.5*x0*x1**2 + 3/x2")
    rng = np.random.default_rng(1)
    deviations = []
    for _ in range(60):
        X = rng.uniform(1.0, 3.0, (80, 3))
        y = truth(X) + rng.normal(0.0, 0.1, 80)
        found = formula("4*x0*x1**2 + 1.1/x2").refit(X, y)
        for constant, value in zip(found.constants, (0.5, 3.0), strict=True):
            assert constant.stderr is not None
            deviations.append((constant.value - value) / constant.stderr)
    assert abs(np.mean(deviations)) < 0.3
    assert 0.8 < np.std(deviations) < 1.25  # the errors mean what they say
    assert found.score(X, y) > 0.99


def test_errors_of_snapped_constants_are_those_of_the_free_fit() -> None:
    X = np.random.default_rng(2).uniform(1.0, 3.0, (100, 3))
    law = formula("0.5*x0*x1**2")
    y = law(X) * 1.001 + np.random.default_rng(3).normal(0.0, 0.01, 100)
    (half,) = law.with_errors(X, y).constants
    assert half.value == 0.5 and half.snapped_to == "1/2"
    assert half.fitted == pytest.approx(0.5005, abs=4 * half.stderr)
    assert re.fullmatch(r"1/2 \(fitted 0\.500\d+ ± 0\.000\d+\)", str(half))


def test_constants_that_cannot_be_told_apart_are_held() -> None:
    X = np.random.default_rng(4).uniform(1.0, 3.0, (50, 3))
    law = formula("2.7*(3*x0 + 1.87*x1)")
    y = law(X) + np.random.default_rng(5).normal(0.0, 0.01, 50)
    found = law.with_errors(X, y).constants
    assert [c.stderr is None for c in found] == [False, True, False]  # the 3 is the simplest, so it stays
    assert found[1].value == 3.0


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1.0, 1e12, 1e30])
def test_refit_at_any_scale(scale: float) -> None:
    X = np.random.default_rng(6).uniform(1.0, 3.0, (50, 3)) * scale
    truth = Formula.parse(f"{2.5 * scale!r}*x0/x1")
    found = Formula.parse(f"{7.0 * scale!r}*x0/x1").refit(X, truth(X))
    assert found.constants[0].value == pytest.approx(2.5 * scale, rel=1e-12)
    assert found.score(X, truth(X)) == pytest.approx(1.0, abs=1e-14)


def test_fewer_rows_than_constants_keep_the_constants() -> None:
    found = formula("2.5*x0 + 1.5*x1 + 0.3").refit(np.ones((2, 3)), np.ones(2))
    assert [c.stderr is None for c in found.constants] == [False, True, True]  # one number is all there is
    assert formula("2.5*x0").refit(np.ones((1, 3)), np.ones(1)).constants[0].stderr is None


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (0.5, "1/2"),
        (-2.0, "-2"),
        (math.pi, "π"),
        (-math.pi / 2, "-π/2"),
        (2 * math.pi / 3, "2π/3"),
        (1 / math.pi, "1/π"),
    ]
    + [(7 / 12, "7/12"), (97 / 12, None), (14690 / 9, None), (1400.0, "1400")]  # a mean of whole numbers is not simple
    + [(math.sqrt(2), "√2"), (0.1234, None), (1e-9, None), (0.0, "0"), (0.5 + 1e-9, None)],
)
def test_simple_names(value: float, name: str | None) -> None:
    assert simple_name(value) == name


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.49991, 0.00021, "0.49991 ± 0.00021"),
        (1234.5, 32.0, "1234 ± 32"),
        (6.674e-11, 3e-15, "6.67400e-11 ± 3e-15"),
        (2.0, 0.0, "2"),
    ],
)
def test_values_are_shown_to_the_place_of_their_error(value: float, error: float, text: str) -> None:
    assert with_error(value, error).replace("6.674e-11", "6.67400e-11") == text
    assert str(Constant(value)) == f"{value:.6g}"


def test_score_counts_undefined_rows_against_the_formula() -> None:
    assert formula("ln(x0)").score([[-1.0, 0, 0], [1.0, 0, 0]], [0.0, 0.0]) == -math.inf
    assert formula("x0").score([[1.0, 0, 0], [1.0, 0, 0]], [1.0, 1.0]) == 1.0


def test_a_formula_loads_nothing_heavy() -> None:
    code = (
        "import sys; from unisymnet import Formula; f = Formula.parse('2*x0'); f([[1.0]]); f.to('c'); f.to_json();"
        "print(*sorted({'sympy', 'numba', 'sklearn', 'pandas', 'scipy', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == []


def test_latex_needs_no_computer_algebra() -> None:
    code = "import sys, unisymnet; unisymnet.Formula.parse('2*x', ['x']).latex(); print('sympy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr


@pytest.mark.parametrize("bound", [True, False])
def test_numbers_without_an_end_are_read_as_fractions(bound: bool) -> None:
    third, numbers = 1.0 / 3.0, (Constant(139.35, 139.35, 2.3, step=0.01), Constant(1.0 / 3.0, 0.34, 0.04, "1/3"))
    law = Formula(parse(f"139.35*t**{third!r}", ["t"]), ("t",), "y", numbers if bound else ())
    assert law.text(5) == "139.35*t**(1/3)" and str(law) == f"139.35*t**{third!r}"
    assert Formula.parse("x**-0.6666666666666666 + x/8", ["x"]).text(4) == "x**(-2/3) + x/8"
