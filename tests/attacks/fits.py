# ruff: noqa: E501
"""Fits under bad conditions: odd numbers, random limits, signals, kills, full disks, several at once, many seeds' homes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unisymnet import UniSymNetRegressor
from unisymnet.errors import UniSymNetError

SOURCE = str(Path(__file__).resolve().parents[2] / "src")


def odd_numbers(count: int, seed: int = 0) -> Iterator[tuple[str, Any, Any]]:
    """Name, X and y: sizes, magnitudes, ties and constants that nobody measures on purpose."""
    rng = np.random.default_rng(seed)
    for place in range(count):
        n, d = int(rng.choice([1, 2, 3, 5, 10, 31, 60, 200])), int(rng.choice([1, 2, 3, 11, 14, 40]))
        X = rng.normal(size=(n, d)) * 10.0 ** rng.choice([-300, -150, -12, 0, 0, 0, 8, 150, 300])
        kind = place % 9
        if kind == 1:
            X[:, :] = X[0]
        elif kind == 2:
            X = np.round(X)
        elif kind == 3:
            X[rng.integers(n), rng.integers(d)] = rng.choice([1e308, -1e308, 5e-324, np.nan, np.inf])
        with np.errstate(all="ignore"):
            y = (X[:, 0] * 2.0 + rng.normal(size=n) * rng.choice([0.0, 0.1])) * 10.0 ** rng.choice(
                [-310, -100, 0, 0, 0, 100, 305]
            )
        if kind == 4:
            y = np.full(n, float(rng.choice([3.7, 0.1, 0.0, -1e-9, 1e100])))
        elif kind == 5:
            y[0] = 1e12
        yield f"{place}: {n} x {d}, kind {kind}", X, y


# How odd numbers are fitted, in turn: settings of the estimator, and what is given beside X and y.
WAYS: tuple[tuple[dict[str, Any], Callable[[Any, Any], dict[str, Any]]], ...] = (
    ({}, lambda X, y: {}),
    ({"goal": "predict"}, lambda X, y: {}),
    ({"loss": "relative"}, lambda X, y: {}),
    ({"loss": "huber"}, lambda X, y: {"sample_weight": np.full(len(y), 1e200)}),
    ({}, lambda X, y: {"sigma": np.maximum(np.abs(y), 5e-324) * 1e-3}),
    ({}, lambda X, y: {"sigma": {"x0": np.abs(X[:, 0]), "y": np.abs(y)}}),
    ({}, lambda X, y: {"groups": np.arange(len(y)) % 3}),
    ({"noise": "relative", "loss": "mse"}, lambda X, y: {"sample_weight": np.arange(len(y)) * 1e-200}),
)


def number_fault(X: Any, y: Any, place: int = 0, limit: float = 0.6) -> str | None:
    """A fit ends with a table whose pick is finite on the rows, or with an error of ours; without a warning."""
    settings, beside = WAYS[place % len(WAYS)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            model = UniSymNetRegressor(max_time=limit, **settings).fit(X, y, **beside(X, y))
            found = model.predict(X) if model.formula_.groups is None else np.zeros(1)
            _ = str(model), model.equations_
    except UniSymNetError as error:
        return None if len(str(error)) < 600 else "a message longer than a screen"
    except Exception as error:
        # scikit-learn's own words about shapes are documented there; anything of numpy's is a mistake of ours.
        ours = type(error) is ValueError and any(
            words in str(error) for words in ("sample", "NaN", "infinity", "scikit")
        )
        return None if ours else f"{type(error).__name__}: {error}"
    return None if np.isfinite(found).all() else "the pick is not finite on its own rows"


def overrun(n: int, d: int, limit: float, seed: int) -> tuple[float, float]:
    """Processor and wall seconds beyond the limit of one fit; negative if it ended earlier."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 2.0, (n, d))
    y = 3.0 * X[:, 0] * np.sin(X[:, d // 2]) + X[:, -1] ** 2 + rng.normal(0.0, 0.1, n)
    wall, cpu = time.monotonic(), time.process_time()
    UniSymNetRegressor(max_time=limit, n_jobs=1, random_state=seed).fit(X, y)
    return time.process_time() - cpu - limit, time.monotonic() - wall - limit


def random_limits(count: int, seed: int) -> Iterator[tuple[str, float, float]]:
    """What was tried, processor and wall seconds over: 1 to 500 columns, up to 200,000 rows, 0.2 to 3.2 seconds."""
    rng = random.Random(seed)
    overrun(50, 2, 1.0, 0)  # loads, or compiles, the kernels
    for _ in range(count):
        d = rng.choice([1, 2, 3, 5, 9, 20, 60, 150, 500])
        n = min(rng.choice([20, 100, 1000, 5000, 50_000, 200_000]), 20_000_000 // d)
        limit = round(10.0 ** rng.uniform(-0.7, 0.5), 2)
        cpu, wall = overrun(n, d, limit, rng.randrange(10**6))
        about = f"{n} x {d}, limit {limit}: {cpu:+.2f} s of processor time, {wall:+.2f} s of wall time"
        yield about, cpu, wall


MODES: dict[str, dict[str, Any]] = {
    **{name: {"loss": name} for name in ("poisson", "logistic", "relative", "huber")},
    "quantile": {"loss": ("quantile", 0.9)},
    "predict": {"goal": "predict"},
    "units": {"units": {"x0": "m", "target": "m"}},
    "constraints": {"constraints": ["dy/dx0 >= 0"]},
    "template": {"template": "f(x0) + g(x1)"},
    "own operator": {"operators": ["hill(x) = x^n/(1 + x^n)"]},
    "literal": {"strategy": "literal"},
    "groups": {},
    "sigma": {},
    "guesses": {},
}


def mode_overrun(mode: str, n: int, d: int, limit: float, seed: int) -> float:
    """Processor seconds beyond the limit of a fit by another loss, with knowledge, groups, errors or guesses."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 2.0, (n, d))
    y = 3.0 * X[:, 0] * np.sin(X[:, d // 2]) + X[:, -1] ** 2 + rng.normal(0.0, 0.1, n)
    y = rng.poisson(np.abs(3.0 * y)).astype(float) if mode == "poisson" else y
    y = (y > np.median(y)).astype(float) if mode == "logistic" else y
    beside: dict[str, Any] = {
        "groups": {"groups": rng.integers(0, 5, n)},
        "sigma": {"sigma": {"y": 0.1, "x0": 0.02}},
        "guesses": {"guesses": ["a*x0*sin(b*x1) + c*x2^p", "a/(b + c*x1)"]},
    }.get(mode, {})
    began = time.process_time()
    UniSymNetRegressor(max_time=limit, n_jobs=1, random_state=seed, **MODES[mode]).fit(X, y, **beside)
    return time.process_time() - began - limit


def small_run(folder: Path) -> Path:
    """The folder of a small finished fit."""
    run = folder / "run"
    if not (run / "model.json").exists():
        X = np.random.default_rng(0).uniform(1, 3, (40, 2))
        table = pd.DataFrame(X, columns=["length", "mass"])
        model = UniSymNetRegressor(max_time=10, proposers=["monomial", "bases"])
        model.fit(table, 2.0 * X[:, 0] / X[:, 1] + 0.01 * np.sin(9 * X[:, 0]))
        model.save(run / "model.json")
    return run


_FIT = """
import sys, numpy as np
sys.path.insert(0, {source!r})
from unisymnet import UniSymNetRegressor
rng = np.random.default_rng({seed})
X = rng.uniform(0.5, 2.0, (200, 4))
y = 3 * X[:, 0] * np.sin(X[:, 1]) + X[:, 2] ** 2 / X[:, 3] + rng.normal(0, 0.1, 200)
model = UniSymNetRegressor(max_time=60, checkpoint=sys.argv[1])
model.fit(X, y)
model.save(sys.argv[1] + "/model.json")
print("table", len(model.front_), flush=True)
"""


def stopped_fit(folder: Path, number: signal.Signals, rng: random.Random) -> str | None:
    """Send a signal soon after a write begins; what was saved must be whole, and a kind signal must give a table."""
    code = _FIT.format(source=SOURCE, seed=rng.randrange(1000))
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wanted, limit, whole = rng.randint(1, 4), time.monotonic() + 90, False
    seen: set[tuple[int, int]] = set()
    while len(seen) < wanted and time.monotonic() < limit and process.poll() is None:
        # The file beside the front exists only while it is written: a kill that comes then meets the write.
        for path in folder.glob("front-*"):
            with_state = path.stat() if path.exists() else None
            if with_state is not None:
                seen.add((with_state.st_ino, with_state.st_mtime_ns))
                whole = whole or path.suffix == ".json"  # before the first is whole there is nothing to lose
        time.sleep(2e-4)
    process.send_signal(number)
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "did not end within a minute"
    saved = [path for path in folder.glob("front-*.json")]
    if whole and not saved:
        return "the front is lost"
    for path in saved:
        if not json.loads(path.read_text())["candidates"]:
            return "the front is empty"
    if number != signal.SIGKILL and b"table" not in out:
        return f"no table after {number.name}: {err[-200:]!r}"
    return None


def front_of(environment: dict[str, str], n_jobs: int, how: str) -> str:
    """The front of one small problem, found in another process."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import numpy as np, threading\n"
        "from unisymnet import UniSymNetRegressor\n"
        "def work(_=0):\n"
        "    rng = np.random.default_rng(0)\n"
        "    X = rng.uniform(0.5, 2, (80, 3)); y = X[:, 0] * np.sin(X[:, 1]) + rng.normal(0, 0.1, 80)\n"
        f"    model = UniSymNetRegressor(max_time=None, max_evaluations=40, n_jobs={n_jobs}).fit(X, y)\n"
        "    return ' | '.join(map(str, (entry.formula for entry in model.front_)))\n"
        "def main():\n"
        f"    how = {how!r}\n"
        "    if how == 'thread':\n"
        "        found = []; t = threading.Thread(target=lambda: found.append(work())); t.start(); t.join(); print(found[0])\n"
        "    elif how == 'loky':\n"
        "        from joblib import Parallel, delayed\n"
        "        print(Parallel(2)(delayed(work)(i) for i in range(2))[1])\n"
        "    elif how == 'fork':\n"
        "        import multiprocessing as mp\n"
        "        with mp.get_context('fork').Pool(1) as pool: print(pool.map(work, [0])[0])\n"
        "    else: print(work())\n"
        "main()\n"
    )
    environment = os.environ | environment | {"PYTHONPATH": SOURCE, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", code, SOURCE], env=environment, capture_output=True, text=True, timeout=600
    )
    return done.stdout.strip() or f"failed: {done.stderr[-300:]}"


_SIZES = """
import json, resource, sys, time
import numpy as np
from unisymnet import UniSymNetRegressor
n, d, limit, seed = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
UniSymNetRegressor(max_time=1).fit(np.ones((4, 1)), np.arange(4.0))  # loads, or compiles, the kernels
rng = np.random.default_rng(seed)
X = rng.uniform(0.5, 2.0, (n, d))
used = sorted(map(int, rng.choice(d, 5, replace=False)))
a, b, c, e, f = used
y = 3.0 * X[:, a] * np.sin(X[:, b]) + X[:, c] ** 2 / X[:, e] - 2.0 * X[:, f] + rng.normal(0.0, 0.05, n)
began = time.process_time()
model = UniSymNetRegressor(max_time=limit, n_jobs=1, random_state=seed).fit(X, y)
over = time.process_time() - began - limit
kept = next((note for note in model.notes_ if "the search uses" in note), "")
named = [f"x{i}" in kept.split(";")[0].replace(",", "").split() for i in used] if d > 10 else [True] * 5
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"over": over, "found": sum(named), "memory": memory, "r2": model.score(X[:5000], y[:5000])}))
"""


def sized(n: int, d: int, limit: float, seed: int) -> dict[str, float]:
    """A fit of a table with five planted columns in a process of its own: time over, columns found, memory, R²."""
    words = [sys.executable, "-c", _SIZES, *map(str, (n, d, limit, seed))]
    done = subprocess.run(words, env=os.environ | {"PYTHONPATH": SOURCE}, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found
