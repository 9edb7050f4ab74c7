"""A second Python process for work that may never end: it is asked, waited for, and killed when the time is up.

The process starts on first use, is kept for the next question, and ends with its parent: it leaves when its input
closes, when nobody has asked for a while, and (where signals exist) when one answer takes far too long.  It is started
with ``subprocess``, so it works inside pools of processes, which may not have ``multiprocessing`` children, and after
a fork, where every process gets its own.  This file imports no sympy.
"""

from __future__ import annotations

import atexit
import importlib
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

START_TIME = 60.0  # seconds to import sympy on a busy machine
IDLE_TIME = 300  # seconds after which an unused worker leaves
MAX_BYTES = 4 << 30  # sympy can also eat all memory
_HEADER = struct.Struct("<Q")


class Worker:
    """One process that answers ``(function of sympy_bridge, arguments, seconds)``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()

    def ask(self, function: str, args: tuple[Any, ...], max_time: float) -> Any:
        """The answer, or None if it failed or took longer than ``max_time`` seconds."""
        if max_time <= 0.0:
            return None
        with self._lock:
            late = None
            for _ in range(2):  # a second time if the worker had left on its own between two questions
                try:
                    process = self._running()
                    with _killed_after(process, max_time) as late:
                        _send(process.stdin, (function, args, max_time))
                        return _receive(process.stdout)
                except (OSError, EOFError, ValueError, pickle.PickleError):
                    self._end()
                    if late is not None and late.is_set():
                        break
                except BaseException:  # an interrupt must not leave an answer behind for the next question
                    self._end()
                    raise
        return None

    def close(self) -> None:
        with self._lock:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        root = str(Path(__file__).resolve().parents[2])
        code = f"import sys; sys.path.insert(0, {root!r}); from {__name__} import serve; serve()"
        command = [sys.executable, "-P", "-c", code]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        with _killed_after(self._process, START_TIME):
            _receive(self._process.stdout)  # it says hello once sympy is imported
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():  # a forked copy must not end its parent's worker
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except OSError:
                        pass  # what was left to send cannot be sent to a dead process
            process.wait()


def run_limited(function: str, args: tuple[Any, ...], max_time: float) -> Any:
    """The answer of a function of sympy_bridge, or None after ``max_time`` seconds or an error."""
    return _worker(os.getpid()).ask(function, args, max_time)


@lru_cache(maxsize=1)
def _worker(pid: int) -> Worker:
    """The worker of this process; after a fork ``pid`` differs and the child gets its own."""
    worker = Worker()
    atexit.register(worker.close)
    return worker


@contextmanager
def _killed_after(process: subprocess.Popen[bytes], seconds: float) -> Iterator[threading.Event]:
    """Kills the process unless the block ends in time, and says so; a blocked read then ends with EOFError."""
    late = threading.Event()

    def fire() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, fire)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def serve() -> None:
    """The loop of the worker process."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever sympy prints must not mix with the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    _limit_memory()
    bridge = importlib.import_module(f"{__package__}.sympy_bridge")
    _send(answers, "hello")
    while True:
        _alarm(IDLE_TIME)
        try:
            function, args, max_time = _receive(sys.stdin.buffer)
        except EOFError:
            return
        _alarm(int(max_time) + 5)
        try:
            answer = getattr(bridge, function)(*args)
        except Exception:
            answer = None
        _send(answers, answer)


def _alarm(seconds: int) -> None:
    """The system ends this process in ``seconds``, even if its parent is gone and Python is busy."""
    if sys.platform != "win32":
        signal.alarm(seconds)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if soft == resource.RLIM_INFINITY or soft > MAX_BYTES:
        resource.setrlimit(resource.RLIMIT_DATA, (MAX_BYTES, hard))


def _send(pipe: IO[bytes] | None, message: Any) -> None:
    data = pickle.dumps(message)
    assert pipe is not None
    pipe.write(_HEADER.pack(len(data)) + data)
    pipe.flush()


def _receive(pipe: IO[bytes] | None) -> Any:
    assert pipe is not None
    header = pipe.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise EOFError
    data = pipe.read(_HEADER.unpack(header)[0])
    return pickle.loads(data)
