"""Drawings: text and SVG show every node, and the explanation names all parts."""

import xml.etree.ElementTree as ET

from unisymnet.symbolic import parse
from unisymnet.symbolic.network.draw import draw_svg, draw_text, explain
from unisymnet.symbolic.network.identify import identify
from unisymnet.symbolic.network.tokens import Vocabulary

SVG = "{http://www.w3.org/2000/svg}"


def test_text_lists_nodes_as_formulas() -> None:
    network = identify(parse("3*x0**2/x1 - 0.5"))
    assert draw_text(network, ["mass", "r"]) == (
        "layer 1  ln   a1 = ln(mass)\n"
        "         ln   a2 = ln(r)\n"
        "layer 2  exp  b = exp(2·a1 - a2)\n"
        "layer 3  id   y = 3·b - 0.5"
    )
    assert draw_text(network.structure).splitlines()[-1] == "layer 3  id   y = w·b + bias"


def test_text_of_a_constant() -> None:
    assert draw_text(identify(parse("2.5"))) == "layer 1  id   y = 2.5"


def test_svg_is_well_formed_and_complete() -> None:
    network = identify(parse("x0*sin(2*x1 + 1)**2 - 3"))
    for drawing in (draw_svg(network, ["a<b", "temperature"]), draw_svg(network.structure)):
        root = ET.fromstring(drawing)
        assert len(root.findall(f"{SVG}circle")) == sum(network.structure.widths)
        n_edges = sum(len(sources) for layer in network.structure.inputs for sources in layer)
        assert len(root.findall(f"{SVG}line")) == n_edges + 1
    texts = [t.text for t in ET.fromstring(draw_svg(network, ["a<b", "temperature"])).findall(f"{SVG}text")]
    assert {"a<b", "tempe…", "sin", "+1", "-3", "2"} <= set(texts)


def test_explain_tells_all_parts() -> None:
    names = ["eps", "h", "m", "q"]
    text = explain(parse("4*pi*eps*h**2/(m*q**2)", names), names)
    assert "3 0 81 86 91 96 496 497 498 499 741" in text
    assert "c0*eps**c1*h**c2*m**c3*q**c4" in text
    assert "UniSymNet: 2 layers, 5 nodes" in text
    assert "EQL-type network: 3 layers, 7 nodes" in text


def test_explain_says_why_there_is_no_label() -> None:
    assert "none: the network has 3 layers" in explain(parse("x0*x1"), vocabulary=Vocabulary(4, 5, 2))
    assert "(at most 10 inputs" in explain(parse("x0 + x7"))
