# ruff: noqa: E501
"""Formulas and JSON that nobody would write: random, mutated, pathological."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

from unisymnet import Formula, parse
from unisymnet.errors import CheckpointError, ParseError
from unisymnet.symbolic.text import to_text

TOKENS = (
    "x0", "x1", "x12", "c0", "c3", "pi", "e", "1", "2.5", ".5", "1e-3", "1e400", "0", "+", "-", "*", "/", "^", "**", "(", ")",
    ",", "sin(", "exp(", "ln(", "log10(", "sqrt(", "abs(", "tanh(", "`a b`", "`", "\\", "foo(", "x", "x_1", "X0", " ", "\n", "\t",
    "x99999999999", "x" + "9" * 50, "9" * 400, "é", "λ", "\0", "__import__", "'", '"', "=", "==", "lambda", "%", "1e", "0x1f", "1_0",
    "((((((((((", "))))))))))", "----------", "2**2**2**2**", "x0-x0-x0-x0-", "\u2028", "😀", "½", "٣", "min(", "max(", "erf(",
)  # fmt: skip
SEEDS = (
    "2*x0**0.5/(x1+3)",
    "exp(-x0**2/2)/sqrt(2*pi)",
    "sin(2*x0 + 1)*x1 - ln(x0)",
    "1/(1 + exp(-x0))",
    "x0 - -x1**-2",
)
PATHOLOGICAL = (
    "-".join(["x0"] * 900), "+".join(["x0"] * 20_000), "*".join(["x0"] * 20_000), "/".join(["x0"] * 500), "(" * 5000, "-" * 5000,
    "x" + "9" * 5000, "sin(" * 3000, "2**" * 3000 + "2", "`" + "\\" * 10_000, "x0" * 30_000, "1" * 5000, "," * 5000, "x0," * 3000,
    "((x0)" * 2000, "sin" * 5000, " " * 90_000, "1e" + "9" * 400, "x0 -" * 2000 + "1", "(-" * 200 + "x0", "x99999",
)  # fmt: skip


def texts(count: int, seed: int = 0) -> list[str]:
    """So many texts: the pathological ones, then half of them formulas in random spelling, the others damaged."""
    rng = random.Random(seed)
    found = list(PATHOLOGICAL[:count])
    while len(found) < count:
        kind = rng.random()
        if kind < 0.5:
            found.append(_formula(rng, rng.randint(1, 6)))
        elif kind < 0.65:
            found.append("".join(rng.choice(TOKENS) for _ in range(rng.randint(1, 14))))
        else:
            text = list(rng.choice(SEEDS) if rng.random() < 0.3 else _formula(rng, rng.randint(1, 4)))
            for _ in range(rng.randint(1, 3)):
                place = rng.randrange(len(text) + 1)
                text[place : place + rng.randint(0, 2)] = rng.choice(TOKENS)
            found.append("".join(text))
    return found


def _formula(rng: random.Random, depth: int) -> str:
    """A formula that can be read, with spaces, brackets and spellings as people mix them."""
    if depth == 0 or rng.random() < 0.15:
        leaf = rng.choice(["x0", "x1", "x_2", "x12", "c0", "pi", "e", "number", "number"])
        return _number(rng) if leaf == "number" else leaf
    kind = rng.random()
    left = _formula(rng, depth - 1)
    if kind < 0.3:
        name = rng.choice(
            ["sin", "cos", "exp", "ln", "log", "sqrt", "abs", "tanh", "atan", "log10", "SIN", "sec", "square", "inv"]
        )
        return f"{name}({left})"
    if kind < 0.4:
        return rng.choice(["-{}", "({})", "+{}", "-({})", " {} ", "(({}))"]).format(left)
    gap = rng.choice(["", " ", "  "])
    sign = rng.choice(["+", "-", "*", "/", "**", "^", "+", "*"])
    right = _formula(rng, depth - 1)
    left = f"({left})" if rng.random() < 0.3 else left
    return f"{left}{gap}{sign}{gap}{f'({right})' if rng.random() < 0.3 else right}"


def _number(rng: random.Random) -> str:
    value = rng.uniform(-1, 1) * 10.0 ** rng.randint(-12, 12)
    return rng.choice(
        [str(rng.randint(0, 9)), f"{abs(value):.3g}", repr(abs(value)), f"{abs(value):.2e}", ".5", "2.", "1E5"]
    )


def is_formula(text: str) -> bool:
    try:
        parse(text)
    except ParseError:
        return False
    return True


def text_fault(text: str) -> str | None:
    """A formula is read, and reads back, or it is a ParseError; nothing else."""
    try:
        expr = parse(text)
    except ParseError as error:
        return None if len(str(error)) < 2000 else "a message longer than a screen"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    try:
        return None if parse(to_text(expr)) == expr else "does not read back"
    except Exception as error:
        return f"written form: {type(error).__name__}: {error}"


ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**30, 1e308, "", "x", "<script>alert(1)</script>", "\ud800", [], {}, [[]], [None], {"a": 1}, "x0 +",
    "x99999999999", ["a"] * 3, "9" * 5000, "-".join(["x0"] * 900), float("nan"), float("inf"), "\0", "\n",
)  # fmt: skip


def mutated(data: Any, rng: random.Random) -> Any:
    """A copy with one to three values replaced, removed, added or moved."""
    data = copy.deepcopy(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places = list(_places(data))
        if not places:
            return rng.choice(ODD)
        holder, key = rng.choice(places)
        kind = rng.randrange(4)
        if kind == 0 and isinstance(holder, dict):
            holder.pop(key, None)
        elif kind == 1 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(rng.choice(ODD)))
        elif kind == 2:
            holder[key] = copy.deepcopy(rng.choice(places)[0])
        else:
            holder[key] = copy.deepcopy(rng.choice(ODD))  # or the list itself would change
    return data


def _places(data: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    if isinstance(data, dict):
        found += [(data, key) for key in data]
        inner = list(data.values())
    elif isinstance(data, list):
        found += [(data, key) for key in range(len(data))]
        inner = data
    else:
        return []
    for value in inner:
        found += _places(value)
    return found


def damaged_json(data: Any, rng: random.Random) -> str:
    text = json.dumps(mutated(data, rng))
    if rng.random() < 0.1:
        place = rng.randrange(len(text))
        text = (
            text[:place]
            + rng.choice(["", "[" * 50_000, "9" * 5000, "\0", "}", '"', "NaN"])
            + text[place + rng.randint(0, 3) :]
        )
    return text


def formula_fault(text: str) -> str | None:
    """A saved formula is refused as damaged, or it can be used in every way."""
    try:
        formula = Formula.from_json(text)
    except CheckpointError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    try:
        if len(formula.names) < 50:
            formula.predict([[1.5] * max(len(formula.names), 1)] * 2)
        _ = str(formula), formula.latex(), formula.to("python"), formula.to_json(), formula.domain, formula.complexity
        _ = [str(constant) for constant in formula.constants]
    except Exception as error:
        return f"use: {type(error).__name__}: {error}"
    return None


def model_fault(path: str) -> str | None:
    """A saved model is refused as damaged, or it prints, exports and makes its page without a script of others."""
    from unisymnet import UniSymNetRegressor
    from unisymnet.report import report_html

    try:
        model = UniSymNetRegressor.load(path)
    except CheckpointError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    try:
        str(model)
        page = report_html(model) + model._repr_html_()
        model.save(path)
    except Exception as error:
        return f"use: {type(error).__name__}: {error}"
    return "a script in the page" if "<script>alert" in page else None
