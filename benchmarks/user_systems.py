"""Systems as a user brings them: 31 that no benchmark holds, with uneven steps, gaps, two runs, inputs, odd units.

    python benchmarks/user_systems.py --noise 0 0.01 0.05 --max-time 15 --out FILE.jsonl [--systems kepler,sir] [--show]

Prints for each level: reconstruction (R² > 0.9 of the first run from its true start), second start (of a run that was
not shown), and form (the true one, as `bench odebench` judges it).  UNISYMNET_CLOCK=processor counts processor time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unisymnet import DynamicsRegressor, System
from unisymnet.bench.odes.judging import _form
from unisymnet.bench.run import provenance
from unisymnet.dynamics.integrate import warm_up


@dataclass(frozen=True)
class Case:
    """Equations, starts (the last is kept back), end, number of points, an input as a function of the time."""

    equations: dict[str, str]
    starts: tuple[tuple[float, ...], ...]
    end: float
    n: int = 120
    drive: Callable[[float], float] | None = None
    order: int = 1

    @property
    def system(self) -> System:
        return System.parse(self.equations, inputs=["u"] if self.drive else [])


CASES = {
    "sir with births": Case(
        {"S": "20 - 0.02*S - 0.0006*S*I", "I": "0.0006*S*I - 0.22*I", "R": "0.2*I - 0.02*R"},
        ((950.0, 12.0, 40.0), (500.0, 60.0, 300.0)),
        60.0,
    ),
    "glycolysis": Case(
        {"x": "-x + 0.08*y + x**2*y", "y": "0.6 - 0.08*y - x**2*y"}, ((0.8, 1.4), (1.6, 0.6)), 40.0, 160
    ),
    "michaelis-menten chain": Case(
        {"a": "-2*a/(1.5 + a)", "b": "2*a/(1.5 + a) - 1.1*b/(0.6 + b)", "c": "1.1*b/(0.6 + b) - 0.1*c"},
        ((6.0, 0.3, 0.1), (3.0, 2.0, 1.0)),
        14.0,
    ),
    "driven pendulum": Case(
        {"th": "w", "w": "-4*sin(th) - 0.25*w + 1.5*u"},
        ((1.2, 0.0), (-0.5, 2.0)),
        20.0,
        200,
        lambda t: float(np.sin(1.3 * t) + 0.5 * np.cos(0.4 * t)),
    ),
    "two tanks": Case({"h": "0.4 - 0.5*sqrt(h)", "k": "0.5*sqrt(h) - 0.3*sqrt(k)"}, ((3.0, 0.2), (0.3, 4.0)), 20.0, 80),
    "chemostat": Case(
        {"n": "0.55*n*s/(4 + s) - 0.15*n", "s": "0.15*(20 - s) - 1.3*n*s/(4 + s)"},
        ((0.4, 18.0), (2.0, 5.0), (5.0, 12.0)),
        40.0,
    ),
    "fitzhugh-nagumo": Case(
        {"v": "3*(v - v**3/3 + w + 0.4)", "w": "-(v - 0.7 + 0.8*w)/3"}, ((-1.0, 1.0), (1.5, -0.4)), 20.0, 200
    ),
    "type two response": Case(
        {"n": "0.8*n*(1 - n/30) - 0.5*n*p/(6 + n)", "p": "0.3*n*p/(6 + n) - 0.12*p"},
        ((20.0, 4.0), (8.0, 12.0), (25.0, 9.0)),
        60.0,
        150,
    ),
    "duffing": Case(
        {"x": "x_dot", "x_dot": "1.1*x - 0.9*x**3 - 0.15*x_dot"}, ((1.6, 0.0), (-0.4, 1.5)), 20.0, 200, order=2
    ),
    "kepler": Case(
        {
            "x": "x_dot",
            "y": "y_dot",
            "x_dot": "-4*x/(x**2 + y**2)**1.5",
            "y_dot": "-4*y/(x**2 + y**2)**1.5",
        },
        ((1.0, 0.0, 0.0, 1.7), (1.4, 0.3, -0.4, 1.3)),
        8.0,
        160,
        order=2,
    ),
    "circuit with a source": Case(
        {"V": "(u - V)/0.47", "i": "2.2*(V - 1.8*i)"},
        ((0.0, 0.0), (2.0, 1.0)),
        12.0,
        120,
        lambda t: float(np.sign(np.sin(1.1 * t))),
    ),
    "predator that switches": Case(
        {
            "a": "0.7*a*(1 - a/10) - 0.6*a**2*p/(9 + a**2)",
            "p": "0.25*a**2*p/(9 + a**2) - 0.1*p",
        },
        ((6.0, 2.0), (3.0, 5.0), (9.0, 1.0)),
        60.0,
        150,
    ),
    "gompertz tumour": Case({"v": "0.45*v*ln(900/v)"}, ((12.0,), (1500.0,)), 15.0, 60),
    "phages and bacteria": Case(
        {"B": "0.5*B*(1 - B/1.2e9) - 0.012*B*p", "p": "6e-10*B*p - 0.3*p"}, ((3e8, 15.0), (9e8, 40.0)), 40.0, 150
    ),
    "complex in nanomoles": Case(
        {"c": "4e7*f*g - 0.03*c", "f": "0.03*c - 4e7*f*g", "g": "0.03*c - 4e7*f*g"},
        ((0.0, 3e-9, 2e-9), (2e-9, 5e-10, 1e-9)),
        60.0,
        100,
    ),
    # Sixteen more, written down before the search saw them.
    "rosenzweig": Case(
        {"R": "R*(1 - R/5) - 0.9*R*C/(1 + 0.6*R)", "C": "0.7*R*C/(1 + 0.6*R) - 0.5*C"},
        ((2.0, 1.0), (4.0, 0.5), (1.0, 2.0)),
        40.0,
        150,
    ),
    "two compartments": Case({"c": "-0.9*c + 0.25*p", "p": "0.4*c - 0.25*p"}, ((10.0, 0.0), (2.0, 6.0)), 15.0, 60),
    "seir": Case(
        {"S": "-0.5*S*I", "E": "0.5*S*I - 0.2*E", "I": "0.2*E - 0.1*I"},
        ((0.95, 0.03, 0.02), (0.6, 0.1, 0.1)),
        80.0,
        160,
    ),
    "radiating body": Case({"T": "-0.05*(T - 3) - 0.002*(T**4 - 81)"}, ((9.0,), (1.0,)), 20.0, 60),
    "substrate inhibition": Case({"S": "-1.2*S/(0.5 + S + S**2/4)"}, ((8.0,), (3.0,)), 20.0, 80),
    "reversible binding": Case(
        {"A": "-0.6*A*B + 0.15*C", "B": "-0.6*A*B + 0.15*C", "C": "0.6*A*B - 0.15*C"},
        ((2.0, 1.5, 0.1), (0.5, 1.6, 2.0)),
        12.0,
        80,
    ),
    "van der pol": Case({"x": "y", "y": "1.4*(1 - x**2)*y - x"}, ((0.5, 0.0), (2.0, -1.0)), 25.0, 250),
    "damped pendulum 2": Case(
        {"q": "q_dot", "q_dot": "-9.81*sin(q) - 0.3*q_dot"}, ((2.0, 0.0), (-1.0, 2.0)), 8.0, 160, order=2
    ),
    "quadratic drag": Case({"v": "9.81 - 0.04*v**2"}, ((0.0,), (30.0,)), 5.0, 50),
    "heated room": Case(
        {"T": "-0.3*(T - 5) + 0.8*u"}, ((20.0,), (8.0,)), 24.0, 120, lambda t: float(5 + 4 * np.sin(0.6 * t))
    ),
    "three competitors": Case(
        {"x": "x*(1 - x - 0.5*y - 0.3*z)", "y": "0.8*y*(1 - 0.7*x - y - 0.4*z)", "z": "0.6*z*(1 - 0.2*x - 0.6*y - z)"},
        ((0.2, 0.1, 0.5), (0.6, 0.8, 0.1), (0.1, 0.9, 0.9)),
        25.0,
        120,
    ),
    "lorenz": Case(
        {"x": "10*(y - x)", "y": "x*(28 - z) - y", "z": "x*y - 8/3*z"}, ((-8.0, 7.0, 27.0), (3.0, 3.0, 20.0)), 4.0, 400
    ),
    "goodwin loop": Case({"m": "2/(1 + p**2) - 0.4*m", "p": "0.8*m - 0.3*p"}, ((0.2, 0.1), (2.0, 3.0)), 25.0, 120),
    "rocket with fuel": Case({"v": "30/(10 + f) - 0.5", "f": "-0.4"}, ((0.0, 6.0), (2.0, 3.0)), 10.0, 60),
    "allee": Case({"n": "0.3*n*(n/2 - 1)*(1 - n/9)"}, ((2.6,), (1.5,)), 30.0, 80),
    "spring with cubic and drive": Case(
        {"x": "v", "v": "-2*x - 0.5*x**3 - 0.2*v + u"},
        ((1.0, 0.0), (0.0, 1.0)),
        20.0,
        200,
        lambda t: float(1.5 * np.cos(1.1 * t)),
    ),
}


def runs_of(case: Case, noise: float, seed: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Times (uneven, one gap), measured states with noise of a share of their spread, the input."""
    rng = np.random.default_rng([seed, len(case.equations), case.n])
    found = []
    for start in case.starts[:-1]:
        t = np.sort(np.concatenate([[0.0, case.end], rng.uniform(0.0, case.end, case.n - 2)]))
        t = t[np.concatenate([[True], np.diff(t) > 1e-3 * case.end / case.n])]
        gap = rng.uniform(0.3, 0.6) * case.end
        t = t[(t < gap) | (t > gap + 0.04 * case.end)]
        x = simulated(case, case.system, start, t)
        d = len(case.equations) // case.order
        noisy = x[:, :d] + noise * x[:, :d].std(axis=0) * rng.normal(size=(len(t), d))
        found.append((t, noisy, np.array([[case.drive(v)] for v in t]) if case.drive else np.empty((len(t), 0))))
    return found


