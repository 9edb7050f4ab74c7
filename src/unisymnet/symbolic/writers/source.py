"""A formula as source code: Python, numpy, C, Excel, Julia, MATLAB, JavaScript.

One writer and one `Dialect` per language. Minus signs are bracketed wherever they could bind differently
(Excel reads -A2^2 as (-A2)^2), and numbers are written so that they read back exactly. Does not know LaTeX or
sympy, which sympy_bridge.py writes. What a column is called reaches the source only through names.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..expr import Call, Const, Expr, Var, variables
from ..text import to_text
from .names import C_WORDS, JS_WORDS, JULIA_WORDS, MATLAB_WORDS, PYTHON_WORDS, comment_line, identifiers

_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 4, 9
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_FUNCTIONS = ("sin", "cos", "exp", "ln", "sqrt", "abs", "sinh", "cosh", "tanh", "tan", "asin", "acos", "atan")


@dataclass(frozen=True)
class Dialect:
    """How one language spells what differs between languages.

    `prefix` stands before every function, `renamed` holds those it calls otherwise. `power` is the function
    for powers and `sign` the infix sign, which stands for all powers or, with `power` too, for those with an
    integer exponent. `number` writes a constant, `dot` makes * and / elementwise, and `frame` turns (name,
    arguments, body, formula as text) into the whole source.
    """

    prefix: str = ""
    renamed: dict[str, str] = field(default_factory=dict)
    power: str = ""
    sign: str = ""
    number: Callable[[float], str] = repr
    dot: str = ""
    frame: Callable[[str, list[str], str, str], str] = lambda name, arguments, body, text: body
    reserved: frozenset[str] = frozenset()
    tight_minus: bool = False  # a minus sign binds tighter than a power


def write_source(
    expr: Expr,
    names: Sequence[str],
    target: str,
    language: str,
    cells: Sequence[str] | None = None,
    remark: str = "",
) -> str:
    """Source of a function of the columns used.

    For Excel it is a cell formula for row 2; ``cells`` are the columns of the sheet from A on (default: those of the
    fit).  A ``remark``, such as the units of the columns, stands in the comment behind the formula.
    """
    dialect = DIALECTS[language]
    used = variables(expr)
    if language == "excel":
        places = cell_places(used, names, names if cells is None else cells)
    else:
        safe = identifiers([target, *(names[i] for i in used)], dialect.reserved)
        target, places = safe[0], dict(zip(used, safe[1:], strict=True))
    body = _write(expr, places, dialect)[0]
    text = f"{target} = {to_text(expr, names)}" + (f"; {remark}" if remark else "")
    return dialect.frame(target, list(places.values()), body, comment_line(text))


def cell_places(used: Sequence[int], names: Sequence[str], cells: Sequence[str]) -> dict[int, str]:
    """Where the columns used stand in row 2 of a sheet with the columns ``cells``."""
    missing = [names[i] for i in used if names[i] not in cells]
    if missing:
        raise ValueError(f"the sheet has no column {missing[0]!r}; it has {', '.join(cells)}")
    return {i: f"{_letters(list(cells).index(names[i]))}2" for i in used}


def _write(node: Expr, places: dict[int, str], dialect: Dialect) -> tuple[str, int]:
    """Text and the precedence with which it holds together; a leading minus is as loose as a sum."""
    if isinstance(node, Const):
        text = dialect.number(node.value)
        return text, _SUM if text.startswith("-") else _ATOM
    if isinstance(node, Var):
        return places[node.index], _ATOM
    if not isinstance(node, Call):
        raise ValueError(f"the formula still has a constant to fit, {node}; fit it before writing source")
    parts = [_write(a, places, dialect) for a in node.args]
    if node.op in _SIGNS:
        return _infix(node.op, parts, dialect)
    if node.op == "neg":
        return "-" + _bracket(parts[0], _ATOM if dialect.tight_minus else _PRODUCT), _SUM
    if node.op == "inv":
        return _infix("div", [(dialect.number(1.0), _ATOM), parts[0]], dialect)
    if node.op == "square":
        return _power(parts[0], ("2", _ATOM), dialect, True)
    if node.op == "pow":
        exponent = node.args[1]
        if isinstance(exponent, Const) and exponent.value % 1.0 == 0.0 and abs(exponent.value) < 1000:
            return _power(parts[0], (str(int(exponent.value)), _ATOM), dialect, True)
        return _power(parts[0], parts[1], dialect, False)
    function = dialect.renamed.get(node.op, dialect.prefix + node.op)
    return f"{function}({parts[0][0]})", _ATOM


def _infix(op: str, parts: list[tuple[str, int]], dialect: Dialect) -> tuple[str, int]:
    rank = _SUM if op in ("add", "sub") else _PRODUCT
    sign = _SIGNS[op]
    gap = f" {sign} " if rank == _SUM else (dialect.dot + sign)
    # A sum may start with a minus; nothing else may, on any place.
    head = parts[0][0] if rank == _SUM else _bracket(parts[0], _PRODUCT)
    # a*(b*c), not a*b*c: rounding must not depend on the language.
    return gap.join([head, *(_bracket(part, rank + 1) for part in parts[1:])]), rank


def _power(base: tuple[str, int], exponent: tuple[str, int], dialect: Dialect, whole: bool) -> tuple[str, int]:
    if dialect.sign and (whole or not dialect.power):
        raised = f"({exponent[0]})" if exponent[0].startswith("-") else _bracket(exponent, _ATOM)
        return f"{_bracket(base, _ATOM)}{dialect.sign}{raised}", _POWER
    return f"{dialect.power}({base[0]}, {exponent[0]})", _ATOM


def _bracket(part: tuple[str, int], least: int) -> str:
    text, precedence = part
    return text if precedence >= least else f"({text})"


def _letters(index: int) -> str:
    """0 -> A, 25 -> Z, 26 -> AA."""
    text = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def _plain(value: float) -> str:
    """2 rather than 2.0, otherwise the shortest text that reads back exactly."""
    return str(int(value)) if value % 1.0 == 0.0 and abs(value) < 1e15 else repr(value)


def _excel_number(value: float) -> str:
    return _plain(value).upper()


def _python(name: str, arguments: list[str], body: str, text: str) -> str:
    return f'import math\n\n\ndef {name}({", ".join(arguments)}):\n    """{text}"""\n    return {body}\n'


def _numpy(name: str, arguments: list[str], body: str, text: str) -> str:
    return _python(name, arguments, body, text).replace("import math", "import numpy as np", 1)


def _c(name: str, arguments: list[str], body: str, text: str) -> str:
    columns = ", ".join(f"double {a}" for a in arguments) or "void"
    return f"#include <math.h>\n\n/* {text} */\ndouble {name}({columns})\n{{\n    return {body};\n}}\n"


def _julia(name: str, arguments: list[str], body: str, text: str) -> str:
    return f"# {text}\n{name}({', '.join(arguments)}) = {body}\n"


def _matlab(name: str, arguments: list[str], body: str, text: str) -> str:
    return f"% {text}\n{name} = @({', '.join(arguments)}) {body};\n"


def _js(name: str, arguments: list[str], body: str, text: str) -> str:
    return f"// {text}\nconst {name} = ({', '.join(arguments)}) => {body};\n"


_ARC = {op: "arc" + op[1:] for op in ("asin", "acos", "atan")}
_INVERSE = {"ln": "log"}

DIALECTS: dict[str, Dialect] = {
    "python": Dialect(
        prefix="math.",
        renamed={"ln": "math.log", "abs": "abs"},
        power="math.pow",
        sign="**",
        number=_plain,
        frame=_python,
        reserved=PYTHON_WORDS,
    ),
    "numpy": Dialect(
        prefix="np.",
        renamed={"ln": "np.log"} | {op: f"np.{name}" for op, name in _ARC.items()},
        power="np.power",
        sign="**",
        number=_plain,
        frame=_numpy,
        reserved=PYTHON_WORDS,
    ),
    "c": Dialect(power="pow", renamed=_INVERSE | {"abs": "fabs"}, frame=_c, reserved=C_WORDS),
    "excel": Dialect(
        renamed={op: op.upper() for op in _FUNCTIONS},
        sign="^",
        number=_excel_number,
        frame=lambda name, arguments, body, text: f"={body}",
        tight_minus=True,
    ),
    "julia": Dialect(renamed=_INVERSE, sign="^", number=repr, frame=_julia, reserved=JULIA_WORDS),
    "matlab": Dialect(
        renamed=_INVERSE, sign=".^", number=_plain, dot=".", frame=_matlab, reserved=MATLAB_WORDS
    ),
    "js": Dialect(
        prefix="Math.",
        renamed={"ln": "Math.log"},
        power="Math.pow",
        number=_plain,
        frame=_js,
        reserved=JS_WORDS,
    ),
}
