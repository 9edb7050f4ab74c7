"""The constraints of one fit: which formulas they allow, how they are mended, what the table says of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

import numpy as np

from ...arrays import Floats
from ...symbolic.expr import Const, Expr, Var
from .check import HELD, PROVED, VIOLATED, Box, Verdict, check
from .repair import repaired
from .rules import Between, Constants, Exchange, Limit, Parity, Rule, read_rules


@dataclass(frozen=True)
class Shapes:
    """Constraints, where they must hold, and the rows that mended constants are fitted to."""

    rules: tuple[Rule, ...]
    box: Box
    X: Floats
    y: Floats
    _known: dict[Expr, tuple[Verdict, ...]] = field(default_factory=dict)

    def allows(self, expr: Expr) -> bool:
        """A quick look at points."""
        return all(check(expr, rule, self.box, quick=True).kind != VIOLATED for rule in self.rules)

    def mended(self, expr: Expr) -> Expr | None:
        """The formula with constants that keep what constants can keep, or None."""
        broken = [rule for rule in self.rules if check(expr, rule, self.box, quick=True).kind == VIOLATED]
        shape = [rule for rule in self.rules if isinstance(rule, Between) and not rule.is_equality]
        limits = [rule for rule in self.rules if isinstance(rule, Constants)]
        exact = [rule for rule in self.rules if _is_met_by_constants(rule)]
        if any(rule not in shape and rule not in limits and rule not in exact for rule in broken):
            return None
        found = repaired(expr, shape, limits, self.box, self.X, self.y, exact)
        return found if found is not None and self.allows(found) else None

    def verdicts(self, expr: Expr) -> tuple[Verdict, ...]:
        if expr not in self._known:
            self._known[expr] = tuple(check(expr, rule, self.box) for rule in self.rules)
        return self._known[expr]

    def remark(self, expr: Expr) -> str:
        """One cell of the table: the weakest of the verdicts."""
        found = self.verdicts(expr)
        for kind in (VIOLATED, HELD):
            for rule, verdict in zip(self.rules, found, strict=True):
                if verdict.kind == kind:
                    return str(verdict) if kind == HELD else f"{rule.text} {verdict}"
        return PROVED

    def sentence(self, expr: Expr) -> str:
        """Every constraint and what is known of it."""
        pairs = zip(self.rules, self.verdicts(expr), strict=True)
        return "constraints: " + "; ".join(f"{rule.text}: {verdict}" for rule, verdict in pairs)

    def contradictions(self, names: Sequence[str]) -> list[str]:
        """Rows that contradict a constraint on y itself."""
        found = []
        for rule in self.rules:
            if not isinstance(rule, Between) or rule.by or rule.points:
                continue
            low, high = self.box.region(rule)
            inside = ((self.X >= low) & (self.X <= high)).all(axis=1)
            off = inside & ((self.y < rule.low) | (self.y > rule.high))
            if off.any():
                worst = int(np.argmax(np.where(off, np.maximum(rule.low - self.y, self.y - rule.high), -np.inf)))
                n = int(off.sum())
                rows = "1 row contradicts" if n == 1 else f"{n} rows contradict"
                found.append(f"{rows} {rule.text}, the most with {self.y[worst]:.4g}; it is kept all the same")
        return found

    def coordinates(self) -> Sequence[tuple[Expr, Expr, tuple[Expr, ...]]]:
        """Ways to search where a constraint holds by construction: offset, factor and inputs."""
        d = self.X.shape[1]
        offset, factor = Const(0.0), Const(1.0)
        inputs: list[Expr] = [Var(i) for i in range(d)]
        whole: Expr = factor
        changed = False
        for rule in self.rules:
            if isinstance(rule, Between) and rule.is_equality and not rule.by and len(rule.points) == 1:
                if changed and offset != Const(rule.low):
                    continue
                ((column, at),) = rule.points.items()
                step: Expr = Var(column) if at == 0.0 else Var(column) - Const(at)
                offset, whole, changed = Const(rule.low), step if whole == factor else whole * step, True
            elif isinstance(rule, Parity):
                inputs[rule.column] = Var(rule.column) ** 2.0
                changed = True
                if rule.sign < 0 and whole == factor:
                    whole = Var(rule.column)
        found = [(offset, whole, tuple(inputs))] if changed else []
        for rule in self.rules:
            if isinstance(rule, Exchange) and len(rule.order) == 2:
                i, j = sorted(rule.order)
                both = list(inputs)
                both[i], both[j] = Var(i) + Var(j), Var(i) * Var(j)
                found.append((offset, whole, tuple(both)))
        return found


def _is_met_by_constants(rule: Rule) -> TypeGuard[Between | Limit]:
    """A value at a point, or a limit: constants can be chosen to meet it."""
    if isinstance(rule, Between):
        return rule.is_equality
    return isinstance(rule, Limit) and math.isfinite(rule.value)


def make_shapes(texts: Sequence[str] | None, X: Floats, y: Floats, names: Sequence[str], target: str) -> Shapes | None:
    """The constraints of the parameter, for these rows; None without any."""
    if not texts:
        return None
    return Shapes(read_rules(texts, names, target), Box.around(X, y, names), X, y)