def simulated(case: Case, system: System, start: tuple[float, ...], t: np.ndarray) -> np.ndarray:
    drive = None if case.drive is None else lambda now: [case.drive(now)]
    return system.simulate(start, t, drive, rtol=1e-9)


def r2(case: Case, found: System, start: tuple[float, ...]) -> float:
    """The mean over the states, so that a state of 1e9 does not hide the others."""
    t = np.linspace(0.0, case.end, 300)
    truth, guess = simulated(case, case.system, start, t), simulated(case, found, start, t)
    shares = np.sum((guess - truth) ** 2, axis=0) / np.sum((truth - truth.mean(axis=0)) ** 2, axis=0)
    return float(1.0 - np.mean(shares)) if np.isfinite(shares).all() else float("-inf")


def right_form(case: Case, found: System) -> bool:
    t = np.linspace(0.0, case.end, 300)
    points = np.concatenate([simulated(case, case.system, start, t) for start in case.starts])
    if case.drive:
        points = np.column_stack([points, np.tile([case.drive(v) for v in t], len(case.starts))])
    d = len(case.equations)
    rates = np.column_stack([case.system.rhs(points[:, :d], 0.0, points[:, d:] if case.drive else None)])
    return all(_form(expr, points, rates[:, k])[0] for k, expr in enumerate(found.exprs))


