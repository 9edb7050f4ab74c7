"""Special cases of textbook forms, and every way to write a form, as trees that a formula can be compared with.

Rewriting some eight hundred trees takes a third of a second, in a fit whose limit may be half a second.  So they are
made once, by ``python benchmarks/make_forms.py``, and kept in forms.json beside this file.  The file says of which
forms it is: for others (a form was added) the trees are made anew, so that an old file costs time, never an answer.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

from ..symbolic.constants import free_constants, merge_params
from ..symbolic.expr import Call, Const, Expr, Param, Var, bind, n_params, rebuild, variables, walk
from ..symbolic.parse import parse
from ..symbolic.rewrite.simplify import simplify

Shape = tuple[str, ...]

# A constant that a form can do without (no offset, no phase, an exponent of one) costs no more than any fitted one
# would, so that a special case is not dearer than the form with that constant fitted to nothing.  A factor of one hangs
# on the unit, and the judge asks for that (scales.py); here it only says how many special cases share the belief.
ABSENT_NATS, ONE_NATS = 1.0, 2.5
MOST_ABSENT = 2
ANY, STEP = 1.3719024, 0.61803398  # numbers that stand for any constant


@dataclass(frozen=True)
class Form:
    """``spellings`` in x0 with constants c0, c1, …; the first is the one to fit.  ``roles`` for its constants that do
    not enter linearly: rate (per unit of x), place (a value of x), width, exponent.  ``weight`` is how often people
    mean it: in how many of the three kinds of lists it stands (spreadsheets, R, lmfit); less than one for what is in no
    list, or fits too much to be guessed as readily as a line.  ``falling``: so do all its exponentials.  ``endless``:
    no denominator is ever zero, as all its terms have one sign."""

    name: str
    spellings: tuple[str, ...]
    roles: tuple[tuple[int, str], ...] = ()
    weight: float = 1.0
    falling: bool = False
    endless: bool = False


@dataclass(frozen=True)
class Template:
    """A spelling of a form, or of a special case of it, as a tree whose parameters stand for any number; ``nats`` is
    what the special case costs more than the form, ``n_ones`` how many factors of one it has beside."""

    form: Form
    tree: Expr
    nats: float = 0.0
    n_ones: int = 0


@dataclass(frozen=True)
class Table:
    """All templates by shape, the cheap ones first, and what the special cases weigh together.  ``rows`` are those of
    the file (place of the form, nats, ones, tree); a tree is built when its shape is asked for."""

    forms: tuple[Form, ...]
    special_weight: float
    rows: dict[str, list[list[Any]]]
    built: dict[Shape, tuple[Template, ...]] = field(default_factory=dict)

    def templates(self, shape: Shape) -> tuple[Template, ...]:
        if shape not in self.built:
            rows = self.rows.get(" ".join(shape), [])
            self.built[shape] = tuple(Template(self.forms[i], _read(tree), nats, ones) for i, nats, ones, tree in rows)
        return self.built[shape]


def table(forms: tuple[Form, ...]) -> Table:
    """The templates of the forms: from the file, if it is of these forms."""
    stored = json.loads(resources.files(__package__).joinpath("forms.json").read_text("utf-8"))
    stored = stored if stored["of"] == _mark(forms) else make_table(forms)
    return Table(forms, stored["special_weight"], stored["rows"])


def make_table(forms: tuple[Form, ...]) -> dict[str, Any]:
    """What the file holds, made from the forms."""
    place = {id(form): i for i, form in enumerate(forms)}
    rows: dict[str, list[list[Any]]] = {}
    for shape, some in _templates(forms).items():
        rows[" ".join(shape)] = [[place[id(t.form)], t.nats, t.n_ones, _written(t.tree)] for t in some]
    return {"of": _mark(forms), "special_weight": _special_weight(forms), "rows": rows}


def _mark(forms: Sequence[Form]) -> str:
    """Short for everything that decides what the trees are and cost."""
    of = [[form.name, form.spellings, form.weight] for form in forms]
    return hashlib.sha256(json.dumps([of, ABSENT_NATS, ONE_NATS, MOST_ABSENT, ANY, STEP]).encode()).hexdigest()[:16]


def _written(tree: Expr) -> Any:
    """A tree as JSON: "x" the input, "3" a parameter, 3.0 a number, a list a call."""
    if isinstance(tree, Call):
        return [tree.op, *map(_written, tree.args)]
    if isinstance(tree, Const):
        return tree.value
    return str(tree.index) if isinstance(tree, Param) else "x"


def _read(written: Any) -> Expr:
    if isinstance(written, list):
        return Call(written[0], tuple(map(_read, written[1:])))
    if isinstance(written, str):
        return Var(0) if written == "x" else Param(int(written))
    return Const(written)


def canonical(expr: Expr) -> Expr:
    """The formula with redundant constants merged, exponents as they are: how the forms are compared."""
    form, values = free_constants(simplify(expr))
    return simplify(bind(form, values))


def shape_of(expr: Expr) -> Shape:
    """Operators and leaves counted: trees that can be read as each other have the same."""
    names = [node.op if isinstance(node, Call) else "x" if isinstance(node, Var) else "c" for node in walk(expr)]
    return tuple(sorted(names))


def _templates(forms: Sequence[Form]) -> dict[Shape, list[Template]]:
    """Every form and special case, by what can be seen of it at once; of two ways to read a tree the cheaper one."""
    found: dict[Expr, Template] = {}
    for form in forms:
        for text in form.spellings:
            for tree in (simplify(merge_params(simplify(parse(text)))), _as_compared(parse(text))):
                found.setdefault(tree, Template(form, tree))
    for form in forms:
        for text in form.spellings:
            for special in _special_cases(form, parse(text)):
                for tree in (special.tree, _as_compared(special.tree)):
                    if tree not in found or special.nats < found[tree].nats:
                        found[tree] = replace(special, tree=tree)
    by_shape: dict[Shape, list[Template]] = {}
    for template in found.values():
        by_shape.setdefault(shape_of(template.tree), []).append(template)
    return {shape: sorted(some, key=lambda t: t.nats) for shape, some in by_shape.items()}


def _as_compared(tree: Expr) -> Expr:
    """A spelling as `canonical` writes it, where constants may have moved: c0/(1 + c1·x^c2) becomes c0/(x^c2 + c1).

    Any numbers take the place of the constants on the way; equal ones are one constant again afterwards.
    """
    written = canonical(bind(tree, [ANY + STEP * index for index in range(n_params(tree))]))
    names: dict[float, Param] = {}

    def named(node: Expr) -> Expr:
        if not isinstance(node, Const) or (2.0 * node.value).is_integer():
            return node
        return names.setdefault(round(node.value, 9), Param(len(names)))

    return rebuild(written, named)


def _special_cases(form: Form, expr: Expr) -> Iterator[Template]:
    """The form with one or two of its constants at 0 or 1, as long as it keeps its column and a constant."""
    exponents = {node.args[1] for node in walk(expr) if isinstance(node, Call) and node.op == "pow"}
    ways = [
        (param, value, value == 0.0 or param in exponents)
        for param in sorted({node for node in walk(expr) if isinstance(node, Param)}, key=lambda p: p.index)
        for value in (0.0, 1.0)
    ]
    for n in range(1, MOST_ABSENT + 1):
        for chosen in itertools.combinations(ways, n):
            known = {param: Const(value) for param, value, _ in chosen}
            if len(known) < n:
                continue
            special = simplify(rebuild(expr, lambda node, known=known: known.get(node, node)))  # type: ignore[misc]
            if variables(special) and n_params(special):
                tree = simplify(merge_params(special))
                n_absent = sum(absent for _, _, absent in chosen)
                yield Template(form, tree, ABSENT_NATS * n_absent, n - n_absent)


def _special_weight(forms: Sequence[Form]) -> float:
    """What the special cases of first spellings weigh together; other spellings are the same forms."""
    known = {simplify(merge_params(simplify(parse(text)))) for form in forms for text in form.spellings}
    special: dict[Expr, float] = {}
    for form in forms:
        for case in _special_cases(form, parse(form.spellings[0])):
            if case.tree not in known:
                share = form.weight * math.exp(-case.nats - ONE_NATS * case.n_ones)
                special[case.tree] = max(share, special.get(case.tree, 0.0))
    return sum(special.values())
