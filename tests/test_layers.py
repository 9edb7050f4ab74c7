"""Who may import whom, how long a file and a function may be, and what `import unisymnet` must not load.

The rules are those of ARCHITECTURE.md. They are read from the source with `ast`: an import inside a function
or under TYPE_CHECKING counts too, because it ties two modules together just the same.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"
PACKAGE = "unisymnet"

MAX_LINES = 350
MAX_STATEMENTS = 50

# Low to high. A unit (a module or folder right below the package) imports from lower tiers only. Units of one
# tier may import each other without a cycle, unless they are INDEPENDENT.
TIERS: list[set[str]] = [
    {"arrays", "errors", "deadline", "pulse", "threads"},
    {"symbolic"},
    {"problem", "metrics", "candidate", "formula", "judge", "protocols"},
    {"corpus", "model", "fit", "propose"},
    {"search", "report", "tables", "knowledge", "files"},
    {"regressor"},
    {"dynamics", "pde"},
    {"cli", "bench"},
    {"serve"},
    {"__init__", "__main__"},
]
INDEPENDENT = {"corpus", "model", "fit", "propose"}
SIBLING_EXCEPTIONS = {("propose", "fit")}
# Inside a unit, low to high: rooms (folders) and the modules beside them. A unit that is not here has no rooms.
ROOMS: dict[str, list[str]] = {
    "symbolic": [
        *("spans", "operators", "expr", "text", "merge_parts", "merge", "constants", "parse", "own"),
        *("rewrite", "writers", "network"),
    ],
    "judge": [
        *("numbers", "tree", "parts", "scales", "prior", "special", "forms"),
        *("told", "noise", "data", "replicates", "unseen", "judge"),
    ],
    "fit": ["kernels", "subset", "peel", "starts", "constants", "settle", "clean", "sfo", "dno", "polish"],
    "propose": [
        *("view", "write", "pool", "stage"),
        *("linear", "relation", "separable", "short", "smaller", "evolve"),
    ],
    "search": ["trace", "shortlist", "turns", "places", "stages", "order", "literal", "loop"],
}
# Pairs of modules that know each other, and why.
PAIRS = {
    ("symbolic.expr", "symbolic.text"),  # a formula prints itself
    ("symbolic.network.grammar", "symbolic.network.tokens"),  # types only: a prefix belongs to a vocabulary
    ("fit.dno.dno", "fit.dno.training"),  # types only: the settings
    ("dynamics.equations.export", "dynamics.equations.system"),  # types only: the system
    ("cli.fitting", "cli.reporting"),  # types only: the request
}
MAX_FILES = 20  # in one room, its __init__ not counted; a room with more is a hall
TIER_OF = {unit: tier for tier, units in enumerate(TIERS) for unit in units}

# Library -> the modules that may import it, as prefixes below the package.
HOMES = {
    "torch": {
        *("model.transformer", "model.reader", "model.train", "model.export"),
        *("fit.dno", "formula.torch_module"),
        "bench.eql",
    },
    "sympy": {"symbolic.writers.sympy_bridge"},
    "onnxruntime": {"model"},
    "sklearn": {"tables.boosting", "regressor", "dynamics", "cli", "bench"},
}
SYMBOLIC_LIBRARIES = {"numpy", "sympy"}


def _files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache  # four tests look at every file of the package
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), filename=str(path.relative_to(ROOT)))


def _module(path: Path) -> str:
    """Dotted name below the package: `symbolic.expr`, or `symbolic` for the `__init__.py` of that folder."""
    parts = path.relative_to(SRC / PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _is_module(dotted: str) -> bool:
    path = SRC.joinpath(*dotted.split("."))
    planned = dotted.removeprefix(f"{PACKAGE}.") in TIER_OF
    return planned or path.with_suffix(".py").is_file() or path.is_dir()


def _absolute(node: ast.ImportFrom, folder: tuple[str, ...]) -> str:
    """The dotted name that `from ... import` starts from, its leading dots resolved against the folder."""
    if node.level == 0:
        return node.module or ""
    base = folder[: len(folder) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def _imports(tree: ast.Module, folder: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Every imported name with its line; `folder` is the package of the file, such as (unisymnet, fit)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, folder)
            for alias in node.names:
                if (base, alias.name) != (PACKAGE, "__version__"):  # any module may ask for the version
                    full = f"{base}.{alias.name}"
                    yield node.lineno, full if _is_module(full) else base
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in {"import_module", "__import__"} and isinstance(node.args[0].value, str):
                yield node.lineno, node.args[0].value


def _unit(dotted: str) -> str:
    """`unisymnet.fit.kernels.fit` -> `fit`; the package itself is `__init__`."""
    parts = dotted.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def _layer_problem(importer: str, imported: str) -> str | None:
    """Why the unit `importer` may not import the unit `imported`, or None."""
    if importer == imported:
        return None
    for unit in (importer, imported):
        if unit not in TIER_OF:
            return f"{unit} has no tier; add it to TIERS in tests/test_layers.py and to ARCHITECTURE.md"
    if TIER_OF[imported] > TIER_OF[importer]:
        return f"{importer} may not import {imported}, which stands above it"
    same = TIER_OF[imported] == TIER_OF[importer]
    if same and importer in INDEPENDENT and (importer, imported) not in SIBLING_EXCEPTIONS:
        return f"{importer} and {imported} are siblings; move the shared part down or pass it in"
    return None


def _room_problem(importer: str, imported: str) -> str | None:
    """Why a module of a unit may not import another of the same unit, by their rooms; or None."""
    unit, *rest = importer.split(".")
    other, *rest_other = imported.split(".")
    rooms = ROOMS.get(unit)
    if rooms is None or unit != other or not rest or not rest_other:
        return None
    for room in (rest[0], rest_other[0]):
        if room not in rooms:
            return f"{unit}.{room} has no place; add it to ROOMS in tests/test_layers.py"
    if rooms.index(rest_other[0]) > rooms.index(rest[0]) and (importer, imported) not in PAIRS:
        return f"{importer} may not import {imported}, whose room stands above it"
    return None


def _library_problem(module: str, library: str) -> str | None:
    """Why `module` may not import the outside `library`, or None."""
    homes = HOMES.get(library)
    if homes is not None and not any(f"{module}.".startswith(f"{home}.") for home in homes):
        return f"{module} may not import {library}; only {', '.join(sorted(homes))} may"
    outside = library not in sys.stdlib_module_names and library not in SYMBOLIC_LIBRARIES
    if _unit(f"{PACKAGE}.{module}") == "symbolic" and outside:
        return f"{module} may not import {library}; symbolic is plain Python and numpy"
    return None


def _import_problems(tree: ast.Module, module: str, is_folder: bool = False) -> list[str]:
    """`line: reason` for every forbidden import in `module`."""
    parts = (PACKAGE, *module.split("."))
    folder = parts if is_folder else parts[:-1]
    found = []
    for line, name in _imports(tree, folder):
        top = name.split(".")[0]
        if top == PACKAGE:
            reason = _layer_problem(parts[1], _unit(name)) or _room_problem(module, name.removeprefix(f"{PACKAGE}."))
        else:
            reason = _library_problem(module, top)
        if reason and f"{line}: {reason}" not in found:
            found.append(f"{line}: {reason}")
    return found


def _long_functions(tree: ast.Module) -> list[str]:
    """`line: reason` for every function with too many statements, its docstring not counted."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            count = sum(isinstance(inner, ast.stmt) for inner in ast.walk(node)) - 1
            count -= ast.get_docstring(node, clean=False) is not None
            if count > MAX_STATEMENTS:
                found.append(f"{node.lineno}: {node.name} has {count} statements, limit {MAX_STATEMENTS}")
    return found


