"""One record a run, appended to a file of JSON lines; what the file holds is not run again.

Runs are done one after the other in this process: time limits are those of the estimator.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ...deadline import on_processor
from ...errors import DataError
from ..records import Key, Record, resumed
from ..run import provenance


def run_keys(
    keys: Sequence[Key], perform: Callable[[Key], Record], out: str | Path, tell: Callable[[Record], None]
) -> list[Record]:
    """Perform what the file does not hold yet; the records of all keys."""
    here = provenance()

    def made(missing: list[Key]) -> Iterator[tuple[Key, Record]]:
        for key in missing:
            wall, processor = time.perf_counter(), time.process_time()
            result = perform(key)
            times: Record = {
                "time": round(time.perf_counter() - wall, 3),
                "cpu": round(time.process_time() - processor, 3),
            }
            if on_processor():
                times["clock"] = "processor"
            when = {"date": datetime.now(UTC).isoformat(timespec="seconds")}
            yield key, {**key, **here, **when, **times, **result}

    return resumed(keys, Path(out), made, tell)


def catalog(folder: str | None, name: str) -> Path:
    """The file of a catalog in the folder that the user names."""
    if folder is None:
        raise DataError(f"say where {name} is: --data FOLDER")
    path = Path(folder) / name
    if not path.is_file():
        raise DataError(f"there is no file {name} in {folder!r}; name the folder with --data")
    return path
