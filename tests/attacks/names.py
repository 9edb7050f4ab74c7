# ruff: noqa: E501
"""Column names that try to get out of a comment, a string or an identifier, and what every export must look like."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Sequence
from pathlib import Path

from unisymnet.formula import Formula

HOSTILE = (
    "x\nrequire('fs').writeFileSync('PWN','1');//",
    "x\rrequire('fs').writeFileSync('PWN','1');//",
    "x\u2028require('fs').writeFileSync('PWN','1');//",
    "x\u2029process.exit(7);//",
    "x\x85process.exit(7);//",
    "x*\\\n/ int pwned_c = 1; /*",
    "x*/ int pwned_c = 1; /*",
    "x*??/\n/ int pwned_c = 1; /*",
    "**//int pwned_c = 1;/*",
    '__import__("os").system("touch PWN")',
    '""" + __import__("os").system("touch PWN") + """',
    "'''\nimport os\nos.system('touch PWN')\n'''",
    "y = 1\nimport os",
    "#{system('touch PWN')}",
    "x =#\nrun(`touch PWN`)\n#=",
    "x\nsystem('touch PWN') %",
    "%{\nsystem('touch PWN')\n%}",
    "...\nsystem('touch PWN')",
    "=cmd|' /C calc'!A0",
    "+1+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "x\x00y", "\x00", "\x1b[2J\x1b]0;owned\x07", "\u202egnp.exe", "\ufeffx", "\ud800",
    "`", "a`b", "``", "\\", "a\\", "a\\`b", "\\u{41}", '"', "'", "a'b\"c", "$x$", "${x}", "$(touch PWN)", "`touch PWN`",
    "<script>alert(1)</script>", "</title><img src=x onerror=alert(1)>", "&lt;", "]]>", "-->", "\\input{/etc/passwd}",
    "\\write18{touch PWN}", "}\\catcode`\\%=12 ", "%x", "#x", "a_b_c", "_", "__", "__x__", "_x", "x_", "²", "x²", "½", "٣",
    "", " ", "  ", "\t", "a b", "a-b", "a.b", "1", "2019", "1e5", "-1", "0x10", "a,b", "a;b", "Length (m)", "T, K",
    "ä", "λ", "µ", "Δt", "ﬁ", "fi", "℃", "日本語", "😀", "é", "e\u0301", "İ", "ß", "a" * 300, "é" * 300,
    "class", "lambda", "None", "True", "print", "math", "np", "abs", "exp", "sin", "pi", "e", "E", "I", "N", "S", "O", "Q",
    "NAN", "M_PI", "INFINITY", "isnan", "exp2", "j0", "y1", "linux", "unix", "main", "errno", "double", "int", "restrict",
    "delete", "export", "var", "let", "eval", "arguments", "await", "yield", "undefined", "NaN", "Math", "require", "module",
    "end", "function", "begin", "global", "do", "Inf", "im", "Base", "ans", "gamma", "beta", "zeta", "Symbol", "Integer",
    "x", "y", "X", "Y", "f", "powf", "logl", "fabs", "HUGE_VAL", "and", "or", "not", "new", "this", "template",
)  # fmt: skip
LANGUAGES = ("python", "numpy", "c", "excel", "julia", "matlab", "js", "latex", "sympy", "text", "json")
TEXTS = ("2.5*x0 + x1", "sin(x0)/x1 + exp(-x0)", "x0**2.5*x1 - ln(x1)")

_WORD = r"[A-Za-z][A-Za-z0-9_]*"
_BODY = r"[-A-Za-z0-9_+*/^(), .]+"
_LINES = {
    "julia": (r"# [^\n]*", rf"{_WORD}\({_BODY}\) = {_BODY}"),
    "matlab": (r"% [^\n]*", rf"{_WORD} = @\({_BODY}\) {_BODY};"),
    "js": (r"// [^\n]*", rf"const {_WORD} = \({_BODY}\) => {_BODY};"),
    "c": (
        r"#include <math\.h>",
        "",
        r"/\* [^\n]* \*/",
        rf"double {_WORD}\({_BODY}\)",
        r"\{",
        rf"    return {_BODY};",
        r"\}",
    ),
    "excel": (r"=[-+*/^()A-Z0-9. ]+",),
    "sympy": (_BODY,),
    "text": (r"[^\n]*",),
}


def names(count: int, seed: int = 0) -> list[str]:
    """So many names: first the list, then mixtures of its pieces."""
    rng = random.Random(seed)
    found = list(HOSTILE[:count])
    while len(found) < count:
        parts = [rng.choice(HOSTILE) for _ in range(rng.randint(2, 3))]
        cut = [part[: rng.randint(1, 12)] if rng.random() < 0.5 else part[-rng.randint(1, 12) :] for part in parts]
        found.append("".join(cut) if rng.random() < 0.8 else parts[0] + chr(rng.randrange(0x300)) + parts[1])
    return found


def formulas(name: str) -> list[Formula]:
    """The name as first column, as second beside one that may collide with it, and as the target."""
    expr = Formula.parse(TEXTS[len(name) % len(TEXTS)]).expr
    return [
        Formula(expr, (name, "other"), "y"),
        Formula(expr, ("x", name), "f"),
        Formula(expr, ("a", "b"), name),
    ]


def fault(formula: Formula, language: str) -> str | None:
    """What is wrong with an export, or None."""
    try:
        text = formula.to(language)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if language == "json":
        again = Formula.from_json(text)
        return None if again.names == formula.names and again.expr == formula.expr else "does not read back"
    if language == "text":
        same = Formula.parse(text, formula.names).expr
        # Of two columns with one name the parser takes one.
        return None if same == formula.expr or len(set(formula.names)) < 2 else "does not read back"
    if language == "latex":
        return _latex_fault(text)
    if language in ("python", "numpy"):
        return _python_fault(text)
    return _lines_fault(text.rstrip("\n"), _LINES[language])


def _lines_fault(text: str, patterns: Sequence[str]) -> str | None:
    lines = text.split("\n")
    if any(not sign.isprintable() for line in lines for sign in line):
        return "holds a character that cannot be printed"
    if len(lines) != len(patterns):
        return f"{len(lines)} lines instead of {len(patterns)}"
    wrong = [line for line, pattern in zip(lines, patterns, strict=True) if not re.fullmatch(pattern, line)]
    if wrong:
        return f"unexpected line {wrong[0]!r}"
    inside = text.split("/* ", 1)[1].split("\n")[0][:-3] if patterns[0].startswith("#include") else ""
    return "a comment ends early" if "*/" in inside or "\\" in inside else None


def _python_fault(text: str) -> str | None:
    tree = ast.parse(text)
    if [type(node) for node in tree.body] != [ast.Import, ast.FunctionDef]:
        return "more than a function"
    function = tree.body[1]
    assert isinstance(function, ast.FunctionDef)
    if [type(node) for node in function.body] != [ast.Expr, ast.Return]:
        return "the function holds more than its docstring and a return"
    called = {ast.unparse(node.func).split(".")[0] for node in ast.walk(function) if isinstance(node, ast.Call)}
    return None if called <= {"math", "np", "abs"} else f"calls {called}"


def _latex_fault(text: str) -> str | None:
    if "\n" in text or any(not sign.isprintable() for sign in text):
        return "more than a printable line"
    bare = re.sub(r"\\[\\{}$%&#_ ,|]", "", text)
    if bare.count("{") != bare.count("}") or re.search(r"[$%&#]", bare):
        return f"unbalanced or unescaped: {text}"
    commands = set(re.findall(r"\\([A-Za-z]+)", text))
    known = {"mathrm", "frac", "sqrt", "left", "right", "cdot", "sin", "ln", "exp", "backslash", "wedge", "sim", "pi"}
    greek = {"lambda", "gamma", "beta", "zeta"}
    return None if commands <= known | greek else f"commands {commands - known - greek}"


def c_file(items: Sequence[Formula]) -> str:
    """Many exports in one file, their functions numbered apart."""
    parts = []
    for place, item in enumerate(items):
        head, body = item.to("c").split("\ndouble ", 1)
        name, rest = body.split("(", 1)
        parts.append(f"{head}\ndouble {name}_n{place}({rest}" if place else f"{head}\ndouble {name}({rest}")
    return "\n".join(parts)


def js_file(items: Sequence[Formula], folder: Path) -> str:
    """Many exports in one file, each in a block of its own, and a word at the end that shows that it was reached."""
    blocks = [f"{{\n{item.to('js')}\n}}" for item in items]
    return "\n".join([f"process.chdir({str(folder)!r});", *blocks, "console.log('end');"])