def _report(problems: list[str]) -> None:
    assert not problems, "\n" + "\n".join(problems)


def _is_folder(path: Path) -> bool:
    return path.name == "__init__.py" and path.parent != SRC / PACKAGE


def test_imports_respect_the_layers() -> None:
    problems = []
    for path in _files("src"):
        for problem in _import_problems(_parse(path), _module(path), _is_folder(path)):
            problems.append(f"{path.relative_to(ROOT)}:{problem}")
    _report(problems)


def test_units_import_each_other_without_cycles() -> None:
    edges: dict[str, dict[str, str]] = {}
    for path in _files("src"):
        module = _module(path)
        parts = (PACKAGE, *module.split("."))
        folder = parts if _is_folder(path) else parts[:-1]
        for line, name in _imports(_parse(path), folder):
            if name.split(".")[0] == PACKAGE and _unit(name) != parts[1]:
                edges.setdefault(parts[1], {})[_unit(name)] = f"{path.relative_to(ROOT)}:{line}"
    problems = []
    for start in edges:
        reached, todo = set(), [start]
        while todo:
            for unit in edges.get(todo.pop(), {}):
                if unit not in reached:
                    reached.add(unit)
                    todo.append(unit)
        if start in reached:
            problems.append(f"{start} reaches itself through {', '.join(sorted(edges[start].values()))}")
    _report(problems)


