"""From torch weights to two ONNX graphs that run without torch: the encoder, and one step of the decoder.

The encoder turns points into the decoder's keys and values; a step takes one token of every hypothesis and the keys
and values of the tokens before it.  Large weights are stored as float16 and widened when the graph is loaded.  How the
graphs are used is the business of runtime.py.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn
from torch.export import Dim

from .batches import point_size, statistics_size
from .runtime import DECODER, ENCODER, MANIFEST
from .transformer import Transformer

_OPSET = 18
_SMALL = 256  # weights below this many numbers stay float32: nothing to gain


class EncoderGraph(nn.Module):
    """Points to keys and values of every decoder block: (blocks, 2, batch, heads, latents, width of a head)."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, bits: Tensor, present: Tensor, summary: Tensor) -> Tensor:
        latents = self.model.encode(bits, present, summary)
        return torch.stack([torch.stack(write.data.keys(latents)) for write in self.model.blocks])


class DecoderGraph(nn.Module):
    """The next token's logits (batch, tokens) and the grown cache (blocks, 2, batch, heads, length + 1, …)."""

    vectors: Tensor
    column: Tensor

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("vectors", model.embedding().detach().clone())
        # Tokens that the model cannot write share one column of logits behind those of the live ones.
        column = torch.full((len(model.slot_of),), len(model.live))
        column[model.live] = torch.arange(len(model.live))
        self.register_buffer("column", column)

    def forward(self, token: Tensor, position: Tensor, data: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        model = self.model
        x = (self.vectors[model.slot_of[token]] + model.position.weight[position])[:, None, :]
        grown = []
        for i, write in enumerate(model.blocks):
            x, cache = write.step(x, (past[i, 0], past[i, 1]), (data[i, 0], data[i, 1]))
            grown.append(torch.stack(cache))
        logits = model.norm_out(x)[:, 0] @ self.vectors.T
        never = torch.full_like(logits[:, :1], -1e9)
        return torch.cat([logits, never], dim=1)[:, self.column], torch.stack(grown)


def export(
    model: Transformer,
    folder: Path | str,
    *,
    frequent: Mapping[int, Sequence[Sequence[int]]] | None = None,
    about: Mapping[str, Any] | None = None,
) -> Path:
    """Write encoder, decoder and manifest to ``folder``.

    ``frequent`` are the most frequent labels for each number of columns, ``about`` any facts about the training.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    model = model.eval()
    config = model.config
    heads, size = config.n_heads, config.d_model // config.n_heads
    batch, points, length = Dim("batch", min=1), Dim("points", min=1), Dim("length", min=0)
    bits = torch.zeros(2, 5, point_size(config))
    summary = torch.zeros(2, statistics_size(config))
    _write(
        EncoderGraph(model),
        (bits, torch.ones(2, 5, dtype=torch.bool), summary),
        folder / ENCODER,
        ["bits", "present", "summary"],
        ["data"],
        {"bits": {0: batch, 1: points}, "present": {0: batch, 1: points}, "summary": {0: batch}},
    )
    data = torch.zeros(config.n_layers, 2, 3, heads, config.n_latents + config.n_summary, size)
    past = torch.zeros(config.n_layers, 2, 3, heads, 4, size)
    _write(
        DecoderGraph(model),
        (torch.full((3,), 2), torch.tensor(4), data, past),
        folder / DECODER,
        ["token", "position", "data", "past"],
        ["logits", "grown"],
        {"token": {0: batch}, "position": {}, "data": {2: batch}, "past": {2: batch, 4: length}},
    )
    labels = {str(d): [list(label) for label in group] for d, group in (frequent or {}).items()}
    manifest = {"config": config.to_dict(), "about": dict(about or {}), "frequent": labels}
    (folder / MANIFEST).write_text(json.dumps(manifest, separators=(",", ":")))
    return folder


def _write(
    graph: nn.Module, inputs: tuple[Tensor, ...], path: Path, names: list[str], outputs: list[str], shapes: Any
) -> None:
    """Export one graph, store its weights as halves and check it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns about its own internals
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        program = torch.onnx.export(
            graph.eval(), inputs, input_names=names, output_names=outputs, dynamic_shapes=shapes,
            opset_version=_OPSET, dynamo=True, verbose=False,
        )  # fmt: skip
    assert program is not None
    proto = program.model_proto
    _halve(proto)
    onnx.checker.check_model(proto)
    onnx.save(proto, str(path))


def _halve(proto: onnx.ModelProto) -> None:
    """Store float weights as float16, each followed by a cast back to float32."""
    graph = proto.graph
    casts = []
    for initializer in graph.initializer:
        values = numpy_helper.to_array(initializer)
        if values.dtype != np.float32 or values.size < _SMALL:
            continue
        name = initializer.name
        initializer.CopyFrom(numpy_helper.from_array(values.astype(np.float16), f"{name}_half"))
        casts.append(helper.make_node("Cast", [f"{name}_half"], [name], to=TensorProto.FLOAT))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    del graph.value_info[:]  # shapes of intermediate values; the runtime infers them again
