"""A real `unisymnet serve` in a process of its own, and a small client for it."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas as pd

from endless import PATIENCE, bumps
from unisymnet.serve.lock import is_held

SRC = Path(__file__).resolve().parents[2] / "src"
LONG = PATIENCE


class Server:
    """The address, the token and the process."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.address = address
        found = re.fullmatch(r"http://(127\.0\.0\.1):(\d+)/\?token=(\S+)", address)
        assert found is not None, address
        self.host, self.port, self.token = found[1], int(found[2]), found[3]

    def raw(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """One request exactly as told."""
        line = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            line.request(method, path, body, headers or {})
            answer = line.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            line.close()

    def ask(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        """A request with the token; what came back, which must be good."""
        status, headers, found = self.answer(method, path, body, **query)
        assert status == 200, found
        return json.loads(found) if headers["content-type"] == "application/json" else found

    def answer(self, method: str, path: str, body: Any = None, **query: str) -> tuple[int, dict[str, str], bytes]:
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        where = f"/api/{path}" + (f"?{urlencode(query)}" if query else "")
        return self.raw(method, where, data, {"X-Unisymnet-Token": self.token})

    def refusal(self, method: str, path: str, body: Any = None, **query: str) -> str:
        """What a request that is wrong gets told."""
        status, _, found = self.answer(method, path, body, **query)
        assert status == 400, (status, found)
        return str(json.loads(found)["error"])

    def events(
        self, run: str, after: int = 0, until: tuple[str, ...] = ("end", "error", "lost"), count: int | None = None
    ) -> list[dict[str, Any]]:
        """The stream of a run up to one of these events, or so many of them, each with its id."""
        line = http.client.HTTPConnection(self.host, self.port, timeout=LONG)
        try:
            headers = {"X-Unisymnet-Token": self.token, "Last-Event-ID": str(after)}
            line.request("GET", f"/api/events?{urlencode({'run': run})}", headers=headers)
            answer = line.getresponse()
            assert answer.status == 200
            found: list[dict[str, Any]] = []
            number = 0
            for text in iter(answer.readline, b""):
                if text.startswith(b"id: "):
                    number = int(text[4:])
                elif text.startswith(b"data: "):
                    found.append({**json.loads(text[6:]), "id": number})
                    # What ends a stream ends the waiting, too: keepalives would let it go on for ever.
                    if len(found) == count or (count is None and found[-1]["kind"] in (*until, "error")):
                        return found
            return found
        finally:
            line.close()

    def wait(self, run: str, *states: str, seconds: float = LONG) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found: dict[str, Any] = self.ask("GET", "run", run=run)
            if found["state"] in states:
                return found
            time.sleep(0.1)
        raise AssertionError(f"{run} is {found['state']}, not {states}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def served(folder: Path, *options: str, port: int = 0, outlive: bool = False) -> Iterator[Server]:
    """The page of a folder, ended on the way out."""
    path = os.pathsep.join([str(SRC), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "XDG_CACHE_HOME": str(folder / ".cache")}
    words = ["serve", "--no-browser", "--port", str(port), *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "unisymnet", *words], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        lines = iter(process.stdout.readline, "")
        address = next(line.strip() for line in lines if "http://" in line)
        yield Server(process, address)
    finally:
        process.terminate()
        process.wait(timeout=LONG)
        process.stdout.close()
        if not outlive:
            end_workers(folder)


def end_workers(folder: Path) -> None:
    """Searches outlive their server; after a test nobody needs them."""
    for lock in folder.rglob("worker.lock"):
        pid = int(lock.read_text() or 0)
        if pid not in (0, os.getpid()) and is_held(lock.parent):
            os.kill(pid, signal.SIGKILL)


def write_tables(folder: Path) -> None:
    """Tables that are quick (exact), slow (only time ends the search) and not clean."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0.5, 3.0, (60, 2)), columns=["m", "v"])
    X.assign(E=0.5 * X.m * X.v**2).to_csv(folder / "energy.csv", index=False)
    bumps().to_csv(folder / "slow.csv", index=False)
    parts = []
    for factor, site in ((0.5, "oak"), (0.9, "elm"), (1.7, "fir")):
        t, error = rng.uniform(0.5, 6.0, 30), rng.uniform(0.005, 0.02, 30)
        n = factor * np.exp(-t / 1.2) + error * rng.normal(size=30)
        parts.append(pd.DataFrame({"t": t, "site": site, "error": error, "n": n}))
    pd.concat(parts).to_csv(folder / "sites.csv", index=False)
    t = np.linspace(0.0, 5.0, 60)
    pd.DataFrame({"t": t, "x": 3.0 * np.exp(-0.7 * t)}).to_csv(folder / "decay.csv", index=False)
    X.assign(site="north", E=X.m * X.v).mask(rng.random((60, 4)) < 0.02).to_csv(folder / "messy.csv", index=False)
