"""Training of M_θ as in the paper's Algorithm 1, resumable at an exact step.

The learning rate and every batch are functions of the step number, so a checkpoint is the weights, the optimiser's
moments, their running mean and that number; a resumed run equals the uninterrupted one.  Under `torchrun` gradients
are averaged over processes (gloo on CPU, nccl on GPUs).  Examples come from a ``Source``; this file does not know the
corpus, nor how labels are searched or exported.
"""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from ..errors import CheckpointError
from .batches import Batch, Example, Source, Step, batches, collate, writing_of
from .config import ModelConfig
from .schedule import STATE, TrainSettings
from .transformer import Transformer

WEIGHTS, LOG = "last.safetensors", "log.jsonl"
_VERSION = 1


class Run:
    """Weights, optimiser and running mean of one training run, and how far it is."""

    def __init__(self, config: ModelConfig, settings: TrainSettings, device: str = "cpu") -> None:
        torch.manual_seed(settings.seed)
        self.config, self.settings, self.device = config, settings, device
        self.model = Transformer(config).to(device)
        self.average = {k: v.detach().clone() for k, v in self.model.state_dict().items()}
        self.step = 0
        self.best, self.stale = float("inf"), 0
        self.world = dist.get_world_size() if dist.is_initialized() else 1
        self.rank = dist.get_rank() if dist.is_initialized() else 0
        self.parallel: nn.Module = nn.parallel.DistributedDataParallel(self.model) if self.world > 1 else self.model
        self.on_gpu = device.startswith("cuda")
        groups = []
        encoder, decoder = self.model.encoder_parameters(), self.model.decoder_parameters()
        for part, scale in ((encoder, settings.encoder_rate), (decoder, settings.decoder_rate)):
            groups.append({"params": [p for p in part if p.ndim > 1], "scale": scale})
            groups.append({"params": [p for p in part if p.ndim <= 1], "scale": scale, "weight_decay": 0.0})
        self.optimiser = torch.optim.AdamW(
            groups, lr=settings.rate, betas=(0.9, 0.98), weight_decay=settings.weight_decay, fused=True
        )

    def update(self, parts: Step) -> float:
        """One step of gradient descent on a batch given in parts; its mean loss in nats per function."""
        for group in self.optimiser.param_groups:
            group["lr"] = group["scale"] * self.settings.rate_at(self.step, self.world)
        self.optimiser.zero_grad(set_to_none=True)
        size, total = sum(len(part.tokens) for part in parts), 0.0
        for i, part in enumerate(parts):
            # Processes exchange gradients once, with the last part.
            alone = self.world > 1 and i + 1 < len(parts)
            with self.parallel.no_sync() if alone else nullcontext():  # type: ignore[operator]
                with torch.autocast("cuda", torch.bfloat16, enabled=self.on_gpu):
                    loss = self.parallel(*tensors(part, self.device)).sum() / size
                loss.backward()
            total += float(loss.detach())
        nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.optimiser.step()
        self.step += 1
        # A young run has nothing worth remembering: the mean starts short and grows to its full length.
        keep = min(self.settings.averaging, self.step / (self.step + 10.0))
        with torch.no_grad():
            ours = self.model.state_dict()
            torch._foreach_lerp_(list(self.average.values()), [ours[k] for k in self.average], 1.0 - keep)
        return total

    def averaged(self) -> Transformer:
        """A model with the running mean of the weights: the one to validate and export."""
        model = Transformer(self.config).to(self.device)
        model.load_state_dict(self.average)
        return model.eval()

    def save(self, folder: Path) -> None:
        """Write the checkpoint; a kill during writing leaves the previous one intact."""
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {f"model.{k}": v for k, v in self.model.state_dict().items()}
        arrays |= {f"average.{k}": v for k, v in self.average.items()}
        for name, parameter in self.model.named_parameters():
            state = self.optimiser.state.get(parameter, {})
            arrays |= {f"{part}.{name}": state[part] for part in ("exp_avg", "exp_avg_sq") if part in state}
        state = {
            "version": _VERSION, "step": self.step, "world": self.world, "best": self.best, "stale": self.stale,
            "config": self.config.to_dict(), "settings": asdict(self.settings),
        }  # fmt: skip
        save_file({k: v.contiguous() for k, v in arrays.items()}, folder / f"{WEIGHTS}.new", {"step": str(self.step)})
        (folder / f"{STATE}.new").write_text(json.dumps(state, indent=1))
        os.replace(folder / f"{WEIGHTS}.new", folder / WEIGHTS)
        os.replace(folder / f"{STATE}.new", folder / STATE)

    def load(self, folder: Path) -> None:
        """Continue from a checkpoint of the same config; settings may differ (another rate, a cool-down)."""
        state, arrays = read_checkpoint(folder)
        if ModelConfig.from_dict(state["config"]) != self.config:
            raise CheckpointError(f"{folder} holds another model: {state['config']}; start a new run or use its config")
        self.model.load_state_dict(_part(arrays, "model."))
        self.average = {k: v.to(self.device, torch.float32) for k, v in _means(arrays).items()}
        self.step, self.best, self.stale = int(state["step"]), float(state["best"]), int(state["stale"])
        for name, parameter in self.model.named_parameters():
            if f"exp_avg.{name}" in arrays:
                moments = {p: arrays[f"{p}.{name}"].to(parameter.device) for p in ("exp_avg", "exp_avg_sq")}
                # A fused optimiser counts its steps where its weights are.
                count = torch.tensor(float(self.step), device=parameter.device)
                self.optimiser.state[parameter] = {"step": count, **moments}


