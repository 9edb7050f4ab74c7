"""EQL÷, the equation learner with division (Sahoo, Lampert, Martius 2018), small and from scratch; needs torch.

Two hidden layers of id, sin, cos and product units and a division on top.  Training has their three phases: free,
with an L1 penalty, and with the small weights fixed at zero; the denominator's threshold falls with the epochs.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats
from ..symbolic import Call, Const, Expr, Var
from .peers import Clock

UNARY = ("id", "sin", "cos")
N_COPIES = 4  # of every unary unit and of the product in a layer
N_LAYERS = 2
FREE, PENALISED = 0.25, 0.95  # shares of the time after which the next phase begins
PENALTY = 1e-3
SMALL = 0.01  # weights below this are closed in the last phase
RATE = 1e-2


@dataclass(frozen=True)
class EQL:
    """A trained network as matrices of its layers, in standardised columns."""

    layers: tuple[tuple[Floats, Floats], ...]
    centres: Floats
    scales: Floats
    y_centre: float
    y_scale: float

    def expression(self) -> Expr:
        """The network written out, closed weights left out."""
        units: list[Expr] = [
            (Var(i) - Const(float(c))) / Const(float(s))
            for i, (c, s) in enumerate(zip(self.centres, self.scales, strict=True))
        ]
        for weight, bias in self.layers[:-1]:
            sums = [_sum(row, float(b), units) for row, b in zip(weight, bias, strict=True)]
            units = _units(sums)
        top, bottom = (_sum(row, float(b), units) for row, b in zip(*self.layers[-1], strict=True))
        return Const(self.y_centre) + Const(self.y_scale) * (top / bottom)

    def predict(self, X: Floats) -> Floats:
        units = (X - self.centres) / self.scales
        for weight, bias in self.layers[:-1]:
            units = _activated(units @ weight.T + bias, np)
        weight, bias = self.layers[-1]
        top, bottom = (units @ weight.T + bias).T
        with np.errstate(all="ignore"):
            return self.y_centre + self.y_scale * top / bottom


def fit_eql(X: Floats, y: Floats, *, max_time: float, seed: int, names: Sequence[str], cores: int = 1) -> EQL:
    """One training that takes all of the time, whatever it is, in Adam steps on all rows (at most 1,000)."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(cores)
    generator = torch.Generator().manual_seed(seed)
    centres, scales = X.mean(axis=0), np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    y_centre, y_scale = float(y.mean()), float(y.std()) or 1.0
    rows = np.random.default_rng(seed).permutation(len(y))[:1000]
    x = torch.from_numpy((X[rows] - centres) / scales)
    target = torch.from_numpy((y[rows] - y_centre) / y_scale)
    layers = _initial(torch, X.shape[1], generator)
    weights = [layer[0] for layer in layers]
    optimiser = torch.optim.Adam([part for layer in layers for part in layer], lr=RATE)
    masks, step = None, 0
    clock = Clock(cores)  # from here on: making an optimiser loads parts of torch
    while (progress := clock.spent() / max_time) < 1.0:
        loss = _loss(torch, layers, x, target, threshold=1.0 / np.sqrt(1.0 + step / 10))
        if FREE < progress < PENALISED:
            loss = loss + PENALTY * sum(weight.abs().sum() for weight in weights)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        step += 1
        if progress >= PENALISED:
            masks = masks or [(weight.detach().abs() > SMALL).to(weight.dtype) for weight in weights]
            with torch.no_grad():
                for weight, mask in zip(weights, masks, strict=True):
                    weight.mul_(mask)
    trained = tuple((weight.detach().numpy(), bias.detach().numpy()) for weight, bias in layers)
    return EQL(trained, centres, scales, y_centre, y_scale)


def eql_text(model: EQL) -> str | None:
    return str(model.expression())


def _initial(torch: Any, n_inputs: int, generator: Any) -> list[tuple[Any, Any]]:
    width_in, sizes = n_inputs, []
    for _ in range(N_LAYERS):
        sizes.append((N_COPIES * (len(UNARY) + 2), width_in))
        width_in = N_COPIES * (len(UNARY) + 1)
    sizes.append((2, width_in))
    layers = []
    for n_out, n_in in sizes:
        weight = torch.randn(n_out, n_in, generator=generator, dtype=torch.float64) / np.sqrt(n_in + n_out)
        layers.append((weight.requires_grad_(), torch.zeros(n_out, dtype=torch.float64, requires_grad=True)))
    with torch.no_grad():
        layers[-1][1][1] = 1.0  # the denominator starts near one
    return layers


def _loss(torch: Any, layers: list[tuple[Any, Any]], x: Any, target: Any, *, threshold: float) -> Any:
    units = x
    for weight, bias in layers[:-1]:
        units = _activated(units @ weight.T + bias, torch)
    top, bottom = (units @ layers[-1][0].T + layers[-1][1]).T
    # Below the threshold the quotient is 0 and the denominator is pushed up.
    safe = torch.where(bottom > threshold, bottom, torch.ones_like(bottom))
    values = torch.where(bottom > threshold, top / safe, torch.zeros_like(top))
    return ((values - target) ** 2).mean() + torch.clamp(threshold - bottom, min=0.0).mean()


def _activated(sums: Any, library: Any) -> Any:
    k = N_COPIES
    parts = [sums[:, :k], library.sin(sums[:, k : 2 * k]), library.cos(sums[:, 2 * k : 3 * k])]
    return library.concatenate([*parts, sums[:, 3 * k : 4 * k] * sums[:, 4 * k :]], 1)


def _units(sums: list[Expr]) -> list[Expr]:
    k = N_COPIES
    sines, cosines = sums[k : 2 * k], sums[2 * k : 3 * k]
    curved = [*(Call("sin", (one,)) for one in sines), *(Call("cos", (one,)) for one in cosines)]
    products = [a * b for a, b in zip(sums[3 * k : 4 * k], sums[4 * k :], strict=True)]
    return [*sums[:k], *curved, *products]


def _sum(row: Floats, bias: float, units: list[Expr]) -> Expr:
    terms: list[Expr] = [Const(float(w)) * unit for w, unit in zip(row, units, strict=True) if w != 0.0]
    total: Expr = Const(bias)
    for term in terms:
        total = total + term
    return total
