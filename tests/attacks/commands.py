"""`unisymnet dynamics` and `unisymnet pde` where nothing can be written, in pairs, stopped and killed."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attacks.places import PLAIN, READ_ONLY, can_mount, on
from attacks.tally import Tally
from unisymnet import PDESystem, System
from unisymnet.cli.motion.fields import read_arrays
from unisymnet.errors import DataError, UniSymNetError

TINY = "size=4k"  # room for one small file, and none to replace it
MINE = "precious\n"


@dataclass(frozen=True)
class Kind:
    """A command: its data, easy or noisy enough to go on for a while, where it saves, and how that is read."""

    name: str
    data: Callable[[Path, bool], Path]
    saved: str
    load: Callable[[Path], Any]
    shows: str

    def words(self, data: Path, out: Path | str, limit: float = 5) -> list[str]:
        target = str(out) if self.name == "dynamics" else str(Path(out) / self.saved)
        return [sys.executable, "-m", "unisymnet", self.name, str(data), "--max-time", str(limit), "--out", target]


def hunt(folder: Path, noisy: bool) -> Path:
    """Hunters and prey, or one state that decays."""
    t, path = np.linspace(0.0, 20.0, 150), folder / "hunt.csv"
    if not noisy:
        path.write_text("t,a\n" + "".join(f"{at},{np.exp(-0.3 * at)}\n" for at in t[:60]))
        return path
    truth = System.parse({"a": "1.1*a - 0.4*a*b", "b": "0.1*a*b - 0.4*b"}).simulate([10.0, 5.0], t)
    seen = truth * (1.0 + 0.05 * np.random.default_rng(0).normal(size=truth.shape))
    path.write_text("t,a,b\n" + "".join(f"{at},{a},{b}\n" for at, (a, b) in zip(t, seen, strict=True)))
    return path


def fields(folder: Path, noisy: bool) -> Path:
    """Two noisy fields without a short law, or one that only diffuses."""
    n, path = 300 if noisy else 40, folder / "fields.npz"
    x, t = np.linspace(0.0, 6.0, n), np.linspace(0.0, 3.0, n)
    if not noisy:
        np.savez(path, u=np.exp(-0.5 * t) * np.sin(x[:, None]) + np.exp(-2.0 * t) * np.cos(2.0 * x[:, None]), x=x, t=t)
        return path
    rng = np.random.default_rng(0)
    u = np.exp(-0.3 * t) * np.sin(x[:, None]) + 0.5 * np.cos(2.0 * x[:, None] - t)
    v = u * np.cos(x[:, None] - 0.5 * t)
    np.savez(path, u=u + 0.01 * rng.normal(size=u.shape), v=v + 0.01 * rng.normal(size=u.shape), x=x, t=t)
    return path


KINDS = (
    Kind("dynamics", hunt, "model.json", System.load, "a' ="),
    Kind("pde", fields, "found.json", PDESystem.load, "u_t ="),
)


def doors(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """Where nothing can be written, beside somebody's files, and two of them in one folder."""
    for kind in KINDS:
        place = folder / kind.name
        place.mkdir()
        for name, words, wanted in cases(kind, place):
            tally.add(case_fault(kind, words, wanted, place), f"{kind.name}, {name}")
        tally.add(pair_fault(kind, place), f"{kind.name}, two in one folder")