def set_up(n_threads: int) -> tuple[int, int]:
    """Limit torch to its threads and join the other processes, if `torchrun` started some; rank and their number."""
    torch.set_num_threads(n_threads)
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if world > 1 and not dist.is_initialized():
        device = device_of_rank()
        if device.startswith("cuda"):
            torch.cuda.set_device(device)  # NCCL refuses two ranks on one GPU
        dist.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    return rank, world


def leave(run: Run) -> None:
    """Leave the other processes.

    The threads of the group must have let go of every tensor before Python ends, or they abort the process; only a
    group that nobody holds waits for its threads.
    """
    if run.world > 1:
        run.parallel = run.model
        dist.destroy_process_group()
        gc.collect()


def device_of_rank() -> str:
    """The GPU of this process, by its place on its machine (torchrun's LOCAL_RANK), or the CPU."""
    if not torch.cuda.is_available():
        return "cpu"
    return f"cuda:{int(os.environ.get('LOCAL_RANK', 0)) % torch.cuda.device_count()}"


def agreed(run: Run, *flags: bool) -> tuple[bool, ...]:
    """What rank 0 says, on every rank: clocks differ, and a rank that stops alone leaves the others waiting for it."""
    if run.world == 1:
        return flags
    said = torch.tensor([float(flag) for flag in flags], device=run.device)
    dist.broadcast(said, src=0)
    return tuple(bool(flag) for flag in said.tolist())


def read_checkpoint(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """State and arrays (float32) of a checkpoint folder."""
    try:
        state = json.loads((folder / STATE).read_text())
        arrays = {k: v.float() for k, v in load_file(folder / WEIGHTS).items()}
    except (OSError, ValueError) as error:
        raise CheckpointError(f"no checkpoint can be read from {folder} ({error}); train without resume") from error
    if state.get("version") != _VERSION:
        raise CheckpointError(f"{folder} has version {state.get('version')}, expected {_VERSION}; train anew")
    return state, arrays


def load_model(folder: Path) -> Transformer:
    """The averaged model of a checkpoint folder, for evaluation and export."""
    state, arrays = read_checkpoint(folder)
    model = Transformer(ModelConfig.from_dict(state["config"]))
    model.load_state_dict(_means(arrays))
    return model.eval()


def _part(arrays: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}


def _means(arrays: dict[str, Tensor]) -> dict[str, Tensor]:
    """The running mean; a checkpoint made small for keeping holds that as the weights, and nothing else."""
    return _part(arrays, "average.") or {k: v.clone() for k, v in _part(arrays, "model.").items()}


def tensors(batch: Batch, device: str = "cpu") -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The arrays of a batch as the model takes them."""
    arrays = batch.bits, batch.present, batch.summary, batch.tokens
    bits, present, summary, tokens = (torch.from_numpy(a).to(device) for a in arrays)
    return bits.float(), present, summary, tokens


@dataclass(frozen=True)
class Validation:
    """Mean nats per function, and the same with the points of another function of the same dimension."""

    nll: float
    shuffled: float

    @property
    def gain(self) -> float:
        """What the model reads from the data beyond the number of variables; a language model of labels has 0."""
        return self.shuffled - self.nll


@torch.no_grad()
def validate(model: Transformer, examples: Sequence[Example], batch: int = 64) -> Validation:
    """Likelihood of fresh examples, with their own points and with another's."""
    alphabet = writing_of(model.config)
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].label))
    foreign = _another_of_same_dimension(examples)
    device = str(next(model.parameters()).device)
    total = np.zeros(2)
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        own = collate([examples[i] for i in chosen], model.config, alphabet)
        other = collate([examples[foreign[i]] for i in chosen], model.config, alphabet)
        total[0] += float(model(*tensors(own, device)).sum())
        total[1] += float(model(*tensors(replace(other, tokens=own.tokens), device)).sum())
    nll, shuffled = total / max(len(examples), 1)
    return Validation(float(nll), float(shuffled))


