"""How large the closed families may be, and how many numbers in them can be tuned: limits that may fall but not rise.

Counted is propose/ without its engines: evolution (evolve/), the short forms (short/) and the textbook's.  A tunable
number is a module-level constant in capitals, a number that is the default of a field, or a number inside a function
other than 0, 1, 2 and a half.
"""

import ast
from pathlib import Path

import pytest

PROPOSE = Path(__file__).resolve().parents[2] / "src" / "unisymnet" / "propose"
MAX_FILES, MAX_LINES, MAX_TUNABLES = 34, 6998, 299
ENGINES = {"evolve", "short", "textbook"}
PLAIN = {0.0, 1.0, 2.0, 0.5}


def files() -> list[Path]:
    paths = sorted(PROPOSE.rglob("[!_]*.py"))
    return [path for path in paths if not ENGINES & set(path.relative_to(PROPOSE).with_suffix("").parts)]


def _number(node: ast.expr | None) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def tunables(source: str) -> list[str]:
    """`line: name or value` of every tunable number."""
    tree = ast.parse(source)
    found = []
    for node in tree.body:
        if isinstance(node, ast.Assign):
            names = [n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            if len(names) == len(values):
                found += [f"{node.lineno}: {n}" for n, v in zip(names, values) if n.isupper() and _number(v)]
        elif isinstance(node, ast.ClassDef):
            fields = [item for item in node.body if isinstance(item, ast.AnnAssign) and _number(item.value)]
            found += [f"{item.lineno}: {ast.unparse(item.target)}" for item in fields]
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        for node in ast.walk(function):
            if isinstance(node, ast.Constant) and type(node.value) is float and abs(node.value) not in PLAIN:
                found.append(f"{node.lineno}: {node.value}")
    return list(dict.fromkeys(found))


def test_propose_does_not_grow() -> None:
    texts = {path: path.read_text("utf-8") for path in files()}
    numbers = [f"{path.name}:{number}" for path, text in texts.items() for number in tunables(text)]
    n_lines = sum(len(text.splitlines()) for text in texts.values())
    print(f"files={len(texts)} lines={n_lines} tunables={len(numbers)}")
    assert len(texts) <= MAX_FILES
    assert n_lines <= MAX_LINES
    assert len(numbers) <= MAX_TUNABLES


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("MOST = 3\nNEAR, FAR = 0.1, 2.0\nname = 4", 3),
        ("class Stage:\n    name: str = 'x'\n    rows: int = 100\n    on: bool = True", 1),
        ("def f(x):\n    return 0.3*x + 1.0*x - 0.5*x**2.0 + 3", 1),
        ("VIEWS = ('y', 'ln(y)')\nGRID = (1.0, 2.0)", 0),
    ],
)
def test_the_count_itself(source: str, count: int) -> None:
    assert len(tunables(source)) == count