def test_modules_import_each_other_without_cycles() -> None:
    """A cycle is a module that cannot be understood without another that cannot be understood without it."""
    edges: dict[str, set[str]] = {}
    for path in _files("src"):
        module = _module(path)
        parts = (PACKAGE, *module.split("."))
        folder = parts if _is_folder(path) else parts[:-1]
        imported = (name for _, name in _imports(_parse(path), folder) if name.startswith(PACKAGE))
        names = {name.removeprefix(f"{PACKAGE}.") for name in imported}
        edges[module] = {name for name in names if name != module and (module, name) not in PAIRS}
    problems = []
    for start in edges:
        reached, todo = set(), [start]
        while todo:
            new = edges.get(todo.pop(), set()) - reached
            reached |= new
            todo += new
        if start in reached:
            problems.append(start)
    assert not problems, "modules that import themselves by way of others: " + ", ".join(problems)


def test_rooms_are_no_halls() -> None:
    folders = {path.parent for path in _files("src")}
    crowded = {str(f.relative_to(ROOT)): n for f in folders if (n := len(list(f.glob("[!_]*.py")))) > MAX_FILES}
    assert not crowded


def test_files_are_short() -> None:
    problems = []
    for path in _files("src", "tests", "benchmarks"):
        n_lines = len(path.read_text("utf-8").splitlines())
        if n_lines > MAX_LINES:
            where = f"{path.relative_to(ROOT)}:{MAX_LINES + 1}"
            problems.append(f"{where}: the file has {n_lines} lines, limit {MAX_LINES}; split it by idea")
    _report(problems)


def test_functions_are_short() -> None:
    problems = []
    for path in _files("src"):
        problems += [f"{path.relative_to(ROOT)}:{p}" for p in _long_functions(_parse(path))]
    _report(problems)


@pytest.mark.parametrize(
    ("module", "source", "allowed"),
    [
        ("symbolic.expr", "from ..errors import ParseError", True),
        ("symbolic.expr", "from .operators import OPERATORS", True),
        ("symbolic.expr", "import numpy as np", True),
        ("symbolic.expr", "from ..problem import Problem", False),  # upwards
        ("symbolic.expr", "from unisymnet import parse", False),  # the package door is for users
        ("symbolic.expr", "import scipy", False),
        ("symbolic.expr", "def f():\n    import sympy", False),  # late imports count
        ("symbolic.writers.sympy_bridge", "import sympy", True),
        ("metrics", "from .symbolic.writers import sympy_bridge", True),
        ("candidate", "from .metrics import complexity", True),
        ("corpus.trees", "from ..fit import kernels", False),  # siblings
        ("fit.sfo", "from ..propose import evolve", False),
        ("propose.separable.features", "from ...fit.kernels.fit import fit_tape", True),
        ("fit.dno.network", "import torch.nn as nn", True),
        ("fit.sfo", "import torch", False),
        ("model.beam", "import onnxruntime", True),
        ("model.beam", "from importlib import import_module\nimport_module('torch')", False),
        ("search", "from sklearn.base import BaseEstimator", False),
        ("regressor", "from sklearn.base import BaseEstimator", True),
        ("bench.methods", "import sklearn", True),
        ("cli", "from . import __version__, report", True),
        ("search", "from .cli import main", False),
        ("propose.write.shorten", "from ..pool import Pool", False),  # a lower room
        ("propose.linear.bases", "from ..pool import Pool", True),
        ("fit.polish", "from .clean.snap import snap", True),
        ("propose.cellar.wine", "from ..pool import Pool", False),  # a new room needs a place
        ("surprise", "from .errors import DataError", False),  # a new unit needs a tier
    ],
)
def test_the_import_check_itself(module: str, source: str, allowed: bool) -> None:
    assert (_import_problems(ast.parse(source), module) == []) is allowed


def test_the_statement_check_itself() -> None:
    def function(n: int) -> ast.Module:
        return ast.parse("def f():\n    'doc'\n" + "    x = 1\n" * n)

    assert _long_functions(function(MAX_STATEMENTS)) == []
    assert _long_functions(function(MAX_STATEMENTS + 1))[0].startswith("1: f has 51 statements")


@pytest.mark.parametrize("module", [PACKAGE, f"{PACKAGE}.errors", f"{PACKAGE}.symbolic"])
def test_import_stays_light(module: str) -> None:
    heavy = ["torch", "onnxruntime", "sympy", "sklearn", "numba", "pandas"]
    code = f"import sys, {module}; print(*sorted(set({heavy!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [], f"import {module} loads {done.stdout.strip()}; import it late"
