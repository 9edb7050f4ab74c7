"""The process that runs tasks: `python -m unisymnet.bench.worker` reads tasks and writes what it learns.

One JSON object a line on standard input and output. The worker is reused, so that imports and compiled
kernels are paid once; it sets no limits on itself (see pool.py) except where the pool cannot watch its
memory. It ends when its input ends, in mid-run too, so that no worker outlives a killed sweep.
"""

from __future__ import annotations

import json
import os
import queue
import threading
import traceback
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any

from ..formula.stored import finite
from .methods import MissingMethod
from .task import Task, perform

Send = Callable[[dict[str, Any]], None]
STATUS = Path("/proc/self/status")


def main() -> None:
    source, send = _private_input(), _private_output()
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read_tasks, args=(source, tasks), daemon=True).start()
    send({"phase": "ready"})
    while True:
        run(json.loads(tasks.get()), send)


def run(message: dict[str, Any], send: Send) -> None:
    """One task from start to end; a failing method is a result, not an error of the worker."""
    task = Task(**message["task"])
    if message["max_memory_mb"] is not None:
        _limit_address_space(message["max_memory_mb"])
    _reset_peak()
    try:
        for update in perform(task, judge_time=message["judge_time"]):
            send(update | {"peak_mb": _peak_mb()})
    except MissingMethod as error:
        send({"fatal": str(error)})
    except MemoryError:
        send({"status": "memory", "message": "MemoryError"})
    except Exception as error:
        send({"status": "error", "message": "".join(traceback.format_exception_only(error)).strip()})
        traceback.print_exc()
    send({"phase": "done"})


def _private_input() -> FileIO:
    """Keep the pipe of tasks from methods and their children, who find an empty standard input instead.

    Unbuffered: a thread that waits in a buffered read would hold a lock that the interpreter needs to exit.
    """
    pipe = open(os.dup(0), "rb", buffering=0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    return pipe


def _private_output() -> Send:
    """Keep the pipe for messages and send everything that a method prints to standard error instead."""
    pipe = open(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)

    def send(message: dict[str, Any]) -> None:
        data = json.dumps(finite(message)).encode() + b"\n"
        while data:
            data = data[pipe.write(data) :]

    return send


def _read_tasks(source: FileIO, tasks: queue.SimpleQueue[bytes]) -> None:
    for line in source:
        tasks.put(line)
    os._exit(0)


def _limit_address_space(megabytes: float) -> None:
    import resource

    limit = int(megabytes * 2**20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _reset_peak() -> None:
    """Let the peak of the resident set start anew for this run, where the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak_mb() -> float | None:
    try:
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return None
    return round(int(line.split()[1]) / 1024, 1)


if __name__ == "__main__":
    main()
