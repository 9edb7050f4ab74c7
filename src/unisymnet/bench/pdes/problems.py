"""Eight equations, simulated on periodic grids: fields, axes, and the terms that a search should find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats
from ...pde.spectral import Flow, evolve, follow, wave_numbers
from ...pde.system import Equation, PDESystem
from ...pde.terms import Term

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


def _alone(name: str, length: float, x: Floats, t: Floats, start: Floats, truth: Truth) -> PDEProblem:
    flow = Flow((tuple(truth),), (tuple(truth.values()),))
    field = evolve(flow, start[None], [length], t)[0]
    return PDEProblem(name, {"u": field}, {"x": x, "t": t}, {"u": truth})


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
    t = np.linspace(0.0, np.pi, 201)
    start = np.stack([2.0 / np.cosh(x), np.zeros_like(x)])
    flow = Flow((tuple(u), tuple(v)), (tuple(u.values()), tuple(v.values())))
    found = evolve(flow, start, [10.0], t)
    return PDEProblem("schroedinger", {"u": found[0], "v": found[1]}, {"x": x, "t": t}, {"u": u, "v": v})


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
    start = np.stack([_smooth(n, length, 2.0, seed) for seed in (1, 2)])
    t = np.linspace(0.0, 10.0, 101)
    flow = Flow((tuple(u), tuple(v)), (tuple(u.values()), tuple(v.values())))
    found = evolve(flow, start, [length, length], t)
    return PDEProblem(
        "reaction-diffusion", {"u": found[0], "v": found[1]}, {"x": line, "y": line, "t": t}, {"u": u, "v": v}
    )


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
    "burgers": burgers,
    "heat": heat,
    "kdv": kdv,
    "kuramoto-sivashinsky": kuramoto_sivashinsky,
    "schroedinger": schroedinger,
    "wave": wave,
    "reaction-diffusion": reaction_diffusion,
    "vorticity": vorticity,
}
