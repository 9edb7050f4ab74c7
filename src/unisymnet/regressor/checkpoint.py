"""The front of a running fit on disk, so that a killed process loses nothing.

One small JSON file per data set and settings, replaced atomically whenever the front grows; the next fit on the
same data starts from it. Formulas are stored as text and their losses computed anew, so a damaged or foreign file
can do no harm. Does not know the search.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Floats
from ..candidate import Candidate, ParetoFront
from ..errors import CheckpointError
from ..fit.kernels.robust import Loss
from ..formula import stored
from ..problem import Problem
from ..symbolic.expr import Expr, evaluate, n_params, variables
from ..symbolic.parse import parse
from ..symbolic.text import to_text

SCHEMA = "unisymnet-checkpoint"
VERSION = 1
_SAVED = re.compile(r"(?:front-[0-9a-f]{16}\.json|islands-[0-9a-f]{16}\.npz)(?:\.\d+\.new)?")


class Checkpoint:
    """The file for these data and settings in a folder."""

    def __init__(self, folder: str | os.PathLike[str], fingerprint: str) -> None:
        self.folder = Path(folder)
        self.fingerprint = fingerprint
        self.path = self.folder / f"front-{fingerprint[:16]}.json"
        self._written = ""

    def read(self, problem: Problem, loss: Loss = Loss()) -> tuple[Candidate, ...]:
        """The saved candidates, measured on the problem; none if nothing was saved."""
        if not os.path.exists(self.path):  # False for a name that no folder can have; the write will say so
            return ()
        try:
            data = stored.read_object(self.path.read_text(encoding="utf-8"), "the file")
            if data["schema"] != SCHEMA or data["version"] != VERSION or data["fingerprint"] != self.fingerprint:
                raise ValueError("it is of another kind or version")
            rows = [_saved(row) for row in stored.listed(data["candidates"])]
            found = [_candidate(row, problem, loss) for row in rows]
        except (ValueError, KeyError, TypeError, OSError, RecursionError, CheckpointError) as error:
            raise CheckpointError(
                f"the checkpoint {self.path} cannot be read ({error}); delete the file to start afresh"
            ) from error
        return tuple(candidate for candidate in found if candidate is not None)

    def write(self, front: ParetoFront) -> None:
        """Replace the file; a reader sees the old or the new one, never a part."""
        data = {
            "schema": SCHEMA,
            "version": VERSION,
            "fingerprint": self.fingerprint,
            "candidates": [_row(candidate) for candidate in front],
        }
        text = json.dumps(data, indent=1)
        if text == self._written:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, text)
        self._written = text


def write_atomically(path: Path, text: str) -> None:
    """Write beside the target and rename: the process may die at any moment, and a full disk leaves the old file."""
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():  # /dev/stdout: there is nothing to rename
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
        return
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with open(beside, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(text)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def forget_fronts(folder: Path) -> None:
    """Delete the fronts and islands that earlier fits saved here, and nothing else."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for path in folder.iterdir():
        if _SAVED.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            path.unlink()


def fingerprint(arrays: Iterable[Floats], settings: dict[str, Any]) -> str:
    """A name for these rows and the settings that change what may be found."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array).data)
    digest.update(json.dumps(settings, sort_keys=True, default=str).encode())
    return digest.hexdigest()


def loss_on(expr: Expr, problem: Problem, loss: Loss = Loss()) -> float:
    """Mean loss, as a square in the caller's units, of a formula in these units; nan or inf where undefined."""
    wanted = loss.scaled(problem.y_scale)
    with np.errstate(all="ignore"):
        residuals = problem.y - evaluate(problem.to_scaled(expr), problem.X)
        return wanted.in_squares(wanted.mean(residuals, problem.weights)) * problem.y_scale**2


def _row(candidate: Candidate) -> dict[str, Any]:
    kept = ("loss", "complexity", "n_constants", "source")
    return {"expression": to_text(candidate.expr), **{name: getattr(candidate, name) for name in kept}}


def _saved(row: Any) -> Candidate:
    """A row of the file; its loss is computed anew."""
    counts = stored.whole(row["complexity"]), stored.whole(row["n_constants"])
    return Candidate(parse(stored.word(row["expression"])), 0.0, *counts, stored.word(row["source"]))


def _candidate(row: Candidate, problem: Problem, loss: Loss) -> Candidate | None:
    if max(variables(row.expr), default=-1) >= problem.n_features or n_params(row.expr):
        return None
    value = loss_on(row.expr, problem, loss)
    return replace(row, loss=value) if np.isfinite(value) else None
