"""Ten systems from textbooks that ODEBench does not hold, in laboratory units: ecology, chemistry, mechanics, circuits.

The search was not made with them in view; they say how it does on systems nobody tuned it to.
"""

from __future__ import annotations

from ...dynamics import System
from .catalog import Task

# name: equations, first start, second start, last time
_SYSTEMS: dict[str, tuple[dict[str, str], tuple[float, ...], tuple[float, ...], float]] = {
    "predator with a saturating appetite": (
        {
            "prey": "0.9*prey*(1 - prey/12) - 1.4*prey*hunter/(3 + prey)",
            "hunter": "0.6*prey*hunter/(3 + prey) - 0.25*hunter",
        },
        (4.0, 1.5),
        (9.0, 0.6),
        40.0,
    ),
    "enzyme by mass action": (
        {"s": "0.7*c - 1.2*s*(1.5 - c)", "c": "1.2*s*(1.5 - c) - 1.1*c", "p": "0.4*c"},
        (4.0, 0.1, 0.2),
        (2.0, 1.0, 0.5),
        12.0,
    ),
    "nerve cell": (
        {"v": "v - v**3/3 - w + 0.6", "w": "0.15*(v + 0.7 - 0.8*w)"},
        (-1.0, 0.4),
        (0.5, -0.5),
        60.0,
    ),
    "chemostat": (
        {"s": "0.3*(5 - s) - 1.6*s*x/(0.8 + s)", "x": "0.8*s*x/(0.8 + s) - 0.3*x"},
        (4.5, 0.15),
        (1.0, 2.5),
        15.0,
    ),
    "cooling by air and radiation": ({"T": "0.35*(2.9 - T) - 0.02*(T**4 - 70.7281)"}, (6.5,), (1.2,), 4.0),
    "leaking tank": ({"h": "0.5 - 0.62*sqrt(h)"}, (4.0,), (0.05,), 12.0),
    "spinning body": (
        {"a": "-0.8*b*c", "b": "1.3*a*c", "c": "-0.5*a*b"},
        (1.0, 0.15, 0.4),
        (0.3, 0.9, 0.6),
        15.0,
    ),
    "genetic switch": (
        {"u": "3.2/(1 + v**2) - u", "v": "2.8/(1 + u**2) - v"},
        (0.4, 0.7),
        (2.0, 1.6),
        10.0,
    ),
    "spring in a stream": (
        {"x": "v", "v": "-3.1*x - 0.8*x**3 - 0.35*v*abs(v)"},
        (1.4, 0.0),
        (0.0, 3.0),
        15.0,
    ),
    "circuit with a cubic diode": (
        {"x": "8.5*(y + 0.2*x - 0.3*x**3)", "y": "x - y + z", "z": "-14*y"},
        (0.5, 0.1, -0.4),
        (-0.8, 0.2, 0.3),
        10.0,
    ),
}


def own_tasks() -> list[Task]:
    """The systems with two starts each."""
    return [
        Task(number, System.parse(equations), (first, second), name, end, "systems")
        for number, (name, (equations, first, second, end)) in enumerate(_SYSTEMS.items(), 1)
    ]
