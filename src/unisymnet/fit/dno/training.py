"""How a network is trained: the paper's Algorithm "Differentiable Network Training", and what follows it here.

``train`` is Adam on mini-batches of squared error plus activation penalty; every tenth epoch is a penalty epoch on
inputs drawn wider than the data (ADR 9).  Each restart keeps its best weights.  Beyond the paper: starts are screened,
``settle`` ends with Levenberg-Marquardt steps of all restarts at once, ``cut_path`` closes connections in the order of
their effect on the loss, settling in between.  Knows no formulas (dno.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ...deadline import Deadline
from .network import Activations, Blueprint, SymbolicNetwork, initial, with_plain_exponents
from .rows import Rows

if TYPE_CHECKING:
    from .dno import DNO

SCREENED = 150  # rows that a first look at a start needs


@dataclass(frozen=True)
class Trained:
    """A trained network in its own units, restarts sorted by loss; ``losses`` and ``curve`` in those of the data."""

    network: SymbolicNetwork
    rows: Rows
    x_scales: Tensor
    y_scale: float
    losses: list[float]
    curve: list[float]

    def in_units_of_data(self, network: SymbolicNetwork, restart: int) -> SymbolicNetwork:
        """One restart of this network, or of one cut from it, for the units of the data."""
        one = network.picked([restart])
        one.rescale(self.x_scales, self.y_scale)
        return one


def trained(
    settings: DNO, blueprint: Blueprint, rows: Rows, *, rng: np.random.Generator, deadline: Deadline
) -> Trained:
    """Train from random starts; columns and target are brought to size one first, so that one rate serves all."""
    unit, x_scales, y_scale = rows.scaled(settings.bend, settings.n_restarts)
    activations = Activations(settings.theta_ln, settings.theta_exp, settings.epsilon, settings.signed)

    def draw(vary: bool = False) -> SymbolicNetwork:
        start = initial(blueprint, settings.n_restarts, scale=settings.scale, init=settings.init, rng=rng)
        if vary:
            # Different overall sizes: frequencies are not all near one.
            start *= torch.from_numpy(np.exp(rng.uniform(-0.7, 1.1, (settings.n_restarts, 1))))
        if settings.plain_exponents:
            start = with_plain_exponents(blueprint, start, rng)
        return SymbolicNetwork(blueprint, start, activations)

    network = draw()
    if settings.screening:
        _screen(network, draw, unit.part(slice(SCREENED)).all_chordal(), settings.screening, rng=rng, deadline=deadline)
    part, held = unit.split(settings.holdout, rng=rng)
    curve = train(settings, network, part, rng=rng, deadline=deadline)
    if settings.n_settling:
        # All restarts a little, then the best of them to the end.
        curve += settle(network, part, settings.n_settling // 4, deadline=deadline)
        network, part, held = _best(network, part, held, max(4, settings.n_restarts // 4))
        network.reopen(blueprint)
        curve += settle(network, part, settings.n_settling, deadline=deadline, held=held)
    if unit.chordal is not None:
        unit, part, held = unit.straight(), part.straight(), held.straight() if held else None
        # The losses so far were those of another target.
        curve = settle(network, part, settings.n_settling, deadline=deadline, held=held)
    network.reopen(blueprint)
    network = network.picked(_ranking(network, part, held))
    with torch.no_grad():
        losses = unit.losses(network(unit.x)).tolist()
    size = y_scale**2
    return Trained(
        network=network,
        rows=unit,
        x_scales=x_scales,
        y_scale=y_scale,
        losses=[loss * size for loss in losses],
        curve=[loss * size for loss in curve],
    )


@torch.no_grad()
def _worse(network: SymbolicNetwork, rows: Rows, held: Rows | None) -> Tensor:
    """The loss of every restart on the rows it was trained on or on those held back, whichever is larger."""
    losses = rows.losses(network(rows.x))
    return losses if held is None else torch.maximum(losses, held.losses(network(held.x)))


def _ranking(network: SymbolicNetwork, rows: Rows, held: Rows | None) -> list[int]:
    """The restarts from best to worst."""
    return torch.argsort(_worse(network, rows, held), stable=True).tolist()


def _best(network: SymbolicNetwork, rows: Rows, held: Rows | None, n: int) -> tuple[SymbolicNetwork, Rows, Rows | None]:
    """The best ``n`` restarts, as many of each kind where the target is bent, and the rows for them."""
    order = _ranking(network, rows, held)
    if rows.chordal is None:
        return network.picked(order[:n]), rows, held
    chordal = rows.chordal[:, 0]
    kinds = [[i for i in order if bool(chordal[i]) == kind] for kind in (True, False)]
    order = [i for kind in kinds for i in kind[: n // 2]]
    kept = rows.chordal[order]
    return network.picked(order), replace(rows, chordal=kept), replace(held, chordal=kept) if held else None


@torch.no_grad()
def _screen(
    network: SymbolicNetwork,
    draw: Callable[..., SymbolicNetwork],
    rows: Rows,
    n_rounds: int,
    *,
    rng: np.random.Generator,
    deadline: Deadline,
) -> None:
    """Replace half of the restarts by the best of ``n_rounds`` times as many draws.

    The other half keep the variety that a look at the start cannot judge.
    """
    n_chosen = (network.n_restarts + 1) // 2
    kept, opened, losses = network.theta[:0], network.open[:0], rows.y[:0]
    for _ in range(n_rounds):
        fresh = draw(vary=True)
        losses = torch.cat([losses, solve_output(fresh, rows)])
        kept, opened = torch.cat([kept, fresh.theta]), torch.cat([opened, fresh.open])
        order = torch.argsort(losses, stable=True)[:n_chosen]
        kept, opened, losses = kept[order], opened[order], losses[order]
        if deadline.expired():
            break
    network.theta[:n_chosen], network.open[:n_chosen] = kept, opened


@torch.no_grad()
def solve_output(network: SymbolicNetwork, rows: Rows) -> Tensor:
    """Set the output layer, which is linear in its numbers, to its best values; the losses then."""
    top = network.hidden(rows.x)
    last = slice(network.starts[-2], network.starts[-1])
    top = torch.cat([top, torch.ones_like(top[:, :, :1])], dim=2) * network.open[:, None, last]
    top = torch.nan_to_num(top, nan=0.0, posinf=0.0, neginf=0.0).clamp(-1e30, 1e30)
    sizes = top.square().mean(dim=1, keepdim=True).sqrt() + 1e-300
    # Where the target is bent, a row counts as much as its bent value moves.
    counted = rows.weights if rows.chordal is None else rows.weights / (1.0 + rows.y**2) ** 2
    weighed = (top / sizes).transpose(1, 2) * (counted / len(rows.y))
    curvature = torch.bmm(weighed, top / sizes) + 1e-9 * torch.eye(top.shape[2], dtype=top.dtype)
    solved = torch.linalg.solve_ex(curvature, (weighed @ rows.y)[..., None])[0]
    network.theta[:, last] = torch.nan_to_num((solved / sizes.transpose(1, 2))[..., 0])
    return rows.losses(network(rows.x))


def train(
    settings: DNO, network: SymbolicNetwork, rows: Rows, *, rng: np.random.Generator, deadline: Deadline
) -> list[float]:
    """Adam; leaves the best weights of every restart in the network and returns the best loss after each epoch."""
    optimiser = torch.optim.Adam([network.theta], lr=settings.rate)
    best = torch.full((network.n_restarts,), torch.inf, dtype=torch.float64)
    kept = network.theta.detach().clone()
    curve = []
    for epoch in range(1, settings.n_epochs(len(network.ops)) + 1):
        if deadline.expired():
            break
        if settings.penalty_every and epoch % settings.penalty_every == 0:
            wide = wider(rows.x, settings.widen, rng=rng)
            for inputs in wide.split(settings.batch):
                _step(network, optimiser, settings.penalty_weight * network.run(inputs)[1])
        else:
            for picked in torch.from_numpy(rng.permutation(len(rows.x))).split(settings.batch):
                batch = rows.part(picked)
                values, penalty = network.run(batch.x)
                errors = (batch.errors(values) ** 2 * batch.weights).mean(dim=1)
                _step(network, optimiser, errors + settings.penalty_weight * penalty)
        with torch.no_grad():
            losses = rows.losses(network(rows.x))
        better = losses < best
        best[better], kept[better] = losses[better], network.theta.detach()[better]
        curve.append(float(best.min()))
    with torch.no_grad():
        network.theta.copy_(kept)
    return curve


def wider(x: Tensor, share: float, *, rng: np.random.Generator) -> Tensor:
    """Inputs from a box that reaches ``share`` of the range beyond it on each side."""
    low, high = x.min(dim=0).values, x.max(dim=0).values
    draws = torch.from_numpy(rng.random(tuple(x.shape)))
    return low - share * (high - low) + draws * (1.0 + 2.0 * share) * (high - low)


def _step(network: SymbolicNetwork, optimiser: torch.optim.Optimizer, losses: Tensor) -> None:
    """One step on the sum over the restarts; they share no weights, so each follows its own gradient."""
    if not losses.requires_grad:
        return
    optimiser.zero_grad()
    torch.where(torch.isfinite(losses), losses, torch.zeros_like(losses)).sum().backward()
    slope = network.theta.grad
    if slope is not None:
        slope = torch.nan_to_num(slope, nan=0.0, posinf=0.0, neginf=0.0)
        network.theta.grad = slope / slope.norm(dim=1, keepdim=True).clamp(min=1.0)
        optimiser.step()


@torch.no_grad()
def settle(
    network: SymbolicNetwork,
    rows: Rows,
    n_steps: int,
    *,
    deadline: Deadline,
    held: Rows | None = None,
    tol: float = 1e-9,
) -> list[float]:
    """Levenberg-Marquardt steps of all restarts at once; returns the best loss after each step.

    With ``held`` rows every restart ends with the weights that were best for both: overfitting is undone.
    """
    kept, lowest = network.theta.clone(), _worse(network, rows, held)
    damping = torch.full((network.n_restarts,), 1e-2, dtype=torch.float64)
    losses = rows.losses(network(rows.x))
    idle = torch.zeros(network.n_restarts)
    curve = []
    for _ in range(n_steps):
        if deadline.expired():
            break
        curvature, slope = _normal_equations(network, rows)
        diagonal = torch.diagonal(curvature, dim1=1, dim2=2)
        floor = 1e-12 * diagonal.amax(dim=1, keepdim=True) + 1e-300
        extra = damping[:, None] * diagonal + floor
        change, failed = torch.linalg.solve_ex(curvature + torch.diag_embed(extra), slope[..., None])
        old = network.theta.clone()
        step = torch.nan_to_num(change[..., 0]) * (failed == 0)[:, None]
        network.theta.copy_(old - step)
        trial = rows.losses(network(rows.x))
        better = trial < losses
        network.theta.copy_(torch.where(better[:, None], network.theta, old))
        gained = better & (trial < (1.0 - tol) * losses)
        idle = torch.where(gained, 0.0, idle + 1.0)
        losses = torch.where(better, trial, losses)
        damping = torch.where(better, 0.3 * damping, 5.0 * damping).clamp(1e-12, 1e12)
        if held is not None:
            worse = _worse(network, rows, held)
            kept = torch.where((worse < lowest)[:, None], network.theta, kept)
            lowest = torch.minimum(worse, lowest)
        curve.append(float(losses.min()))
        if (idle >= 8).all() or curve[-1] < 1e-26:
            break
    if held is not None:
        network.theta.copy_(kept)
    return curve


def _normal_equations(network: SymbolicNetwork, rows: Rows) -> tuple[Tensor, Tensor]:
    """JᵀWJ/n and JᵀWr/n of every restart; closed numbers have zero rows."""
    values, slopes = network.jacobian(rows.x)
    if rows.chordal is not None:
        slopes = slopes * rows.bend(values)[..., None]
    slopes = torch.nan_to_num(slopes, nan=0.0, posinf=0.0, neginf=0.0).clamp(-1e100, 1e100)
    residuals = torch.nan_to_num(rows.errors(values), nan=0.0, posinf=0.0, neginf=0.0)
    weighed = slopes.transpose(1, 2) * (rows.weights / len(rows.y))
    return torch.bmm(weighed, slopes), torch.bmm(weighed, residuals[..., None])[..., 0]


@torch.no_grad()
def cut_path(
    network: SymbolicNetwork, rows: Rows, *, share: float, n_settling: int, deadline: Deadline
) -> Iterator[tuple[SymbolicNetwork, Tensor]]:
    """The network with fewer and fewer connections, and the losses of its restarts.

    A connection goes in the order of its effect on the loss, all others adjusting: w²/(2 (H⁻¹)ᵢᵢ) with the
    Gauss-Newton H (the optimal brain surgeon's estimate); a ``share`` of those left goes in each round, one at least.
    """
    while int(network.open.sum(dim=1).max()) > 1 and not deadline.expired():
        curvature, _ = _normal_equations(network, rows)
        diagonal = torch.diagonal(curvature, dim1=1, dim2=2)
        ridge = 1e-8 * diagonal.amax(dim=1, keepdim=True) + 1e-300
        inverse = torch.linalg.pinv(curvature + torch.diag_embed(ridge.expand_as(diagonal)), hermitian=True)
        effect = network.theta.square() / torch.diagonal(inverse, dim1=1, dim2=2).clamp(min=1e-300)
        effect = torch.where(network.open, torch.nan_to_num(effect, nan=0.0), torch.inf)
        for effects, left in zip(effect, network.open):
            n_cut = max(1, int(share * int(left.sum())))
            left[torch.argsort(effects, stable=True)[:n_cut]] = False
        settle(network, rows, n_settling, deadline=deadline)
        yield network, rows.losses(network(rows.x))
