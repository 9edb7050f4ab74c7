"""The benchmark problems: what they are, and how their rows are drawn.

The only place in the package that knows a benchmark formula; the formulas themselves are rows of
catalogs/*.csv (made by benchmarks/make_catalogs.py). It does not know methods, seeds, splits, the noise
levels of a study, or how a result is judged. Strogatz orbits are simulated anew by the scheme of their
authors' model; no file of points is shipped.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise
from typing import Literal

import numpy as np

from ..arrays import Floats
from ..symbolic import Expr, evaluate, parse

Part = Literal["train", "test", "wide"]
Form = Literal["paper", "canonical"]
Kind = Literal["uniform", "grid", "orbit", "solved", "friedman1", "friedman2", "friedman3", "diabetes"]

STANDARD = ("nguyen", "nguyen*", "constant", "keijzer", "livermore", "jin", "r", "koza")
CATALOGS = ("standard", "feynman", "strogatz", "transform")
HALVES = {"transform-development": "development", "transform-test": "test"}
ORBIT_STEP, ORBIT_LENGTH = 0.1, 100
MAX_DRAWS = 200  # batches drawn before a truth that is hardly ever finite is given up

# Noise of the generators as in Friedman's and Breiman's studies (a signal-to-noise ratio of about 3 to 1).
FRIEDMAN_NOISE = {"friedman1": 1.0, "friedman2": 125.0, "friedman3": 0.1}


@dataclass(frozen=True)
class BenchProblem:
    """One problem of a catalog.

    `expression` is written in x0, x1, … and is None where no truth is known (black-box sets). `names` are the
    columns' original names, for display. `low` and `high` bound each column. `n_train` and `n_test` are the
    published numbers of rows. `scored` says whether SRBench 2021 counts the problem, `inverse` whether the
    truth holds asin or acos, and `same_as` names other problems with the same function. `system` holds dx/dt
    and dy/dt of an orbit. A "solved" problem is a law of another suite turned round: input `pivot` of `law` is the
    target, and the law's value the last column; `half` says whether it may be looked at while the search is changed.
    """

    name: str
    suite: str
    expression: str | None
    names: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    kind: Kind
    n_train: int
    n_test: int
    canonical: str | None = None
    starts: tuple[tuple[float, float], ...] = ()
    system: tuple[str, str] | None = None
    scored: bool = False
    inverse: bool = False
    same_as: tuple[str, ...] = ()
    law: str = ""
    pivot: int = 0
    half: str = ""

    @property
    def n_features(self) -> int:
        return len(self.names)

    @cached_property
    def expr(self) -> Expr | None:
        """The truth as a formula, or None for a black-box problem."""
        return None if self.expression is None else parse(self.expression)

    def evaluate(self, X: Floats) -> Floats:
        """The truth on the rows of `X`; nan or inf where it is not defined."""
        if self.expr is None:
            raise ValueError(f"{self.name} is a black-box problem: it has no known truth to evaluate")
        return evaluate(self.expr, X)

    def sample(
        self, n: int | None = None, *, rng: np.random.Generator, part: Part = "train", factor: float = 0.1
    ) -> tuple[Floats, Floats]:
        """Draw rows: X of shape (n, n_features) and the noise-free target (black-box sets keep their noise).

        "train" follows the catalog: uniform draws, an equispaced grid, or all rows of the simulated orbits
        (of which `n` picks some at random). "test" draws uniformly from the same ranges. "wide" draws from
        the ranges widened by `factor` of their length on each side. Only rows with a finite truth come back.
        """
        if self.expression is None:
            return _black_box(self, n, rng, part)
        if part == "train" and self.kind == "orbit":
            X, y = _orbits(self)
            return (X, y) if n is None else _pick(X, y, n, rng)
        if part == "train" and self.kind == "grid":
            X = np.linspace(self.low[0], self.high[0], self.n_train if n is None else n)[:, None]
            y = self.evaluate(X)
            return X[np.isfinite(y)], y[np.isfinite(y)]
        if n is None:
            n = self.n_train if part == "train" else self.n_test
        draw = _solved if self.kind == "solved" else _uniform
        return draw(self, n, rng, factor if part == "wide" else 0.0)


def suites() -> dict[str, tuple[str, int]]:
    """What `load_suite` takes: name -> (what it is, number of problems)."""
    standard = [row.suite for row in _catalog("standard")]
    listing = {
        "standard": ("one- and two-variable problems of eight classic suites", len(standard)),
        "feynman": ("99 laws of the Feynman lectures and 20 bonus equations", len(_catalog("feynman"))),
        "strogatz": ("rates of seven two-state systems along simulated orbits", len(_catalog("strogatz"))),
        "blackbox": ("data without a known law that scikit-learn ships or generates", len(_BLACK_BOXES)),
    }
    transform = [row.half for row in _catalog("transform")]
    listing["transform"] = ("Feynman laws solved for one of their inputs", len(transform))
    listing |= {name: (f"half of transform: {half}", transform.count(half)) for name, half in HALVES.items()}
    return listing | {name: (f"part {name} of standard", standard.count(name)) for name in STANDARD}


def load_suite(name: str, *, form: Form = "paper") -> tuple[BenchProblem, ...]:
    """The problems of a suite, in the catalog's order.

    `form` chooses, for the few standard problems where they differ, between the expression that the paper
    prints and the canonical one of the literature.
    """
    key = name.lower()
    if key in CATALOGS:
        problems = _catalog(key)
    elif key in HALVES:
        problems = tuple(problem for problem in _catalog("transform") if problem.half == HALVES[key])
    elif key in STANDARD:
        problems = tuple(problem for problem in _catalog("standard") if problem.suite == key)
    elif key == "blackbox":
        problems = _BLACK_BOXES
    else:
        raise ValueError(f"there is no suite {name!r}; use one of {', '.join(suites())}")
    return tuple(map(_canonical, problems)) if form == "canonical" else problems


def find_problem(name: str, *, form: Form = "paper") -> BenchProblem:
    """The one problem called `name`, in whatever suite it is."""
    for suite in (*CATALOGS, "blackbox"):
        for problem in load_suite(suite, form=form):
            if problem.name == name:
                return problem
    raise ValueError(f"there is no benchmark problem {name!r}; `load_suite` lists them by suite")


def add_noise(y: Floats, gamma: float, *, rng: np.random.Generator) -> Floats:
    """`y` with Gaussian noise of standard deviation gamma * sqrt(mean(y^2)): SRBench's rule for training."""
    if gamma < 0:
        raise ValueError(f"the noise level must not be negative, got {gamma}")
    if gamma == 0:
        return y
    return y + rng.normal(0.0, gamma * float(np.sqrt(np.mean(np.square(y)))), size=y.shape)


