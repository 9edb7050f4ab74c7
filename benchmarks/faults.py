"""Attack the package, for as long as you like, and print the table of docs/reliability.md.

    python benchmarks/faults.py all                                # the usual counts, some hours
    python benchmarks/faults.py files strings --count 500          # some attacks, fewer of each
    python benchmarks/faults.py all --seconds 500 --out F.jsonl    # go on where F.jsonl stops, for so long
    python benchmarks/faults.py table --out F.jsonl                # the table of everything in F.jsonl

An attack is a number of pieces; a piece draws from its own fixed seed, so that a failure can be repeated with
`--piece`. Limits count processor time where UNISYMNET_CLOCK=processor. The last line is `failures=N`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HOME / "src"), str(HOME / "tests")]

from attacks import commands, fits, methods, motion, places, routes, tables, texts, waves  # noqa: E402
from attacks import names as hostile  # noqa: E402
from attacks.tally import Tally  # noqa: E402


def spellings(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """Known tables in every spelling, read back."""
    rng, path = random.Random(seed), folder / "t.csv"
    kinds = list(tables.SPELLINGS)
    for place in range(count):
        kind, frame = kinds[place % len(kinds)], tables.table(rng)
        text = tables.SPELLINGS[kind](frame)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        try:
            tally.add(tables.misread(frame, path), kind)
        except Exception as error:
            tally.add(f"{type(error).__name__}: {error}", kind)


def reader(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """Damaged files through the reader and the description of `check`, without the commands around them."""
    rng, path = random.Random(seed + 1), folder / "t.csv"
    for _ in range(count):
        path.write_bytes(tables.damaged(rng))
        tally.add(tables.reader_fault(path), repr(path.read_bytes()[:300]))


def files(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """Damaged files through check, predict and score, one in 200 through fit."""
    rng, path, run = random.Random(seed), folder / "t.csv", fits.small_run(folder)
    for place in range(count):
        path.write_bytes(tables.damaged(rng))
        words: tuple[str, ...] = (
            ("check", str(path)),
            ("predict", str(run), str(path)),
            ("check", str(path), "--json"),
            ("score", str(path), "a*length + b"),
        )[place % 4]
        if place % 200 == 199:
            words = ("fit", str(path), "--max-time", "1", "-q", "--out", str(folder / "again"))
        tally.add(tables.failure(words), f"{words[0]} {path.read_bytes()[:300]!r}")


def strings(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """Random, mutated and pathological formulas through the parser and back."""
    for text in texts.texts(count, seed):
        began = time.process_time()  # about half of them are formulas, and must read back
        fault = texts.text_fault(text)
        spent = time.process_time() - began
        tally.add(fault or (f"took {spent:.1f} s" if spent > 3.0 else None), text[:200])


def jsons(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """Damaged JSON: formulas, and every fourth time a whole model with its page."""
    rng = random.Random(seed)
    whole = json.loads((fits.small_run(folder) / "model.json").read_text("utf-8"))
    formula, path = whole["formulas"][-1]["formula"], folder / "model.json"
    for place in range(count):
        text = texts.damaged_json(whole if place % 4 == 0 else formula, rng)
        if place % 4 == 0:
            path.write_text(text, "utf-8", "surrogatepass")
        tally.add(texts.model_fault(str(path)) if place % 4 == 0 else texts.formula_fault(text), text[:300])


def exports(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """Hostile names, three places, every language; and all of them through node and gcc."""
    formulas = [f for name in hostile.names(-(-count // 33), seed) for f in hostile.formulas(name)]
    for formula in formulas:
        for language in hostile.LANGUAGES:
            if language == "json" and any("\ud800" in name for name in (*formula.names, formula.target)):
                continue
            tally.add(hostile.fault(formula, language), f"{language} {formula.names!r} {formula.target!r}")
    script, source = folder / "all.js", folder / "all.c"
    script.write_text(hostile.js_file(formulas, folder), "utf-8")
    source.write_text(hostile.c_file(formulas), "utf-8")
    if shutil.which("node"):
        done = subprocess.run(["node", script], capture_output=True, text=True)
        tally.add(None if done.stdout == "end\n" and not done.stderr else f"node: {done.stderr[:200]}", "node")
    if shutil.which("gcc"):
        words = ["gcc", "-Wall", "-Werror", "-c", source, "-o", folder / "all.o"]
        done = subprocess.run(words, capture_output=True, text=True)
        tally.add(None if done.returncode == 0 else f"gcc: {done.stderr[:200]}", "gcc")
    tally.add("a name has run" if (folder / "PWN").exists() else None, "nothing was run")


def numbers(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """Fits of odd numbers: by other losses, with weights, errors and groups in turn."""
    for place, (name, X, y) in enumerate(fits.odd_numbers(count, seed)):
        tally.add(fits.number_fault(X, y, place), f"{name}, way {place % len(fits.WAYS)}")


def limits(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """Random time limits over 1 to 500 columns and up to 200,000 rows: processor time beyond the limit."""
    _limits(count, seed, tally, most_wall=math.inf)


def wall(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """The same on an idle machine: wall time beyond the limit, too."""
    _limits(count, seed + 50_000, tally, most_wall=0.7)


def busy(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """The same beside four busy processes."""
    loop = [sys.executable, "-c", "while True: sum(range(10**6))"]
    beside = [subprocess.Popen(loop) for _ in range(4)]
    try:
        _limits(count, seed + 70_000, tally, most_wall=math.inf)
    finally:
        for process in beside:
            process.kill()
            process.wait()


def _limits(count: int, seed: int, tally: Tally, most_wall: float) -> None:
    over: list[tuple[float, float]] = []
    for about, spent, waited in fits.random_limits(count, seed):
        over.append((spent, waited))
        tally.add(f"{max(spent, waited):.2f} s over" if spent > 0.3 or waited > most_wall else None, about)
    times = [sorted(values) for values in zip(*over, strict=True)]
    shown = [
        f"{name} p50 {v[len(v) // 2]:+.2f} max {v[-1]:+.2f}" for name, v in zip(("cpu", "wall"), times, strict=True)
    ]
    tally.remark = ", ".join(shown)
    print(f"  {tally.name}:", *shown, file=sys.stderr)


def modes(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """The same for other losses, knowledge, groups, errors of inputs and guesses, small tables and large ones."""
    fits.overrun(50, 2, 1.0, 0)
    for place in range(count):
        names = list(fits.MODES)
        mode, size = names[place % len(names)], ((2000, 3), (50_000, 8))[place // len(names) % 2]
        limit = (0.5, 2.0)[place // (2 * len(names)) % 2]
        over = fits.mode_overrun(mode, *size, limit, seed + place)
        tally.add(f"{over:.2f} s over" if over > 0.3 else None, f"{mode}, {size[0]} x {size[1]}, limit {limit}")


def kills(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """kill -9 during or right after a write of the front."""
    _stop(count, seed, tally, folder, [signal.SIGKILL])


def signals(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """SIGINT and SIGTERM: a table every time."""
    _stop(count, seed, tally, folder, [signal.SIGINT, signal.SIGTERM])


def _stop(count: int, seed: int, tally: Tally, folder: Path, numbers: list[signal.Signals]) -> None:
    rng = random.Random(seed)
    for place in range(count):
        place_of = folder / f"stop{place}"
        place_of.mkdir()
        number = numbers[place % len(numbers)]
        whom = (fits.stopped_fit, places.stopped_command)[place // len(numbers) % 2]
        tally.add(whom(place_of, number, rng), f"{number.name} {whom.__name__}")


def odd_places(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """A full disk, folders that are read-only, no home, a cache that cannot be written, two fits in one folder."""
    for name, words, environment, wanted in places.cases(folder):
        tally.add(places.case_fault(words, environment, wanted, folder), name)
    tally.add(places.pair_fault(folder, places.PLAIN), "two fits in one folder")


def fresh_cache(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """Two fits that compile into one new cache at once; some minutes."""
    new = places.PLAIN | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    tally.add(places.pair_fault(folder, new), "two fits, one folder, one new cache")


def seeds(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """The same seed in processes, threads, a fork, loky, with other hash seeds and n_jobs: the same front."""
    ways = [({}, 1, ""), ({}, 2, ""), ({"PYTHONHASHSEED": "7"}, 1, ""), ({"PYTHONHASHSEED": "8"}, 2, "")]
    ways += [({}, 1, "thread"), ({}, 1, "fork"), ({}, 1, "loky"), ({"OMP_NUM_THREADS": "2"}, 1, "")]
    first = ""
    for environment, jobs, how in ways[: max(count, 2)]:
        found = fits.front_of(environment, jobs, how)
        first = first or found
        fault = None if found == first and not found.startswith("failed") else found[:200]
        tally.add(fault, f"{how or 'process'}, n_jobs {jobs}, {environment}")


def wide(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """2,000 rows, 500 columns, ten seconds: five planted columns are found in time."""
    _sized(count, seed, tally, (2000, 500, 10.0), math.inf)


def tall(count: int, seed: int, tally: Tally, folder: Path) -> None:
    """1,000,000 rows, 10 columns: less than 1 GB, the table itself included."""
    _sized(count, seed, tally, (1_000_000, 10, 10.0), 1024.0)


def _sized(count: int, seed: int, tally: Tally, size: tuple[int, int, float], most: float) -> None:
    told = []
    for place in range(count):
        found = fits.sized(*size, seed + place)
        fault = f"{found['over']:.2f} s over" if found["over"] > 0.3 else None
        fault = f"only {found['found']} of 5 columns" if found["found"] < 5 else fault
        fault = f"{found['memory']:.0f} MB" if found["memory"] > most else fault
        told.append(f"{found['over']:+.2f} s, {found['found']} of 5, {found['memory']:.0f} MB, R² {found['r2']:.3f}")
        tally.add(fault, told[-1])
    tally.remark = "; ".join(told)


def _numbered(make: Callable[[Path], Callable[[int], str | None]]) -> Callable[[int, int, Tally, Path], None]:
    """An attack whose cases have numbers, each drawn from its own seed."""

    def attack(count: int, seed: int, tally: Tally, folder: Path) -> None:
        fault = make(folder)
        for number in range(seed, seed + count):
            tally.add(fault(number), f"number {number}")

    return attack


# The attack, how many the usual run has, and how many of them are one piece.
ATTACKS: dict[str, tuple[Callable[[int, int, Tally, Path], None], int, int]] = {
    "spellings": (spellings, 3000, 1000),
    "reader": (reader, 10_000, 1000),
    "files": (files, 10_000, 400),
    "strings": (strings, 50_000, 5000),
    "json": (jsons, 5000, 1000),
    "exports": (exports, 12_000, 12_000),
    "saved": (_numbered(waves.saved_faults), 3000, 1000),
    "arrays": (_numbered(commands.arrays_faults), 3000, 1000),
    "systems": (_numbered(waves.export_faults), 200, 200),
    "requests": (_numbered(routes.faults), 3000, 1000),
    "calls": (_numbered(methods.method_faults), 3000, 1000),
    "settings": (_numbered(methods.setting_faults), 400, 100),
    "runs": (_numbered(motion.runs_faults), 340, 20),
    "fields": (_numbered(waves.fields_faults), 400, 100),
    "numbers": (numbers, 100, 25),
    "limits": (limits, 300, 15),
    "busy": (busy, 30, 10),
    "wall": (wall, 60, 15),
    "modes": (modes, 56, 14),
    "kills": (kills, 100, 5),
    "signals": (signals, 40, 4),
    "stops": (commands.stops, 36, 6),
    "places": (odd_places, 10, 10),
    "doors": (commands.doors, 21, 21),
    "cache": (fresh_cache, 1, 1),
    "seeds": (seeds, 8, 8),
    "wide": (wide, 3, 1),
    "tall": (tall, 1, 1),
}


def piece(name: str, number: int, count: int, seed: int) -> dict[str, Any]:
    """One piece of an attack, as a line for the record."""
    tally, began = Tally(name), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        ATTACKS[name][0](count, seed + 1000 * number, tally, Path(folder))
    row = {"attack": name, "piece": number, "count": tally.count, "failures": tally.n_failures, "faults": tally.faults}
    spent = round(time.process_time() - began, 1)
    how = {"clock": os.environ.get("UNISYMNET_CLOCK", "wall"), "code": _code()}
    return row | {"remark": tally.remark, "processor_s": spent, **how}


def _code() -> str:
    """The commit that was attacked, so that a record says of which version it is."""
    words = ["git", "-C", str(HOME), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True).stdout.strip() or "unknown"


def table(rows: list[dict[str, Any]]) -> str:
    """All pieces of each attack in one line."""
    lines = ["| attack | count | failures | remark |", "|---|---|---|---|"]
    for name in ATTACKS:
        mine = [row for row in rows if row["attack"] == name]
        if not mine:
            continue
        worst = next((fault["fault"] for row in mine for fault in row["faults"]), "")
        largest = max((row["remark"] for row in mine), key=_largest, default="")
        count, failed = (sum(row[key] for row in mine) for key in ("count", "failures"))
        lines.append(f"| {name} | {count} | {failed} | {worst[:80] or largest or '–'} |")
    return "\n".join(lines)


def _largest(remark: str) -> float:
    """The most processor time over a limit that a piece of `limits` had."""
    return float(remark.split(" max ")[1].split(",")[0]) if " max " in remark else -math.inf


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("attacks", nargs="+", choices=[*ATTACKS, "all", "table"])
    asked.add_argument("--count", type=int, help="of each attack (default: the usual number)")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--piece", type=int, help="only this piece of each attack")
    asked.add_argument("--seconds", type=float, default=math.inf, help="begin no piece after so many")
    asked.add_argument("--out", type=Path, help="record, one JSON line a piece; pieces in it are not run again")
    wanted: Any = asked.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rows: list[dict[str, Any]] = []
    if wanted.out is not None and wanted.out.exists():
        rows = [json.loads(line) for line in wanted.out.read_text("utf-8").splitlines()]
    done, ends = {(row["attack"], row["piece"]) for row in rows}, time.monotonic() + wanted.seconds
    for name in ATTACKS if "all" in wanted.attacks else [name for name in wanted.attacks if name != "table"]:
        _, usual, size = ATTACKS[name]
        total = wanted.count or usual
        for number in range(-(-total // size)):
            if (name, number) in done or wanted.piece not in (None, number) or time.monotonic() > ends:
                continue
            rows.append(piece(name, number, min(size, total - number * size), wanted.seed))
            print(f"{name} {number}: {rows[-1]['failures']} of {rows[-1]['count']}", flush=True)
            if wanted.out is not None:
                with open(wanted.out, "a", encoding="utf-8") as out:
                    out.write(json.dumps(rows[-1]) + "\n")
    print("\n" + table(rows))
    print(f"failures={sum(row['failures'] for row in rows)}")


if __name__ == "__main__":
    main()
