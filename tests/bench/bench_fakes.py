"""Methods that behave badly on purpose, and one that cheats. Workers import this file by name."""

import os
import signal
import time
from typing import Any

import numpy as np

from unisymnet.bench.methods import Method
from unisymnet.bench.problems import BenchProblem, load_suite
from unisymnet.symbolic import evaluate, parse


def recognise(X: Any, y: Any) -> BenchProblem:
    """The problem of the suite koza that is nearest; noise may be on y."""
    return min(load_suite("koza"), key=lambda problem: float(np.mean(np.abs(problem.evaluate(X) - y))))


def fit_truth(X: Any, y: Any, **_: Any) -> str:
    print("this must not reach the pipe of the worker")
    return str(recognise(X, y).expression)


def fit_crash(X: Any, y: Any, **_: Any) -> str:
    if recognise(X, y).name == "Koza-2":
        os.kill(os.getpid(), signal.SIGKILL)
    return fit_truth(X, y)


def fit_sleep(X: Any, y: Any, **_: Any) -> str:
    time.sleep(1000)
    return "0"


def fit_raise(X: Any, y: Any, **_: Any) -> str:
    raise ValueError("no thanks")


def fit_hog(X: Any, y: Any, **_: Any) -> str:
    blocks = []
    while True:
        blocks.append(np.ones(2**21))  # 16 MB a piece, touched, so resident
        time.sleep(0.01)


def fit_unreadable(X: Any, y: Any, **_: Any) -> str:
    return "mystery(x0)"


def text(model: str) -> str:
    return model


def predict(model: str, X: Any) -> Any:
    return np.zeros(len(X)) if "mystery" in model else evaluate(parse(model), X)


def sleep_in_predict(model: str, X: Any) -> Any:
    raise SystemExit(7)


TRUTH = Method("truth", fit_truth, text, predict, "numpy")
CRASH = Method("crash", fit_crash, text, predict, "numpy")
SLEEP = Method("sleep", fit_sleep, text, predict, "numpy")
RAISE = Method("raise", fit_raise, text, predict, "numpy")
HOG = Method("hog", fit_hog, text, predict, "numpy")
UNREADABLE = Method("unreadable", fit_unreadable, text, predict, "numpy")
LATE = Method("late", fit_truth, text, sleep_in_predict, "numpy")
MISSING = Method("missing", fit_truth, text, predict, "no-such-package", ("no_such_module",), "bench")


def fit_slow(X: Any, y: Any, **_: Any) -> str:
    time.sleep(0.7)
    return fit_truth(X, y)


SLOW = Method("slow", fit_slow, text, predict, "numpy")
