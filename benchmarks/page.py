"""What the page in the browser promises, measured in a real Chromium against a real server.

    python benchmarks/page.py kills --count 20       # server, worker and browser killed in turn: what is lost?
    python benchmarks/page.py rate --per-second 10   # events a second: does the page fall behind?
    python benchmarks/page.py first --count 5        # seconds from the click on "start" to the first row, worker warm

Wall time, because a person waits by it; say what else ran on the machine. `first` also counts the processor time that
server, worker and browser used meanwhile: they work one after the other, so a quiet machine takes about as long.
Each ends with one line key=value.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from report.browser import Browser, browser
from serve.server import Server, end_workers, served, write_tables
from unisymnet.serve.events import Log, read_events
from unisymnet.serve.lock import Lock
from unisymnet.serve.runs import ASKED

ROWS = "document.querySelectorAll('[data-row]').length"
HEARD = "Number(document.getElementById('main').dataset.events ?? 0)"
SLOW = {"data": "slow.csv", "target": "y", "settings": {"max_time": 3600}}


def kills(count: int) -> None:
    """After each kill everything that was found is still told, shown by a page, and searched on from."""
    lost = worse = 0
    with tempfile.TemporaryDirectory() as name, ExitStack() as last:
        folder = Path(name)
        write_tables(folder)
        last.callback(end_workers, folder)
        port, stack = _free_port(), ExitStack()
        server = stack.enter_context(served(folder, port=port, outlive=True))
        run = server.ask("POST", "start", SLOW)["run"]
        server.events(run, until=("front",))
        for number in range(count):
            time.sleep(1.0)
            if server.wait(run, "running", "done")["state"] == "done":  # it had nothing left to try
                _go_on(server, folder, run)
            before = read_events(folder / run)
            known = {event["text"] for event in before if event["kind"] == "formula"}
            kind = ("server", "worker", "browser")[number % 3]
            if kind == "server":
                server.kill()
                with suppress(Exception):
                    stack.close()
                stack = ExitStack()
                server = stack.enter_context(served(folder, port=port, outlive=True))
            elif kind == "worker":
                os.kill(int((folder / run / "worker.lock").read_text()), signal.SIGKILL)
                server.wait(run, "lost")
                _go_on(server, folder, run)
            else:
                _crash(server, run)
            told = _told(server, run)
            lost += len(known - told)
            worse += _best(read_events(folder / run)) < _best(before) - 1e-12
            shown = _shown(server, run)
            gone = len(known - told)
            print(f"{number + 1} {kind}: {len(known)} formulas known, {gone} lost, {shown} rows shown", flush=True)
        server.ask("POST", "stop", {"run": run})
        server.wait(run, "done")
        stack.close()
    print(f"kills={count} formulas_lost={lost} fronts_worse={worse}")


def rate(per_second: float, seconds: float) -> None:
    """Events written at a steady rate; how long until the page has heard the last, and the largest delay."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder)
        run = folder / "unisymnet-page" / "rate-1"
        run.mkdir(parents=True)
        wish = {**SLOW, "features": None, "weights": None, "delimiter": None, "guesses": []}
        (run / ASKED).write_text(json.dumps(wish), encoding="utf-8")
        lock, log = Lock(run), Log(run)
        assert lock.take()
        facts = {"target": "y", "inputs": ["a", "b", "c"], "rows": 60, "notes": [], "shell": "", "python": ""}
        log.write("start", at=time.time(), part=1, max_time=seconds, **facts)
        with served(folder) as server, browser() as window:
            window.visit(server.address)
            window.run("void (location.hash = '/run?name=unisymnet-page/rate-1')")
            window.wait(f"{HEARD} === 1")
            delays, written, began = [], 1, time.monotonic()
            while time.monotonic() - began < seconds:
                _front(log, written, time.monotonic() - began)
                written += 2  # a formula and a front
                due = began + written / per_second
                if written % 20 < 2:
                    delays.append(_delay(window, written))
                time.sleep(max(0.0, due - time.monotonic()))
            delays.append(_delay(window, written))
            used = time.monotonic() - began
        log.close()
        lock.release()
    rest = f"largest_delay_s={max(delays):.2f} last_delay_s={delays[-1]:.2f}"
    print(f"events={written} per_second={written / used:.1f} {rest}")


