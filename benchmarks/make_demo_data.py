"""Write the data files of the demo and the examples: src/unisymnet/data/*.csv and index.json.

Run it again and the same bytes come out. Every file is drawn from a known law with stated noise (kepler.csv for real
orbits); the index states both.

    python benchmarks/make_demo_data.py [FOLDER]
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Made = tuple[list[str], Floats, dict[str, object]]

FOLDER = Path(__file__).resolve().parents[1] / "src" / "unisymnet" / "data"

# Semi-major axis (au), eccentricity, mass (Earth = 1) of bodies that circle the sun.
BODIES = [
    (0.3871, 0.2056, 0.0553),  # Mercury
    (0.7233, 0.0068, 0.815),  # Venus
    (1.0000, 0.0167, 1.0),  # Earth
    (1.5237, 0.0934, 0.107),  # Mars
    (2.3615, 0.0887, 0.000043),  # Vesta
    (2.7666, 0.0785, 0.00016),  # Ceres
    (3.1421, 0.1125, 0.000015),  # Hygiea
    (5.2029, 0.0484, 317.8),  # Jupiter
    (9.5367, 0.0539, 95.16),  # Saturn
    (19.189, 0.0473, 14.54),  # Uranus
    (30.070, 0.0086, 17.15),  # Neptune
    (39.482, 0.2488, 0.0022),  # Pluto
    (43.116, 0.1964, 0.00066),  # Haumea
    (45.430, 0.1613, 0.0005),  # Makemake
    (67.864, 0.4361, 0.0028),  # Eris
]


def kepler() -> Made:
    rng = np.random.default_rng(7)
    bodies = np.array(BODIES)
    noise = 0.005
    period = bodies[:, 0] ** 1.5 + rng.normal(0.0, noise, len(bodies))
    names = ["axis_au", "eccentricity", "mass_earths", "period_years"]
    return (
        names,
        np.column_stack([bodies, period]),
        {
            "target": "period_years",
            "law": "axis_au**1.5",
            "noise": f"Gaussian, standard deviation {noise} years on the period",
            "about": "Kepler's third law: fifteen bodies of the solar system, with two columns that do not matter",
        },
    )


def pendulum() -> Made:
    rng = np.random.default_rng(1)
    t = np.sort(rng.uniform(0.0, 12.0, 240))
    angle = 0.35 * np.exp(-0.15 * t) * np.cos(2.8 * t)
    noise = 0.005
    table = np.column_stack([t, angle + rng.normal(0.0, noise, len(t))])
    return (
        ["time_s", "angle_rad"],
        table,
        {
            "target": "angle_rad",
            "law": "0.35*exp(-0.15*time_s)*cos(2.8*time_s)",
            "noise": f"Gaussian, standard deviation {noise} rad on the angle",
            "about": "A damped pendulum filmed for twelve seconds",
        },
    )


def enzyme() -> Made:
    rng = np.random.default_rng(2)
    s = rng.uniform(0.1, 10.0, 160)
    i = rng.uniform(0.0, 5.0, 160)
    v = 4.2 * s / (1.5 * (1.0 + i / 0.8) + s)
    noise = 0.01
    table = np.column_stack([s, i, v + rng.normal(0.0, noise, len(s))])
    return (
        ["substrate_mM", "inhibitor_mM", "rate"],
        table,
        {
            "target": "rate",
            "law": "4.2*substrate_mM/(1.5*(1 + inhibitor_mM/0.8) + substrate_mM)",
            "noise": f"Gaussian, standard deviation {noise} on the rate",
            "about": "Enzyme kinetics: Michaelis and Menten with a competitive inhibitor",
        },
    )


def planck() -> Made:
    rng = np.random.default_rng(3)
    wavelength = rng.uniform(0.4, 4.0, 300)
    temperature = rng.uniform(2000.0, 7000.0, 300)
    radiance = 1.191e8 / wavelength**5 / (np.exp(14388.0 / (wavelength * temperature)) - 1.0)
    table = np.column_stack([wavelength, temperature, radiance])
    return (
        ["wavelength_um", "temperature_K", "radiance"],
        table,
        {
            "target": "radiance",
            "law": "1.191e8/wavelength_um**5/(exp(14388/(wavelength_um*temperature_K)) - 1)",
            "noise": "none; values rounded to 8 digits",
            "about": "Planck's law of black-body radiation",
        },
    )


def projectile() -> Made:
    rng = np.random.default_rng(4)
    speed = rng.uniform(5.0, 60.0, 200)
    angle = rng.uniform(0.1, 1.4, 200)
    reach = speed**2 * np.sin(2.0 * angle) / 9.81 / (1.0 + 0.012 * speed * np.sin(angle))
    noise = 0.05
    table = np.column_stack([speed, angle, reach + rng.normal(0.0, noise, len(speed))])
    return (
        ["speed", "angle", "range"],
        table,
        {
            "target": "range",
            "law": "speed**2*sin(2*angle)/9.81/(1 + 0.012*speed*sin(angle))",
            "noise": f"Gaussian, standard deviation {noise} m on the range",
            "about": "How far a projectile flies, with a first correction for drag",
        },
    )


def ten_columns() -> Made:
    rng = np.random.default_rng(5)
    X = rng.uniform(1.0, 5.0, (300, 10))
    y = 3.0 * X[:, 1] * X[:, 4] / X[:, 7] ** 2 + 2.0
    noise = 0.02
    table = np.column_stack([X, y + rng.normal(0.0, noise, len(y))])
    return (
        [*(f"c{i}" for i in range(10)), "y"],
        table,
        {
            "target": "y",
            "law": "3*c1*c4/c7**2 + 2",
            "noise": f"Gaussian, standard deviation {noise}",
            "about": "Ten columns of which seven do not matter",
        },
    )


FILES: dict[str, Callable[[], Made]] = {
    made.__name__: made for made in (kepler, pendulum, enzyme, planck, projectile, ten_columns)
}


def main(folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    index = {}
    for name, make in FILES.items():
        header, table, facts = make()
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows([f"{value:.8g}" for value in row] for row in table)
        index[name] = facts | {"rows": len(table)}
    text = json.dumps(index, indent=2, ensure_ascii=False) + "\n"
    (folder / "index.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
