"""Formula to LaTeX for math mode, as it stands: nothing is rearranged (see simplify.present for the form to show).

Column names stay what they are: m_1 gets a subscript, Greek names their letter, longer names stand upright, and
characters with a meaning in LaTeX are escaped.  The output needs no package (KaTeX and matplotlib read it).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ..expr import Call, Const, Expr, Param, Var
from ..operators import OPERATORS
from ..text import number_text

GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Sigma Upsilon Phi Psi Omega".split()
)
_ESCAPES = {" ": r"\ ", "\\": r"{\backslash}", "^": r"{\wedge}", "~": r"{\sim}"} | {c: rf"\{c}" for c in "_%&#${}"}
_ESCAPES["<"] = "{<}"  # begins no tag where the formula stands in a page
_LETTER_AND_NUMBER = re.compile(r"([^\W\d_]+)(\d+)\Z")

# How tightly a piece of output holds together.
_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4


def latex(expr: Expr, names: Sequence[str] | None = None, digits: int | None = None) -> str:
    """LaTeX of ``expr``; ``names`` replace x_0, x_1, …; ``digits`` rounds constants for reading."""
    return _write(expr, names, digits)[0]


def latex_name(name: str) -> str:
    """A column name in math mode."""
    head, tail = name_parts(name)
    if not head:
        return _upright(name)
    return f"{_word(head)}_{{{tail if tail.isdigit() else _word(tail)}}}" if tail else _word(head)


def name_parts(name: str) -> tuple[str, str]:
    """A column name as a word and its subscript, m_1 and m1 alike; no word where it cannot be taken apart."""
    match = _LETTER_AND_NUMBER.match(name)
    head, tail = match.groups() if match else (name.partition("_")[0], name.partition("_")[2])
    return ("", "") if "_" in name and not tail else (head, tail)


def latex_number(value: float, digits: int | None = None) -> str:
    """A number in math mode: 1.5 or 1.5 \\cdot 10^{-7}; π is written as such."""
    if abs(value) == math.pi:
        return r"-\pi" if value < 0 else r"\pi"
    mantissa, _, power = number_text(value, digits).partition("e")
    return rf"{mantissa} \cdot 10^{{{int(power)}}}" if power else mantissa


def _write(node: Expr, names: Sequence[str] | None, digits: int | None) -> tuple[str, int]:
    if isinstance(node, Const):
        text = latex_number(node.value, digits)
        return text, _SUM if text.startswith("-") else _PRODUCT if "cdot" in text else _ATOM
    if isinstance(node, Var):
        named = names is not None and node.index < len(names)
        return latex_name(names[node.index] if names is not None and named else f"x{node.index}"), _ATOM
    if isinstance(node, Param):
        return f"c_{{{node.index}}}", _ATOM
    assert isinstance(node, Call)
    parts = [_write(a, names, digits) for a in node.args]
    op, first = node.op, parts[0][0]
    if op in ("add", "sub"):
        return _sum(op, parts), _SUM
    if op == "neg":
        return "-" + _bracket(parts[0], _PRODUCT), _SUM
    if op == "mul":
        return _product(parts), _PRODUCT
    if op in ("div", "inv"):
        return rf"\frac{{{first}}}{{{parts[1][0]}}}" if op == "div" else rf"\frac{{1}}{{{first}}}", _PRODUCT
    if op in ("pow", "square"):
        exponent = "2" if op == "square" else parts[1][0]
        return f"{_bracket(parts[0], _ATOM)}^{{{exponent}}}", _POWER
    if op == "sqrt":
        return rf"\sqrt{{{first}}}", _ATOM
    if op == "abs":
        return rf"\left|{first}\right|", _ATOM
    if op == "exp" and len(first) <= 40:
        return f"e^{{{first}}}", _POWER
    return rf"{OPERATORS[op].latex}\left({', '.join(text for text, _ in parts)}\right)", _ATOM


def _sum(op: str, parts: list[tuple[str, int]]) -> str:
    text = parts[0][0]
    for part in parts[1:]:
        # "a + -2" and "a - (b + c)" need their brackets, "a + b + c" does not.
        plain = op == "add" and not part[0].startswith("-")
        text += (" + " if op == "add" else " - ") + (part[0] if plain else _bracket(part, _PRODUCT))
    return text


def _product(parts: list[tuple[str, int]]) -> str:
    text = _bracket(parts[0], _PRODUCT)
    for part in parts[1:]:
        factor = _bracket(part, _PRODUCT)
        text += (r" \cdot " if factor[0].isdigit() else r" \, ") + factor
    return text


def _bracket(part: tuple[str, int], least: int) -> str:
    text, holds = part
    return text if holds >= least else rf"\left({text}\right)"


def _word(word: str) -> str:
    if word in GREEK:
        return rf"\{word}"
    return word if len(word) == 1 and word.isalnum() else _upright(word)


def _upright(word: str) -> str:
    plain = (sign if sign.isprintable() else " " for sign in word)
    return rf"\mathrm{{{''.join(_ESCAPES.get(sign, sign) for sign in plain)}}}"
