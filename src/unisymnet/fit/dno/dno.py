"""Differentiable Network Optimization: the structure itself is trained, then read as a formula.

The paper's second inner strategy.  DNO-P keeps the masks of the structure, DNO-NP opens every connection of its
architecture.  The trained weights become formulas (Φ with numbers), connections that matter little are cut in the order
of their effect on the loss, and everything goes as proposals to the search, whose polish makes them members of the same
front.  ``DNOProposer`` is that stage.  This file imports torch only when a network is trained (training.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Floats
from ...candidate import ParetoFront, Proposal, Status
from ...deadline import Deadline
from ...errors import EncodingError
from ...problem import POWERS, Problem
from ...protocols import Proposer
from ...symbolic.expr import Call, Const, Expr, bind, call, evaluate, n_params, rebuild, size
from ...symbolic.network.identify import identify
from ...symbolic.network.skeleton import network_to_expr
from ...symbolic.network.structure import Network, Ops, Structure
from ...symbolic.operators import UNARY_LIBRARY
from ...symbolic.rewrite.simplify import simplify

if TYPE_CHECKING:
    from .network import SymbolicNetwork

_LARGEST = 250  # nodes of a formula worth polishing


@dataclass(frozen=True)
class DNO:
    """Settings, those of the paper's table by default.

    ``pruning`` True is DNO-P, False DNO-NP. ``epochs`` None means 10 L. A penalty epoch comes every ``penalty_every``
    epochs (0: never) and reaches ``widen`` of the range beyond it. Beyond the paper, each with its switch: ``signed``
    (signs of products), ``screening`` (so many draws for every restart, the best are trained), ``holdout`` (a share
    of the rows that only ranks the restarts, before they all settle on all rows), ``trust`` (half of the dense
    networks begin with the structure's own connections, the others open before they settle), ``bend`` (targets whose
    median size is a smaller share of their root mean square are bent before they are fitted as they are),
    ``plain_exponents`` (half of the restarts begin with exponents such as -1 and 2), ``n_settling``
    (Levenberg-Marquardt steps at the end), ``n_cut`` (how many restarts are thinned out).
    """

    pruning: bool = True
    epochs: int | None = None
    batch: int = 64
    rate: float = 0.01
    n_restarts: int = 32
    scale: float = 2.0
    init: str = "scaled"
    theta_ln: float = 1e-4
    theta_exp: float = 100.0
    epsilon: float = 1e-8
    penalty_every: int = 10
    penalty_weight: float = 1.0
    widen: float = 0.5
    signed: bool = True
    screening: int = 8
    holdout: float = 0.2
    trust: bool = True
    bend: float = 0.3
    plain_exponents: bool = True
    n_settling: int = 60
    n_cut: int = 2
    cut_share: float = 0.15
    max_open: int = 45  # networks with more connections are not written as formulas
    max_rows: int = 500
    keep_history: bool = False

    def n_epochs(self, depth: int) -> int:
        return 10 * depth if self.epochs is None else self.epochs

    def train(
        self, structure: Structure, problem: Problem, *, rng: np.random.Generator, deadline: Deadline
    ) -> DNOResult:
        """Train this structure, or its dense form, on the problem's scaled data."""
        network = _torch()
        blueprint = network.Blueprint.sparse(structure, problem.n_features)
        if not self.pruning:
            hints = blueprint.masks if self.trust else ()
            blueprint = network.Blueprint.dense(structure.ops, problem.n_features, hints)
        return self._train(blueprint, problem, rng, deadline)

    def train_default(
        self, problem: Problem, *, rng: np.random.Generator, deadline: Deadline, depth: int = 3, repeats: int = 2
    ) -> DNOResult:
        """Train the form without guidance: every operator ``repeats`` times a layer (the paper's Default)."""
        blueprint = _torch().Blueprint.dense(default_ops(problem, depth, repeats), problem.n_features)
        return self._train(blueprint, problem, rng, deadline)

    def _train(self, blueprint: Any, problem: Problem, rng: np.random.Generator, deadline: Deadline) -> DNOResult:
        import torch

        from .rows import Rows
        from .training import trained

        X, y, weights = _sample(problem, self.max_rows, rng)
        rows = Rows(torch.tensor(X), torch.tensor(y), torch.tensor(weights))
        run = trained(self, blueprint, rows, rng=rng, deadline=deadline)
        if not math.isfinite(run.losses[0]):
            status = Status.TIMED_OUT if deadline.expired() else Status.NON_FINITE
            return DNOResult(None, math.inf, status)
        best = run.in_units_of_data(run.network, 0)
        formulas = list(dict.fromkeys(self._formulas(run, problem, deadline)))
        history = tuple(run.curve) if self.keep_history else ()
        return DNOResult(best, run.losses[0], Status.OK, tuple(formulas), history)

    def _formulas(self, run: Any, problem: Problem, deadline: Deadline) -> Iterator[Expr]:
        """Of the best restarts as they are, then of ever sparser versions of the very best."""
        from .training import cut_path

        usable = [i for i, loss in enumerate(run.losses) if math.isfinite(loss)]
        for restart in usable[: 2 * self.n_cut]:
            yield from self._written(run.in_units_of_data(run.network, restart), problem)
        if not self.n_cut:
            return
        thinned = run.network.picked(usable[: self.n_cut])
        path = cut_path(thinned, run.rows, share=self.cut_share, n_settling=8, deadline=deadline)
        for network, losses in path:
            for restart in range(network.n_restarts):
                if math.isfinite(float(losses[restart])):
                    yield from self._written(run.in_units_of_data(network, restart), problem)

    def _written(self, one: SymbolicNetwork, problem: Problem) -> list[Expr]:
        if int(one.open.sum()) > self.max_open:
            return []
        return formulas_of(one.network(0), problem.X)


