"""A UniSymNet as a trainable torch network, many restarts side by side.

A ``Blueprint`` holds the reduced architecture A' and its masks M': those of the structure (DNO-P), all open (DNO-NP),
or the paper's default form.  ``SymbolicNetwork`` trains many copies of it at once: all numbers of a copy stand in
one row of ``theta``, layer after layer, (W | b) row by row, and ``open`` says which of them exist.  The plain
activations are the regularised ln and exp of the paper.  The signed ones also carry the sign of a logarithm's argument,
as a phase, so that products are right for negative inputs.  Does not know how training goes (training.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ...symbolic.network.structure import Network, Ops, Row, Structure
from ...symbolic.operators import UNARY_LIBRARY

Mask = NDArray[np.bool_]
PLAIN_EXPONENTS = (-2.0, -1.0, -1.0, 1.0, 1.0, 2.0)


@dataclass(frozen=True)
class Activations:
    """θ_ln, θ_exp and ε of the paper's regularised ln and exp; ``signed`` follows signs through products."""

    theta_ln: float = 1e-4
    theta_exp: float = 100.0
    epsilon: float = 1e-8
    signed: bool = False


@dataclass(frozen=True)
class Blueprint:
    """Operators per layer, and one mask (nodes, nodes below + 1) per layer whose last column are the biases.

    ``hints``, if any, are masks of the connections that probably matter; half of the restarts begin with only those.
    """

    ops: Ops
    masks: tuple[Mask, ...]
    hints: tuple[Mask, ...] = ()

    @classmethod
    def sparse(cls, structure: Structure, n_features: int) -> Blueprint:
        """The structure's own connections (DNO-P)."""
        masks = [np.column_stack([w, b]) for w, b in zip(structure.weights, structure.biases, strict=True)]
        missing = np.zeros((len(masks[0]), n_features - structure.n_features), dtype=bool)
        masks[0] = np.hstack([masks[0][:, :-1], missing, masks[0][:, -1:]])
        return cls(structure.ops, tuple(m.astype(bool) for m in masks))

    @classmethod
    def dense(cls, ops: Ops, n_features: int, hints: tuple[Mask, ...] = ()) -> Blueprint:
        """Every connection and bias (DNO-NP)."""
        widths = [n_features, *map(len, ops)]
        return cls(ops, tuple(np.ones((tall, wide + 1), dtype=bool) for wide, tall in pairwise(widths)), hints)


def default_ops(*, depth: int = 3, repeats: int = 2, library: tuple[str, ...] = UNARY_LIBRARY) -> Ops:
    """The form without guidance (the third arm of the paper's ablation): every operator ``repeats`` times a layer."""
    hidden = tuple(op for op in library for _ in range(repeats))
    return (*[hidden] * (depth - 1), ("id",))


