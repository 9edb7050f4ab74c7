"""Text to formula: a hand-written recursive-descent parser for what users type.

Takes ``2*x0**0.5/(x1+3)``, ``^``, unary minus, ``1e-3``, ``log``/``ln``, ``pi``, column names and quoted
column names (backticks).  Nothing is ever executed.  Chains of + and * become n-ary nodes; otherwise the
tree is what was written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from ..errors import ParseError
from .expr import Call, Const, Expr, Param, Var
from .operators import ALIASES, OPERATORS
from .text import printable, unescaped

MAX_NESTING = 100
MAX_DEPTH = 150  # of the tree: a - b - c - … is as deep as it is long
MAX_LENGTH = 100_000  # characters
MAX_INDEX = 100_000
MOST_NAMED = 20

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*)|`(?P<quoted>(?:\\[\\`]|[^`\\]|\\(?![\\`]))*)`|(?P<sign>\*\*|[-+*/^(),]))"
)
_VARIABLE = re.compile(r"x_?(\d+)\Z")
_PARAMETER = re.compile(r"c_?(\d+)\Z")
_NUMBERS = {"pi": math.pi, "e": math.e}
_LOG_BASES = {"log10": 10.0, "log2": 2.0}
_RECIPROCALS = {"sec": "cos", "csc": "sin", "cot": "tan"}


RESERVED = frozenset({*OPERATORS, *ALIASES, *_LOG_BASES, *_RECIPROCALS, *_NUMBERS})


class Defined(Protocol):
    """What the parser must know of a user's own operator (own.py)."""

    @property
    def arguments(self) -> tuple[str, ...]: ...

    @property
    def open(self) -> tuple[str, ...]: ...

    def applied(self, args: Sequence[Expr], constants: Sequence[Expr] | None = None) -> Expr: ...


Own = Mapping[str, Defined]  # own operators by name


def parse(text: str, names: Sequence[str] | None = None, *, free: bool = False, own: Own | None = None) -> Expr:
    """Read a formula.

    Without ``names``, columns are written x0, x1, … and fitted constants c0, c1, ….  With ``names``, those
    are the columns.  With ``free``, any other identifier is a constant to be fitted, numbered in reading order.
    Operators of ``own`` are written out; their open constants are fitted too.
    """
    return _Parser(text, names, free, own).formula()


def free_names(text: str, names: Sequence[str] | None = None, own: Own | None = None) -> tuple[str, ...]:
    """The identifiers that ``parse(text, names, free=True)`` turns into constants, in their order."""
    parser = _Parser(text, names, True, own)
    parser.formula()
    return tuple(parser.params)


def _depth(expr: Expr) -> int:
    """How many operations stand inside each other; counted without recursion."""
    deepest, todo = 0, [(expr, 1)]
    while todo:
        node, depth = todo.pop()
        deepest = max(deepest, depth)
        if isinstance(node, Call):
            todo += [(part, depth + 1) for part in node.args]
    return deepest


