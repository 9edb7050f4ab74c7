"""Who works when: a worker kept ready, as many searches at once as told, the others in the queue.

The queue is on disk: a run that was asked for and has not begun. So a new server goes on where the last one was killed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO

from .events import last_kind
from .place import Place
from .runs import OVER, Run

SEVERAL = (os.cpu_count() or 1) > 1
_HOME = Path(__file__).parents[2]  # where the package lies, for a process that does not know
_CODE = "import sys; sys.path.insert(0, sys.argv.pop(1)); from unisymnet.serve.worker import main; main()"


class Workers:
    """The processes of one server."""

    def __init__(self, place: Place, at_once: int = 1) -> None:
        self.place = place
        self.at_once = at_once
        self._spare: subprocess.Popen[bytes] | None = None
        self._busy: dict[str, subprocess.Popen[bytes]] = {}
        self._guard = threading.Lock()
        self._said: IO[bytes] = tempfile.TemporaryFile()  # what workers print before they have a run

    def look(self) -> None:
        """Called a few times a second: start what waits, note what has died, keep a worker ready."""
        with self._guard:
            self._look()

    def _look(self) -> None:
        for name, process in list(self._busy.items()):
            if process.poll() is not None:
                del self._busy[name]
                run = Run(self.place.root / name, name)
                if process.returncode and run.exists() and run.state() == "queued":  # trying again would fail again
                    run.tell("error", message=f"the search could not start: {self._last_words()}")
        runs = self.place.runs()
        states = {run.name: self.state(run) for run in runs}
        for run in runs:  # a search that ended without a word says so in its own file, once
            if states[run.name] == "lost" and last_kind(run.folder) not in OVER and not run.is_running():
                run.tell("lost", message="the search was killed; what it had found is kept")
        free = self.at_once - sum(state == "running" for state in states.values())
        waiting = sorted((run for run in runs if states[run.name] == "queued"), key=Run.changed)
        for run in waiting[: max(free, 0)]:
            self._start(run)
        if not self._busy or SEVERAL:  # on a single core, loading would disturb the search
            self._ready()

    def state(self, run: Run) -> str:
        """As the files say; a run just handed over is running although its worker has not said so yet."""
        state, process = run.state(), self._busy.get(run.name)
        handed_over = process is not None and process.poll() is None
        return "running" if state in ("queued", "lost") and handed_over and last_kind(run.folder) not in OVER else state

    def close(self) -> int:
        """Leave the searches alone, end the spare; how many searches go on."""
        if self._spare is not None:
            self._spare.kill()
            self._spare.wait()
        return sum(process.poll() is None for process in self._busy.values())

    def _start(self, run: Run) -> None:
        worker = self._ready()
        self._spare = None
        assert worker.stdin is not None
        try:
            worker.stdin.write(json.dumps({"folder": str(run.folder)}).encode() + b"\n")
            worker.stdin.close()
        except OSError:  # it has died meanwhile; the run stays in the queue for the next look
            return
        self._busy[run.name] = worker

    def _ready(self) -> subprocess.Popen[bytes]:
        if self._spare is None or self._spare.poll() is not None:
            self._spare = subprocess.Popen(
                [sys.executable, "-c", _CODE, str(_HOME), str(self.place.root)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                start_new_session=True,  # Ctrl-C in the terminal of the server is not for the searches
            )
        return self._spare

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = self._said.read().decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it ended without a message")
