"""The folder of a run: what `fit` may write there, and where a result goes that cannot be written there.

Nothing is deleted or replaced that a fit did not make: a folder may hold other people's files, also such as are called
`checkpoint` or `data.json`. A result is never lost: where the folder cannot take it, a new one beside the system's
other temporary files does.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..errors import DataError
from ..regressor import UniSymNetRegressor
from ..regressor.checkpoint import forget_fronts, write_atomically
from ..regressor.saved import SCHEMA

MODEL, EQUATIONS, DATA, CHECKPOINT = "model.json", "equations.csv", "data.json", "checkpoint"


def prepare_folder(folder: Path, *, resume: bool) -> Path:
    """Make sure, before any search, that the result can be written; the folder of checkpoints in it."""
    fronts = folder / CHECKPOINT
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, is_ours in _OURS.items():
            path = folder / name
            if path.exists() and not (path.is_file() and is_ours(path)):  # a pipe would be waited for
                raise DataError(f"{path} already exists and was not written by a fit; choose another folder with --out")
        if (fronts.exists() or fronts.is_symlink()) and (fronts.is_symlink() or not fronts.is_dir()):
            raise DataError(f"{fronts} already exists and is not the folder of a fit; choose another one with --out")
        with tempfile.TemporaryFile(dir=folder):
            pass
        if not resume:
            forget_fronts(fronts)
    except DataError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot write into the folder {str(folder)!r}: {reason}") from error
    return fronts


def save_run(model: UniSymNetRegressor, folder: Path, remember: Callable[[Path], None]) -> tuple[Path, str | None]:
    """Save model, table and what `remember` adds; the folder they are in, and why it is another one."""
    try:
        _write(model, folder, remember)
        return folder, None
    except OSError as error:
        reason = f"{folder} cannot be written ({error.strerror or error})"
    try:
        other = Path(tempfile.mkdtemp(prefix="unisymnet-"))
        _write(model, other, remember)
        return other, f"{reason}; the result is in {other}"
    except OSError as error:
        return folder, f"{reason}, and neither can a temporary folder ({error.strerror or error}): nothing is saved"


def remembered_columns(run: str) -> list[str] | None:
    """All columns of the table of a run, in the order of the file, or None where that is not known."""
    path = Path(run)
    try:
        kept = json.loads(((path if path.is_dir() else path.parent) / DATA).read_text("utf-8"))
        columns = kept.get("columns")
    except (OSError, ValueError, RecursionError, AttributeError):
        return None
    known = isinstance(columns, list) and columns and all(isinstance(name, str) for name in columns)
    return columns if known else None


def _write(model: UniSymNetRegressor, folder: Path, remember: Callable[[Path], None]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    model.save(folder / MODEL)
    write_atomically(folder / EQUATIONS, model.equations_.to_csv(index=False))
    remember(folder)


def _is_model(path: Path) -> bool:
    return _start(path, 4000).lstrip().startswith("{") and f'"{SCHEMA}"' in _start(path, 4000)


def _is_equations(path: Path) -> bool:
    return _start(path, 200).startswith("complexity,loss,")


def _is_data(path: Path) -> bool:
    try:
        kept = json.loads(_start(path, 1_000_000))
    except (ValueError, RecursionError):
        return False
    return isinstance(kept, dict) and {"path", "delimiter"} <= kept.keys()


def _start(path: Path, length: int) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(length)


_OURS: dict[str, Callable[[Path], bool]] = {MODEL: _is_model, EQUATIONS: _is_equations, DATA: _is_data}
