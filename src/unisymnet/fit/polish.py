"""A proposal becomes a candidate: constants refitted in the space of y, simplified, measured, named.

This is the fitter of the search loop.  Proposals with numbers are polished from those numbers; proposals with
unknown constants (a user's guess, a structure from the transformer) go to SFO.  It does not know where proposals
come from.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Floats
from ..candidate import Candidate, Proposal, Status
from ..deadline import Deadline
from ..errors import EncodingError
from ..metrics import complexity
from ..problem import Problem
from ..symbolic.constants import free_constants
from ..symbolic.expr import Call, Expr, Var, bind, evaluate, n_params, rebuild, size
from ..symbolic.network.identify import identify
from ..symbolic.network.structure import Structure
from ..symbolic.rewrite.simplify import present, simplify
from .clean.convention import conventional
from .clean.snap import snap
from .kernels.fit import fit_tape
from .kernels.robust import Loss
from .kernels.tape import compile_tape
from .sfo.sfo import SFO

# Larger trees are not worth the compile and the reader's time.
MAX_SIZE = 400
MAX_CONSTANTS = 40
MAX_SFO = 1.5  # seconds for one skeleton; many wait
# A first look: warm start and the likeliest exponents.  Of 150 random functions with their true structures 8 choices of
# exponents found 99 laws, 16 found 108 and 30 found 116, in 0.05, 0.08 and 0.14 s for a wrong structure (ADR 21).
BRIEF: dict[str, Any] = {"n_steps": 0, "climb": False, "deepen": 0}
SCREENED_A_CHOICE = 500  # starts of waves that are looked at


def brief_look(sfo: SFO, n_choices: int) -> SFO:
    """The settings of a look at the likeliest choices of exponents."""
    return dataclasses.replace(sfo, **BRIEF, sweep=n_choices, most_screened=SCREENED_A_CHOICE * n_choices)


class Polish:
    """The default fitter.  Remembers skeletons, so that a formula proposed twice is fitted once.

    ``loss`` (in the caller's units) is what the constants minimise and what candidates are compared by, as a mean
    square (``Loss.in_squares``).
    """

    def __init__(self, *, loss: Loss = Loss(), sfo: SFO | None = None, snapping: bool = True) -> None:
        self.loss = loss
        self.sfo = sfo or SFO()
        self.snapping = snapping
        self._known: dict[Expr, tuple[Floats, Candidate]] = {}

    def fit(self, proposal: Proposal, problem: Problem, *, rng: np.random.Generator, deadline: Deadline) -> Candidate:
        began = time.monotonic()
        if size(proposal.expr) > MAX_SIZE:
            return _failed(proposal, Status.NOT_CONVERGED)
        if n_params(proposal.expr):
            sfo = brief_look(self.sfo, proposal.brief) if proposal.brief else self.sfo
            limit = deadline.sooner(max(MAX_SFO, sfo.share * deadline.remaining()) if sfo.share else MAX_SFO)
            result = sfo.fit_expr(proposal.expr, problem, rng=rng, deadline=limit)
            if result.status is not Status.OK:
                return _failed(proposal, result.status)
            proposal = Proposal(result.expr, proposal.source)
        kelvin = {term: Var(problem.n_features + k) for k, term in enumerate(problem.kelvin)}
        skeleton, start = free_constants(rebuild(simplify(proposal.expr), lambda node: kelvin.get(node, node)))
        if len(start) > MAX_CONSTANTS:
            return _failed(proposal, Status.NOT_CONVERGED)
        known = self._known.get(skeleton)
        if known is not None and np.allclose(known[0], start, rtol=1e-6, atol=0.0):
            return known[1]
        candidate = self._polished(skeleton, start, proposal, problem)
        candidate = dataclasses.replace(candidate, seconds=time.monotonic() - began)
        if known is None or candidate.loss < known[1].loss:
            self._known[skeleton] = np.asarray(start), candidate
        return candidate

    def _polished(self, skeleton: Expr, start: Sequence[float], proposal: Proposal, problem: Problem) -> Candidate:
        params, loss = np.asarray(start, dtype=np.float64), np.inf
        wanted = self.loss.scaled(problem.y_scale)
        # Temperatures in kelvin are columns here, so that no fit moves the zero of °C.
        kelvin, n = problem.kelvin, problem.n_features
        X = np.column_stack([problem.X, *(evaluate(term, problem.X) for term in kelvin)]) if kelvin else problem.X
        if len(params):
            tape = compile_tape(skeleton, X.shape[1])
            fit = fit_tape(tape, X, problem.y, params[None, :], weights=problem.weights, **wanted.keywords)
            if fit.status is not Status.OK:
                return _failed(proposal, fit.status)
            params, loss = np.asarray(fit.params), fit.loss
        else:
            loss = wanted.mean(problem.y - evaluate(skeleton, X), problem.weights)
        loss = wanted.in_squares(loss)
        if not np.isfinite(loss) or not np.isfinite(params).all():
            return _failed(proposal, Status.NON_FINITE)
        expr = bind(skeleton, params.tolist())
        if kelvin:
            back: dict[Expr, Expr] = {Var(n + k): term for k, term in enumerate(kelvin)}
            expr = rebuild(expr, lambda node: back.get(node, node))
        return self._candidate(expr, loss, len(params), proposal.source, problem)

    def _candidate(self, expr: Expr, loss: float, n_constants: int, source: str, problem: Problem) -> Candidate:
        """Measure a bound formula (scaled units) in the caller's units."""
        original = present(simplify(problem.to_original(expr)))
        return Candidate(
            expr=original,
            loss=loss * problem.y_scale**2,
            complexity=complexity(original),
            n_constants=n_constants,
            source=source,
            structure=structure_of(original, problem.n_features),
        )

    def finish(self, candidate: Candidate, problem: Problem, *, deadline: Deadline) -> Candidate:
        """Drop negligible terms and snap constants to simple numbers where the data allow it."""
        # A quantile has no standard errors here, so nothing says which simple number is near.
        if not self.snapping or not isinstance(candidate.expr, Call) or self.loss.kind == "quantile":
            return candidate
        X, y = problem.X * problem.x_scales, problem.y * problem.y_scale
        noise = None if problem.noise is None else problem.noise * problem.y_scale
        snapped = snap(conventional(candidate.expr), X, y, weights=problem.weights, noise=noise, deadline=deadline)
        clean = present(simplify(snapped.expr))
        loss = self.loss.in_squares(self.loss.mean(y - evaluate(clean, X), problem.weights))
        if not np.isfinite(loss):
            return candidate
        free = sum(1 for constant in snapped.constants if constant.snapped_to is None)
        return dataclasses.replace(
            candidate,
            expr=clean,
            loss=loss,
            complexity=complexity(clean),
            n_constants=free,
            structure=structure_of(clean, problem.n_features),
        )


def structure_of(expr: Expr, n_features: int) -> Structure | None:
    """The network of a formula, or None where an operator is outside its library."""
    try:
        return identify(expr, n_features).structure
    except EncodingError:
        return None


def _failed(proposal: Proposal, status: Status) -> Candidate:
    return Candidate(proposal.expr, float("inf"), size(proposal.expr), 0, proposal.source, status)
