"""Formula to text that parse.py reads back into the same tree.

Knows infix signs and when brackets are needed; it does not rearrange anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .expr import Call, Const, Expr, Param, Var
from .operators import ALIASES, OPERATORS

_IDENTIFIER = re.compile(r"[^\W\d]\w*\Z")
_OTHER_WORDS = ("pi", "e", "log10", "log2", "sec", "csc", "cot")  # that the parser reads as something else
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-f]{1,5}|10[0-9a-f]{4})\}|([\\`]))")
_ATOM = 9


def to_text(expr: Expr, names: Sequence[str] | None = None, digits: int | None = None) -> str:
    """``expr`` as one line; ``names`` replace x0, x1, …; ``digits`` rounds constants for reading."""
    return _write(expr, names, digits)[0]


def quote_name(name: str) -> str:
    """A column name as it stands in a formula: in backticks if it could be misread, and always one printable line."""
    reserved = name.lower() in OPERATORS or name.lower() in ALIASES or name.lower() in _OTHER_WORDS
    return name if _IDENTIFIER.match(name) and not reserved else f"`{escaped(name)}`"


def escaped(name: str) -> str:
    """A name between backticks: a backslash stands before a backslash or backtick; what cannot be printed is a code."""
    return "".join(_code(sign) if not sign.isprintable() else f"\\{sign}" if sign in "\\`" else sign for sign in name)


def unescaped(text: str) -> str:
    """The name that ``escaped`` wrote."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[2], text)


def printable(text: str) -> str:
    """Text from outside as one line that a terminal can show: what cannot be printed is a code."""
    return "".join(sign if sign.isprintable() else _code(sign) for sign in text)


def printable_lines(text: str) -> str:
    """The same for several lines."""
    return "\n".join(map(printable, text.split("\n")))


def _code(sign: str) -> str:
    return f"\\u{{{ord(sign):x}}}"


def number_text(value: float, digits: int | None = None) -> str:
    """Shortest text that reads back as ``value`` (or as its rounding to ``digits`` significant digits)."""
    if digits is not None:
        value = float(f"{value:.{digits}g}")
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def _write(node: Expr, names: Sequence[str] | None, digits: int | None) -> tuple[str, int]:
    """Text and the precedence with which it holds together."""
    if isinstance(node, Const):
        text = number_text(node.value, digits)
        return text, OPERATORS["neg"].precedence if text.startswith("-") else _ATOM
    if isinstance(node, Var):
        named = names is not None and node.index < len(names)
        return quote_name(names[node.index]) if named and names else f"x{node.index}", _ATOM
    if isinstance(node, Param):
        return f"c{node.index}", _ATOM
    assert isinstance(node, Call)
    row = OPERATORS[node.op]
    parts = [_write(a, names, digits) for a in node.args]
    if not row.symbol:
        return f"{node.op}({', '.join(text for text, _ in parts)})", _ATOM
    return _infix(node, parts), row.precedence


def _infix(node: Call, parts: list[tuple[str, int]]) -> str:
    precedence = OPERATORS[node.op].precedence
    sign = OPERATORS[node.op].symbol
    if node.op == "neg":
        # Bracket a positive literal: "-2" would be read as a negative constant.
        literal = isinstance(node.args[0], Const) and parts[0][1] == _ATOM
        return "-" + (_bracket(parts[0], _ATOM + 1) if literal else _bracket(parts[0], precedence))
    if node.op == "pow":
        return _bracket(parts[0], _ATOM) + "**" + _bracket(parts[1], OPERATORS["neg"].precedence)
    # The first operand of a chain may be the *other* sign of the same rank: (a - b) + c is a - b + c.
    first = node.args[0]
    chain = isinstance(first, Call) and first.op == node.op and node.op in ("add", "mul")
    head = _bracket(parts[0], precedence + 1 if chain else precedence)
    gap = f" {sign} " if precedence == 1 else sign
    # "a*-2" could be read back too, but a person prefers a*(-2).
    least = OPERATORS["mul"].precedence if precedence == 1 else OPERATORS["pow"].precedence
    return gap.join([head, *(_bracket(part, least) for part in parts[1:])])


def _bracket(part: tuple[str, int], least: int) -> str:
    text, precedence = part
    return text if precedence >= least else f"({text})"
