"""The process that searches: `python -m unisymnet.serve.worker ROOT`, started ahead of time, waiting for one run.

It loads everything first, so that a search begins at once when its folder comes on stdin. From then on it needs nobody:
it writes events to the folder, holds its lock, and looks there for a wish to stop. It ends with its run, or when the
server that started it is gone before there was one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from ..errors import DataError
from .events import Log, last_kind
from .lock import Lock
from .runs import ASKED, QUEUED, STOP

STAGE_PAUSE = 0.1  # seconds between two words about what is tried
LOOK = 0.1  # seconds between two looks for a wish to stop
AGAIN = 3.0  # seconds until the wish is repeated
TRIES = 20  # at the lock, which a server may hold for a moment while it looks


class Diary:
    """The events of one search: each new formula once, the front as a list of their keys."""

    def __init__(self, log: Log, part: int) -> None:
        self.log = log
        self.part = part
        self.keys: dict[Any, str] = {}
        self.spoke = 0.0

    def __call__(self, event: Any) -> None:
        """What the estimator's callback is told."""
        facts = {"stage": event.stage, "seconds": round(event.seconds, 3), "tried": event.n_evaluations}
        if event.kind != "front" and self.keys:
            if time.monotonic() - self.spoke >= STAGE_PAUSE:
                self.spoke = time.monotonic()
                self.log.write("stage", at=time.time(), **facts)
            return
        worst = event.front[0].loss if event.front else 0.0
        for candidate in event.front:
            if candidate.expr not in self.keys:
                self.formula(candidate, event, worst)
        keys = [self.keys[candidate.expr] for candidate in event.front]
        best = self.keys.get(event.best.expr, keys[-1] if keys else None)
        self.log.write("front", at=time.time(), **facts, keys=keys, best=best)

    def formula(self, candidate: Any, event: Any, worst: float) -> None:
        from ..formula import Formula
        from ..report.parts import shown

        key = f"{self.part}.{len(self.keys)}"
        self.keys[candidate.expr] = key
        formula = Formula(candidate.expr, event.best.names, event.best.target)
        self.log.write(
            "formula",
            key=key,
            text=str(formula),
            math=shown(formula),
            size=candidate.complexity,
            loss=candidate.loss,
            r2=1.0 - candidate.loss / worst if worst > 0.0 else 1.0,
            source=candidate.source,
            seconds=round(event.seconds, 3),
        )


def search(folder: Path) -> None:
    """One run, from its wish to its table."""
    from ..cli.fitting import fitted, python_source, read_request
    from .asking import to_request
    from .commands import fit_command

    asked = json.loads((folder / ASKED).read_text("utf-8"))
    part = int(asked.get("part", 1))
    log = Log(folder)
    try:
        if asked.get("kind") == "dynamics":
            from .systems import search_system

            with _stopping(folder):
                search_system(folder, asked, log)
            return
        request = to_request(asked)
        table = read_request(request)
        log.write(
            "start",
            at=time.time(),
            part=part,
            target=str(table.y.name),
            inputs=[str(name) for name in table.X.columns],
            rows=len(table.y),
            max_time=asked["settings"].get("max_time"),
            notes=list(table.notes),
            shell=fit_command(asked),
            python=python_source(request, table),
        )
        with _stopping(folder):
            model, _ = fitted(folder, request, table, resume=part > 1, callback=Diary(log, part))
        log.write(
            "end",
            at=time.time(),
            stopped=model.stopped_,
            seconds=round(model.seconds_, 3),
            tried=model.n_evaluations_,
            formulas=len(model.front_),
        )
    except DataError as error:
        log.write("error", at=time.time(), message=str(error))
    except Exception as error:
        traceback.print_exc()
        log.write("error", at=time.time(), message=f"unexpected {type(error).__name__}: {error}")
    finally:
        log.close()


class _stopping:
    """While inside, a file named `stop` in the folder ends the search as Ctrl-C would: with the best so far."""

    def __init__(self, folder: Path) -> None:
        self.wish = folder / STOP
        self.over = threading.Event()
        self.missed = threading.Event()

    def __enter__(self) -> None:
        # Before and after a fit, which has its own handler, the signal must do no harm; it comes again.
        signal.signal(signal.SIGINT, lambda number, frame: self.missed.set())
        threading.Thread(target=self._look, daemon=True).start()

    def __exit__(self, *details: object) -> None:
        self.over.set()

    def _look(self) -> None:
        while not self.over.wait(LOOK):
            if self.wish.exists():
                self.missed.clear()
                _interrupt()
                # A fit that has heard tidies up, and a second signal would cut that short.
                until = time.monotonic() + AGAIN
                while time.monotonic() < until and not self.missed.is_set() and not self.over.wait(LOOK):
                    pass


def _interrupt() -> None:
    if sys.platform == "win32":
        import _thread

        _thread.interrupt_main()
    else:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _load() -> None:
    """Everything that a search needs, in memory: a small one from the file to the table loads what is loaded late."""
    import numpy as np

    from ..regressor.warm import warm_all

    warm_all()
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (24, 2))
    y = X[:, 0] + np.sin(X[:, 1]) + rng.normal(0.0, 0.1, 24)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savetxt(folder / "a.csv", np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="")
        asked = {"data": str(folder / "a.csv"), "target": "y", "features": None, "weights": None, "delimiter": None}
        settings = {"max_time": 1.0, "max_evaluations": 40}
        (folder / ASKED).write_text(json.dumps({**asked, "guesses": [], "settings": settings}), encoding="utf-8")
        search(folder)


def _detach(folder: Path) -> None:
    """From here on nobody listens: what libraries print goes to a file of the run."""
    file = os.open(folder / "worker.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(file, stream)
    os.close(file)


def _take(lock: Lock) -> bool:
    for _ in range(TRIES):
        if lock.take():
            return True
        time.sleep(0.05)
    return False


def main() -> None:
    root = Path(sys.argv[1])
    os.chdir(root)  # tables are named from there
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _load()
    line = sys.stdin.readline()
    if not line.strip():
        return
    folder = Path(json.loads(line)["folder"])
    lock = Lock(folder)
    if _take(lock):
        # Two servers may have handed the run over: whoever comes late must not begin what another has begun and left.
        if last_kind(folder) == QUEUED:
            _detach(folder)
            search(folder)
        lock.release()


if __name__ == "__main__":
    main()