class SymbolicNetwork(nn.Module):
    """``n_restarts`` copies of one blueprint; ``forward`` maps rows (n, d) to values (n_restarts, n)."""

    open: Tensor

    def __init__(self, blueprint: Blueprint, theta: Tensor, activations: Activations = Activations()) -> None:
        super().__init__()
        self.ops = blueprint.ops
        self.activations = activations
        self.shapes = tuple(mask.shape for mask in blueprint.masks)
        self.starts = tuple(accumulate((tall * wide for tall, wide in self.shapes), initial=0))
        flat = np.concatenate([mask.ravel() for mask in blueprint.masks])
        self.theta = nn.Parameter(theta)
        self.register_buffer("open", torch.tensor(flat).repeat(len(theta), 1))
        if blueprint.hints:
            self.open[::2] = torch.tensor(np.concatenate([hint.ravel() for hint in blueprint.hints]))

    @property
    def n_restarts(self) -> int:
        return len(self.theta)

    def forward(self, x: Tensor) -> Tensor:
        return self.run(x)[0]

    def run(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Values (n_restarts, n) and the penalty of each restart (n_restarts,), a mean over the rows."""
        values, affine = self._layers(x)
        penalty = sum((self._penalty(y, ops) for (_, _, y, _), ops in zip(affine, self.ops)), torch.zeros(()))
        return values, penalty.expand(self.n_restarts)

    def hidden(self, x: Tensor) -> Tensor:
        """What the output layer reads: (n_restarts, n, nodes of the layer below it)."""
        return self._layers(x)[1][-1][0]

    def jacobian(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Values (n_restarts, n) and their derivatives by theta (n_restarts, n, size of theta).

        A row's value depends on that row's affine sums only, so one backward pass of the sum of all values gives the
        derivative of each value by each of its sums; the chain rule to the weights is an outer product.
        """
        with torch.enable_grad():
            values, affine = self._layers(x)
            sums = [y for _, _, y, _ in affine]
            phases = [turned for _, _, _, turned in affine] if self.activations.signed else []
            slopes = torch.autograd.grad(values.sum(), sums + phases, allow_unused=True)
        parts = []
        depth = len(affine)
        for level, (z, phase, y, _) in enumerate(affine):
            one = torch.ones_like(z[:, :, :1])
            by_sum, by_phase = slopes[level], slopes[depth + level] if phases else None
            part = torch.zeros(*y.shape, z.shape[2] + 1, dtype=x.dtype)
            if by_sum is not None:
                part = by_sum[..., None] * torch.cat([z, one], dim=2)[:, :, None, :]
            if by_phase is not None:
                part = part + by_phase[..., None] * torch.cat([phase, 0.0 * one], dim=2)[:, :, None, :]
            parts.append(part.flatten(2))
        return values.detach(), (torch.cat(parts, dim=2) * self.open[:, None, :]).detach()

    def _layers(self, x: Tensor) -> tuple[Tensor, list[tuple[Tensor, Tensor, Tensor, Tensor]]]:
        """Values, and for every layer its inputs, their phases, its affine sums and their phases."""
        numbers = self.theta * self.open
        z = x.expand(self.n_restarts, *x.shape)
        phase = torch.zeros_like(z)
        passed = []
        for ops, (tall, wide), start in zip(self.ops, self.shapes, self.starts):
            table = numbers[:, start : start + tall * wide].reshape(-1, tall, wide)
            weights = table[:, :, :-1].transpose(1, 2)
            y = torch.baddbmm(table[:, None, :, -1], z, weights)
            turned = torch.bmm(phase, weights) if self.activations.signed else torch.zeros_like(y)
            passed.append((z, phase, y, turned))
            z, phase = self._activate(y, turned, ops)
        return z[:, :, 0], passed

    def _penalty(self, y: Tensor, ops: tuple[str, ...]) -> Tensor:
        """|min(0, x - θ_ln)| on the inputs of ln and max(0, |x| - θ_exp) on those of exp."""
        a = self.activations
        total = torch.zeros(self.n_restarts, dtype=y.dtype)
        for op, start, stop in _runs(ops):
            if op == "ln" and not a.signed:
                total = total + (a.theta_ln - y[:, :, start:stop]).clamp(min=0.0).mean(dim=1).sum(dim=1)
            elif op == "exp":
                total = total + (y[:, :, start:stop].abs() - a.theta_exp).clamp(min=0.0).mean(dim=1).sum(dim=1)
        return total

    def _activate(self, y: Tensor, turned: Tensor, ops: tuple[str, ...]) -> tuple[Tensor, Tensor]:
        values, phases = [], []
        for op, start, stop in _runs(ops):
            value, phase = self._unit(op, y[:, :, start:stop], turned[:, :, start:stop])
            values.append(value)
            phases.append(phase)
        return torch.cat(values, dim=2), torch.cat(phases, dim=2)

    def _unit(self, op: str, y: Tensor, phase: Tensor) -> tuple[Tensor, Tensor]:
        a = self.activations
        zero = torch.zeros_like(y)
        if op == "id":
            return y, phase
        if op == "exp":
            grown = torch.exp(y.clamp(max=a.theta_exp))
            # ln of a negative number has the phase π: k times that turns exp's value by cos(kπ), its sign for whole k.
            return (grown * torch.cos(phase) if a.signed else grown), zero
        if op == "ln":
            if a.signed:
                return torch.log(y.abs() + a.epsilon), math.pi * (y < 0).to(y.dtype)
            outside = y < a.theta_ln
            # The inner where keeps the gradient of the branch not taken finite.
            return torch.where(outside, zero, torch.log(torch.where(outside, zero, y.abs()) + a.epsilon)), zero
        return (torch.sin(y) if op == "sin" else torch.cos(y)), zero

    def rows(self, restart: int) -> list[list[Row]]:
        """One restart as nodes with numbers, closed and zero connections left out."""
        numbers = (self.theta * self.open)[restart].detach().numpy()
        layers = []
        for ops, (tall, wide), start in zip(self.ops, self.shapes, self.starts):
            table = numbers[start : start + tall * wide].reshape(tall, wide)
            layer: list[Row] = []
            for op, row in zip(ops, table):
                weights = {int(j): float(row[j]) for j in np.flatnonzero(row[:-1])}
                layer.append((op, weights, float(row[-1]) if row[-1] else None))
            layers.append(layer)
        return layers

    def network(self, restart: int) -> Network:
        """One restart as a pruned network of the symbolic side."""
        return Network.from_rows(self.rows(restart))

    def picked(self, restarts: list[int]) -> SymbolicNetwork:
        """A network of these restarts only."""
        copy = object.__new__(SymbolicNetwork)
        nn.Module.__init__(copy)
        copy.ops, copy.activations, copy.shapes, copy.starts = self.ops, self.activations, self.shapes, self.starts
        copy.theta = nn.Parameter(self.theta.detach()[restarts].clone())
        copy.register_buffer("open", self.open[restarts].clone())
        return copy

    @torch.no_grad()
    def reopen(self, blueprint: Blueprint) -> None:
        """Open all connections of the blueprint; those that were closed begin at zero."""
        self.theta.mul_(self.open)
        self.open.copy_(torch.tensor(np.concatenate([mask.ravel() for mask in blueprint.masks])).expand_as(self.open))

    @torch.no_grad()
    def rescale(self, x_scales: Tensor, y_scale: float) -> None:
        """From a network of x/x_scales that gives y/y_scale to one of x that gives y."""
        tall, wide = self.shapes[0]
        first = self.theta[:, : tall * wide].view(-1, tall, wide)
        first[:, :, :-1] /= x_scales
        self.theta[:, self.starts[-2] :] *= y_scale


def _runs(ops: tuple[str, ...]) -> list[tuple[str, int, int]]:
    """Neighbours with the same operator: (operator, first, one past the last)."""
    found, at = [], 0
    for op, group in groupby(ops):
        n = len(list(group))
        found.append((op, at, at + n))
        at += n
    return found


def initial(blueprint: Blueprint, n_restarts: int, *, scale: float, init: str, rng: np.random.Generator) -> Tensor:
    """Start values (n_restarts, size of theta).

    "scaled": normal with variance ``scale`` / (connections in + out, a node's mean), as in EQL, whose weight
    initialisation parameter this is; "lhs": a Latin hypercube in (-scale, scale).  With hints every second start is
    scaled for those connections.
    """
    theta = _drawn(blueprint.masks, n_restarts, scale, init, rng)
    if blueprint.hints:
        theta[::2] = _drawn(blueprint.hints, n_restarts, scale, init, rng)[::2]
    return torch.from_numpy(theta)


def with_plain_exponents(blueprint: Blueprint, theta: Tensor, rng: np.random.Generator) -> Tensor:
    """Start values of which every second pair of restarts has usual exponents (weights from an ln to an exp)."""
    below: tuple[str, ...] = ()
    at, places = 0, []
    for ops, mask in zip(blueprint.ops, blueprint.masks, strict=True):
        pairs = [(i, j) for i, op in enumerate(ops) for j, lower in enumerate(below) if (op, lower) == ("exp", "ln")]
        places += [at + i * mask.shape[1] + j for i, j in pairs]
        below, at = ops, at + mask.size
    chosen = np.flatnonzero(np.arange(len(theta)) // 2 % 2)
    draws = rng.choice(PLAIN_EXPONENTS, (len(chosen), len(places)))
    theta[np.ix_(chosen, places)] = torch.from_numpy(draws)
    return theta


def _drawn(
    masks: tuple[Mask, ...], n_restarts: int, scale: float, init: str, rng: np.random.Generator
) -> NDArray[np.float64]:
    n = sum(mask.size for mask in masks)
    if init == "lhs":
        from scipy.stats import qmc  # late: scipy.stats takes half a second to load

        return scale * (2.0 * qmc.LatinHypercube(n, rng=rng).random(n_restarts) - 1.0)
    if init != "scaled":
        raise ValueError(f"init must be 'scaled' or 'lhs', got {init!r}")
    parts = []
    for mask in masks:
        ways = mask[:, :-1].sum() * (1.0 / mask.shape[0] + 1.0 / max(mask.shape[1] - 1, 1))
        parts.append(rng.normal(0.0, math.sqrt(scale / max(ways, 1.0)), (n_restarts, mask.size)))
    return np.hstack(parts)
