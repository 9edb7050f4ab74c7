"""The encoder of models that read points: a set network with pooling and a regression layer, both learned.

Every point goes through the same small network; means and maxima over the points are what the set says.  Pooling alone
does not see how columns make up the target, so a second part regresses learned functions of the target on learned
functions of the columns, in closed form as few-shot learners do, and passes on the coefficients, what each is worth and
what is left over.  The order of the points cannot matter.  Not known here: labels.
"""

from __future__ import annotations

from contextlib import nullcontext

import torch
from torch import Tensor, nn

from .pointwise import BASE, pointwise_size

RIDGE = 1e-6  # of unit columns
N_NEWTON = 36  # enough for RIDGE and some hundred functions
FLOOR = 1e-7  # a share of the target that counts as nothing
# Where the learned functions start: mixtures of the numbers of a value (pointwise.BASE), one of which dominates.
OF_COLUMN = ("value", "square", "inverse", "log", "root", "size", "sin", "cos", "exp")
OF_TARGET = ("value", "square", "inverse", "log", "exp")
N_QUOTIENT = 2  # targets that are regressed on polynomials and inverses


def squash(x: Tensor) -> Tensor:
    """asinh; onnxruntime's own loses all digits of large negative numbers."""
    return torch.sign(x) * torch.log(x.abs() + (x.square() + 1.0).sqrt())


def invert(matrix: Tensor) -> Tensor:
    """The inverse of positive definite matrices (batch, k, k) by Newton and Schulz: products alone, which ONNX knows.

    Diagonals are near 1 and eigenvalues at least `RIDGE`, so that the error, squared at each step, is gone at the end.
    """
    k = matrix.shape[-1]
    inverse = torch.eye(k, dtype=matrix.dtype, device=matrix.device) / (k + 1.0)
    for _ in range(N_NEWTON):
        inverse = 2.0 * inverse - inverse @ matrix @ inverse
    return inverse


class Regression(nn.Module):
    """Targets (batch, n, t) on functions (batch, n, k), in t·(2k + 1) numbers."""

    def forward(self, functions: Tensor, targets: Tensor, present: Tensor) -> Tensor:
        """Coefficients, the share of the target that each function alone explains, and the share that is left."""
        k = functions.shape[-1]
        rows = torch.cat([functions, targets], dim=-1)
        # A row may be scaled freely without touching an exact relation: far points must not decide alone.
        rows = (rows * present[..., None] / (1.0 + rows.square().mean(dim=-1, keepdim=True)).sqrt()).double()
        # Absent columns stay 0; not by adding 1e-12, which the exporter takes for nothing.
        rows = rows / rows.square().sum(dim=1, keepdim=True).clamp(min=1e-12).sqrt()
        gram = rows.transpose(1, 2) @ rows
        ridged = gram[:, :k, :k] + RIDGE * torch.eye(k, dtype=gram.dtype, device=gram.device)
        inverse = torch.linalg.inv(ridged) if self.training else invert(ridged)
        mixed = gram[:, :k, k:]
        coefficients = inverse @ mixed
        worth = coefficients.square() / torch.diagonal(inverse, dim1=1, dim2=2)[..., None]
        left = (1.0 - (coefficients * mixed).sum(dim=1)).clamp(min=0.0)
        n = present.to(gram.dtype).sum(dim=1)[:, None]
        left = left * n / (n - k).clamp(min=1.0)  # as many functions as points always leave nothing
        shares = torch.cat([worth, left[:, None]], dim=1).float()
        told = torch.cat([squash(3.0 * coefficients.float()), torch.log10(shares + FLOOR) + 3.5], dim=1)
        return told.flatten(1)


class Reader(nn.Module):
    """Points' numbers (batch, n, k) and ``present`` (batch, n) to ``n_out`` numbers for each data set."""

    def __init__(self, n_features: int, width: int, n_out: int) -> None:
        super().__init__()
        d = self.n_features = n_features
        size = pointwise_size(d)
        self.point = nn.Sequential(nn.Linear(size, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.norm_pool = nn.LayerNorm(2 * width)
        self.mix_x, self.mix_y = nn.Parameter(_start(OF_COLUMN)), nn.Parameter(_start(OF_TARGET))
        self.mix_p, self.mix_q = nn.Parameter(_start(("value",))), nn.Parameter(_start(("inverse",)))
        self.regression = Regression()
        n_sums = 1 + len(OF_COLUMN) * d + d * (d - 1) // 2
        n_poly = 1 + d + d * (d + 1) // 2
        n_told = len(OF_TARGET) * (2 * n_sums + 1)
        n_told += 2 * (2 * (2 * n_poly - 1) + 1) + N_QUOTIENT * (2 * (n_poly + d) + 1)
        self.out = nn.Linear(2 * width + d + n_told, n_out)

    def forward(self, points: Tensor, present: Tensor) -> Tensor:
        return self.out(self.heard(points, present))

    def heard(self, points: Tensor, present: Tensor) -> Tensor:
        """What the last layer reads: the pooled points, which columns there are, and the regressions."""
        mask = present[..., None].to(points.dtype)
        hidden = self.point(squash(points))
        mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1.0)
        most = (hidden * mask - 30.0 * (1.0 - mask)).amax(dim=1)
        used = points[:, :, -1 - self.n_features : -1].amax(dim=1)
        pooled = self.norm_pool(torch.cat([mean, most], dim=-1))
        # Numbers of 16 bits, as training on a GPU takes them, would hide exact relations.
        halved = torch.is_autocast_enabled(points.device.type)
        with torch.autocast(points.device.type, enabled=False) if halved else nullcontext():
            found = self.regressed(points, present)
        return torch.cat([pooled, used, found], dim=-1)

    def regressed(self, points: Tensor, present: Tensor) -> Tensor:
        """What the regressions say: sums of functions, a polynomial times the target, its square, and quotients."""
        d = self.n_features
        base = points[..., : (d + 1) * len(BASE)].reshape(*points.shape[:-1], d + 1, len(BASE))
        x, targets = base[..., :d, :], base[..., d, :] @ self.mix_y
        used = points[..., -1 - d : -1]  # absent columns are no functions
        one = torch.ones_like(points[..., :1])
        p, q = (x @ self.mix_p)[..., 0] * used, (x @ self.mix_q)[..., 0] * used
        products = {(i, j): p[..., i : i + 1] * p[..., j : j + 1] for i in range(d) for j in range(i, d)}
        mixed = [product for (i, j), product in products.items() if i < j]
        poly = torch.cat([one, p, *products.values()], dim=-1)
        sums = torch.cat([one, (x @ self.mix_x * used[..., None]).flatten(-2), *mixed], dim=-1)
        found = [self.regression(sums, targets, present)]
        for k in (0, 1):
            target = targets[..., k : k + 1]
            found.append(self.regression(torch.cat([poly, poly[..., 1:] * target], dim=-1), target, present))
        found.append(self.regression(torch.cat([poly, q], dim=-1), targets[..., :N_QUOTIENT], present))
        return torch.cat(found, dim=-1)


def _start(kinds: tuple[str, ...]) -> Tensor:
    """Mixtures that begin near one number each."""
    start = 0.02 * torch.randn(len(BASE), len(kinds))
    for j, kind in enumerate(kinds):
        start[BASE.index(kind), j] = 1.0
    return start
