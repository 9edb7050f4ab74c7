"""A formula as source code: Python, numpy, C, Excel, Julia, MATLAB, JavaScript.

One writer and one `Dialect` per language. Minus signs are bracketed wherever they could bind differently
(Excel reads -A2^2 as (-A2)^2), and numbers are written so that they read back exactly. Does not know LaTeX or
sympy, which sympy_bridge.py writes. What a column is called reaches the source only through names.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...errors import quoted
from ..expr import Call, Const, Expr, Var, variables, walk
from ..operators import OPERATORS
from ..text import to_text
from .names import C_WORDS, JS_WORDS, JULIA_WORDS, MATLAB_WORDS, PYTHON_WORDS, comment_line, identifiers

_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 4, 9
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


@dataclass(frozen=True)
class Dialect:
    """How one language spells what differs between languages.

    `prefix` stands before every function that the operator table does not spell otherwise for the language. `power` is
    the function for powers and `sign` the infix sign, which stands for all powers or, with `power` too, for those with
    an integer exponent. `number` writes a constant, `dot` makes * and / elementwise, `frame` is the whole source around
    name, arguments (each written as `argument`, no arguments as `nothing`), body and formula as text, `with_erf` adds
    the error function where the language has none.
    """

    language: str
    prefix: str = ""
    power: str = ""
    sign: str = ""
    number: Callable[[float], str] = repr
    dot: str = ""
    frame: str = "{body}"
    argument: str = "{}"
    nothing: str = ""
    reserved: frozenset[str] = frozenset()
    tight_minus: bool = False  # a minus sign binds tighter than a power
    with_erf: Callable[[str], str] = str


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
    text = comment_line(f"{target} = {to_text(expr, names)}" + (f"; {remark}" if remark else ""))
    arguments = ", ".join(dialect.argument.format(place) for place in places.values()) or dialect.nothing
    source = dialect.frame.format(name=target, arguments=arguments, body=body, text=text)
    return dialect.with_erf(source) if any(isinstance(n, Call) and n.op == "erf" for n in walk(expr)) else source


def cell_places(used: Sequence[int], names: Sequence[str], cells: Sequence[str]) -> dict[int, str]:
    """Where the columns used stand in row 2 of a sheet with the columns ``cells``."""
    missing = [names[i] for i in used if names[i] not in cells]
    if missing:
        raise ValueError(f"the sheet has no column {missing[0]!r}; it has {', '.join(quoted(c)[1:-1] for c in cells)}")
    return {i: f"{_letters(list(cells).index(names[i]))}2" for i in used}


def write_body(expr: Expr, places: dict[int, str], language: str) -> str:
    """The right-hand side alone; ``places`` says how each column is written."""
    return _write(expr, places, DIALECTS[language])[0]


def safe_names(names: Sequence[str], language: str, taken: frozenset[str] = frozenset()) -> list[str]:
    """Distinct identifiers of a language, as near to the names as it allows, none of them reserved or ``taken``."""
    return identifiers(names, DIALECTS[language].reserved | taken)


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
    return _called(OPERATORS[node.op].names.get(dialect.language), node.op, parts, dialect), _ATOM


def _called(spelling: str | None, op: str, parts: list[tuple[str, int]], dialect: Dialect) -> str:
    if spelling is not None and "{0}" in spelling:
        return spelling.replace("{0}", _bracket(parts[0], _ATOM))
    plain = op.upper() if dialect.language == "excel" else dialect.prefix + op
    return f"{plain if spelling is None else spelling}({', '.join(text for text, _ in parts)})"


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


_FUNCTION = '\n\n\ndef {name}({arguments}):\n    """{text}"""\n    return {body}\n'
_C = "#include <math.h>\n\n/* {text} */\ndouble {name}({arguments})\n{{\n    return {body};\n}}\n"

# The series of erf with terms of one sign, so that nothing cancels; beyond 6 it is 1 to the last digit.
_JS_ERF = """function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x, total = x;
  for (let n = 1; n < 200; n++) { term *= 2 * x * x / (2 * n + 1); total += term; }
  return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * total;
}
"""
_JULIA_ERF = """function erf(x)
    abs(x) > 6 && return float(sign(x))
    term = total = float(x)
    for n in 1:200
        term *= 2 * x^2 / (2 * n + 1)
        total += term
    end
    return 2 / sqrt(pi) * exp(-x^2) * total
end
"""
_NUMPY_ERF = "import math\n\nimport numpy as np\n\nerf = np.vectorize(math.erf, otypes=[float])\n"

DIALECTS: dict[str, Dialect] = {
    dialect.language: dialect
    for dialect in (
        Dialect(
            "python", "math.", "math.pow", "**", number=_plain, frame=f"import math{_FUNCTION}", reserved=PYTHON_WORDS
        ),
        Dialect(
            "numpy",
            prefix="np.",
            power="np.power",
            sign="**",
            number=_plain,
            frame=f"import numpy as np{_FUNCTION}",
            reserved=PYTHON_WORDS,
            with_erf=lambda source: source.replace("import numpy as np\n", _NUMPY_ERF, 1),
        ),
        Dialect("c", power="pow", frame=_C, argument="double {}", nothing="void", reserved=C_WORDS),
        Dialect("excel", sign="^", number=lambda value: _plain(value).upper(), frame="={body}", tight_minus=True),
        Dialect(
            "julia",
            sign="^",
            frame="# {text}\n{name}({arguments}) = {body}\n",
            reserved=JULIA_WORDS,
            with_erf=lambda source: _JULIA_ERF + source,
        ),
        Dialect(
            "matlab",
            sign=".^",
            number=_plain,
            dot=".",
            frame="% {text}\n{name} = @({arguments}) {body};\n",
            reserved=MATLAB_WORDS,
        ),
        Dialect(
            "js",
            prefix="Math.",
            power="Math.pow",
            number=_plain,
            frame="// {text}\nconst {name} = ({arguments}) => {body};\n",
            reserved=JS_WORDS,
            with_erf=lambda source: _JS_ERF + source,
        ),
    )
}
