"""Exported weights at work: points to keys and values, tokens to log-probabilities; onnxruntime, no torch.

One `Runtime` holds the two loaded graphs.  It knows tokens and arrays, not labels' grammar (beam.py) or formulas.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CheckpointError
from .alphabet import Alphabet
from .batches import Writing, read_points, statistics_size, writing_of
from .config import ModelConfig

ENCODER, DECODER, MANIFEST = "encoder.onnx", "decoder.onnx", "manifest.json"
WEIGHTS = Path(__file__).parent / "weights"
_WIDE = 256  # from this width on a model is worth several threads

Floats = NDArray[np.float32]
Label = tuple[int, ...]


@dataclass(frozen=True)
class Runtime:
    """A model ready to read data and to write tokens."""

    config: ModelConfig
    writing: Writing
    encoder: Any = field(repr=False)
    decoder: Any = field(repr=False)
    frequent: dict[int, tuple[Label, ...]] = field(repr=False, default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path | str, *, n_threads: int | None = None) -> Runtime:
        """The model exported to ``folder``; ``n_threads`` 0 leaves the number to onnxruntime.

        None means one thread for a small model: its products are too short to share, and threads that wait for the
        next one keep a core busy.
        """
        import onnxruntime

        folder = Path(folder)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        try:
            manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
            small = int(manifest["config"]["d_model"]) < _WIDE
            options.intra_op_num_threads = n_threads if n_threads is not None else int(small)
            sessions = [
                onnxruntime.InferenceSession(
                    (folder / name).read_bytes(), sess_options=options, providers=_providers(onnxruntime)
                )
                for name in (ENCODER, DECODER)
            ]
        except (OSError, ValueError) as error:
            raise CheckpointError(f"no exported model can be read from {folder}: {error}") from error
        config = ModelConfig.from_dict(manifest["config"])
        sizes = [i.shape[1] for i in sessions[0].get_inputs() if i.name == "summary"]
        if sizes and sizes[0] != statistics_size(config):
            raise CheckpointError(
                f"{folder} reads {sizes[0]} statistics, this version makes {statistics_size(config)}; "
                "export the model again"
            )
        frequent = {int(d): tuple(tuple(x) for x in labels) for d, labels in manifest["frequent"].items()}
        return cls(config, writing_of(config), sessions[0], sessions[1], frequent, manifest["about"])

    @property
    def alphabet(self) -> Alphabet:
        """The alphabet of a model that writes labels."""
        if not isinstance(self.writing, Alphabet):
            raise CheckpointError(f"this model writes {self.config.writing} order, not labels; take another")
        return self.writing

    def encode(self, rows: NDArray[np.floating]) -> Floats:
        """Keys and values for a batch of data sets given as rows (batch, n, d_max + 1), unscaled."""
        bits, present, summary = read_points(rows, self.config)
        inputs = {"bits": bits.astype(np.float32), "present": present, "summary": summary}
        # A graph without statistics has no input for them.
        return self.encoder.run(None, {i.name: inputs[i.name] for i in self.encoder.get_inputs()})[0]

    def empty_cache(self, batch: int) -> Floats:
        """No tokens written yet."""
        c = self.config
        return np.zeros((c.n_layers, 2, batch, c.n_heads, 0, c.d_model // c.n_heads), dtype=np.float32)

    def step(self, tokens: NDArray[np.int64], position: int, data: Floats, past: Floats) -> tuple[Floats, Floats]:
        """Log-probabilities (batch, size) of the token after ``tokens``, and the grown cache."""
        inputs = {"token": tokens, "position": np.array(position), "data": data, "past": past}
        logits, grown = self.decoder.run(None, inputs)
        return self.log_probabilities(logits, tokens), grown

    def log_probabilities(self, logits: Floats, last: NDArray[np.int64]) -> Floats:
        """Normalised over what may follow because tokens ascend, as in training."""
        rank, bound = self.writing.ranks()
        logits = np.where(rank > bound[last][:, None], logits, -np.inf)
        top = logits.max(axis=1, keepdims=True)
        return logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))


def _providers(onnxruntime: Any) -> list[str]:
    """A GPU first, where this onnxruntime has one."""
    known = onnxruntime.get_available_providers()
    return [name for name in ("CUDAExecutionProvider", "CPUExecutionProvider") if name in known]


def weights_hash(folder: Path) -> str:
    """Twelve digits that tell exported models apart, for records of benchmarks."""
    digest = hashlib.sha256()
    for name in (ENCODER, DECODER):
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:12]


def shipped(root: Path = WEIGHTS) -> list[str]:
    """Names of the models inside the package (or another folder)."""
    return sorted(path.parent.name for path in root.glob(f"*/{MANIFEST}"))
