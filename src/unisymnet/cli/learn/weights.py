"""`weights`: which trained models are at hand, and the way from a training run to a search that uses it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Annotated

import typer

from ...errors import DataError

app = typer.Typer(help="Trained models: list, export, install.", no_args_is_help=True)
N_FREQUENT = 100


@app.command()
def info(json_: Annotated[bool, typer.Option("--json", help="print JSON only")] = False) -> None:
    """List the models that a search would use."""
    from ...model.runtime import MANIFEST, weights_hash
    from ...model.weights import alternatives, folders, place_of

    found = []
    named = {inner.parent: name for name in alternatives() for inner in place_of(name).glob(f"*/{MANIFEST}")}
    for folder in [*folders(), *named]:
        about = json.loads((folder / MANIFEST).read_text("utf-8"))
        name = f"{named[folder]} (only by name: --model {named[folder]})" if folder in named else folder.name
        facts = {"name": name, "folder": str(folder), "hash": weights_hash(folder), **about["about"]}
        found.append({**facts, "columns": about["config"]["n_features"]})
    if json_:
        print(json.dumps(found, indent=2))
        return
    if not found:
        print("no trained model in this installation; searches run without one")
    for model in found:
        examples = f"{model['examples']:,} examples" if "examples" in model else "training unknown"
        print(f"{model['name']}: up to {model['columns']} columns, {examples}, {model['hash']}, {model['folder']}")


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="folder of a training run (`unisymnet train --out`)")],
    out: Annotated[Path, typer.Argument(help="folder to write; its name should end in low or high")],
    functions: Annotated[int, typer.Option(help="functions to count the frequent labels in")] = 20_000,
) -> None:
    """Export a checkpoint to ONNX. Needs torch; the result does not."""
    try:
        from ...model.export import export as write
        from ...model.train import LOG, load_model, read_checkpoint
    except ImportError as error:
        raise DataError(f"exporting needs torch ({error}): pip install 'unisymnet[torch]'") from error
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out} exists and is not empty; name a new folder")
    state, _ = read_checkpoint(run)
    log = run / LOG
    last = json.loads(log.read_text().splitlines()[-1]) if log.is_file() and log.stat().st_size else {}
    about = {key: last[key] for key in ("examples", "nll", "shuffled", "gain") if key in last} | {"step": state["step"]}
    model = load_model(run)
    folder = write(model, out, frequent=_frequent(model.config, functions), about=about)
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{folder}: {size / 1e6:.1f} MB.  Next: unisymnet weights install {folder}, or fit --model {folder}")


@app.command()
def install(
    folder: Annotated[Path, typer.Argument(help="folder that `weights export` wrote")],
    name: Annotated[str | None, typer.Option(help="name of the model (default: the folder's)")] = None,
) -> None:
    """Install an exported model for all your later searches."""
    from ...model.runtime import DECODER, ENCODER, MANIFEST, Runtime
    from ...model.weights import user_folder

    Runtime.load(folder)  # says what is wrong with it, if anything
    target = user_folder() / Path(name or folder.resolve().name).name
    target.mkdir(parents=True, exist_ok=True)
    for file in (ENCODER, DECODER, MANIFEST):
        shutil.copyfile(folder / file, target / file)
    print(f"installed as {target}; remove that folder to go back to the models of the package")


def _frequent(config: object, n: int) -> dict[int, list[list[int]]]:
    """The most frequent labels for each number of columns, counted in fresh functions."""
    from collections import Counter
    from dataclasses import replace

    from ...corpus import SETTINGS, Corpus

    setting = "low" if config.n_features <= 4 else "high"  # type: ignore[attr-defined]
    stream = Corpus(replace(SETTINGS[setting], n_points=32), 123)
    counts: dict[int, Counter[tuple[int, ...]]] = {}
    for number in range(-(-n // 512)):
        for example in stream(number, 512):
            used = int((example.points[:, :-1] != 0).any(axis=0).sum())
            counts.setdefault(used, Counter())[tuple(map(int, example.label))] += 1
    return {d: [list(label) for label, _ in found.most_common(N_FREQUENT)] for d, found in sorted(counts.items())}
