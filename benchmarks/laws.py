"""Laws of physics, chemistry, biology, engineering and finance with everyday ranges: which of them does a search find?

Usage: python benchmarks/laws.py [--noise 0.02] [--max-time 20] [--rows 250] [--only NAME ...]
None is taken from a benchmark catalog.  Found: the root mean square of prediction minus truth on the training rows is
below 1e-6 of the target's spread, or below 0.3 of the noise.  Ends with one line `found=… of=… median_s=…`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from unisymnet import UniSymNetRegressor

Law = tuple[list[tuple[float, float]], Callable[..., np.ndarray]]

LAWS: dict[str, Law] = {
    "MM inhib": ([(0.1, 10), (0, 5)], lambda s, i: 4.2 * s / (1.7 * (1 + i / 0.9) + s)),
    "logistic": ([(0, 20)], lambda t: 87 / (1 + (87 - 3.1) / 3.1 * np.exp(-0.42 * t))),
    "arrhenius": ([(280, 420)], lambda T: 3.3e7 * np.exp(-41000 / (8.314 * T))),
    "vdW": ([(0.5, 3), (270, 400), (1, 10)], lambda n, T, V: n * 8.314 * T / (V - n * 0.0427) - 3.64 * n**2 / V**2),
    "gauss+base": ([(-5, 5)], lambda x: 0.7 + 3.1 * np.exp(-((x - 0.8) ** 2) / (2 * 1.3**2))),
    "damped": ([(0, 10)], lambda t: 2.2 * np.exp(-0.31 * t) * np.cos(3.7 * t + 0.5)),
    "hill": ([(0.1, 8)], lambda x: 5.5 * x**2.7 / (2.1**2.7 + x**2.7)),
    "antoine": ([(20, 100)], lambda T: 8.07 - 1730.6 / (233.4 + T)),
    "nernst": ([(280, 340), (0.01, 1), (0.01, 1)], lambda T, a, b: 0.77 - 8.314 * T / 96485 * np.log(a / b)),
    "lens": ([(1, 5), (6, 20)], lambda f, u: 1 / (1 / f - 1 / u)),
    "RC": ([(1, 12), (0, 8), (0.5, 2), (0.5, 2)], lambda V, t, R, C: V * (1 - np.exp(-t / (R * C)))),
    "manning": ([(0.01, 0.05), (0.2, 3), (0.0001, 0.01)], lambda n, R, S: R ** (2 / 3) * S**0.5 / n),
    "butler": ([(-2, 2)], lambda x: 0.37 * (np.exp(1.3 * x) - np.exp(-0.8 * x))),
    "steinhart": ([(1, 50)], lambda R: 1 / (0.0011 + 0.00024 * np.log(R) + 7.5e-6 * np.log(R) ** 3)),
    "LJ": ([(0.9, 2.5), (0.5, 2)], lambda r, e: 4 * e * ((1.1 / r) ** 12 - (1.1 / r) ** 6)),
    "biexp": ([(0, 10)], lambda t: 3.1 * np.exp(-1.7 * t) + 1.2 * np.exp(-0.25 * t)),
    "compton": ([(0, 3.1), (0.5, 5)], lambda th, wl: wl + 0.0243 * (1 - np.cos(th))),
    "gompertz": ([(0, 12)], lambda t: 95 * np.exp(-4.2 * np.exp(-0.55 * t))),
    "weibull": ([(0.1, 5)], lambda t: 1 - np.exp(-((t / 1.9) ** 1.6))),
    "terminal": ([(0.1, 5), (0.5, 2), (0.1, 1)], lambda m, rho, A: np.sqrt(2 * m * 9.81 / (rho * A * 0.47))),
    "projectile": ([(5, 30), (0.1, 1.4), (0, 3)], lambda v, th, t: v * np.sin(th) * t - 4.905 * t**2),
    "pendulum amp": ([(0.2, 3), (0.05, 1.2)], lambda wl, a: 2 * np.pi * np.sqrt(wl / 9.81) * (1 + a**2 / 16)),
    "haversine": (
        [(0, 3), (0, 1.5), (0, 1.5)],
        lambda dl, a, b: np.cos(a) * np.cos(b) * np.cos(dl) + np.sin(a) * np.sin(b),
    ),
    "heatflux": ([(300, 900), (280, 320), (0.1, 1)], lambda T, T0, e: 5.67e-8 * e * (T**4 - T0**4)),
    "capm resist": ([(1, 10), (1, 10), (1, 10)], lambda a, b, c: a + b * c / (b + c)),
    "tanh sat": ([(0, 5), (1, 4)], lambda i, P: P * np.tanh(0.45 * i / P)),
    "pow+lin": ([(0.5, 6), (0.5, 6)], lambda x, z: 1.3 * x**0.71 * z**1.2 + 0.4 * z + 2.2),
    "log mean": ([(1, 5), (6, 12)], lambda a, b: (b - a) / np.log(b / a)),
    "chirp": ([(0, 4)], lambda t: 1.4 * np.sin(0.9 * t + 0.6 * t**2)),
    "cooling": ([(0, 30), (60, 95)], lambda t, T0: 21 + (T0 - 21) * np.exp(-0.083 * t)),
    "kepler3": ([(0.3, 30), (0.5, 2)], lambda a, M: 2 * np.pi * np.sqrt(a**3 / (39.478 * M))),
    "bernoulli v": ([(1, 10), (0.5, 5), (800, 1200)], lambda dp, h, r: np.sqrt(2 * (dp * 1e3 / r + 9.81 * h))),
    "darcy": ([(0.01, 0.05), (1, 50), (0.05, 0.5), (0.5, 4)], lambda f, L, D, v: f * L / D * v**2 / (2 * 9.81)),
    "langmuir comp": ([(0.1, 5), (0.1, 5)], lambda p, q: 1.8 * 0.7 * p / (1 + 0.7 * p + 1.9 * q)),
    "monod+decay": ([(0.1, 10), (1, 5)], lambda s, x: 0.9 * s / (2.3 + s) * x - 0.11 * x),
    "haldane": ([(0.1, 20)], lambda s: 1.4 * s / (2.2 + s + s**2 / 6.5)),
    "stefan net": ([(300, 800), (290, 310)], lambda T, Ta: 5.67e-8 * 0.85 * T**4 + 12.5 * (T - Ta)),
    "planckian": ([(0.2, 3), (1, 5)], lambda x, T: x**3 / (np.exp(1.44 * x / T) - 1)),
    "bragg": ([(0.5, 2), (1, 4)], lambda wl, d: np.arcsin(wl / (2 * d))),
    "snell": ([(0.05, 1.0), (1.0, 1.4), (1.5, 2.5)], lambda t, a, b: np.arcsin(a * np.sin(t) / b)),
    "doppler rel": ([(0.5, 5), (0.05, 0.9)], lambda f, b: f * np.sqrt((1 + b) / (1 - b))),
    "rocket": ([(1, 4), (5, 20), (1, 4)], lambda ve, m0, m1: ve * np.log(m0 / m1) - 9.81 * 0.1),
    "cobb d": ([(1, 10), (1, 10)], lambda K, Lb: 1.7 * K**0.33 * Lb**0.67),
    "ces": ([(1, 10), (1, 10)], lambda K, Lb: (0.4 * K**-0.5 + 0.6 * Lb**-0.5) ** -2),
    "bs d1": (
        [(80, 120), (0.1, 0.5), (0.25, 2)],
        lambda S, s, T: (np.log(S / 100) + (0.03 + s**2 / 2) * T) / (s * np.sqrt(T)),
    ),
    "annuity": ([(0.01, 0.1), (2, 30)], lambda r, n: (1 - (1 + r) ** -n) / r),
    "logit 2": ([(-3, 3), (-3, 3)], lambda a, b: 1 / (1 + np.exp(-(0.4 + 1.3 * a - 0.8 * b)))),
    "allometry+": ([(1, 100)], lambda m: 3.4 * m**0.75 + 12.0),
    "ricker": ([(0.1, 10)], lambda n: n * np.exp(1.6 * (1 - n / 4.2))),
    "holling3": ([(0.1, 10), (1, 4)], lambda n, p: 2.1 * n**2 * p / (1.5**2 + n**2)),
    "beam": (
        [(100, 1000), (1, 5), (0.05, 0.2), (0.1, 0.4)],
        lambda P, L, b, h: P * L**3 / (48 * 2e7 * b * h**3 / 12),
    ),
    "euler buckling": ([(1, 5), (0.01, 0.1)], lambda L, i: np.pi**2 * 200 * i / (0.7 * L) ** 2),
    "parallel RLC": ([(0.5, 5), (0.1, 2)], lambda w, C: 1 / np.sqrt(1 / 4 + (w * C - 1 / (w * 1.3)) ** 2)),
    "lorentz line": ([(-4, 4)], lambda x: 2.2 * 0.35 / ((x - 0.6) ** 2 + 0.35**2) + 0.3),
    "two tone": ([(0, 6)], lambda t: 1.2 * np.sin(2.1 * t) + 0.7 * np.cos(5.3 * t)),
    "sinc2": ([(0.2, 8)], lambda x: (np.sin(1.3 * x) / (1.3 * x)) ** 2),
    "fresnel R": ([(1, 2.5), (1, 2.5)], lambda a, b: ((a - b) / (a + b)) ** 2),
    "reduced mass": ([(1, 10), (1, 10), (1, 5)], lambda a, b, k: np.sqrt(k * (a + b) / (a * b))),
    "redlich": ([(1, 5), (300, 500)], lambda V, T: 8.314 * T / (V - 0.03) - 14.2 / (np.sqrt(T) * V * (V + 0.03))),
    "tafel": ([(0.01, 10)], lambda i: 1.23 - 0.06 * np.log(i / 0.003) - 0.15 * i),
    "shockley": ([(0, 0.6), (280, 340)], lambda V, T: 1e-6 * (np.exp(V / (1.5 * 8.617e-5 * T)) - 1)),
    "relative humid": ([(5, 35)], lambda T: 6.112 * np.exp(17.67 * T / (T + 243.5))),
    "wind chill": ([(-20, 5), (5, 60)], lambda T, v: 13.12 + 0.6215 * T - 11.37 * v**0.16 + 0.3965 * T * v**0.16),
    "quad drag": ([(0, 10)], lambda t: 31.0 * np.tanh(0.32 * t)),
    "spherical": ([(0.2, 2.9), (0, 6)], lambda t, p: 3 * np.sin(t) ** 2 * np.cos(2 * p)),
    "mixing": ([(0.05, 0.95), (280, 400)], lambda x, T: 8.314 * T * (x * np.log(x) + (1 - x) * np.log(1 - x))),
    "entropy": ([(0.02, 0.98)], lambda p: -(p * np.log(p) + (1 - p) * np.log(1 - p))),
    "logit": ([(0.02, 0.98), (1, 4)], lambda p, b: 0.3 + b * np.log(p / (1 - p))),
    "flory": ([(0.05, 0.9), (0.3, 2)], lambda f, c: np.log(1 - f) + f + c * f**2),
    "saha-ish": ([(3, 10)], lambda T: 2.4 * T**1.5 * np.exp(-13.6 / T)),
    "maxwell v": ([(0.1, 4), (0.5, 2)], lambda v, T: 4 / np.sqrt(np.pi) * v**2 / T**1.5 * np.exp(-(v**2) / T)),
    "airy drag": ([(0.1, 50)], lambda Re: 24 / Re * (1 + 0.15 * Re**0.687)),
    "ergun": ([(0.3, 0.6), (0.1, 2)], lambda e, v: 150 * (1 - e) ** 2 / e**3 * v + 1.75 * (1 - e) / e**3 * v**2),
    "kozeny": ([(0.1, 0.5), (0.5, 3)], lambda e, d: e**3 * d**2 / (180 * (1 - e) ** 2)),
    "debye": ([(0.1, 3)], lambda i: -0.509 * np.sqrt(i) / (1 + 1.3 * np.sqrt(i))),
    "margules": ([(0.05, 0.95), (1, 3)], lambda x, A: np.exp(A * (1 - x) ** 2)),
    "raoult": ([(0.05, 0.95), (1, 3), (3, 6)], lambda x, a, b: x * a / (x * a + (1 - x) * b)),
    "nusselt": ([(1e4, 1e5), (0.7, 7)], lambda Re, Pr: 0.023 * Re**0.8 * Pr**0.4),
    "fin eff": ([(0.2, 3)], lambda m: np.tanh(m) / m),
    "LMTD": ([(60, 90), (20, 50)], lambda a, b: (a - b) / np.log(a / b)),
    "coolprop": ([(0, 100)], lambda T: 2.414e-5 * 10 ** (247.8 / (T + 273.15 - 140))),
    "gibbs T": ([(300, 1200)], lambda T: -120 + 0.05 * T - 0.02 * T * np.log(T)),
    "thiele": ([(0.3, 4)], lambda p: 3 / p**2 * (p / np.tanh(p) - 1)),
    "freundlich T": ([(0.1, 10), (1, 3)], lambda c, n: 2.2 * c ** (1 / n)),
    "hardy": ([(0.05, 0.95)], lambda p: 2 * p * (1 - p) / (1 - 0.2 * p**2)),
    "selection": ([(0.05, 0.95), (0.01, 0.5)], lambda p, s: p * (1 + s) / (1 + s * p)),
    "coalescent": ([(2, 50)], lambda n: 4 * (1 - 1 / n)),
    "lotka rate": ([(0.5, 5), (0.5, 5)], lambda x, q: 1.1 * x - 0.4 * x * q),
    "beverton": ([(0.5, 50)], lambda n: 2.8 * n / (1 + n / 14.0)),
    "theta logistic": ([(0.5, 9)], lambda n: 0.8 * n * (1 - (n / 10) ** 1.7)),
    "bateman": ([(0.1, 10)], lambda t: 3.2 * (np.exp(-0.4 * t) - np.exp(-1.5 * t))),
    "emax": ([(0.1, 20), (0, 3)], lambda c, e: e + 7 * c**1.8 / (4**1.8 + c**1.8)),
    "dose BSA": ([(40, 100), (140, 200)], lambda w, h: 0.007184 * w**0.425 * h**0.725),
    "bmi": ([(40, 100), (1.4, 2)], lambda w, h: w / h**2),
    "richter": ([(1, 1000), (10, 500)], lambda A, D: np.log10(A) + 2.76 * np.log10(D) - 2.48),
    "magnitude": ([(0.1, 10), (1, 100)], lambda L, d: -2.5 * np.log10(L) + 5 * np.log10(d / 10)),
    "hubble": ([(0.1, 2)], lambda z: 70 * np.sqrt(0.3 * (1 + z) ** 3 + 0.7)),
    "schwarz": ([(3, 20), (0.2, 1)], lambda r, M: 1 / np.sqrt(1 - 2 * M / r)),
    "orbit": ([(0.1, 3), (0.05, 0.8)], lambda th, e: 1.5 * (1 - e**2) / (1 + e * np.cos(th))),
    "vis viva": ([(1, 3), (1.5, 4)], lambda r, a: np.sqrt(39.5 * (2 / r - 1 / a))),
    "escape": ([(0.1, 10), (0.5, 5)], lambda M, R: np.sqrt(2 * 6.674 * M / R)),
    "lens maker": ([(1.3, 1.9), (5, 20), (5, 20)], lambda n, a, b: (n - 1) * (1 / a - 1 / b)),
    "malus+bg": ([(0, 3.1)], lambda t: 4.2 * np.cos(t) ** 2 + 0.6),
    "grating": ([(0.05, 3)], lambda b: (np.sin(2.5 * b) / np.sin(0.5 * b)) ** 2),
    "skin depth": ([(1, 100), (0.1, 10)], lambda f, s: 503.3 / np.sqrt(f * s)),
    "coax": ([(0.5, 2), (3, 8)], lambda a, b: 138 * np.log10(b / a)),
    "transist": ([(0, 5)], lambda v: np.where(v < 0, 0, 0.8 * (v - 0.3) ** 2)),
    "diode series": ([(0.1, 5)], lambda i: 0.026 * np.log(i / 1e-9 + 1) + 0.4 * i),
    "zener": ([(0.1, 10), (0.5, 2)], lambda w, t: w * t / (1 + (w * t) ** 2)),
    "sellmeier": ([(0.4, 1.6)], lambda wl: np.sqrt(1 + 1.04 * wl**2 / (wl**2 - 0.006) + 0.23 * wl**2 / (wl**2 - 0.02))),
    "cauchy n": ([(0.4, 0.9)], lambda wl: 1.5 + 0.0042 / wl**2 + 0.00011 / wl**4),
    # Roots of quadratic equations, and logarithms with a constant before them.
    "weak acid": ([(0.1, 2), (0.1, 5)], lambda K, c: (np.sqrt(K**2 + 4 * K * c) - K) / 2),
    "tight binding": (
        [(0.5, 3), (0.1, 5), (0.05, 1)],
        lambda e, i, K: (e - i - K + np.sqrt((e - i - K) ** 2 + 4 * e * K)) / (2 * e),
    ),
    "time of flight": ([(1, 20), (1, 50)], lambda v, h: (v + np.sqrt(v**2 + 2 * 9.81 * h)) / 9.81),
    "throw range": (
        [(10, 50), (0.2, 1.4)],
        lambda v, a: v * np.cos(a) * (v * np.sin(a) + np.sqrt((v * np.sin(a)) ** 2 + 35.3)) / 9.81,
    ),
    "light response": ([(0, 2000)], lambda i: (i / 20 + 25 - np.sqrt((i / 20 + 25) ** 2 - 4.5 * i)) / 1.8 - 1.5),
    "ellipse": ([(1, 5), (1, 5)], lambda a, b: np.pi * (3 * (a + b) - np.sqrt((3 * a + b) * (a + 3 * b)))),
    "decibel": ([(1, 5), (1, 5)], lambda a, b: 10 * np.log10(a**2 + 3 * b)),
    "goldman": ([(0.1, 2), (1, 5), (0.1, 2)], lambda P, K, N: 25.7 * np.log((4 + P * 145) / (35 * K + 10 * P * N))),
    "capacity": ([(1, 5), (1, 5), (1, 3)], lambda S, N, B: B * np.log2(1 + S / N)),
    "log wind": ([(1, 30), (0.2, 1)], lambda z, u: u / 0.41 * np.log((z - 0.7) / 0.1)),
    "quake": ([(4, 8), (5, 200)], lambda M, R: 1.2 + 0.6 * M - 1.4 * np.log10(R + 10)),
    "stray light": ([(0.1, 3), (0.001, 0.05)], lambda A, s: -np.log10((10**-A + s) / (1 + s))),
    # Others, written down at once and not looked at before the first run.
    "breit wigner": ([(1, 5), (0.2, 1)], lambda E, G: G / ((E - 3) ** 2 + G**2 / 4)),
    "falling": ([(5, 50), (0, 6)], lambda v, t: v * np.tanh(9.81 * t / v)),
    "impedance": (
        [(1, 5), (0.1, 1), (0.1, 1), (1, 10)],
        lambda R, L, C, w: np.sqrt(R**2 + (w * L - 1 / (w * C)) ** 2),
    ),
    "morse": ([(1, 4), (0.5, 2), (0.8, 3)], lambda D, a, r: D * (1 - np.exp(-a * (r - 1.2))) ** 2),
    "payment": ([(100, 1000), (0.01, 0.1), (5, 30)], lambda P, r, n: P * r / (1 - (1 + r) ** -n)),
    "fabry perot": ([(1, 20), (0, 6)], lambda F, d: 1 / (1 + F * np.sin(d / 2) ** 2)),
    "decay chain": (
        [(1.5, 3), (0.1, 1), (0, 6)],
        lambda a, b, t: a / (a - b) * (np.exp(-b * t) - np.exp(-a * t)),
    ),
    "logistic K r": ([(50, 100), (0.2, 1), (0, 10)], lambda K, r, t: K / (1 + (K - 5) / 5 * np.exp(-r * t))),
    "two sites": ([(0.05, 10)], lambda p: 2.1 * p / (1 + 1.3 * p) + 5 * p / (1 + 0.09 * p)),
    "kinetic rel": ([(1, 5), (0.05, 0.95)], lambda m, v: m * (1 / np.sqrt(1 - v**2) - 1)),
    "sutherland": ([(200, 800)], lambda T: 1.716e-5 * (T / 273.15) ** 1.5 * (273.15 + 110.4) / (T + 110.4)),
    "isentropic": ([(0.1, 3)], lambda M: (1 + 0.2 * M**2) ** 3.5),
    "thin film": ([(0.4, 0.8), (1, 3)], lambda wl, d: 0.5 * (1 + np.cos(4 * np.pi * 1.33 * d / wl / 3))),
    "bertalanffy": ([(0, 12), (40, 60)], lambda t, L: L * (1 - np.exp(-0.35 * (t + 0.4)))),
    "q10": ([(5, 35), (1, 3)], lambda T, r: r * 2.3 ** ((T - 20) / 10)),
    "portfolio": (
        [(0.05, 0.3), (0.05, 0.3), (-0.5, 0.9)],
        lambda a, b, r: np.sqrt(0.36 * a**2 + 0.16 * b**2 + 0.48 * a * b * r),
    ),
    "carreau": ([(0.1, 50)], lambda g: 0.1 + 9.9 * (1 + (1.7 * g) ** 2) ** -0.35),
    "genuchten": ([(0.1, 50)], lambda h: 0.05 + 0.38 / (1 + (0.3 * h) ** 1.9) ** (1 - 1 / 1.9)),
    "runoff": ([(3, 10), (1, 10)], lambda P, S: (P - 0.2 * S) ** 2 / (P + 0.8 * S)),
    "counterflow": (
        [(0.2, 4), (0.1, 0.9)],
        lambda N, C: (1 - np.exp(-N * (1 - C))) / (1 - C * np.exp(-N * (1 - C))),
    ),
    "growth rate": ([(100, 200), (200, 600), (2, 10)], lambda a, b, n: (b / a) ** (1 / n) - 1),
    "nucleus": (
        [(20, 200), (10, 90)],
        lambda A, Z: 15.8 * A - 18.3 * A ** (2 / 3) - 0.714 * Z * (Z - 1) / A ** (1 / 3) - 23.2 * (A - 2 * Z) ** 2 / A,
    ),
    "water waves": ([(0.1, 3), (0.5, 5)], lambda k, h: np.sqrt(9.81 * k * np.tanh(k * h))),
    "heron": (
        [(3, 4), (3, 4), (3, 4)],
        lambda a, b, c: np.sqrt((a + b + c) * (b + c - a) * (a - b + c) * (a + b - c)) / 4,
    ),
    "cosine rule": ([(1, 5), (1, 5), (0.2, 3)], lambda a, b, C: np.sqrt(a**2 + b**2 - 2 * a * b * np.cos(C))),
    "softplus": ([(-4, 4)], lambda x: np.log(1 + np.exp(1.7 * x))),
    "gauss beam": ([(0.5, 2), (0, 5), (0.5, 3)], lambda w, z, r: w * np.sqrt(1 + (z / r) ** 2)),
    "travelling wave": ([(0.5, 2), (0, 10), (0, 5)], lambda A, x, t: A * np.sin(1.9 * x - 3.1 * t)),
    "damped wave": ([(0, 10), (0, 5)], lambda x, t: 1.4 * np.exp(-0.2 * x) * np.sin(1.9 * x - 3.1 * t + 0.5)),
    "fringes": ([(-5, 5), (-5, 5)], lambda x, y: 2.2 + 1.7 * np.cos(3.1 * x - 1.7 * y)),
    "finesse": ([(0, 4), (0, 4)], lambda a, b: 1 / (1 + 2.5 * np.sin(1.3 * a + 2.2 * b) ** 2)),
    "spherical wave": ([(1, 9), (0, 5)], lambda r, t: 3 * np.cos(2.2 * r - 1.3 * t) / r),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noise", type=float, default=0.0, help="times the root mean square of the target")
    parser.add_argument("--max-time", type=float, default=20.0)
    parser.add_argument("--rows", type=int, default=250)
    parser.add_argument("--only", nargs="+", choices=LAWS, metavar="NAME", default=list(LAWS))
    args = parser.parse_args()
    seconds, n_found = [], 0
    for number, (name, (ranges, law)) in enumerate(LAWS.items()):
        if name not in args.only:
            continue
        rng = np.random.default_rng(number)
        X = np.column_stack([rng.uniform(low, high, args.rows) for low, high in ranges])
        truth = law(*X.T)
        y = truth + args.noise * np.sqrt(np.mean(truth**2)) * rng.normal(size=len(truth))
        began = time.monotonic()
        model = UniSymNetRegressor(max_time=args.max_time, random_state=0).fit(X, y)
        seconds.append(time.monotonic() - began)
        off = float(np.sqrt(np.mean((model.predict(X) - truth) ** 2)) / truth.std())
        found = off < max(1e-6, 0.3 * args.noise)
        n_found += found
        source = model.equations_["source"].iloc[model.picked_]
        print(
            f"{'ok' if found else '--'} {name:<16} {seconds[-1]:5.1f} s {off:.0e} {source:<16} {model.formula_}"[:160],
            flush=True,
        )
    print(f"found={n_found} of={len(seconds)} median_s={statistics.median(seconds):.2f}")


if __name__ == "__main__":
    main()
