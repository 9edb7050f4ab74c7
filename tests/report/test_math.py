"""MathML: what is set is what was meant, read back from the markup, and names that need care."""

import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from strategies import expressions
from unisymnet import Formula
from unisymnet.formula.constants import Constant, simple_name
from unisymnet.report.parts import shown
from unisymnet.symbolic import evaluate, parse
from unisymnet.symbolic.expr import Call, Const, Expr, Var
from unisymnet.symbolic.writers.mathml import mathml, mathml_name

SIGNS = {"−": "-", "⋅": "*", "×": "*", "\u2061": "", "π": "pi"}

WRITTEN_IN_SPECIAL_WAYS = ("add", "sub", "mul", "div", "neg", "pow", "inv", "square", "sqrt", "abs", "exp", "tanh")


def read(node: ET.Element) -> str:
    """The formula that a person reads; only what the layout groups is grouped here."""
    parts = [read(child) for child in node]
    if node.tag in ("math", "mrow"):
        if parts[:1] == ["|"]:
            return f"abs({''.join(parts[1:-1])})"
        return "".join(parts)
    if node.tag == "mfrac":
        return f"({parts[0]})/({parts[1]})"
    if node.tag == "msup":
        return f"exp({parts[1]})" if parts[0] == "e" else f"{parts[0]}**({parts[1]})"
    if node.tag == "msqrt":
        return f"sqrt({''.join(parts)})"
    if node.tag == "msub":
        return "".join(parts)
    if node.tag == "mspace":
        return "*"
    text = node.text or ""
    return SIGNS.get(text, {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}.get(text, text))


def same(a: Expr, b: Expr) -> None:
    X = np.random.default_rng(0).uniform(0.5, 2.0, (20, 4))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(evaluate(a, X), evaluate(b, X), rtol=1e-6, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize(
    "text",
    [
        *("-2*x0*(x1 - 3)", "-x0**2", "(-2)**x1", "(x0/x1)**2", "x0/x1/x2", "x0 - (x1 - x2)", "x0 - (-3)"),
        *("exp(-x0**2/2)", "(exp(x0))**2", "sin(x0)**2", "2**x0*3e-9", "x0*(-2)", "abs(x0 - 1)**x1", "sqrt(x0)**3"),
        *("asin(x0/4)*tanh(x1)", "-(x0*x1)", "(-x0)*x1", "x0**x1**x2", "(x0**x1)**x2", "1e-7*x0", "x0*3**x1"),
        *("(x0 + x1)*x2", "(2*3)**x0", "(1e-7)**x0", "x0/(-2)", "-(-x0)", "(-x0)**2", "x0*(x1*x2)"),
    ],
)
def test_what_is_set_is_what_was_meant(text: str) -> None:
    expr = parse(text)
    same(parse(read(ET.fromstring(mathml(expr)))), expr)


@given(expressions(tame=True, max_leaves=6, operators=WRITTEN_IN_SPECIAL_WAYS))
def test_any_formula_reads_as_it_is(expr: Expr) -> None:
    same(parse(read(ET.fromstring(mathml(expr)))), expr)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2 * math.pi / 3, "<mfrac><mrow><mn>2</mn><mi>π</mi></mrow><mrow><mn>3</mn></mrow></mfrac>"),
        (1 / 3, "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>3</mn></mrow></mfrac>"),
        (-math.sqrt(2.0), "<mo>−</mo><mrow><msqrt><mn>2</mn></msqrt></mrow>"),
        (0.5, "<mn>0.5</mn>"),
        (1.23456789, "<mn>1.235</mn>"),
        (1.5e-12, "<mn>1.5</mn><mo>×</mo><msup><mn>10</mn><mrow><mo>−</mo><mn>12</mn></mrow></msup>"),
    ],
)
def test_numbers(value: float, shown: str) -> None:
    assert mathml(Const(value), digits=4, spell=simple_name) == f"<math><mrow>{shown}</mrow></math>"


def test_a_simple_number_leads_a_product_without_brackets() -> None:
    markup = mathml(Call("mul", (Const(-1 / 3), Var(0))), digits=4, spell=simple_name)
    assert "<mo>(</mo>" not in markup and markup.startswith("<math><mrow><mo>−</mo><mfrac>")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("x", "<mi>x</mi>"),
        ("m_1", "<msub><mi>m</mi><mn>1</mn></msub>"),
        ("x12", "<msub><mi>x</mi><mn>12</mn></msub>"),
        ("lambda_max", "<msub><mi>λ</mi><mi>max</mi></msub>"),
        ("Omega", "<mi>Ω</mi>"),
        ("_", "<mtext>_</mtext>"),
        ("a<b>&c", "<mtext>a&lt;b&gt;&amp;c</mtext>"),
        ("speed of light", "<mtext>speed of light</mtext>"),
    ],
)
def test_names(name: str, shown: str) -> None:
    assert mathml_name(name) == shown


def test_constants_have_the_digits_that_the_data_give_them() -> None:
    numbers = (Constant(0.999991, 0.999991, 2e-6, None, step=1e-6), Constant(math.pi, math.pi, 1e-6, "π"))
    law = Formula.parse(f"0.999991*x + {math.pi!r}", ["x"], "y")
    page = shown(replace(law, constants=numbers))
    assert "<mn>0.999991</mn>" in page and "π" in page and "3.14" not in page
