"""Formula to MathML, which browsers typeset without any library, as it stands: nothing is rearranged.

Column names are treated as in latex.py: m_1 gets a subscript, Greek names their letter, longer names stand upright.
Every text is escaped, so that the result can stand in a page whatever the columns are called.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from ..expr import Call, Const, Expr, Param, Var, size
from ..text import number_text, printable
from .latex import GREEK, name_parts

_SPELLED = re.compile(r"(-?)(\d*?)((?:√.|[^\d√])?)\Z")
_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
_SHORT_EXPONENT = 14  # nodes; a longer argument of exp stands on the line, as exp(…)

# How tightly a piece of output holds together.
_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4

Speller = Callable[[float], str | None]


@dataclass(frozen=True)
class _Piece:
    """Markup, how tightly it holds together, and what it begins with: "-", "0" for a digit, or ""."""

    markup: str
    holds: int = _ATOM
    begins: str = ""


@dataclass(frozen=True)
class _Style:
    names: Sequence[str] | None
    digits: int | None
    spell: Speller | None


def mathml(
    expr: Expr,
    names: Sequence[str] | None = None,
    digits: int | None = None,
    *,
    target: str | None = None,
    spell: Speller | None = None,
    block: bool = False,
) -> str:
    """A `<math>` element; with ``target`` an equation.

    ``digits`` rounds constants for reading.  ``spell`` may name a number that rounding would hide: "2π/3".
    """
    body = _write(expr, _Style(names, digits, spell)).markup
    if target is not None:
        body = f"{mathml_name(target)}<mo>=</mo>{body}"
    display = ' display="block"' if block else ""
    return f"<math{display}><mrow>{body}</mrow></math>"


def mathml_name(name: str) -> str:
    """A column name."""
    name = printable(name)
    head, tail = name_parts(name)
    if not head:
        return f"<mtext>{escape(name)}</mtext>"
    if not tail:
        return _word(head)
    return f"<msub>{_word(head)}{f'<mn>{tail}</mn>' if tail.isdecimal() else _word(tail)}</msub>"


def _word(word: str) -> str:
    if word in GREEK:
        case = "CAPITAL" if word[0].isupper() else "SMALL"
        letter = "LAMDA" if word.lower() == "lambda" else word.upper()  # as Unicode spells it
        return f"<mi>{unicodedata.lookup(f'GREEK {case} LETTER {letter}')}</mi>"
    return f"<mi>{escape(word)}</mi>" if word.isalnum() else f"<mtext>{escape(word)}</mtext>"


def _number(value: float, style: _Style) -> _Piece:
    text = number_text(value, style.digits)
    spelled = style.spell(value) if style.spell is not None and text != number_text(value) else None
    if spelled is None and abs(value) == math.pi:
        spelled = "-π" if value < 0 else "π"
    if spelled is not None:
        found = _spelled(spelled)
        if found is not None:
            return found
    minus, text = text.startswith("-"), text.removeprefix("-")
    mantissa, _, power = text.partition("e")
    markup = f"<mn>{mantissa}</mn>"
    if power:
        raised = f"<mn>{abs(int(power))}</mn>"
        raised = f"<mrow><mo>−</mo>{raised}</mrow>" if int(power) < 0 else raised
        markup += f"<mo>×</mo><msup><mn>10</mn>{raised}</msup>"
    if minus:
        return _Piece(f"<mo>−</mo>{markup}", _SUM, "-")
    return _Piece(markup, _PRODUCT if power else _ATOM, "0")


def _spelled(name: str) -> _Piece | None:
    """ "-2π/3" or "1/√2" as markup; None for what is not of this kind."""
    upper, _, lower = name.partition("/")
    parts = [_SPELLED.match(part) for part in (upper, lower) if part]
    if not parts or None in parts:
        return None
    markup = [_multiple(match[2], match[3]) for match in parts if match is not None]
    body = f"<mfrac>{''.join(markup)}</mfrac>" if lower else markup[0]
    if name.startswith("-"):
        return _Piece(f"<mo>−</mo>{body}", _SUM, "-")
    return _Piece(body, _PRODUCT if lower else _ATOM, "0" if name[0].isdecimal() and not lower else "")


def _multiple(number: str, symbol: str) -> str:
    root = f"<msqrt>{_letter(symbol[1])}</msqrt>" if symbol.startswith("√") else _letter(symbol) if symbol else ""
    return f"<mrow>{f'<mn>{number}</mn>' if number else ''}{root}</mrow>"


def _letter(sign: str) -> str:
    return f"<mn>{sign}</mn>" if sign.isdecimal() else f"<mi>{sign}</mi>"


def _write(node: Expr, style: _Style) -> _Piece:
    if isinstance(node, Const):
        return _number(node.value, style)
    if isinstance(node, Var):
        names = style.names
        return _Piece(mathml_name(names[node.index] if names and node.index < len(names) else f"x{node.index}"))
    if isinstance(node, Param):
        return _Piece(f"<msub><mi>c</mi><mn>{node.index}</mn></msub>")
    assert isinstance(node, Call)
    parts = [_write(a, style) for a in node.args]
    if node.op in ("add", "sub"):
        return _sum(node.op, parts)
    if node.op == "mul":
        return _product(parts, isinstance(node.args[0], Const))
    return _other(node, parts)


def _other(node: Call, parts: list[_Piece]) -> _Piece:
    op, first = node.op, f"<mrow>{parts[0].markup}</mrow>"
    if op == "neg":
        return _Piece(f"<mo>−</mo>{_bracket(parts[0], _PRODUCT)}", _SUM, "-")
    if op in ("div", "inv"):
        upper, lower = (first, f"<mrow>{parts[1].markup}</mrow>") if op == "div" else ("<mn>1</mn>", first)
        return _Piece(f"<mfrac>{upper}{lower}</mfrac>", _PRODUCT)
    if op in ("pow", "square"):
        exponent = "<mn>2</mn>" if op == "square" else f"<mrow>{parts[1].markup}</mrow>"
        return _Piece(f"<msup><mrow>{_bracket(parts[0], _ATOM)}</mrow>{exponent}</msup>", _POWER, parts[0].begins)
    if op == "sqrt":
        return _Piece(f"<msqrt>{first}</msqrt>")
    if op == "abs":
        return _Piece(f"<mrow><mo>|</mo>{first}<mo>|</mo></mrow>")
    if op == "exp" and size(node) <= _SHORT_EXPONENT:
        return _Piece(f"<msup><mi>e</mi>{first}</msup>", _POWER)
    name = _NAMES.get(op, op)
    inside = "<mo>,</mo>".join([first, *(f"<mrow>{part.markup}</mrow>" for part in parts[1:])])
    return _Piece(f"<mrow><mi>{name}</mi><mo>&#x2061;</mo><mrow><mo>(</mo>{inside}<mo>)</mo></mrow></mrow>")


def _sum(op: str, parts: list[_Piece]) -> _Piece:
    markup = parts[0].markup
    for part in parts[1:]:
        # "a + -2" and "a - (b + c)" need their brackets, "a + b + c" does not.
        plain = op == "add" and part.begins != "-"
        markup += f"<mo>{'+' if op == 'add' else '−'}</mo>" + (part.markup if plain else _bracket(part, _PRODUCT))
    return _Piece(markup, _SUM, parts[0].begins)


def _product(parts: list[_Piece], number_first: bool) -> _Piece:
    lead = parts[0]
    begins = "" if lead.holds < _PRODUCT else lead.begins
    keep = number_first and lead.begins == "-"  # −2x needs no brackets
    markup = lead.markup if keep else _bracket(lead, _PRODUCT)
    for part in parts[1:]:
        gap = "<mo>⋅</mo>" if part.begins == "0" and part.holds >= _PRODUCT else '<mspace width="0.17em"></mspace>'
        markup += gap + _bracket(part, _PRODUCT)
    return _Piece(markup, _SUM if keep else _PRODUCT, "-" if keep else begins)


def _bracket(piece: _Piece, least: int) -> str:
    if piece.holds >= least:
        return piece.markup
    return f"<mrow><mo>(</mo>{piece.markup}<mo>)</mo></mrow>"
