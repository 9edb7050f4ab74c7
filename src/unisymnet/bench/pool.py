"""Worker processes with hard limits: hands tasks out, collects results, ends what runs too long or grows.

Does not know what a task does beyond the phases it announces. A worker that is killed or dies costs its own
task only, and what it had already reported of that task is kept. Memory is watched through /proc; where
there is none, the worker limits its own address space.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..deadline import on_processor
from .task import Task

PROC = Path("/proc")
POLL = 0.1  # seconds between two looks at clocks and memory
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
SHOWN = 500  # characters of a dead worker's last words that are kept


BUSY = 10.0  # a run that counts processor time may have to wait for a busy machine


@dataclass(frozen=True)
class Limits:
    """Seconds and megabytes that a worker may use. `max_time` is the method's own affair; 1.5 times that and
    `grace` is where we stop waiting for it."""

    grace: float = 30.0
    judge_time: float = 60.0
    startup: float = 300.0
    max_memory_mb: float = 8192.0

    def seconds(self, phase: str, task: Task) -> float:
        return {
            "start": self.startup,
            "ready": self.startup,
            "fit": (BUSY if on_processor() else 1.5) * task.max_time + self.grace,
            "score": self.startup,
            # The judge limits itself; this is for the case that it cannot be interrupted.
            "judge": 4 * self.judge_time + 30.0,
        }[phase]


def run_tasks(
    tasks: Iterable[Task], *, jobs: int = 1, limits: Limits | None = None, python: str | None = None
) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Run the tasks in `jobs` processes and yield each with its record, in the order in which they finish.

    `python` is the interpreter of the workers, for peers whose requirements clash with ours.
    """
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    limits = limits or Limits()
    waiting = deque(tasks)
    workers: list[_Worker] = []
    try:
        while True:
            workers = [worker for worker in workers if worker.usable()]
            for worker in workers:
                if waiting and worker.task is None:
                    worker.give(waiting.popleft())
            while waiting and len(workers) < jobs:
                task = waiting.popleft()
                workers.append(_Worker(limits, python or sys.executable, task.cores))
                workers[-1].give(task)
            busy = [worker for worker in workers if worker.task is not None]
            if not busy:
                return
            for worker in _wait(busy):
                worker.receive()
            for worker in busy:
                worker.check()
                if worker.finished is not None:
                    yield worker.finished
                    worker.rest()
    finally:
        for worker in workers:
            worker.kill()


def _wait(workers: list[_Worker]) -> list[_Worker]:
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            selector.register(worker.output, selectors.EVENT_READ, worker)
        return [key.data for key, _ in selector.select(POLL)]