@dataclass(frozen=True)
class DNOResult:
    """The best trained network (a torch module of one restart), its loss, and formulas in the problem's scaled units:
    the best restarts first, then sparser and sparser ones.  ``history`` is the best loss after every epoch and step."""

    network: SymbolicNetwork | None
    loss: float
    status: Status
    formulas: tuple[Expr, ...] = field(default=(), repr=False)
    history: tuple[float, ...] = field(default=(), repr=False)

    def predict(self, X: ArrayLike) -> Floats:
        """The network's own values, with its regularised ln and exp, on rows in the problem's scaled units."""
        import torch

        if self.network is None:
            raise ValueError(f"there is no trained network: {self.status.value}")
        with torch.no_grad():
            return self.network(torch.tensor(np.asarray(X, dtype=np.float64)))[0].numpy()


@dataclass(frozen=True)
class DNOProposer:
    """DNO as a stage of the search.

    Structures come from the first proposals of ``sources`` (the transformer), then from the front's most accurate
    formulas, then from the default form.  With ``enough`` the stage keeps silent where the front explains that much of
    the variance already; it uses at most ``share`` of the time that is left when it is first asked, and does not begin
    where that is less than ``min_time`` seconds.
    """

    dno: DNO = field(default_factory=DNO)
    sources: tuple[Proposer, ...] = ()
    n_structures: int = 5
    enough: float | None = None
    share: float = 1.0
    min_time: float = 0.0
    name: str = "dno"

    def propose(
        self, problem: Problem, front: ParetoFront, *, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Proposal]:
        if self._satisfied(problem, front) or problem.spread == 0.0:
            return
        limit = deadline.sooner(self.share * deadline.remaining())
        if limit.remaining() < self.min_time:
            return
        seen: set[Structure | None] = set()
        for structure in self._structures(problem, front, rng, limit):
            if structure in seen:
                continue
            seen.add(structure)
            if structure is None:
                result = self.dno.train_default(problem, rng=rng, deadline=limit)
            else:
                result = self.dno.train(structure, problem, rng=rng, deadline=limit)
            yield from (Proposal(expr, self.name) for expr in result.formulas if problem.allows_formula(expr))
            if limit.expired() or self._satisfied(problem, front):
                return

    def _satisfied(self, problem: Problem, front: ParetoFront) -> bool:
        if self.enough is None or not len(front):
            return False
        unexplained = (1.0 - self.enough) * problem.spread**2
        noise = 1.2 * (problem.noise or 0.0) ** 2
        return front[-1].loss <= max(unexplained, noise) * problem.y_scale**2

    def _structures(
        self, problem: Problem, front: ParetoFront, rng: np.random.Generator, deadline: Deadline
    ) -> Iterator[Structure | None]:
        """None stands for the default form."""
        for source in self.sources:
            proposals = source.propose(problem, front, rng=rng, deadline=deadline)
            for proposal in islice(proposals, self.n_structures):
                structure = structure_of(proposal.expr, problem.n_features)
                if structure is not None:
                    yield structure
        best = sorted(front, key=lambda candidate: candidate.loss)
        for candidate in best[: self.n_structures]:
            if candidate.structure is not None and candidate.structure.n_features:
                yield candidate.structure
        yield None