@cache
def _catalog(name: str) -> tuple[BenchProblem, ...]:
    text = files(__package__).joinpath("catalogs", f"{name}.csv").read_text(encoding="utf-8")
    problems = tuple(_from_row(row) for row in csv.DictReader(text.splitlines()))
    if name != "strogatz":
        return problems
    rates = {problem.name: str(problem.expression) for problem in problems}
    # The two problems of a system share a name but for the last digit: 1 is dx/dt, 2 is dy/dt.
    return tuple(replace(p, system=(rates[p.name[:-1] + "1"], rates[p.name[:-1] + "2"])) for p in problems)


def _from_row(row: dict[str, str]) -> BenchProblem:
    starts = [start.split(";") for start in row["starts"].split("|") if start]
    return BenchProblem(
        name=row["name"],
        suite=row["suite"],
        expression=row["expression"],
        names=tuple(row["names"].split(";")),
        low=tuple(map(float, row["low"].split(";"))),
        high=tuple(map(float, row["high"].split(";"))),
        kind=row["kind"],  # type: ignore[arg-type]  # our own file, checked by the tests
        n_train=int(row["n_train"]),
        n_test=int(row["n_test"]),
        canonical=row["canonical"] or None,
        starts=tuple((float(x), float(y)) for x, y in starts),
        scored=row["scored"] == "1",
        inverse=row["inverse"] == "1",
        same_as=tuple(name for name in row["same_as"].split(";") if name),
        law=row.get("law", ""),
        pivot=int(row.get("pivot") or 0),
        half=row.get("half", ""),
    )


def _canonical(problem: BenchProblem) -> BenchProblem:
    if problem.canonical is None:
        return problem
    # Livermore-14 has a second variable in its canonical form, with the range of the first.
    names = ("x0", "x1") if "x1" in problem.canonical else problem.names
    ranges = {"low": problem.low, "high": problem.high}
    wider = {side: (*bounds, *bounds[-1:])[: len(names)] for side, bounds in ranges.items()}
    return replace(problem, expression=problem.canonical, names=names, low=wider["low"], high=wider["high"])


