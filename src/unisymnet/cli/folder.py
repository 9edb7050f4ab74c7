"""The folder of a run: what `fit` may write there, and where a result goes that cannot be written there.

Nothing is deleted or replaced that a fit did not make: a folder may hold other people's files, also such as are called
`checkpoint` or `data.json`. A result is never lost: where the folder cannot take it, a new one beside the system's
other temporary files does.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError

if TYPE_CHECKING:  # the commands for systems and fields come by here, and `--help` loads nothing large
    from ..regressor import UniSymNetRegressor

_ELSEWHERE = "choose another folder with --out"
MODEL, EQUATIONS, DATA, CHECKPOINT = "model.json", "equations.csv", "data.json", "checkpoint"


def prepare_folder(folder: Path, *, resume: bool) -> Path:
    """Make sure, before any search, that the result can be written; the folder of checkpoints in it."""
    from ..regressor.checkpoint import forget_fronts

    fronts = folder / CHECKPOINT
    check_folder(folder, _OURS, "a fit")
    if (fronts.exists() or fronts.is_symlink()) and (fronts.is_symlink() or not fronts.is_dir()):
        raise DataError(f"{fronts} already exists and is not the folder of a fit; choose another one with --out")
    if not resume:
        with _explained(folder):
            forget_fronts(fronts)
    return fronts


def check_folder(folder: Path, ours: Mapping[str, Callable[[Path], bool]], writer: str) -> None:
    """Make the folder and try to write there; raise DataError where a file has one of our names and is not ours."""
    with _explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, is_ours in ours.items():
            path = folder / name
            if path.exists() and not (path.is_file() and is_ours(path)):  # a pipe would be waited for
                raise DataError(f"{path} already exists and was not written by {writer}; {_ELSEWHERE}")
        with tempfile.TemporaryFile(dir=folder):
            pass


def save_run(model: UniSymNetRegressor, folder: Path, remember: Callable[[Path], None]) -> tuple[Path, str | None]:
    """Save model, table and what `remember` adds; the folder they are in, and why it is another one."""
    from ..regressor.checkpoint import write_atomically

    def write(place: Path) -> None:
        model.save(place / MODEL)
        write_atomically(place / EQUATIONS, model.equations_.to_csv(index=False))
        remember(place)

    return save_somewhere(folder, write)


def save_somewhere(folder: Path, write: Callable[[Path], None]) -> tuple[Path, str | None]:
    """Let `write` fill the folder, or a temporary one where that fails; which one, and why it is another one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write(folder)
        return folder, None
    except OSError as error:
        reason = f"{folder} cannot be written ({error.strerror or error})"
    try:
        other = Path(tempfile.mkdtemp(prefix="unisymnet-"))
        write(other)
        return other, f"{reason}; the result is in {other}"
    except OSError as error:
        return folder, f"{reason}, and neither can a temporary folder ({error.strerror or error}): nothing is saved"


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Trouble with a folder, told in a sentence."""
    try:
        yield
    except DataError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot write into the folder {str(folder)!r}: {reason}") from error


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


def says(path: Path, *schemas: str) -> bool:
    """Is it a JSON object that names one of the schemas at its beginning?"""
    start = start_of(path, 4000)
    return start.lstrip().startswith("{") and any(f'"{schema}"' in start for schema in schemas)


def _is_model(path: Path) -> bool:
    from ..regressor.saved import SCHEMA

    return says(path, SCHEMA)


def _is_data(path: Path) -> bool:
    try:
        kept = json.loads(start_of(path, 1_000_000))
    except (ValueError, RecursionError):
        return False
    return isinstance(kept, dict) and {"path", "delimiter"} <= kept.keys()


def start_of(path: Path, length: int) -> str:
    """The first characters of a file, whatever it holds."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(length)


_OURS: dict[str, Callable[[Path], bool]] = {
    MODEL: _is_model,
    EQUATIONS: lambda path: start_of(path, 200).startswith("complexity,loss,"),
    DATA: _is_data,
}
