"""Partial differential equations that we simulate ourselves, and how well they are found again: `bench pde`.

Eight equations on periodic grids: fields, axes, and the terms that a search should find.  Every one is fitted with
noise; the terms found are held against the true ones, and the coefficients' errors told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..pde import PDERegressor
from ..pde.spectral import Flow, evolve, follow, wave_numbers
from ..pde.system import Equation, PDESystem
from ..pde.terms import Term
from .records import Key, Record, chosen, performed
from .run import provenance

Truth = dict[Term, float]


@dataclass(frozen=True)
class PDEProblem:
    """Clean fields over axes, what holds for each of them, and fields that only carry others."""

    name: str
    fields: dict[str, Floats]
    axes: dict[str, Floats]
    truth: dict[str, Truth]
    order: int = 1
    given: tuple[str, ...] = ()


def _line(length: float, n: int, start: float = 0.0) -> Floats:
    return start + np.arange(n) * length / n


def _one(order: int, power: int) -> Term:
    return Term((order,), (power,))


def _evolved(
    name: str, length: float, axes: dict[str, Floats], start: Sequence[Floats], truth: dict[str, Truth]
) -> PDEProblem:
    """Fields that follow their equations from the start, on axes of one length, the last of which is time."""
    flow = Flow(tuple(map(tuple, truth.values())), tuple(tuple(terms.values()) for terms in truth.values()))
    fields = evolve(flow, np.stack(start), [length] * (len(axes) - 1), axes["t"])
    return PDEProblem(name, dict(zip(truth, fields, strict=True)), axes, truth)


def _alone(name: str, length: float, x: Floats, t: Floats, start: Floats, truth: Truth) -> PDEProblem:
    return _evolved(name, length, {"x": x, "t": t}, [start], {"u": truth})


def _smooth(n: int, length: float, waves: float, seed: int) -> Floats:
    """A random field of spread 1 with about so many waves on each axis, which repeats itself."""
    kx, ky = wave_numbers((n, n), (length, length))
    size = np.hypot(kx, ky) * length / (2.0 * np.pi)
    rough = np.fft.fftn(np.random.default_rng(seed).standard_normal((n, n)))
    field = np.fft.ifftn(rough * np.exp(-((size - waves) ** 2) / 2.0) * (size > 0.0)).real
    return np.asarray(field / field.std())


def burgers() -> PDEProblem:
    """A bump that steepens and is smoothed: u_t = -u·u_x + 0.1·u_xx."""
    x = _line(16.0, 256, -8.0)
    truth = {_one(1, 2): -0.5, _one(2, 1): 0.1}
    return _alone("burgers", 16.0, x, np.linspace(0.0, 10.0, 101), np.exp(-((x + 2.0) ** 2)), truth)


def heat() -> PDEProblem:
    """u_t = 0.2·u_xx."""
    x = _line(2.0 * np.pi, 256)
    start = np.sin(x) + 0.5 * np.cos(3.0 * x) + np.exp(-4.0 * (x - 3.0) ** 2)
    return _alone("heat", 2.0 * np.pi, x, np.linspace(0.0, 2.0, 101), start, {_one(2, 1): 0.2})


def kdv() -> PDEProblem:
    """Two solitons, one overtaking the other: u_t = -6·u·u_x - u_xxx."""
    x = _line(60.0, 256, -30.0)
    start = sum(c / 2.0 / np.cosh(np.sqrt(c) / 2.0 * (x - a)) ** 2 for c, a in ((2.0, -15.0), (0.7, 0.0)))
    truth = {_one(1, 2): -3.0, _one(3, 1): -1.0}
    return _alone("kdv", 60.0, x, np.linspace(0.0, 20.0, 201), np.asarray(start), truth)


def kuramoto_sivashinsky() -> PDEProblem:
    """Chaos of flames: u_t = -u·u_x - u_xx - u_xxxx."""
    length = 32.0 * np.pi
    x = _line(length, 512)
    start = np.cos(x / 16.0) * (1.0 + np.sin(x / 16.0))
    truth = {_one(1, 2): -0.5, _one(2, 1): -1.0, _one(4, 1): -1.0}
    return _alone("kuramoto-sivashinsky", length, x, np.linspace(0.0, 100.0, 251), start, truth)


def schroedinger() -> PDEProblem:
    """The cubic Schrödinger equation, real and imaginary part as two fields."""
    x = _line(10.0, 256, -5.0)
    u = {Term((2,), (0, 1)): -0.5, Term((0,), (2, 1)): -1.0, Term((0,), (0, 3)): -1.0}
    v = {Term((2,), (1, 0)): 0.5, Term((0,), (3, 0)): 1.0, Term((0,), (1, 2)): 1.0}
    axes = {"x": x, "t": np.linspace(0.0, np.pi, 201)}
    return _evolved("schroedinger", 10.0, axes, [2.0 / np.cosh(x), np.zeros_like(x)], {"u": u, "v": v})


def wave() -> PDEProblem:
    """u_tt = 2.25·u_xx."""
    x, t = _line(2.0 * np.pi, 128), np.linspace(0.0, 4.0, 161)
    truth = {_one(2, 1): 2.25}
    system = PDESystem(("u",), ("x",), "t", (Equation("u", tuple(truth), tuple(truth.values()), (0.0,), 1.0),), 2)
    start = np.exp(-3.0 * (x - 3.0) ** 2) + 0.3 * np.sin(2.0 * x)
    found = system.simulate({"u": start, "u_t": np.zeros_like(x)}, {"x": x, "t": t})
    return PDEProblem("wave", found, {"x": x, "t": t}, {"u": truth}, order=2)


def reaction_diffusion() -> PDEProblem:
    """Waves in two dimensions: two fields that diffuse, grow, saturate and turn into each other."""
    n, length = 64, 20.0
    line = _line(length, n, -length / 2.0)
    none, far, across = (0, 0), (2, 0), (0, 2)
    u = {Term(far, (1, 0)): 0.1, Term(across, (1, 0)): 0.1, Term(none, (1, 0)): 1.0, Term(none, (3, 0)): -1.0,
         Term(none, (1, 2)): -1.0, Term(none, (0, 3)): 1.0, Term(none, (2, 1)): 1.0}  # fmt: skip
    v = {Term(far, (0, 1)): 0.1, Term(across, (0, 1)): 0.1, Term(none, (0, 1)): 1.0, Term(none, (0, 3)): -1.0,
         Term(none, (2, 1)): -1.0, Term(none, (3, 0)): -1.0, Term(none, (1, 2)): -1.0}  # fmt: skip
    start = [_smooth(n, length, 2.0, seed) for seed in (1, 2)]
    axes = {"x": line, "y": line, "t": np.linspace(0.0, 10.0, 101)}
    return _evolved("reaction-diffusion", length, axes, start, {"u": u, "v": v})


def vorticity() -> PDEProblem:
    """Navier–Stokes in two dimensions: vorticity w carried by the velocity (u, v) that it makes, and viscosity."""
    n, length, viscosity = 64, 2.0 * np.pi, 0.02
    line, t = _line(length, n), np.linspace(0.0, 4.0, 101)
    kx, ky = wave_numbers((n, n), (length, length))
    square = kx**2 + ky**2
    inverse = np.where(square > 0.0, 1.0 / np.where(square > 0.0, square, 1.0), 0.0)
    keep = (np.abs(kx) < n / 3) & (np.abs(ky) < n / 3)

    def velocity(state: NDArray[np.complex128]) -> tuple[Floats, Floats]:
        stream = state * inverse
        return np.fft.ifftn(1j * ky * stream).real, np.fft.ifftn(-1j * kx * stream).real

    def slopes(state: NDArray[np.complex128]) -> NDArray[np.complex128]:
        u, v = velocity(state[0])
        w = np.fft.ifftn(state[0]).real
        return (-(1j * kx * np.fft.fftn(u * w) + 1j * ky * np.fft.fftn(v * w)) * keep)[None]

    start = 4.0 * _smooth(n, length, 3.0, 0)
    decay = (-viscosity * square[None]).astype(complex)
    w = np.stack([fields[0] for fields in follow(decay, slopes, start[None], t)], axis=-1)
    both = [velocity(np.fft.fftn(w[..., i])) for i in range(len(t))]
    u, v = (np.stack([pair[k] for pair in both], axis=-1) for k in (0, 1))
    truth = {Term((2, 0), (1, 0, 0)): viscosity, Term((0, 2), (1, 0, 0)): viscosity,
             Term((1, 0), (1, 1, 0)): -1.0, Term((0, 1), (1, 0, 1)): -1.0}  # fmt: skip
    axes = {"x": line, "y": line, "t": t}
    return PDEProblem("vorticity", {"w": w, "u": u, "v": v}, axes, {"w": truth}, given=("u", "v"))


PROBLEMS: dict[str, Callable[[], PDEProblem]] = {
    make.__name__.replace("_", "-"): make
    for make in (burgers, heat, kdv, kuramoto_sivashinsky, schroedinger, wave, reaction_diffusion, vorticity)
}


def run_pdes(names: Sequence[str] | None, noise: float, seed: int, out: Path | None) -> list[Record]:
    """One record for every problem; what the file holds is not run again."""

    def perform(key: Key) -> Record:
        return {"suite": "pde", **judged(PROBLEMS[key["problem"]](), noise, seed), **provenance()}

    keys = [{"problem": name, "noise": noise, "seed": seed} for name in chosen(list(PROBLEMS), names, "bench pde")]
    return performed(keys, out, perform)


def judged(problem: PDEProblem, noise: float, seed: int) -> Record:
    """Fit with noise relative to each field's spread; is the form right, and how far are the coefficients off?"""
    rng = np.random.default_rng(seed)
    fields = {k: v + noise * np.std(v) * rng.standard_normal(v.shape) for k, v in problem.fields.items()}
    began = time.process_time()
    model = PDERegressor(order=problem.order).fit(fields, problem.axes, given=problem.given)
    seconds = time.process_time() - began
    right, worst = True, 0.0
    for equation in model.system_.equations:
        truth = problem.truth.get(equation.field)
        if truth is None:
            continue
        found = dict(zip(equation.terms, equation.coefficients, strict=True))
        right &= set(found) == set(truth)
        worst = max([worst, *(abs(found.get(term, 0.0) - c) / abs(c) for term, c in truth.items())])
    return {
        "problem": problem.name, "noise": noise, "seed": seed, "form": right, "error": worst,
        "time": round(seconds, 3), "found": model.system_.lines(),
    }  # fmt: skip