def default_ops(problem: Problem, depth: int = 3, repeats: int = 2) -> Ops:
    """The default form with the operators that the problem allows; products need exp and ln."""
    products = problem.allows("mul") or any(map(problem.allows, POWERS))
    library = tuple(
        op for op in UNARY_LIBRARY if op == "id" or problem.allows(op) or (op in ("exp", "ln") and products)
    )
    ops: Ops = _torch().default_ops(depth=depth, repeats=repeats, library=library)
    return ops


def structure_of(expr: Expr, n_features: int) -> Structure | None:
    """The structure of a formula whose constants may be open, or None if it has none."""
    # Open constants stand for generic numbers: no two alike, none near a special one.
    generic = [1.37 + 0.61803 * i for i in range(n_params(expr))]
    try:
        structure = identify(bind(expr, generic), n_features).structure
    except EncodingError:
        return None
    return structure if structure.n_features else None


def formulas_of(network: Network, X: Floats) -> list[Expr]:
    """What the network stands for, as formulas that are defined on the rows of X.

    First with exponents near multiples of a half put there, then as trained.  Where a power or logarithm meets
    negative numbers the exponent becomes whole, or the sign of its base is taken away.
    """
    try:
        trained = simplify(network_to_expr(network))
    except (EncodingError, ValueError, OverflowError):  # numbers that have grown beyond all measure
        return []
    if size(trained) > _LARGEST:
        return []
    found: list[Expr] = []
    for near in (0.12, 0.0):
        for whole in (True, False):
            expr = simplify(_repaired(trained, X, near, whole))
            if expr not in found and np.isfinite(evaluate(expr, X)).all():
                found.append(expr)
    return found


def _repaired(expr: Expr, X: Floats, near: float, whole: bool) -> Expr:
    def change(node: Expr) -> Expr:
        if not isinstance(node, Call) or node.op not in ("pow", "ln", "sqrt"):
            return node
        base = node.args[0]
        values = evaluate(base, X)
        negative = bool((values < 0).any())
        positive = base if not negative else call("neg", base) if (values <= 0).all() else call("abs", base)
        if node.op != "pow":
            return Call(node.op, (positive,))
        if not isinstance(node.args[1], Const):
            return Call("pow", (positive, node.args[1]))
        return _power(base, positive, node.args[1].value, near, whole)

    return rebuild(expr, change)


def _power(base: Expr, positive: Expr, exponent: float, near: float, whole: bool) -> Expr:
    """base**exponent with a neater exponent; ``positive`` is the base without its sign."""
    half = round(2.0 * exponent) / 2.0
    if half != 0.0 and abs(half - exponent) <= near:
        exponent = half
    if base is positive or exponent.is_integer():
        return Call("pow", (base, Const(exponent)))
    if whole and round(exponent) != 0:
        return Call("pow", (base, Const(float(round(exponent)))))
    # The signed network gives a negative number to the power k the value |x|^k cos(kπ).
    turned = math.cos(math.pi * exponent)
    return Const(turned if abs(turned) > 1e-9 else 1.0) * Call("pow", (positive, Const(exponent)))


def _sample(problem: Problem, max_rows: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    if problem.n_rows <= max_rows:
        return problem.X, problem.y, problem.weights
    rows = np.sort(rng.choice(problem.n_rows, max_rows, replace=False))
    weights = problem.weights[rows]
    return problem.X[rows], problem.y[rows], weights / weights.mean()


def require_torch() -> None:
    """Raise an error that says what to install where torch is missing."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise ImportError("this needs torch, which is not installed; pip install 'unisymnet[torch]'") from error


def _torch() -> Any:
    """The module with the networks, loaded when first needed: it brings torch."""
    require_torch()
    from . import network

    return network