def _another_of_same_dimension(examples: Sequence[Example]) -> list[int]:
    """For each example the next one with as many used columns (itself if it is alone)."""
    groups: dict[int, list[int]] = {}
    for i, example in enumerate(examples):
        groups.setdefault(int((example.points[:, :-1] != 0).any(axis=0).sum()), []).append(i)
    foreign = [0] * len(examples)
    for group in groups.values():
        for here, there in zip(group, group[1:] + group[:1]):
            foreign[here] = there
    return foreign


def train(
    source: Source,
    valid: Sequence[Example],
    config: ModelConfig,
    settings: TrainSettings,
    folder: Path | str,
    *,
    max_steps: int | None = None,
    hours: float | None = None,
    resume: bool = False,
    start: Path | str | None = None,
    n_workers: int = 0,
    pause: float = 180.0,
    log: Callable[[str], None] = print,
) -> Run:
    """Train until ``max_steps`` or ``hours`` or the loss is flat; checkpoint and validate every ``pause`` seconds.

    ``resume`` continues from ``folder``; ``start`` continues a checkpoint of another folder (a cool-down of a copy).
    ``source(block, size)`` gives the examples of a block and must give the same ones each time.
    """
    folder = Path(folder)
    run = Run(config, settings, device_of_rank())
    if start is not None and not (resume and (folder / STATE).is_file()):
        run.load(Path(start))
    elif resume and (folder / STATE).is_file():
        run.load(folder)
    begun = last = time.monotonic()
    first_step, losses = run.step, [0.0]
    stream = batches(source, config, settings, start=run.step, n_workers=n_workers)
    for parts in stream:
        now = time.monotonic()
        over = (max_steps is not None and run.step >= max_steps) or (hours is not None and now - begun > 3600 * hours)
        over, pausing = agreed(run, over, now - last > pause)
        if over or pausing:
            speed = (run.step - first_step) * settings.batch * run.world / max(now - begun, 1e-9)
            if run.rank == 0:
                eta = _eta(run, max_steps, hours, begun, speed)
                _report(run, valid, folder, speed, float(np.mean(losses)), eta, log)
            last, losses = time.monotonic(), []
            (over,) = agreed(run, over or run.stale >= settings.patience)
        if over:
            break
        losses.append(run.update(parts))
    stream.close()  # type: ignore[attr-defined]
    return run


def _report(
    run: Run, valid: Sequence[Example], folder: Path, speed: float, loss: float, eta: str, log: Callable[[str], None]
) -> None:
    """Validate, count progress, write the checkpoint and one line of the log."""
    found = validate(run.averaged(), valid) if valid else Validation(loss, loss)
    run.stale = 0 if found.nll < run.best - run.settings.tolerance else run.stale + 1
    run.best = min(run.best, found.nll)
    run.save(folder)
    examples = run.step * run.settings.batch * run.world
    line = {
        "time": time.strftime("%H:%M:%S"), "step": run.step, "examples": examples, "train": round(loss, 4),
        "nll": round(found.nll, 4), "shuffled": round(found.shuffled, 4), "gain": round(found.gain, 4),
        "rate": run.settings.rate_at(run.step, run.world), "examples_per_s": round(speed, 1),
    }  # fmt: skip
    with open(folder / LOG, "a") as file:
        file.write(json.dumps(line) + "\n")
    _tensorboard(folder, line)
    log(f"{line['time']} {examples:,} examples, {speed:.0f}/s, nll {found.nll:.3f}, gain {found.gain:.3f}, {eta}")


def _tensorboard(folder: Path, line: dict[str, Any]) -> None:
    """The same figures for TensorBoard, where it is installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return
    with SummaryWriter(str(folder / "tensorboard")) as writer:
        for key in ("train", "nll", "shuffled", "gain", "rate", "examples_per_s"):
            writer.add_scalar(key, line[key], line["step"])


def _eta(run: Run, max_steps: int | None, hours: float | None, begun: float, speed: float) -> str:
    left = float("inf")
    if hours is not None:
        left = 3600 * hours - (time.monotonic() - begun)
    if max_steps is not None and speed > 0:
        left = min(left, (max_steps - run.step) * run.settings.batch * run.world / speed)
    return "no end set" if left == float("inf") else f"{max(left, 0) / 60:.0f} min left"