def _uniform(problem: BenchProblem, n: int, rng: np.random.Generator, factor: float) -> tuple[Floats, Floats]:
    low, high = np.array(problem.low), np.array(problem.high)
    margin = factor * (high - low)
    X, y = np.empty((0, problem.n_features)), np.empty(0)
    for _ in range(MAX_DRAWS):
        drawn = rng.uniform(low - margin, high + margin, size=(n, problem.n_features))
        truth = problem.evaluate(drawn)
        keep = np.isfinite(truth)
        X, y = np.concatenate([X, drawn[keep]]), np.concatenate([y, truth[keep]])
        if len(y) >= n:
            return X[:n], y[:n]
    raise ValueError(f"{problem.name}: only {len(y)} of {MAX_DRAWS * n} draws have a finite truth, {n} are needed")


def _solved(problem: BenchProblem, n: int, rng: np.random.Generator, factor: float) -> tuple[Floats, Floats]:
    """Rows of the law itself, turned round; beyond its range only those of the same branch."""
    law = next(one for one in _catalog("feynman") if one.name == problem.law)
    X, y = np.empty((0, problem.n_features)), np.empty(0)
    for _ in range(MAX_DRAWS):
        drawn, values = _uniform(law, n, rng, factor)
        rows = np.column_stack([np.delete(drawn, problem.pivot, axis=1), values])
        wanted = drawn[:, problem.pivot]
        keep = np.isclose(problem.evaluate(rows), wanted, rtol=1e-6, atol=1e-12)
        X, y = np.concatenate([X, rows[keep]]), np.concatenate([y, wanted[keep]])
        if len(y) >= n:
            return X[:n], y[:n]
    raise ValueError(f"{problem.name}: only {len(y)} of {MAX_DRAWS * n} rows are on its branch, {n} are needed")


def _orbits(problem: BenchProblem) -> tuple[Floats, Floats]:
    """All four orbits, one after the other, each in time order."""
    assert problem.system is not None
    f, g = (parse(rate) for rate in problem.system)
    states = np.empty((ORBIT_LENGTH, len(problem.starts), 2))
    states[0] = problem.starts
    for now, then in pairwise(states):
        then[:] = _orbit_step(f, g, now)
    X = states.transpose(1, 0, 2).reshape(-1, 2)
    return X, problem.evaluate(X)


def _orbit_step(f: Expr, g: Expr, state: Floats) -> Floats:
    """One step as in the authors' Simulink model: x is sampled, so Euler; y goes by ode3 (Bogacki–Shampine).

    Within the step x moves on a straight line. An accurate solver gives other orbits than the published ones.
    """
    h = ORBIT_STEP
    dx = evaluate(f, state)
    k1 = evaluate(g, state)
    k2 = evaluate(g, state + h / 2 * np.column_stack([dx, k1]))
    k3 = evaluate(g, state + 3 * h / 4 * np.column_stack([dx, k2]))
    return state + h * np.column_stack([dx, (2 * k1 + 3 * k2 + 4 * k3) / 9])


def _pick(X: Floats, y: Floats, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    if n > len(y):
        raise ValueError(f"asked for {n} rows of a table of {len(y)}; ask for fewer or leave n out")
    # In the table's order, so that orbits stay readable.
    rows = np.sort(rng.choice(len(y), size=n, replace=False))
    return X[rows], y[rows]


def _black_box(problem: BenchProblem, n: int | None, rng: np.random.Generator, part: Part) -> tuple[Floats, Floats]:
    from sklearn import datasets

    if part == "wide":
        raise ValueError(f"{problem.name} is a black-box problem: nothing is known outside its data")
    if problem.kind == "diabetes":
        X, y = datasets.load_diabetes(return_X_y=True)
        return (X, y) if n is None else _pick(X, y, n, rng)
    if n is None:
        n = problem.n_train if part == "train" else problem.n_test
    make = getattr(datasets, f"make_{problem.kind}")
    return make(n_samples=n, noise=FRIEDMAN_NOISE[problem.kind], random_state=int(rng.integers(2**31)))


def _black_box_problem(kind: Kind, names: str, n_train: int, n_test: int) -> BenchProblem:
    columns = tuple(names.split())
    unknown = (float("nan"),) * len(columns)
    return BenchProblem(kind, "blackbox", None, columns, unknown, unknown, kind, n_train, n_test)


_BLACK_BOXES = (
    _black_box_problem("friedman1", "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9", 750, 250),
    _black_box_problem("friedman2", "x0 x1 x2 x3", 750, 250),
    _black_box_problem("friedman3", "x0 x1 x2 x3", 750, 250),
    _black_box_problem("diabetes", "age sex bmi bp s1 s2 s3 s4 s5 s6", 331, 111),
)