def first(count: int) -> None:
    """The worker that waits is warm; the table is chosen; the button is clicked."""
    found, spent = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder)
        with served(folder) as server, browser() as window:
            window.visit(server.address)
            for number in range(count):
                window.wait("document.querySelector('main')")
                window.run("void (location.hash = '/data?name=slow.csv')")
                window.wait("document.querySelector('.commands pre')")
                _quiet()  # a person reads; the worker loads
                began, used = time.monotonic(), _processor()
                window.click("button.primary")
                window.wait(f"{ROWS} > 0", 200)
                found.append(time.monotonic() - began)
                spent.append(_processor() - used)
                load = os.getloadavg()[0]
                print(f"{number + 1}: {found[-1]:.2f} s, {spent[-1]:.2f} s of processor, load {load:.1f}", flush=True)
                window.click("button.stop")
                window.wait("document.querySelector('.go-on')", 100)
    rest = f"median_processor_s={statistics.median(spent):.2f} largest_processor_s={max(spent):.2f}"
    print(f"runs={count} median_s={statistics.median(found):.2f} largest_s={max(found):.2f} {rest}")


def _quiet() -> None:
    """Wait until nothing of ours computes: the worker that waits is loaded, however busy the machine is."""
    before, still = _processor(), 0
    while still < 4:
        time.sleep(1.0)
        now = _processor()
        still = still + 1 if now - before < 0.05 else 0
        before = now


def _processor() -> float:
    """Seconds of processor that all living descendants of this process have used."""
    parents, seconds = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            words = path.read_text().rpartition(")")[2].split()
            pid = int(path.parent.name)
            parents[pid] = int(words[1])
            seconds[pid] = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def is_ours(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return sum(used for pid, used in seconds.items() if pid != os.getpid() and is_ours(pid))


def _front(log: Log, number: int, seconds: float) -> None:
    key = f"1.{number}"
    shown = f"<math><mrow><mn>{number}</mn><mi>a</mi></mrow></math>"
    facts = {"size": 3 + number % 30, "loss": 1.0, "r2": 1.0 - 1.0 / (number + 1), "source": "rate"}
    log.write("formula", key=key, text=f"{number}*a", math=shown, seconds=seconds, **facts)
    keys = [f"1.{k}" for k in range(max(1, number - 24), number + 1, 2)]
    log.write("front", at=time.time(), stage="rate", seconds=seconds, tried=number, keys=keys, best=key)


def _delay(window: Browser, written: int) -> float:
    began = time.monotonic()
    window.wait(f"{HEARD} >= {written}")
    return time.monotonic() - began


def _go_on(server: Server, folder: Path, run: str) -> None:
    n_events = len((folder / run / "events.jsonl").read_bytes().splitlines())
    server.ask("POST", "continue", {"run": run, "seconds": 3600})
    server.events(run, after=n_events, until=("front",))


def _told(server: Server, run: str) -> set[str]:
    """What a new page is told: the stream from the beginning up to now."""
    events: list[dict[str, Any]] = read_events(Path(server.ask("GET", "home")["folder"]) / run)
    until = len(events)
    found: set[str] = set()
    for event in server.events(run, count=until):
        if event["kind"] == "formula":
            found.add(event["text"])
    return found


def _shown(server: Server, run: str) -> int:
    with browser() as window:
        window.visit(server.address)
        window.run(f"void (location.hash = '/run?name={run}')")
        try:
            return int(window.wait(ROWS))
        except AssertionError:
            print(window.log(), server.ask("GET", "run", run=run)["state"], window.run(HEARD), flush=True)
            raise


def _crash(server: Server, run: str) -> None:
    with suppress(Exception), browser() as window:
        window.visit(server.address)
        window.run(f"void (location.hash = '/run?name={run}')")
        window.wait(f"{ROWS} > 0")
        window.ask("POST", "/goog/cdp/execute", {"cmd": "Browser.crash", "params": {}})


def _best(events: list[dict[str, Any]]) -> float:
    known = {event["key"]: event["r2"] for event in events if event["kind"] == "formula"}
    return max(known[key] for key in [e["keys"] for e in events if e["kind"] == "front"][-1])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("what", choices=["kills", "rate", "first"])
    reader.add_argument("--count", type=int, default=20)
    reader.add_argument("--per-second", type=float, default=10.0)
    reader.add_argument("--seconds", type=float, default=10.0)
    given = reader.parse_args()
    if given.what == "kills":
        kills(given.count)
    elif given.what == "rate":
        rate(given.per_second, given.seconds)
    else:
        first(given.count)


if __name__ == "__main__":
    main()
