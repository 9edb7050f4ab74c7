"""Formula to text: brackets only where needed, and read back as the same tree."""

import pytest
from hypothesis import given

from strategies import expressions, many
from unisymnet.symbolic import Call, Const, Var, parse, to_text
from unisymnet.symbolic.expr import Expr
from unisymnet.symbolic.text import number_text, quote_name


@pytest.mark.parametrize(
    "text",
    [
        "x0 + x1 + 2",
        "x0 - (x1 - x2)",
        "x0 - x1 - x2",
        "x0 - (x1 + x2)",
        "x0 + (x1 + x2)",
        "x0*x1/x2",
        "x0/(x1*x2)",
        "x0/x1/x2",
        "(x0*x1)*x2",
        "-x0**2",
        "(-x0)**2",
        "x0**-2",
        "x0**(x1 + 1)",
        "x0**x1**2",
        "(x0**x1)**2",
        "2**-x0",
        "-(2)",
        "-(-2)",
        "(-2)**x0",
        "x0*(-2)",
        "-2*x0",
        "x0 + -2",
        "-x0*x1",
        "-(x0*x1)",
        "sin(x0)**2",
        "sqrt(abs(x0))",
        "add(x0, x1)*3",
        "1e-07*x0",
        "1e+30*x0",
        "123456789012345*x0",
    ],
)
def test_text_is_read_back(text: str) -> None:
    expr = parse(text)
    assert parse(to_text(expr)) == expr


def test_no_needless_brackets() -> None:
    x, y, z = Var(0), Var(1), Var(2)
    assert to_text((x + y) - z) == "x0 + x1 - x2"
    assert to_text((x * y) / z) == "x0*x1/x2"
    assert to_text(x - (y - z)) == "x0 - (x1 - x2)"
    assert to_text((x - y) * z) == "(x0 - x1)*x2"
    assert to_text(-(x**2)) == "-x0**2"
    assert to_text(Call("mul", (x, Const(-2)))) == "x0*(-2)"


@many(3000)
@given(expressions(n_params=3))
def test_every_tree_is_read_back(expr: Expr) -> None:
    assert parse(to_text(expr)) == expr


@many(2000)
@given(expressions(4))
def test_every_tree_is_read_back_with_names(expr: Expr) -> None:
    names = ["mass", "flow rate", "e", "x1"]  # a space, a reserved name, and the default name of another column
    assert parse(to_text(expr, names), names) == expr


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("mass", "mass"),
        ("m_1", "m_1"),
        ("flow rate", "`flow rate`"),
        ("sin", "`sin`"),
        ("Log", "`Log`"),
        ("pi", "`pi`"),
        ("e", "`e`"),
        ("2x", "`2x`"),
        ("größe", "größe"),
        ("", "``"),
        ("log10", "`log10`"),
    ],
)
def test_names_are_quoted_when_they_could_be_misread(name: str, quoted: str) -> None:
    assert quote_name(name) == quoted
    assert parse(quoted, [name]) == Var(0)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (2.0, None, "2"),
        (-0.5, None, "-0.5"),
        (0.1 + 0.2, None, "0.30000000000000004"),
        (0.1 + 0.2, 3, "0.3"),
        (1e300, None, "1e+300"),
        (1234.5678, 3, "1230"),
        (1.23456e-8, 3, "1.23e-08"),
        (1e15, None, "1000000000000000.0"),
    ],
)
def test_numbers(value: float, digits: int | None, text: str) -> None:
    assert number_text(value, digits) == text


def test_rounding_is_for_reading_only() -> None:
    expr = parse("3.14159265*x0 + 2.71828*x1")
    assert to_text(expr, digits=3) == "3.14*x0 + 2.72*x1"
