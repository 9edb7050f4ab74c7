"""Commands where nothing can be written, several at once, and commands that are stopped or killed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

SOURCE = str(Path(__file__).resolve().parents[2] / "src")
PLAIN = os.environ | {"PYTHONPATH": SOURCE}
BARE = {"PATH": os.environ["PATH"], "PYTHONPATH": SOURCE}
# A file system of its own, in a name space of its own: read-only, or with room for a few kilobytes.
MOUNTED = 'mkdir -p "$0" && mount -t tmpfs -o {} tmpfs "$0" && exec "$@"'
SMALL, READ_ONLY = "size=8k", "ro"


def can_mount() -> bool:
    """Whether this machine lets us mount without being its owner (most Linux machines do)."""
    if shutil.which("unshare") is None:
        return False
    words = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o ro tmpfs /tmp"]
    return subprocess.run(words, capture_output=True).returncode == 0


def on(folder: Path, option: str, *words: str) -> list[str]:
    """The command, with `folder` on a file system with that option."""
    return ["unshare", "-rm", "sh", "-c", MOUNTED.format(option), str(folder), *words]


def data(folder: Path, noise: float = 0.0) -> Path:
    """A small table; with noise a search goes on until it is stopped."""
    rng, path = random.Random(0), folder / "ok.csv"
    rows = [(i / 7, i % 5 + 1, 2 * i * i / 49 / (i % 5 + 1) + rng.gauss(0, noise)) for i in range(1, 60)]
    path.write_text("a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
    return path


def fit(path: Path, out: str, limit: float = 5) -> list[str]:
    words = ["-m", "unisymnet", "fit", str(path), "--max-time", str(limit), "-q", "--out", out]
    return [sys.executable, *words]


def cases(folder: Path) -> Iterator[tuple[str, list[str], dict[str, str], int]]:
    """Name, command, environment and the exit code it must have."""
    path = data(folder)
    yield "/dev/full as folder", fit(path, "/dev/full/x"), PLAIN, 3
    yield "/proc", fit(path, "/proc/x"), PLAIN, 3
    yield "a file", fit(path, str(path)), PLAIN, 3
    yield "no environment", fit(path, str(folder / "bare")), BARE, 0
    yield "no home", fit(path, str(folder / "home")), BARE | {"HOME": "/nonexistent"}, 0
    yield "cache in /proc", fit(path, str(folder / "cache")), PLAIN | {"NUMBA_CACHE_DIR": "/proc/nope"}, 0
    if can_mount():
        locked = folder / "locked"
        yield "read-only folder", on(locked, READ_ONLY, *fit(path, str(locked / "run"))), PLAIN, 3
        yield "disk is full at the end", on(locked, SMALL, *fit(path, str(locked / "run"))), PLAIN, 0
        home = PLAIN | {"HOME": str(locked), "XDG_CACHE_HOME": str(locked), "TMPDIR": str(folder)}
        yield "read-only home", on(locked, READ_ONLY, *fit(path, str(folder / "elsewhere"))), home, 0


def case_fault(words: list[str], environment: dict[str, str], wanted: int, folder: Path) -> str | None:
    """The exit code is the expected one, in a sentence; a search that ran has shown its table."""
    done = subprocess.run(words, env=environment, capture_output=True, text=True, cwd=folder, timeout=600)
    if done.returncode != wanted or "Traceback" in done.stderr:
        return f"exit code {done.returncode}: {done.stderr[-300:]}"
    return None if done.returncode or "R²" in done.stdout else "no table"


def pair_fault(folder: Path, environment: dict[str, str]) -> str | None:
    """Two fits that write into one folder at once: both end well, and the folder is whole."""
    words = fit(data(folder), str(folder / "both"))
    both = [subprocess.Popen(words, env=environment, stdout=-1, stderr=-1, cwd=folder) for _ in range(2)]
    for process in both:
        _, said = process.communicate(timeout=900)
        if process.returncode or b"Traceback" in said:
            return f"exit code {process.returncode}: {said[-300:].decode()}"
    return None if json.loads((folder / "both" / "model.json").read_text("utf-8"))["formulas"] else "an empty table"


def stopped_command(folder: Path, number: signal.Signals, rng: random.Random) -> str | None:
    """A signal to `unisymnet fit` after a write of the front: exit code, table and folder; after a kill, `--resume`."""
    path, out = data(folder, 0.3), folder / "run"
    words = fit(path, str(out), 60)
    process = subprocess.Popen(words, env=PLAIN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
    wanted, seen, ends = rng.randint(1, 4), set(), time.monotonic() + 120
    whole = False  # before the first front is whole there is nothing to lose
    while len(seen) < wanted and time.monotonic() < ends and process.poll() is None:
        for front in out.glob("checkpoint/front-*"):
            try:
                state = front.stat()
            except OSError:  # it had another name a moment ago
                continue
            seen.add((state.st_ino, state.st_mtime_ns))
            whole = whole or front.suffix == ".json"
        time.sleep(2e-4)  # a write takes longer
    process.send_signal(number)
    try:
        said, told = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "did not end within two minutes"
    if number != signal.SIGKILL:
        kept = process.returncode == 130 and (out / "model.json").exists() and b"R\xc2\xb2" in said
        return None if kept else f"exit code {process.returncode}: {told[-300:]!r}"
    found = [json.loads(front.read_text()) for front in out.glob("checkpoint/front-*.json")]
    if whole and not (found and found[0]["candidates"]):
        return "the front is lost"
    again = subprocess.run([*fit(path, str(out), 1), "--resume"], env=PLAIN, capture_output=True, text=True, cwd=folder)
    return None if again.returncode == 0 else f"--resume: exit code {again.returncode}: {again.stderr[-300:]}"
