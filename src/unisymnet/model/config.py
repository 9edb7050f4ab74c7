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
    ``n_reads`` counts encoder rounds: latents read the points, then each other; with none the points' bits are not
    read and the latents are constants.  ``n_summary`` more latents come from statistics of the data set (summary.py,
    greedy.py if ``greedy``, relations.py if ``relations``) through a network ``summary_width`` wide (0: twice
    ``d_model``) with ``summary_blocks`` residual blocks; the paper's presets have none.  With ``reader`` these latents
    come from the points themselves instead, through a set network of that width (reader.py), and no statistics are
    made.  ``live`` are the tokens that the model can write, ascending; empty means all.  ``writing`` is "label", or
    "prefix" for the comparison of encodings.
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
    greedy: bool = False
    relations: bool = False
    summary_width: int = 0
    summary_blocks: int = 0
    reader: int = 0
    live: tuple[int, ...] = ()
    writing: str = "label"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ModelConfig:
        """The config stored in a checkpoint; unknown entries mean a checkpoint of another version."""
        unknown = set(values) - {f.name for f in fields(cls)}
        if unknown:
            raise CheckpointError(f"unknown model settings {sorted(unknown)}; the checkpoint is of another version")
        return cls(**{**values, "live": tuple(values.get("live", ()))})

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "live": list(self.live)}


_HIGH: dict[str, Any] = {"n_features": 10, "repeats": 7, "max_depth": 7, "max_tokens": 80}

# Statistics instead of bits: at what two cores can train, bits taught the model nothing (docs/training.md).
_SMALL: dict[str, Any] = {
    "n_latents": 4, "n_reads": 0,
    "n_summary": 8, "greedy": True, "relations": True, "summary_width": 512, "summary_blocks": 2,
}  # fmt: skip

# Points instead of statistics, as in the paper, through an encoder that learns at this size (ADR 40).
_POINTS: dict[str, Any] = {**_SMALL, "greedy": False, "relations": False, "reader": 128}

PRESETS: Mapping[str, ModelConfig] = {
    "small-low": ModelConfig(**_SMALL, d_model=192, n_heads=6),
    "small-high": ModelConfig(**_HIGH, **_SMALL),
    "points-low": ModelConfig(**_POINTS, d_model=192, n_heads=6),
    "points-high": ModelConfig(**_HIGH, **_POINTS),
    "paper-low": ModelConfig(d_model=512, n_heads=8, n_latents=64, n_reads=4, n_layers=8, n_summary=0),
    "paper-high": ModelConfig(**_HIGH, d_model=512, n_heads=8, n_latents=64, n_reads=4, n_layers=8, n_summary=0),
}


def preset(name: str) -> ModelConfig:
    """The preset of that name."""
    if name not in PRESETS:
        raise CheckpointError(f"unknown preset {name!r}; known are {', '.join(PRESETS)}")
    return PRESETS[name]
