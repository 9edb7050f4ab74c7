"""How to train, as numbers: batches, rates, when to stop; and where a run stands.  No torch."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import CheckpointError
from .batches import Shape
from .config import ModelConfig

STATE = "last.json"


@dataclass(frozen=True)
class TrainSettings(Shape):
    """How to train, beside the shape of the batches.

    Rates are per step; ``epoch`` is the number of examples after which the rate falls by ``decay``.
    ``n_read`` limits the points that the encoder reads in training (statistics are of all points); one that learned on
    few points reads many.  ``encoder_rate`` scales the rate of the encoder: before the decoder has learned which labels
    exist, the encoder's gradients are noise, and Adam walks far on noise.  ``decoder_rate`` scales all the rest: a
    decoder that was trained with another encoder is to be kept until the new one says something.  From step
    ``cooldown_from`` on the rate falls linearly to 0 within ``cooldown_steps``: a run that is to be continued later
    keeps its last checkpoint before that and cools a copy.  ``patience`` validations without an improvement by
    ``tolerance`` nats end the run; a rising loss counts as none (ADR 8).
    """

    rate: float = 1e-3
    encoder_rate: float = 0.3
    decoder_rate: float = 1.0
    warmup: int = 500
    epoch: int = 100_000
    decay: float = 0.99
    cooldown_from: int | None = None
    cooldown_steps: int = 0
    weight_decay: float = 0.01
    clip: float = 1.0
    averaging: float = 0.999
    patience: int = 40
    tolerance: float = 0.002
    seed: int = 0

    def rate_at(self, step: int, world: int = 1) -> float:
        """Learning rate of ``step``: warm-up, decay per epoch, cool-down."""
        rate = self.rate * min(1.0, (step + 1) / self.warmup)
        rate *= self.decay ** (step * self.batch * world / self.epoch)
        if self.cooldown_from is not None and step >= self.cooldown_from:
            rate *= max(0.0, 1.0 - (step - self.cooldown_from) / max(self.cooldown_steps, 1))
        return rate


# The paper's table of hyper-parameters: one rate for all weights, 0.99 per pass over a corpus of so many functions.
_PAPER = {"batch": 512, "rate": 1e-4, "encoder_rate": 1.0, "decay": 0.99}
_PAPER_EPOCH = {"paper-low": 1_500_000, "paper-high": 3_750_000}
PAPER_EPOCHS = {"paper-low": 20, "paper-high": 40}
PAPER_POINTS = 200


def settings_for(preset: str, **changes: Any) -> TrainSettings:
    """How a preset is trained unless told otherwise; None among the changes means: as the preset says."""
    own: dict[str, Any] = {"batch": 128, "rate": 1e-3}
    if preset.startswith("points"):
        own |= {"encoder_rate": 1.0}
    if preset in _PAPER_EPOCH:
        own = {**_PAPER, "epoch": _PAPER_EPOCH[preset]}
    return TrainSettings(**{**own, **{key: value for key, value in changes.items() if value is not None}})


def paper_steps(preset: str, settings: TrainSettings, world: int) -> int | None:
    """Steps of the paper's number of epochs with this many processes; None for presets that are not the paper's."""
    if preset not in PAPER_EPOCHS:
        return None
    return PAPER_EPOCHS[preset] * settings.epoch // (settings.batch * world)


def find_checkpoint(folder: Path, start: Path | None) -> dict[str, Any] | None:
    """The state of the run in ``folder``, or else of the one to start from; None if there is neither."""
    for place in (folder, start):
        if place is not None and (place / STATE).is_file():
            try:
                return dict(json.loads((place / STATE).read_text()))
            except ValueError as error:
                raise CheckpointError(f"{place / STATE} cannot be read ({error}); train anew") from error
    if start is not None:
        raise CheckpointError(f"there is no checkpoint in {start}; give the folder that holds {STATE}")
    return None


def config_of(state: dict[str, Any]) -> ModelConfig:
    """The model of a checkpoint; its tokens may be fewer than the preset's."""
    return ModelConfig.from_dict(state["config"])


def cooling(settings: TrainSettings, state: dict[str, Any], n_steps: int) -> tuple[TrainSettings, int]:
    """The settings of a cool-down from a checkpoint on, and its last step; a cool-down that was cut short goes on."""
    begin = state["settings"].get("cooldown_from")
    begin = int(state["step"]) if begin is None else begin
    return replace(settings, cooldown_from=begin, cooldown_steps=n_steps), begin + n_steps
