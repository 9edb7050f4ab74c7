"""The parser: what users type, and errors that point at the character."""

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import expressions, many
from unisymnet.errors import ParseError
from unisymnet.symbolic import Call, Const, Param, Var, parse
from unisymnet.symbolic.expr import Expr, size
from unisymnet.symbolic.parse import MAX_NESTING, free_names
from unisymnet.symbolic.text import to_text

X0, X1 = Var(0), Var(1)


@pytest.mark.parametrize(
    ("text", "expr"),
    [
        ("2*x0**0.5/(x1+3)", Call("div", (Call("mul", (Const(2), X0**0.5)), X1 + 3))),
        ("x0^2", X0**2),
        ("x0^-2", X0 ** Const(-2)),
        ("-x0^2", -(X0**2)),
        ("2^3^2", Const(2) ** (Const(3) ** 2)),
        ("+x0", X0),
        ("--x0", Call("neg", (-X0,))),
        ("-3", Const(-3)),
        ("- 3", Const(-3)),
        ("-3*x0", Call("mul", (Const(-3), X0))),
        ("1e-3", Const(0.001)),
        ("1.E+2", Const(100)),
        (".5", Const(0.5)),
        ("log(x0)", Call("ln", (X0,))),
        ("ln(x0)", Call("ln", (X0,))),
        ("LOG(x0)", Call("ln", (X0,))),
        ("log10(x0)", Call("div", (Call("ln", (X0,)), Const(math.log(10))))),
        ("cot(x0)", Call("inv", (Call("tan", (X0,)),))),
        ("arcsin(x0)", Call("asin", (X0,))),
        ("pi", Const(math.pi)),
        ("e", Const(math.e)),
        ("x_1", X1),
        ("x0+x1+x0", Call("add", (X0, X1, X0))),
        ("x0-x1+x0", (X0 - X1) + X0),
        ("x0+(x1+x0)", Call("add", (X0, X1 + X0))),
        ("add(x0, x1, 2)", Call("add", (X0, X1, Const(2)))),
        ("pow(x0, 2)", X0**2),
        ("c0*x0", Call("mul", (Param(0), X0))),
        ("  x0  \n + 1 ", X0 + 1),
    ],
)
def test_parse(text: str, expr: Expr) -> None:
    assert parse(text) == expr


def test_named_columns() -> None:
    names = ["mass", "v", "flow rate", "pi", "größe"]
    assert parse("mass*v^2/2", names) == parse("x0*x1**2/2")
    assert parse("`flow rate` + 1", names) == Var(2) + 1
    assert parse("pi", names) == Var(3)
    assert parse("größe", names) == Var(4)


def test_free_constants() -> None:
    assert parse("a*x0 + b*x0**a", free=True) == parse("c0*x0 + c1*x0**c0")
    assert parse("a*mass + x0", ["mass"], free=True) == Call("add", (Call("mul", (Param(0), Var(0))), Param(1)))
    assert free_names("a*x0 + b*x0**a") == ("a", "b")
    assert free_names("k*mass", ["mass"]) == ("k",)


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 0, "empty"),
        ("   ", 0, "empty"),
        ("x0 +", 4, "ends too early"),
        ("x0 + * x1", 5, "did not expect '*'"),
        ("(x0 + x1", 8, "expected '\\)'"),
        ("x0)", 2, "did not expect '\\)'"),
        ("2 x0", 2, "operator missing"),
        ("sin x0", 0, "unknown name 'sin'"),
        ("foo(x0)", 0, "unknown function 'foo'"),
        ("sin(x0, x1)", 0, "sin takes 1 argument, got 2"),
        ("pow(x0)", 0, "pow takes 2 arguments, got 1"),
        ("add(x0)", 0, "two or more"),
        ("x0 + y", 5, "unknown name 'y'"),
        ("x0 $ x1", 3, "cannot read the character"),
        ("1e999", 0, "too large"),
        ("`nope`", 0, "no column is called 'nope'"),
        ("()", 1, "did not expect '\\)'"),
    ],
)
def test_errors_point_at_the_character(text: str, position: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        parse(text)
    assert caught.value.position == position


def test_a_column_is_no_function() -> None:
    with pytest.raises(ParseError, match="'mass' is a column, not a function"):
        parse("mass(2)", ["mass"])
    with pytest.raises(ParseError, match="the columns are mass, v"):
        parse("x0", ["mass", "v"])


@pytest.mark.parametrize(
    "text", ["(" * 500 + "x0" + ")" * 500, "-" * 5000 + "x0", "x0" + "**x0" * 5000, "+" * 5000 + "x0"]
)
def test_deep_nesting_is_an_error_or_fine_but_no_crash(text: str) -> None:
    try:
        parse(text)
    except ParseError as error:
        assert f"more than {MAX_NESTING} deep" in str(error)


def test_not_a_text() -> None:
    with pytest.raises(ParseError, match="must be text, got int"):
        parse(3)  # type: ignore[arg-type]


@many(2000)
@given(st.text(alphabet="x01+-*/^().,e `sincqrtp_\n²", max_size=20))
def test_any_text_parses_or_raises_parse_error(text: str) -> None:
    try:
        parse(text)
    except ParseError as error:
        assert 0 <= error.position <= len(text)
        assert str(error)


@many(3000)
@given(expressions(n_params=3))
def test_parse_undoes_str(expr: Expr) -> None:
    assert parse(str(expr)) == expr


def test_speed() -> None:
    text = "1.5*x0**2/(x1 + 3) - sin(2*x0*x1 + 0.3)*exp(-x2/2) + sqrt(x0**2 + x1**2)"
    n_nodes = size(parse(text))
    best = math.inf
    for _ in range(30):
        start = time.perf_counter()
        parse(text)
        best = min(best, time.perf_counter() - start)
    assert n_nodes / best > 20_000, f"{n_nodes / best:.0f} nodes a second"


def test_long_sums_are_one_node() -> None:
    expr = parse(" + ".join(f"x{i}" for i in range(300)))
    assert isinstance(expr, Call)
    assert len(expr.args) == 300
    assert to_text(expr).count("+") == 299
