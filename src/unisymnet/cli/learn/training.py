"""`generate`, `corpus` and `train`: random functions on disk or in figures, and the training of the transformer.

Here the corpus and the model meet, which do not know each other.  torch is needed for `train` only.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import DataError
from ...model.config import PRESETS
from .weights import app as weights

VALIDATION_SEED = 999

Setting = Annotated[str, typer.Option(help="low (up to 4 columns) or high (5 to 10), the paper's two settings")]
Points = Annotated[int, typer.Option(help="points of each function")]
FewPoints = Annotated[int | None, typer.Option(help="let the number of points vary from this one up")]
Noise = Annotated[float, typer.Option(help="largest noise on y, relative to its root mean square")]
Noisy = Annotated[float, typer.Option(help="share of functions with noise, if there is any")]
Tails = Annotated[float, typer.Option(help="share of functions with ranges over several orders of magnitude")]
Curves = Annotated[float, typer.Option(help="share of functions whose points lie on a curve, as in a simulation")]
Out = Annotated[Path | None, typer.Option(help="folder of the run, resumed if there (default: runs/out/PRESET)")]
Folder = Annotated[Path | None, typer.Option(help="a checkpoint of another folder to start from")]


def add_commands(app: typer.Typer) -> None:
    """Make the three commands part of the command line."""
    for command in (generate, corpus, train):
        app.command()(command)
    app.add_typer(weights, name="weights")


def generate(
    out: Annotated[Path, typer.Argument(help="file to write (.npz), or a folder for shards that `train` reads")],
    n: Annotated[int, typer.Option(help="number of functions")] = 10_000,
    setting: Setting = "low",
    seed: Annotated[int, typer.Option(help="same seed, same functions")] = 0,
    points: Points = 200,
    min_points: FewPoints = None,
    noise: Noise = 0.0,
    noisy: Noisy = 1.0,
    heavy_tails: Tails = 0.0,
    trajectories: Curves = 0.0,
    shard: Annotated[int, typer.Option(help="functions in a shard, if OUT is a folder")] = 65_536,
) -> None:
    """Write random functions to train on. A file, or a folder of shards; run it again to continue."""
    from ...corpus import generate_file, write_shards

    settings = _settings(setting, points, min_points, noise, noisy, heavy_tails, trajectories)
    if n < 1:
        raise DataError(f"--n must be at least 1, got {n}")
    if shard < 1:
        raise DataError(f"--shard must be at least 1, got {shard}")
    try:
        if out.suffix != ".npz":
            write_shards(out, n, settings, seed=seed, size=shard, log=lambda line: print(line, flush=True))
            size = sum(file.stat().st_size for file in out.iterdir())
            print(f"{n:,} functions in {out} ({size / 1e6:.1f} MB).  Next: unisymnet train --corpus {out} …")
            return
        found = generate_file(out, n, settings, seed=seed)
    except OSError as error:
        raise DataError(f"cannot write {out}: {error}") from error
    print("\n".join(_told(found)))
    print(f"written to {out} ({out.stat().st_size / 1e6:.1f} MB)")


def corpus(
    source: Annotated[str, typer.Argument(help="low, high, or a file that `generate` wrote")] = "low",
    n: Annotated[int, typer.Option(help="number of functions to draw")] = 5_000,
    seed: Annotated[int, typer.Option(help="same seed, same functions")] = 0,
    plot: Annotated[Path | None, typer.Option(help="figure to write: .png, .svg or .pdf")] = None,
    json_: Annotated[bool, typer.Option("--json", help="print JSON only")] = False,
) -> None:
    """Show what a corpus is made of. Columns, depth, label length, operators, rejections."""
    from ...corpus import SETTINGS, Corpus, draw_summary, read_file, summary

    if source in SETTINGS:
        found = summary(*Corpus(replace(SETTINGS[source], n_points=32), seed).block(0, n))
    elif Path(source).is_file():
        found = summary(read_file(source))
    else:
        raise DataError(f"no corpus {source!r}: say low, high, or the path of a file that `unisymnet generate` wrote")
    if plot is not None:
        draw_summary(found, plot)
    print(json.dumps(found) if json_ else "\n".join(_told(found)))


def train(
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = "small-low",
    hours: Annotated[float | None, typer.Option(help="stop after this many hours")] = None,
    steps: Annotated[int | None, typer.Option(help="stop at this step")] = None,
    out: Out = None,
    start: Folder = None,
    corpus: Annotated[Path | None, typer.Option(help="functions from shards that `generate` wrote to a folder")] = None,
    cooldown: Annotated[int | None, typer.Option(help="lower the rate to 0 within this many steps, then stop")] = None,
    batch: Annotated[int | None, typer.Option(help="functions in a step, over all processes (default: preset)")] = None,
    rate: Annotated[float | None, typer.Option(help="learning rate after the warm-up (default: preset)")] = None,
    decoder_rate: Annotated[float | None, typer.Option(help="factor on the rate of all but the encoder")] = None,
    warmup: Annotated[int, typer.Option(help="steps until the rate is reached")] = 500,
    epoch: Annotated[int | None, typer.Option(help="functions after which the rate falls by 1 %")] = None,
    points: Annotated[int | None, typer.Option(help="points of each function (default: preset)")] = None,
    reuse: Annotated[int, typer.Option(help="how often each function is used")] = 2,
    easy: Annotated[int, typer.Option(help="parts of smaller functions for one part of the setting's")] = 0,
    noise: Noise = 0.0,
    noisy: Noisy = 1.0,
    heavy_tails: Tails = 0.0,
    trajectories: Curves = 0.0,
    min_points: FewPoints = None,
    labels: Annotated[int, typer.Option(help="a new model writes the tokens of so many functions; 0: all")] = 60_000,
    valid: Annotated[int, typer.Option(help="fresh functions for validation")] = 400,
    pause: Annotated[float, typer.Option(help="seconds between validations")] = 300.0,
    seed: Annotated[int, typer.Option(help="same seed, same run")] = 1,
    workers: Annotated[int, typer.Option(help="processes that prepare batches")] = 1,
    threads: Annotated[int, typer.Option(help="threads of torch")] = 1,
) -> None:
    """Train the transformer. Needs torch; run the same command again to continue."""
    from ...corpus import Corpus
    from ...model.config import preset as preset_of
    from ...model.schedule import PAPER_POINTS, config_of, cooling, find_checkpoint, paper_steps, settings_for

    config = preset_of(preset)
    training = _training()
    rank, world = training.set_up(threads)
    out = Path("runs/out") / preset if out is None else out
    setting = preset.split("-")[1]
    if points is None:
        points = PAPER_POINTS if preset.startswith("paper") else 64
    settings = _settings(setting, points, min_points, noise, noisy, heavy_tails, trajectories)
    found = find_checkpoint(out, start)
    if found is not None:
        config = config_of(found)
    elif labels:
        config = replace(config, live=_live(config, replace(settings, n_points=32), labels, seed))
    shared = settings_for(
        preset, n_parts=3, batch=batch, rate=rate, warmup=warmup, epoch=epoch, reuse=reuse, seed=seed,
        decoder_rate=decoder_rate,
    )  # fmt: skip
    options = replace(shared, batch=max(shared.batch // world, 1))
    if steps is None and hours is None:
        steps = paper_steps(preset, options, world)
    if cooldown is not None:
        if found is None:
            raise DataError("there is nothing to cool down: train first, or give --start")
        options, steps = cooling(options, found, cooldown)
    source = _source(corpus, settings, easy, seed, points, rank, world)
    fresh = Corpus(replace(settings, noise=0.0), VALIDATION_SEED)(0, valid) if valid else []
    # A kill by the system or a scheduler takes the worker along.
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped; run the same command to continue"))
    try:
        run = training.train(
            source, fresh, config, options, out, max_steps=steps, hours=hours, resume=True, start=start,
            n_workers=workers, pause=pause, log=lambda line: print(line, flush=True) if rank == 0 else None,
        )  # fmt: skip
        training.leave(run)
    finally:
        signal.signal(signal.SIGTERM, before)


def _source(folder: Path | None, settings: Any, easy: int, seed: int, points: int, rank: int, world: int) -> Any:
    """Where functions come from: the shards of a folder, or else the endless stream."""
    from ...corpus import Corpus, Mixture, Shards, easier

    if folder is not None:
        return Shards(folder, seed, rank, world, points)
    stream = Corpus(settings, seed, shard=rank, n_shards=world)
    return Mixture((stream, *[replace(stream, settings=easier(settings))] * easy))


def _training() -> Any:
    try:
        from ...model import train as training
    except ImportError as error:
        raise DataError(f"training needs torch ({error}): pip install 'unisymnet[torch]'") from error
    return training


def _live(config: Any, settings: Any, n: int, seed: int) -> tuple[int, ...]:
    """Tokens that occur in ``n`` functions: a fifth to a third of all, and what a model writes costs time."""
    from ...corpus import Corpus
    from ...model.batches import alphabet_of

    stream = Corpus(settings, seed)
    blocks = (stream(number, 512) for number in range(-(-n // 512)))
    return alphabet_of(config).occurring(example.label for block in blocks for example in block)


def _settings(
    name: str,
    points: int,
    min_points: int | None,
    noise: float,
    noisy: float,
    heavy_tails: float,
    trajectories: float,
) -> Any:
    from ...corpus import SETTINGS

    if name not in SETTINGS:
        raise DataError(f"unknown setting {name!r}; known are {', '.join(SETTINGS)}")
    if points < 4 or (min_points is not None and not 4 <= min_points <= points):
        raise DataError(f"a function needs at least 4 points, and --min-points at most --points; got {points}")
    for option, value in (("--noisy", noisy), ("--heavy-tails", heavy_tails), ("--trajectories", trajectories)):
        if not 0.0 <= value <= 1.0:
            raise DataError(f"{option} is a share between 0 and 1, got {value}")
    if noise < 0.0:
        raise DataError(f"--noise cannot be negative, got {noise}")
    return replace(
        SETTINGS[name], n_points=points, min_points=min_points, noise=noise, noisy=noisy,
        heavy_tails=heavy_tails, trajectories=trajectories,
    )  # fmt: skip


def _told(found: dict[str, Any]) -> Iterator[str]:
    """The summary as lines of text."""
    n = max(found["n_examples"], 1)
    yield f"{n:,} functions, {found['distinct_labels']:,} labels, {found['merged']:,} merged with an equivalent"
    for key, head in (("dimension", "columns"), ("depth", "depth L")):
        yield f"{head:<14} " + "  ".join(f"{k}: {v / n:.1%}" for k, v in found[key].items())
    lengths = [k for k, v in found["label_length"].items() for _ in range(v)]
    marks = {share: lengths[min(int(share * n), n - 1)] for share in (0.5, 0.9, 0.99)}
    yield f"{'label length':<14} " + "  ".join(f"{share:.0%} up to {mark}" for share, mark in marks.items())
    yield f"{'operators':<14} " + "  ".join(f"{op}: {count / n:.2f}" for op, count in found["operators"].items())
    yield f"{'covered by':<14} " + "  ".join(f"{k} labels: {share:.1%}" for k, share in found["covered"].items())
    if found["tried"]:
        yield f"{'rejected':<14} " + "  ".join(f"{k}: {share:.1%}" for k, share in found["rejected"].items())