@dataclass
class _Worker:
    """One worker process and the task it is at."""

    limits: Limits
    python: str
    cores: int
    task: Task | None = None
    phase: str = "start"
    finished: tuple[Task, dict[str, Any]] | None = None
    alive: bool = True
    record: dict[str, Any] = field(default_factory=dict)
    since: float = field(default_factory=time.monotonic)
    buffer: bytes = b""

    def __post_init__(self) -> None:
        self.words = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [self.python, "-m", f"{__package__}.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.words,
            bufsize=0,  # nothing is left to be flushed into the pipe of a dead worker
            env=_environment(self.python, self.cores),
            start_new_session=True,  # its own group, so that its children can be ended with it
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout
        os.set_blocking(self.output.fileno(), False)

    def give(self, task: Task) -> None:
        self.task, self.finished, self.record = task, None, {}
        watched = _resident_mb(os.getpid()) is not None
        message = {
            "task": task.as_dict(),
            "judge_time": self.limits.judge_time,
            "max_memory_mb": None if watched else self.limits.max_memory_mb,
        }
        self.since = time.monotonic()
        try:
            self.input.write(json.dumps(message).encode() + b"\n")
        except BrokenPipeError:
            pass  # it is dead: the next look at its output says so

    def usable(self) -> bool:
        if self.alive and self.task is None and self.process.poll() is not None:
            self.kill()  # it died between two tasks, which costs nothing
        return self.alive

    def rest(self) -> None:
        """Forget the finished task; what was printed during it is of no further use."""
        self.task = self.finished = None
        if self.alive:
            self.words.seek(0)
            self.words.truncate()

    def receive(self) -> None:
        """Take in what the worker has written; an empty read means that it is gone."""
        chunk = self.output.read(1 << 16)
        if chunk == b"":
            self._lose("crashed", "the process ended")
        *lines, self.buffer = (self.buffer + (chunk or b"")).split(b"\n")
        for line in lines:
            self._learn(json.loads(line))

    def check(self) -> None:
        """End the worker if it is over a limit."""
        if self.task is None or self.finished is not None:
            return
        allowed = self.limits.seconds(self.phase, self.task)
        if time.monotonic() - self.since > allowed:
            self._lose("timeout", f"killed after {allowed:.0f} s in phase {self.phase}")
            return
        if self.process.poll() is not None:
            # A child of it may keep the pipe open, so the end of the pipe is not enough to go by.
            self.receive()
            if self.finished is None:
                self._lose("crashed", "the process ended")
            return
        used = _resident_mb(self.process.pid)
        if used is not None and used > self.limits.max_memory_mb:
            self._lose("memory", f"killed at {used:.0f} MB (limit {self.limits.max_memory_mb:.0f})")

    def kill(self) -> None:
        if not self.alive:
            return
        self.alive = False
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.input.close()
        self.output.close()
        self.words.close()

    def _learn(self, message: dict[str, Any]) -> None:
        if "fatal" in message:
            raise RuntimeError(message["fatal"])
        phase = message.pop("phase", None)
        self.record.update(message)
        if phase == "done":
            assert self.task is not None
            self.finished, self.phase = (self.task, self.record), "ready"
        elif phase is not None:
            self.phase, self.since = phase, time.monotonic()

    def _lose(self, status: str, why: str) -> None:
        """The worker is of no use any more: end it, and finish its task with what is known."""
        spent = time.monotonic() - self.since
        if status == "crashed":
            self._wait_for_exit()
        last_words, code = self._last_words(), self.process.poll()
        self.kill()
        if self.phase == "start":
            raise RuntimeError(f"a benchmark worker could not start ({why}): {last_words or 'it said nothing'}")
        if self.task is None:
            return
        if self.phase == "fit":
            self.record["time"] = round(spent, 4)
        told = f"; exit code {code}; {last_words}" if status == "crashed" else ""
        # A fit that had ended well stays well: only its scores are missing.
        self.record = {"status": status} | self.record | {"message": f"{why}{told}"}
        self.finished = (self.task, self.record)

    def _wait_for_exit(self) -> None:
        try:
            self.process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            pass  # it closed its output but lives on; it is killed next

    def _last_words(self) -> str:
        self.words.seek(0, os.SEEK_END)
        self.words.seek(max(0, self.words.tell() - SHOWN))
        return self.words.read().decode(errors="replace").strip()


def _environment(python: str, cores: int) -> dict[str, str]:
    # Our own interpreter sees all that we see; another one only this package.
    root = str(Path(__file__).resolve().parents[2])
    paths = [path for path in sys.path if path] if python == sys.executable else []
    known = os.environ | {name: str(cores) for name in THREADS}
    return known | {"PYTHONPATH": os.pathsep.join(dict.fromkeys([*paths, root]))}


def _resident_mb(pid: int) -> float | None:
    """Resident memory of a process and its descendants, or None where it cannot be known."""
    try:
        pages = int((PROC / str(pid) / "statm").read_text().split()[1])
        children = [
            int(child)
            for listing in (PROC / str(pid) / "task").glob("*/children")
            for child in listing.read_text().split()
        ]
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20 + sum(_resident_mb(child) or 0.0 for child in children)
