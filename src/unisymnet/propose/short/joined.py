"""Functions of one input each, added or multiplied: stage `joined`.

Growth by light and by nutrient, dose and time, size and distance: each factor is a curve that people know, but the
whole is no form of any list.  Which joining the rows show is found with smooth functions (parts.py); these tell what
every single curve has to be, the textbook's forms are fitted to it, and the likeliest forms of all curves are put
together and fitted as a whole.  Rows may be scattered, clean or noisy.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ...arrays import Ints, evenly
from ...candidate import ParetoFront, Proposal, Status
from ...deadline import Deadline
from ...fit.kernels.fit import fit_tape
from ...fit.kernels.tape import compile_tape
from ...judge.forms import FORMS, fitted_form
from ...judge.special import Form
from ...problem import NOTHING_TOLD, Problem
from ...protocols import Proposer
from ...symbolic.constants import free_constants, merge_params, merge_values
from ...symbolic.expr import Expr, Param, Var, bind, evaluate, n_params, rebuild, renumbered
from ...symbolic.parse import parse
from ...symbolic.rewrite.simplify import present, simplify
from ..pool import FAR_WORSE, Stage, Task
from ..separable.textbook import FACTORS, Rows, allowed
from .parts import LEVEL, SIMPLER, Leaf, Parts, believed_parts, joined

__all__ = ["Joined"]

LEAST_ROWS = 24
N_FORMS = 6  # of each curve
N_WHOLE, MAX_STEPS = 24, 40
N_PROPOSALS = 6
LEAST_WEIGHT = 1e-4  # of the mean: where the other leaves vanish, a group of inputs cannot be seen


@dataclass(frozen=True)
class _Curve:
    """A form of one leaf: with open constants, its values of them, and its length in nats."""

    expr: Expr
    start: tuple[float, ...]
    length: float


@dataclass(frozen=True)
class Joined(Stage):
    """Settings: who is asked about groups of inputs (nobody: then there are none), inputs and rows that are looked at,
    joinings that are followed, seconds."""

    name: str = "joined"
    stages: tuple[Proposer, ...] = ()
    seconds: float = 2.0
    max_inputs: int = 6
    max_rows: int = 400
    most: int = 2

    def suits(self, problem: Problem) -> bool:
        n_weighed = int(np.count_nonzero(problem.weights))
        return 2 <= problem.n_features <= self.max_inputs and n_weighed >= LEAST_ROWS

    def asked(self, task: Task) -> Iterator[Proposal]:
        problem, deadline = task.problem, task.deadline
        weighed = np.flatnonzero(problem.weights)
        rows = weighed[evenly(len(weighed), self.max_rows)]
        for parts in believed_parts(problem, rows, deadline, bool(self.stages))[: self.most]:
            left = math.inf
            for expr in self._formulas(task, rows, parts):
                scored = task.pool.add(expr)
                left = left if scored is None else min(left, scored.misfit**2)
            # Formulas that leave as little as smooth functions do need no other joining.
            if left < SIMPLER * parts.share or deadline.expired():
                break
        yield from task.pool.proposals(N_PROPOSALS, FAR_WORSE)

    def _formulas(self, task: Task, rows: Ints, parts: Parts) -> Iterator[Expr]:
        """The likeliest forms of all leaves, joined and fitted as a whole."""
        problem = task.problem
        X, y, weights = problem.X[rows], problem.y[rows], problem.weights[rows]
        # Errors of the other leaves are no noise, and a flexible form follows them: less than they leave says little.
        known = parts.share * float(np.var(y))
        curves = []
        for leaf in parts.leaves(y):
            if isinstance(leaf.columns, tuple):
                found = [*self._surfaces(task, rows, leaf, known)]
            else:
                found = [*_curves(problem, rows, leaf, known, task.deadline)]
            curves.append(heapq.nsmallest(N_FORMS, found, key=lambda curve: curve.length))
        for chosen in _likeliest(curves):
            if task.deadline.expired():
                return
            whole, start = _whole(parts, chosen)
            tape = compile_tape(whole, problem.n_features)
            fit = fit_tape(tape, X, y, np.array([start]), weights=weights, max_steps=MAX_STEPS)
            if fit.status is Status.OK and np.isfinite(fit.params).all():
                yield present(bind(whole, fit.params.tolist()))

    def _surfaces(self, task: Task, rows: Ints, leaf: Leaf, known: float) -> Iterator[_Curve]:
        """What the stages say about a group of inputs."""
        assert isinstance(leaf.columns, tuple)
        weights = task.problem.weights[rows] * leaf.factor**2
        good = weights > LEAST_WEIGHT * np.mean(weights)
        smaller = replace(
            task.problem,
            X=np.ascontiguousarray(task.problem.X[rows][good][:, leaf.columns]),
            y=leaf.target[good] / leaf.factor[good],
            names=tuple(f"z{k}" for k in range(len(leaf.columns))),
            weights=weights[good] / np.mean(weights[good]),
            x_scales=np.ones(len(leaf.columns)),
            y_scale=1.0,
            told=NOTHING_TOLD,
            noise=None,
        )
        for stage in self.stages:
            for proposal in stage.propose(smaller, ParetoFront(), rng=task.rng, deadline=task.deadline):
                form, constants = free_constants(simplify(proposal.expr))
                own = renumbered(form, leaf.columns)
                values = evaluate(own, task.problem.X[rows], constants)
                loss = float(np.mean(task.problem.weights[rows] * (leaf.target - leaf.factor * values) ** 2))
                if math.isfinite(loss):
                    yield _Curve(own, constants, _length(loss + known, len(rows), len(constants)))
            if task.deadline.expired():
                return


def _length(loss: float, n_rows: int, n_constants: int) -> float:
    return 0.5 * n_rows * math.log(loss) + 0.5 * n_constants * math.log(n_rows)


def _curves(problem: Problem, rows: Ints, leaf: Leaf, known: float, deadline: Deadline) -> Iterator[_Curve]:
    """The forms of one leaf; differences below what is ``known`` to be missing do not count."""
    assert isinstance(leaf.columns, int)
    if leaf.columns == LEVEL:
        yield _Curve(Param(0), (float(np.mean(leaf.target)),), 0.0)
        return
    table = Rows(np.column_stack([problem.X[rows, leaf.columns], leaf.factor]), leaf.target, problem.weights[rows])
    for form in _free_forms() if leaf.free else (*FORMS, *FACTORS):
        expr, n_constants = fitted_form(form)
        if deadline.expired():
            return
        if not allowed(expr, problem):
            continue
        constants, loss = table.constants(form, Var(0), Var(1))
        if constants is not None:
            nats = _length(loss + known, len(rows), n_constants) - math.log(form.weight)
            yield _Curve(renumbered(expr, [leaf.columns]), tuple(constants.tolist()), nats)


@cache
def _free_forms() -> tuple[Form, ...]:
    """The forms with a constant added, where they have none."""
    found: dict[Expr, Form] = {}
    for form in (*FORMS, *FACTORS):
        n_constants = fitted_form(form)[1]
        text = f"{form.spellings[0]} + c{n_constants}"
        added = merge_params(simplify(parse(text)))
        if n_params(added) > n_constants:
            form = replace(form, spellings=(text,))
        found.setdefault(added, form)
    return tuple(found.values())


def _likeliest(curves: Sequence[Sequence[_Curve]]) -> list[tuple[_Curve, ...]]:
    """Choices of one form for every leaf, the shortest description first."""
    return heapq.nsmallest(N_WHOLE, itertools.product(*curves), key=lambda chosen: sum(c.length for c in chosen))


def _whole(parts: Parts, chosen: Sequence[_Curve]) -> tuple[Expr, tuple[float, ...]]:
    """The joined formula with its constants numbered through, redundant ones merged."""
    leaves: list[Expr] = []
    values: list[float] = []
    for curve in chosen:
        leaves.append(_shifted(curve.expr, len(values)))
        values += curve.start
    return merge_values(simplify(joined(parts.tree, leaves)), values)


def _shifted(expr: Expr, by: int) -> Expr:
    return rebuild(expr, lambda node: Param(node.index + by) if isinstance(node, Param) else node)