def stops(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """SIGINT, SIGTERM and kill -9 around writes of the best so far."""
    rng = random.Random(seed)
    for place in range(count):
        number = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[place % 3]
        kind, place_of = KINDS[place // 3 % 2], folder / f"stop{place}"
        place_of.mkdir()
        tally.add(stopped(kind, place_of, number, rng), f"{number.name} {kind.name}")


def cases(kind: Kind, folder: Path) -> Iterator[tuple[str, list[str], int]]:
    """What is tried, the command and its exit code; files of somebody else hold `MINE`."""
    data = kind.data(folder, False)
    yield "/dev/full as folder", kind.words(data, "/dev/full/x"), 3
    yield "/proc", kind.words(data, "/proc/x"), 3
    yield "a file as folder", kind.words(data, data), 3
    owned = ("model.json", "so-far.json", "system.py", "report.html") if kind.name == "dynamics" else ("found.json",)
    for name in owned:
        place = folder / f"own-{name}"
        place.mkdir()
        (place / name).write_text(MINE)
        yield f"somebody's {name}", kind.words(data, place), 3
    yield "a new folder", kind.words(data, folder / "new" / "deep"), 0
    yield "again", kind.words(data, folder / "new" / "deep"), 0
    if can_mount():
        locked = folder / "locked"
        yield "read-only folder", on(locked, READ_ONLY, *kind.words(data, locked / "run")), 3
        yield "full disk", on(locked, TINY, *kind.words(data, locked)), 0


def case_fault(kind: Kind, words: list[str], wanted: int, folder: Path) -> str | None:
    """The exit code is the expected one, in a sentence; what was found is shown and saved; nobody's file is touched."""
    done = subprocess.run(words, env=PLAIN, capture_output=True, text=True, cwd=folder, timeout=600)
    if done.returncode != wanted or "Traceback" in done.stderr:
        return f"exit code {done.returncode}: {done.stderr[-300:]}"
    if any(path.read_text() != MINE for place in folder.glob("own-*") for path in place.iterdir()):
        return "a file of somebody else was replaced"
    if wanted:
        return None
    if kind.shows not in done.stdout:
        return f"nothing is shown: {done.stdout[-300:]}"
    elsewhere = "the result is in " in done.stderr
    place = Path(done.stderr.rpartition("the result is in ")[2].strip() if elsewhere else words[-1])
    fault = _unreadable(kind, place if place.suffix == ".json" else place / kind.saved)
    return fault or ("a file is left over" if list(place.glob("*.new")) else None)


def pair_fault(kind: Kind, folder: Path) -> str | None:
    """Two searches that write into one folder at once: both end well, and the result is whole."""
    words = kind.words(kind.data(folder, False), folder / "both")
    both = [subprocess.Popen(words, env=PLAIN, stdout=-1, stderr=-1, cwd=folder) for _ in range(2)]
    for process in both:
        _, said = process.communicate(timeout=900)
        if process.returncode or b"Traceback" in said:
            return f"exit code {process.returncode}: {said[-300:].decode()}"
    return _unreadable(kind, folder / "both" / kind.saved)


def stopped(kind: Kind, folder: Path, number: signal.Signals, rng: random.Random) -> str | None:
    """A signal after a write of the best so far, or a while after the start: nothing that was written is lost."""
    data, out = kind.data(folder, True), folder / "run"
    saved = out / kind.saved
    if rng.random() < 0.3:  # an earlier result, which a search that is killed must not replace by less
        out.mkdir()
        kept = kind.load(_easy(kind, folder))
        kept.save(saved)
    before = saved.read_bytes() if saved.exists() else None
    words = kind.words(data, out, 60)
    process = subprocess.Popen(words, env=PLAIN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
    wanted, seen, ends = rng.randint(1, 3), set(), time.monotonic() + 120
    whole = False
    while len(seen) < wanted and time.monotonic() < ends and process.poll() is None:
        for path in out.glob("*.json*") if out.is_dir() else ():
            try:
                state = path.stat()
            except OSError:  # it had another name a moment ago
                continue
            if path != saved or before is None:
                seen.add((state.st_ino, state.st_mtime_ns))
                whole = whole or path.suffix == ".json"
        time.sleep(2e-4)  # a write takes longer
    time.sleep(rng.choice([0.0, 0.0, 0.2, 1.0]))
    ended = process.poll() is not None
    process.send_signal(number)
    try:
        said, told = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "did not end within two minutes"
    if number != signal.SIGKILL:
        good = process.returncode == (0 if ended else 130) and kind.shows.encode() in said
        if good or (process.returncode == -number and _is_finished(kind, saved)):  # it came while all was shown
            return _unreadable(kind, saved)
        return f"exit code {process.returncode}: {told[-300:]!r}"
    if before is not None and not ended and saved.read_bytes() != before and not _is_finished(kind, saved):
        return "an earlier result was replaced by less"
    if whole:
        found = [path for path in out.glob("*.json") if _unreadable(kind, path) is None]
        if not found:
            return "what was found is lost"
    again = subprocess.run(kind.words(data, out, 1), env=PLAIN, capture_output=True, text=True, cwd=folder)
    if again.returncode:
        return f"again: exit code {again.returncode}: {again.stderr[-300:]}"
    return _unreadable(kind, saved)


def _easy(kind: Kind, folder: Path) -> Path:
    """The result of an easy search, made once."""
    place = folder.parent / f"easy-{kind.name}"
    if not place.exists():
        place.mkdir()
        words = kind.words(kind.data(place, False), place)
        subprocess.run(words, env=PLAIN, capture_output=True, check=True)
    return place / kind.saved


def _is_finished(kind: Kind, path: Path) -> bool:
    return _unreadable(kind, path) is None and not any("had not ended" in note for note in kind.load(path).notes)


def damaged_arrays(rng: random.Random, path: Path) -> None:
    """A file of arrays with bytes of it, or of a header in it, changed; or one with parts that are no numbers."""
    odd: tuple[Any, ...] = (
        np.array(["a"]), np.array([1j]), np.zeros((0, 3)), np.array([None]), np.array(3.0), np.array(["NaT"], "M8[s]"),
        np.zeros(3, dtype=[("a", float)]), np.zeros(4, bool), np.zeros((2,) * 12),
    )  # fmt: skip
    x = np.linspace(0.0, 1.0, 20)
    parts: dict[str, Any] = {"u": np.outer(x, x), "x": x, "t": x}
    if rng.random() < 0.3:
        parts[rng.choice(["u", "x", "t", "__proto__", "../up", "a\nb"])] = rng.choice(odd)
    (np.savez_compressed if rng.random() < 0.5 else np.savez)(path, **parts)
    whole = bytearray(path.read_bytes())
    for _ in range(rng.choice([0, 1, 1, 3, 20])):
        place = rng.randrange(len(whole))
        whole[place : place + rng.choice([0, 1, 1, 4])] = rng.choice(
            [b"", b"\0", b"\xff" * 4, rng.randbytes(3), b"9" * 9]
        )
    if rng.random() < 0.2:
        whole = whole[: rng.randrange(len(whole))]
    if rng.random() < 0.3:  # a longer shape, or another kind, in the header of an array that is not compressed
        whole = whole.replace(b"(20,)", rng.choice([b"(-1,)", b"(9e9)", b"(2,9)", b"[[[[[", b"(20,'"]))
    path.write_bytes(bytes(whole))


def arrays_faults(folder: Path) -> Callable[[int], str | None]:
    """Damaged files of arrays through what `unisymnet pde` reads: arrays of numbers, or a sentence."""
    path = folder / "arrays.npz"

    def fault(number: int) -> str | None:
        damaged_arrays(random.Random(number), path)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # zipfile's, about a name that comes twice
                found = read_arrays(path)
        except DataError as error:
            return None if len(str(error)) < 900 else "a message longer than a screen"
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:200]}"
        return None if all(array.dtype.kind in "fiu" for array in found.values()) else "not numbers"

    return fault


def _unreadable(kind: Kind, path: Path) -> str | None:
    try:
        kind.load(path)
    except (UniSymNetError, OSError) as error:
        return f"the result cannot be read: {error}"
    return None
