"""`pde`: governing equations of fields in a file of arrays."""

from __future__ import annotations

import json
import struct
import sys
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ...errors import DataError, quoted
from ..folder import check_folder, save_somewhere, says
from ..options import words
from ..quiet import ours_alone

MAX_BYTES = 4_000_000_000  # of all arrays of a file
INTERRUPTED = 130
# What numpy, zipfile and zlib raise for a damaged file.
_UNREADABLE = (
    OSError, ValueError, EOFError, KeyError, TypeError, SyntaxError, RuntimeError, OverflowError, MemoryError,
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError,
)  # fmt: skip


def pde(
    data: Annotated[Path, typer.Argument(help="file of numpy arrays (.npz): fields, and the nodes of each axis")],
    axes: Annotated[str, typer.Option(help="names of the axes, in the order of the fields' axes")] = "x,t",
    time: Annotated[str, typer.Option(help="which of them is time")] = "t",
    fields: Annotated[str | None, typer.Option(help="fields, separated by commas (default: all others)")] = None,
    given: Annotated[
        str | None, typer.Option(help="fields that get no equation of their own, separated by commas")
    ] = None,
    order: Annotated[str, typer.Option(help="order of the time derivative: 1, 2 or auto")] = "1",
    max_order: Annotated[int, typer.Option(min=1, max=6, help="highest derivative in space")] = 4,
    max_time: Annotated[float, typer.Option("--max-time", "--time-limit", help="time limit in seconds")] = 60.0,
    out: Annotated[Path | None, typer.Option(help="file for the system as JSON (default: NAME-pde.json)")] = None,
    picture: Annotated[Path | None, typer.Option(help="figure to write: .png, .svg or .pdf (needs matplotlib)")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON only")] = False,
) -> None:
    """Find partial differential equations in fields on a uniform grid."""
    from ...pde import PDERegressor

    arrays = read_arrays(data)
    names = words(axes) or ()
    missing = [name for name in names if name not in arrays]
    if missing:
        raise DataError(f"{data} has no array {', '.join(missing)}; it has {', '.join(arrays)}: name them with --axes")
    chosen = words(fields) or [name for name in arrays if name not in names]
    absent = [name for name in chosen if name not in arrays]
    if absent:
        raise DataError(f"{data} has no array {', '.join(absent)}; it has {', '.join(arrays)}")
    if order not in ("1", "2", "auto"):
        raise typer.BadParameter(f"--order is 1, 2 or auto, got {order}")
    if not max_time > 0:
        raise typer.BadParameter(f"--max-time must be positive, got {max_time:g}")
    target = out or Path(f"{data.stem}-pde.json")
    so_far = _place_so_far(target)
    model = PDERegressor(
        max_order=max_order,
        order="auto" if order == "auto" else int(order),
        time=time,
        max_time=max_time,
        checkpoint=so_far,
    )
    on = {name: arrays[name] for name in names}
    with ours_alone(as_json):
        model.fit({name: arrays[name] for name in chosen}, on, given=words(given) or ())
    fault = _save(model.system_, target, so_far)
    if as_json:
        print(json.dumps(model.system_.to_dict(), ensure_ascii=False, indent=2))
    else:
        print(model)
        for row in model.equations_.itertuples():
            print(f"  {row.field}: {row.term}  {row.coefficient:.5g} ± {row.error:.2g}")
        if fault is None:
            print(f"\nSaved in {target}.")
    if fault is not None:
        print(f"note: {fault}", file=sys.stderr)
    if picture is not None:
        from ...pde.picture import draw

        draw(model.system_, {name: arrays[name] for name in chosen}, on, picture)
    if model.interrupted_:
        raise typer.Exit(INTERRUPTED)


def _place_so_far(target: Path) -> Path | None:
    """Where a search leaves the best so far: in place of its result, unless an earlier one stands there.

    Whatever else stands there is refused before the search, and so is a folder that cannot be written.
    """
    if target.exists() and not (target.is_file() or target.is_dir()):
        return None  # /dev/stdout
    check_folder(target.parent, {target.name: _is_system, _beside(target).name: _is_system}, "`unisymnet pde`")
    return _beside(target) if target.exists() else target


def _beside(target: Path) -> Path:
    return target.with_name(f"{target.stem}.so-far.json")


def _save(system: Any, target: Path, so_far: Path | None) -> str | None:
    """Write the file; why it is in another folder, if it is."""
    if so_far is None:
        system.save(target)
        return None
    _, fault = save_somewhere(target.parent, lambda place: system.save(place / target.name))
    if so_far != target and fault is None:
        so_far.unlink(missing_ok=True)
    return fault


def _is_system(path: Path) -> bool:
    return says(path, "unisymnet pde")


def read_arrays(path: Path) -> dict[str, Any]:
    """The arrays of a file, without running anything that it may hold."""
    try:
        with open(path, "rb") as opened:  # numpy leaves a damaged file open
            file = np.load(opened, allow_pickle=False)
            if isinstance(file, np.ndarray):
                raise DataError(f"{path} holds one array; a file of several is needed: np.savez(path, u=u, x=x, t=t)")
            size = sum(part.file_size for part in file.zip.infolist())
            if size > MAX_BYTES:
                raise DataError(f"{path} holds {size / 1e9:.3g} GB of arrays; at most {MAX_BYTES / 1e9:g} GB are read")
            with file:
                found = {name: file[name] for name in file.files}
    except DataError:
        raise
    except _UNREADABLE as error:
        # numpy's own words advise to load such a file unsafely
        why = "it is not one, or holds Python objects" if "pickle" in str(error) else str(error) or "it is damaged"
        raise DataError(
            f"{path} cannot be read as a file of numpy arrays ({quoted(why)}); "
            "write it with np.savez(path, u=u, x=x, t=t)"
        ) from error
    for name, array in found.items():
        if not isinstance(array, np.ndarray):
            raise DataError(f"the part {quoted(name)} of {path} is not an array; write it with np.savez")
        if array.dtype.kind not in "fiu":
            kind = f"{array.size} values of type {array.dtype}"
            raise DataError(f"the array {quoted(name)} of {path} cannot be used: {kind}; it must hold plain numbers")
    return found
