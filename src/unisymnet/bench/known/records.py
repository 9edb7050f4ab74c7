"""One record a run, appended to a file of JSON lines; what the file holds is not run again.

Runs are done one after the other in this process: time limits are those of the estimator.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ...deadline import on_processor
from ...errors import DataError
from ..records import Key, Record, performed
from ..run import provenance


def run_keys(
    keys: Sequence[Key], perform: Callable[[Key], Record], out: str | Path, tell: Callable[[Record], None]
) -> list[Record]:
    """Perform what the file does not hold yet; the records of all keys."""
    here = provenance()

    def timed(key: Key) -> Record:
        wall, processor = time.perf_counter(), time.process_time()
        result = perform(key)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        times: Record = {"time": round(wall, 3), "cpu": round(processor, 3)}
        times |= {"clock": "processor"} if on_processor() else {}
        return {**key, **here, "date": datetime.now(UTC).isoformat(timespec="seconds"), **times, **result}

    return performed(keys, Path(out), timed, tell)


def catalog(folder: str | None, name: str) -> Path:
    """The file of a catalog in the folder that the user names."""
    if folder is None:
        raise DataError(f"say where {name} is: --data FOLDER")
    path = Path(folder) / name
    if not path.is_file():
        raise DataError(f"there is no file {name} in {folder!r}; name the folder with --data")
    return path