class _Parser:
    def __init__(self, text: str, names: Sequence[str] | None, free: bool, own: Own | None = None) -> None:
        if not isinstance(text, str):
            raise ParseError(f"a formula must be text, got {type(text).__name__}", repr(text), 0)
        if len(text) > MAX_LENGTH:
            raise ParseError(f"the formula has {len(text)} characters, more than {MAX_LENGTH}", text, MAX_LENGTH)
        self.text = text
        self.names = None if names is None else {str(name): i for i, name in enumerate(names)}
        self.free = free
        self.own = dict(own or {})
        self.params: dict[str, int] = {}
        self.tokens = list(self._tokenize())
        self.next = 0
        self.nesting = 0

    def _tokenize(self) -> list[tuple[str, str, int]]:
        tokens, at = [], 0
        end = len(self.text.rstrip())
        while at < end:
            match = _TOKEN.match(self.text, at)
            if match is None:
                at += len(self.text[at:]) - len(self.text[at:].lstrip())
                raise self.error(f"cannot read the character {self.text[at]!r}", at)
            kind = str(match.lastgroup)
            start = match.start(kind) - (kind == "quoted")
            tokens.append((kind, match.group(kind), start))
            at = match.end()
        return tokens

    def error(self, message: str, at: int) -> ParseError:
        return ParseError(message if len(message) <= 400 else message[:399] + "…", self.text, at)

    def peek(self, *signs: str) -> bool:
        """Is the next token one of these signs?"""
        if self.next >= len(self.tokens):
            return False
        kind, value, _ = self.tokens[self.next]
        return kind == "sign" and value in signs

    def position(self) -> int:
        return self.tokens[self.next][2] if self.next < len(self.tokens) else len(self.text.rstrip())

    def take(self) -> tuple[str, str, int]:
        if self.next >= len(self.tokens):
            raise self.error("the formula ends too early; expected a number, a name or '('", self.position())
        token = self.tokens[self.next]
        self.next += 1
        return token

    def expect(self, sign: str) -> None:
        if not self.peek(sign):
            found = self.tokens[self.next][1] if self.next < len(self.tokens) else "the end"
            raise self.error(f"expected {sign!r} here, found {found!r}", self.position())
        self.next += 1

    def formula(self) -> Expr:
        if not self.tokens:
            raise self.error("the formula is empty", 0)
        try:
            expr = self.sum()
        except RecursionError:  # called from deep within another program
            raise self.error("the formula is nested too deep", self.position()) from None
        if _depth(expr) > MAX_DEPTH:
            raise self.error(f"more than {MAX_DEPTH} operations are nested; use brackets", 0)
        if self.next < len(self.tokens):
            found = self.tokens[self.next][1]
            raise self.error(f"did not expect {found!r} here; is an operator missing?", self.position())
        return expr

    def sum(self) -> Expr:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self.error(f"the formula is nested more than {MAX_NESTING} deep", self.position())
        left = self.chain(("+", "-"), {"+": "add", "-": "sub"}, self.term)
        self.nesting -= 1
        return left

    def term(self) -> Expr:
        return self.chain(("*", "/"), {"*": "mul", "/": "div"}, self.factor)

    def chain(self, signs: tuple[str, str], ops: dict[str, str], operand: Callable[[], Expr]) -> Expr:
        left = operand()
        grown: list[Expr] = []  # operands of the n-ary sign that this chain is collecting
        last = ""
        while self.peek(*signs):
            op = ops[self.take()[1]]
            right = operand()
            if op != last or not grown:
                left = Call(last, grown) if grown else left
                grown = [left] if OPERATORS[op].arity < 0 else []
                last = op
            if grown:
                grown.append(right)
            else:
                left = Call(op, (left, right))
        return Call(last, grown) if grown else left

    def factor(self) -> Expr:
        while self.peek("+"):
            self.take()
        if not self.peek("-"):
            return self.power()
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self.error(f"the formula is nested more than {MAX_NESTING} deep", self.position())
        self.take()
        literal = self.next < len(self.tokens) and self.tokens[self.next][0] == "number"
        operand = self.factor()
        self.nesting -= 1
        if literal and isinstance(operand, Const):
            return Const(-operand.value)
        return Call("neg", (operand,))

    def power(self) -> Expr:
        base = self.atom()
        if self.peek("**", "^"):
            self.take()
            self.nesting += 1
            if self.nesting > MAX_NESTING:
                raise self.error(f"the formula is nested more than {MAX_NESTING} deep", self.position())
            base = Call("pow", (base, self.factor()))
            self.nesting -= 1
        return base

    def atom(self) -> Expr:
        kind, value, at = self.take()
        if kind == "number":
            number = float(value)
            if not math.isfinite(number):
                raise self.error(f"the number {value} is too large", at)
            return Const(number)
        if kind == "quoted":
            return self.column(value, at)
        if kind == "name":
            return self.function(value, at) if self.peek("(") else self.identifier(value, at)
        if value == "(":
            inner = self.sum()
            self.expect(")")
            return inner
        raise self.error(f"did not expect {value!r} here; expected a number, a name or '('", at)

    def function(self, name: str, at: int) -> Expr:
        op = ALIASES.get(name.lower(), name.lower())
        if name in self.own:
            return self.defined(name, at)
        if op not in OPERATORS and op not in _LOG_BASES and op not in _RECIPROCALS:
            if self.names is not None and name in self.names:
                raise self.error(f"{name!r} is a column, not a function; write {name}*( … ) to multiply", at)
            raise self.error(f"unknown function {name!r}; known are {', '.join([*OPERATORS, *self.own])}", at)
        args = self.arguments()
        base = _LOG_BASES.get(op)
        arity = 1 if base or op in _RECIPROCALS else OPERATORS[op].arity
        if len(args) != arity and not (arity < 0 and len(args) >= 2):
            wanted = "two or more arguments" if arity < 0 else f"{arity} argument{'s' * (arity > 1)}"
            raise self.error(f"{name} takes {wanted}, got {len(args)}", at)
        if base:
            return Call("div", (Call("ln", args), Const(math.log(base))))
        if op in _RECIPROCALS:
            return Call("inv", (Call(_RECIPROCALS[op], args),))
        return Call(op, args)

    def arguments(self) -> list[Expr]:
        """What stands in the brackets behind a function."""
        self.expect("(")
        args = [self.sum()]
        while self.peek(","):
            self.take()
            args.append(self.sum())
        self.expect(")")
        return args

    def defined(self, name: str, at: int) -> Expr:
        """A user's own operator, written out; every use has constants of its own: hill_n, hill_n_2, …"""
        operator, args = self.own[name], self.arguments()
        if len(args) != len(operator.arguments):
            raise self.error(f"{name} takes {len(operator.arguments)} arguments, got {len(args)}", at)
        if operator.open and not self.free:
            raise self.error(f"{name} has an open constant {operator.open[0]!r}, which must have a value here", at)
        constants: list[Expr] = []
        for constant in operator.open:
            uses = (f"{name}_{constant}" + (f"_{k}" if k > 1 else "") for k in range(1, MAX_INDEX))
            new = next(use for use in uses if use not in self.params)
            constants.append(Param(self.params.setdefault(new, len(self.params))))
        return operator.applied(args, constants)

    def identifier(self, name: str, at: int) -> Expr:
        if self.names is not None and name in self.names:
            return Var(self.names[name])
        if name in _NUMBERS:
            return Const(_NUMBERS[name])
        if self.names is None:
            variable, parameter = _VARIABLE.match(name), _PARAMETER.match(name)
            if variable:
                return Var(self.number(variable.group(1), at))
            if parameter and not self.free:
                return Param(self.number(parameter.group(1), at))
        if self.free:
            return Param(self.params.setdefault(name, len(self.params)))
        known = "x0, x1, …" if self.names is None else _listed(self.names)
        raise self.error(f"unknown name {name!r}; the columns are {known}", at)

    def number(self, digits: str, at: int) -> int:
        """The number of a column or constant."""
        if len(digits) > 9 or int(digits) >= MAX_INDEX:
            raise self.error(f"there are at most {MAX_INDEX} columns and constants, counted from 0", at)
        return int(digits)

    def column(self, name: str, at: int) -> Expr:
        name = unescaped(name)
        if self.names is None or name not in self.names:
            known = "not given" if self.names is None else _listed(self.names)
            raise self.error(f"no column is called {name!r}; the columns are {known}", at)
        return Var(self.names[name])


def _listed(names: Iterable[str]) -> str:
    known = [printable(name) for name in names]
    return ", ".join(known[:MOST_NAMED]) + (f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else "")
