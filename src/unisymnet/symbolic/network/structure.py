"""The structure of a UniSymNet: operators per layer and which node feeds which, and networks that carry numbers.

Section "Structural Space Formalization" of the paper: S = (A, M) and the forward pass of its equations, in numpy.
A Structure is always pruned (every node is fed and used, no inputs beyond the last one used) and in canonical order
(nodes of a layer by operator, equal operators by their connections), so equal networks compare equal.
Knows neither formulas (identify.py, skeleton.py) nor labels (tokens.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Floats
from ..operators import OPERATORS, UNARY_LIBRARY
from .order import RANKS, canonical_order

Mask = NDArray[np.bool_]
Ops = tuple[tuple[str, ...], ...]
Inputs = tuple[tuple[tuple[int, ...], ...], ...]
Biases = tuple[tuple[bool, ...], ...]
# One node with its numbers: operator, {index in the layer below: weight}, bias (None: no bias).
Row = tuple[str, dict[int, float], float | None]


class Structure:
    """Architecture and masks.  Layers stand bottom first; the last one is a single ``id`` node.

    ``ops[l][i]`` is an operator of the library, ``inputs[l][i]`` the ascending indices of the nodes of layer l-1
    (of the input columns for l = 0) that feed it, ``biases[l][i]`` whether it has a bias.  ``weights`` gives the
    same connections as the paper's mask matrices.  Masks given to the constructor are pruned and reordered.
    """

    __slots__ = ("_hash", "biases", "inputs", "n_features", "ops")
    n_features: int
    ops: Ops
    inputs: Inputs
    biases: Biases
    _hash: int

    def __init__(
        self, n_features: int, ops: Sequence[Sequence[str]], weights: Sequence[ArrayLike], biases: Sequence[ArrayLike]
    ) -> None:
        rows = _rows(n_features, ops, [np.asarray(w) != 0 for w in weights], [np.asarray(b) != 0 for b in biases])
        tidy = Network.from_rows(rows).structure
        self._fill(tidy.n_features, tidy.ops, tidy.inputs, tidy.biases)

    @classmethod
    def of(cls, ops: Ops, inputs: Inputs, biases: Biases) -> Structure:
        """From parts that are already pruned and in canonical order (not checked: for identify and decode)."""
        self = object.__new__(cls)
        used = [sources[-1] + 1 for sources in inputs[0] if sources]
        self._fill(max(used, default=0), ops, inputs, biases)
        return self

    def _fill(self, n_features: int, ops: Ops, inputs: Inputs, biases: Biases) -> None:
        values = (n_features, ops, inputs, biases, hash((ops, inputs, biases)))
        for name, value in zip(("n_features", "ops", "inputs", "biases", "_hash"), values, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a structure is immutable; build a new one instead of setting {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Structure):
            return NotImplemented
        return (self.ops, self.inputs, self.biases) == (other.ops, other.inputs, other.biases)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Structure.of, (self.ops, self.inputs, self.biases)

    def __repr__(self) -> str:
        layers = " → ".join(" ".join(layer) for layer in self.ops)
        return f"<Structure of {self.n_features} inputs → {layers}>"

    @property
    def depth(self) -> int:
        """Number of layers, the output layer included (L of the paper's label)."""
        return len(self.ops)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all layers, inputs not counted."""
        return sum(map(len, self.ops))

    @property
    def widths(self) -> tuple[int, ...]:
        """Nodes per layer, starting with the inputs."""
        return (self.n_features, *map(len, self.ops))

    @property
    def weights(self) -> tuple[Mask, ...]:
        """The weight masks: one array (nodes, nodes of the layer below) per layer."""
        masks = []
        for width, layer in zip(self.widths, self.inputs, strict=False):
            mask = np.zeros((len(layer), width), dtype=bool)
            for row, sources in zip(mask, layer, strict=True):
                row[list(sources)] = True
            masks.append(mask)
        return tuple(masks)


class Network:
    """A structure with numbers: ``weights[l]`` and ``biases[l]`` are W and b of the paper, zero where masked."""

    __slots__ = ("rows", "structure")
    structure: Structure
    rows: tuple[tuple[Row, ...], ...]

    def __init__(self, structure: Structure, weights: Sequence[ArrayLike], biases: Sequence[ArrayLike]) -> None:
        W, b = [np.asarray(w, dtype=np.float64) for w in weights], [np.asarray(v, dtype=np.float64) for v in biases]
        for layer, (mask, given) in enumerate(zip(structure.weights, W, strict=True), 1):
            if given.shape != mask.shape:
                raise ValueError(f"W of layer {layer} must have shape {mask.shape}, got {given.shape}")
        self.structure = structure
        self.rows = tuple(
            tuple(
                (op, {j: float(W[at][i, j]) for j in sources}, float(b[at][i]) if biased else None)
                for i, (op, sources, biased) in enumerate(zip(ops, inputs, flags, strict=True))
            )
            for at, (ops, inputs, flags) in enumerate(
                zip(structure.ops, structure.inputs, structure.biases, strict=True)
            )
        )

    @classmethod
    def from_rows(cls, layers: Sequence[Sequence[Row]], *, pruned: bool = False) -> Network:
        """From nodes with their numbers, pruned (unless they already are) and put in canonical order."""
        if not pruned:
            layers = _pruned(layers)
        ops = [[row[0] for row in layer] for layer in layers]
        inputs = [[tuple(sorted(row[1])) for row in layer] for layer in layers]
        biases = [[row[2] is not None for row in layer] for layer in layers]
        orders = canonical_order(ops, inputs, biases)
        place: dict[int, int] | None = None
        new_inputs, rows = [], []
        for at, order in enumerate(orders):
            sources = [inputs[at][i] for i in order]
            layer = [layers[at][i] for i in order]
            if place is not None:
                sources = [tuple(sorted([place[j] for j in row])) for row in sources]
                layer = [(op, {place[j]: w for j, w in weights.items()}, bias) for op, weights, bias in layer]
            new_inputs.append(tuple(sources))
            rows.append(tuple(layer))
            moved = any(i != new for new, i in enumerate(order))
            place = {i: new for new, i in enumerate(order)} if moved else None
        self = object.__new__(cls)
        self.structure = Structure.of(
            tuple([tuple([row[0] for row in layer]) for layer in rows]),
            tuple(new_inputs),
            tuple([tuple([row[2] is not None for row in layer]) for layer in rows]),
        )
        self.rows = tuple(rows)
        return self

    @property
    def weights(self) -> list[Floats]:
        arrays = [np.zeros(mask.shape) for mask in self.structure.weights]
        for array, layer in zip(arrays, self.rows, strict=True):
            for i, (_, weights, _) in enumerate(layer):
                array[i, list(weights)] = list(weights.values())
        return arrays

    @property
    def biases(self) -> list[Floats]:
        return [np.array([bias or 0.0 for _, _, bias in layer]) for layer in self.rows]

    def forward(self, X: ArrayLike) -> Floats:
        """The network's value on the rows of X, marks and all: nan where a ln meets a negative number."""
        return forward(self.structure, self.weights, self.biases, X)


def forward(structure: Structure, W: Sequence[ArrayLike], b: Sequence[ArrayLike], X: ArrayLike) -> Floats:
    """The paper's forward equations: y = (W∘M) z + b∘M, z_i = op_i(y_i), layer by layer.  Returns (n,) values."""
    z = np.asarray(X, dtype=np.float64)
    if z.ndim != 2 or z.shape[1] < structure.n_features:
        raise ValueError(f"X must be a table with at least {structure.n_features} columns, got shape {z.shape}")
    with np.errstate(all="ignore"):
        for ops, inputs, biases, weights, bias in zip(
            structure.ops, structure.inputs, structure.biases, W, b, strict=True
        ):
            weights, bias = np.asarray(weights, dtype=np.float64), np.asarray(bias, dtype=np.float64)
            columns = []
            for i, (op, sources) in enumerate(zip(ops, inputs, strict=True)):
                # Sum over the open connections only: in a full product 0 * nan of a masked one would be nan.
                y = z[:, list(sources)] @ weights[i, list(sources)] + (bias[i] if biases[i] else 0.0)
                columns.append(y if op == "id" else OPERATORS[op].apply(y))
            z = np.column_stack(columns)
    return z[:, 0]


def _rows(
    n_features: int, ops: Sequence[Sequence[str]], weights: Sequence[Mask], biases: Sequence[Mask]
) -> list[list[Row]]:
    """Checked rows with the number 1 for every open connection."""
    if not ops or tuple(ops[-1]) != ("id",):
        raise ValueError(f"the last layer must be one id node, got {list(ops[-1:])}")
    if not len(ops) == len(weights) == len(biases):
        raise ValueError(f"got {len(ops)} layers of operators, {len(weights)} of weights, {len(biases)} of biases")
    width, layers = n_features, []
    for at, (names, mask, flags) in enumerate(zip(ops, weights, biases, strict=True), 1):
        unknown = [name for name in names if name not in RANKS]
        if unknown:
            raise ValueError(f"layer {at} has the operator {unknown[0]!r}; the library is {', '.join(UNARY_LIBRARY)}")
        if mask.size != len(names) * width or flags.shape != (len(names),):
            raise ValueError(
                f"layer {at} has {len(names)} nodes over {width}: its masks must have shapes "
                f"{(len(names), width)} and {(len(names),)}, got {mask.shape} and {flags.shape}"
            )
        table = mask.reshape(len(names), width)
        layers.append(
            [
                (name, {int(j): 1.0 for j in np.flatnonzero(row)}, 1.0 if flag else None)
                for name, row, flag in zip(names, table, flags, strict=True)
            ]
        )
        width = len(names)
    return layers


def _pruned(layers: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """Without unfed nodes (constants: they go into the biases they feed) and unused nodes."""
    work = [[(op, dict(weights), bias) for op, weights, bias in layer] for layer in layers]
    for layer, above in pairwise(work):
        constants = {i: _constant(op, bias) for i, (op, weights, bias) in enumerate(layer) if not weights}
        for i, (op, weights, bias) in enumerate(above):
            folded = [weights.pop(j) * constants[j] for j in list(weights) if j in constants]
            above[i] = (op, weights, bias if not folded else (bias or 0.0) + sum(folded))
    if any(not any(weights for _, weights, _ in layer) for layer in work[:-1]):
        return [[("id", {}, work[-1][0][2])]]  # no path from an input to the output
    for at in range(len(work) - 1, 0, -1):
        used = sorted({j for _, weights, _ in work[at] for j in weights})
        place = {j: new for new, j in enumerate(used)}
        work[at] = [(op, {place[j]: w for j, w in weights.items()}, bias) for op, weights, bias in work[at]]
        work[at - 1] = [work[at - 1][j] for j in used]
    return work if all(work) else [[("id", {}, work[-1][0][2])]]


def _constant(op: str, bias: float | None) -> float:
    value = bias or 0.0
    with np.errstate(all="ignore"):
        return value if op == "id" else float(OPERATORS[op].apply(value))
