"""Sizes of the model and the named presets; no torch, because a proposer reads them too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ..errors import CheckpointError


@dataclass(frozen=True)
class ModelConfig:
    """What fixes the shapes of the weights.

    ``n_features``, ``repeats`` and ``max_depth`` are those of the Vocabulary.  ``bits`` is 16 or 32 for each value.
    ``n_reads`` counts encoder rounds: latents read the points, then each other.  ``n_summary`` more latents come
    from statistics of the data set (summary.py); the paper's presets have none.
    """

    n_features: int = 4
    repeats: int = 5
    max_depth: int = 6
    max_tokens: int = 48
    bits: int = 16
    d_model: int = 96
    n_heads: int = 3
    n_latents: int = 16
    n_reads: int = 2
    n_layers: int = 2
    n_summary: int = 4

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ModelConfig:
        """The config stored in a checkpoint; unknown entries mean a checkpoint of another version."""
        unknown = set(values) - {f.name for f in fields(cls)}
        if unknown:
            raise CheckpointError(f"unknown model settings {sorted(unknown)}; the checkpoint is of another version")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


_HIGH = {"n_features": 10, "repeats": 7, "max_depth": 7, "max_tokens": 80}

PRESETS: Mapping[str, ModelConfig] = {
    "small-low": ModelConfig(),
    "small-high": ModelConfig(**_HIGH),
    "paper-low": ModelConfig(d_model=512, n_heads=8, n_latents=64, n_reads=4, n_layers=8, n_summary=0),
    "paper-high": ModelConfig(**_HIGH, d_model=512, n_heads=8, n_latents=64, n_reads=4, n_layers=8, n_summary=0),
}


def preset(name: str) -> ModelConfig:
    """The preset of that name."""
    if name not in PRESETS:
        raise CheckpointError(f"unknown preset {name!r}; known are {', '.join(PRESETS)}")
    return PRESETS[name]