def record(name: str, case: Case, noise: float, seed: int, max_time: float, show: bool) -> dict[str, object]:
    runs = runs_of(case, noise, seed)
    names = list(case.equations)[: len(case.equations) // case.order]
    began = time.process_time()
    model = DynamicsRegressor(max_time=max_time, order=case.order)
    inputs = [u for _, _, u in runs] if case.drive else None
    model.fit([t for t, _, _ in runs], [x for _, x, _ in runs], states=names, inputs=inputs)
    spent = time.process_time() - began
    if show:
        print(model)
    found = model.system_
    return {
        "system": name,
        "noise": noise,
        "seed": seed,
        "max_time": max_time,
        "cpu": round(spent, 2),
        "r2": r2(case, found, case.starts[0]),
        "r2_second": r2(case, found, case.starts[-1]),
        "form": right_form(case, found),
        "score": model.score(),
        "equations": found.lines(6),
        "truth": case.system.lines(6),
        "notes": list(found.notes),
        **provenance(),
    }


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.01, 0.05])
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--max-time", type=float, default=15.0)
    ask.add_argument("--systems", default="")
    ask.add_argument("--out")
    ask.add_argument("--show", action="store_true", help="print what a user reads")
    given = ask.parse_args()
    wanted = [word.strip() for word in given.systems.split(",") if word.strip()]
    warm_up()
    known: dict[tuple[object, ...], dict[str, object]] = {}
    if given.out and Path(given.out).is_file():
        every = [json.loads(line) for line in Path(given.out).read_text("utf-8").splitlines()]
        known = {(one["system"], one["noise"], one["seed"], one["max_time"]): one for one in every}
    for noise in given.noise:
        records = []
        for name, case in CASES.items():
            if wanted and not any(word in name for word in wanted):
                continue
            key = name, noise, given.seed, given.max_time
            if key not in known:
                known[key] = record(name, case, noise, given.seed, given.max_time, given.show)
                if given.out:
                    with open(given.out, "a", encoding="utf-8") as file:
                        file.write(json.dumps(known[key], ensure_ascii=False) + "\n")
            one = known[key]
            records.append(one)
            good = f"R² {one['r2']:.3f} {one['r2_second']:.3f}" + (" form" if one["form"] else "")
            print(
                f"{name}, noise {noise:g}: {good}, {one['cpu']} s\n    " + "\n    ".join(one["equations"]), flush=True
            )
        counts = [sum(one["r2"] > 0.9 for one in records), sum(one["r2_second"] > 0.9 for one in records)]
        print(f"noise {noise:g}: {counts[0]} / {counts[1]} / {sum(one['form'] for one in records)} of {len(records)}")


if __name__ == "__main__":
    main()
