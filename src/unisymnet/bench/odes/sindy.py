"""PySINDy as a peer: polynomials of degree 3, smoothed finite differences or the weak form, threshold 0.05."""

from __future__ import annotations

import warnings

import numpy as np

from ...arrays import Floats
from ...dynamics import System
from ...dynamics.library import power
from ...dynamics.rate import sum_of
from ...errors import DataError
from ...symbolic.expr import Const, Var, product

DEGREE, THRESHOLD = 3, 0.05


def fit_pysindy(runs: list[tuple[Floats, Floats]]) -> System:
    """The system that PySINDy's smoothed differences and STLSQ find."""
    try:
        import pysindy
    except ImportError as error:
        raise DataError("PySINDy is not installed: pip install 'unisymnet[bench]'") from error
    library = pysindy.PolynomialLibrary(degree=DEGREE)
    model = pysindy.SINDy(
        optimizer=pysindy.STLSQ(threshold=THRESHOLD),
        feature_library=library,
        differentiation_method=pysindy.SmoothedFiniteDifference(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit([x for _, x in runs], t=[t for t, _ in runs])
    powers = np.asarray(library.powers_)
    coefficients = np.asarray(model.coefficients())
    exprs = []
    for row in coefficients:
        terms = []
        for value, exponents in zip(row, powers):
            if value:
                factors = [power(Var(k), int(e)) for k, e in enumerate(exponents) if e]
                terms.append((float(value), product(factors)))
        exprs.append(sum_of(terms) if terms else Const(0.0))
    return System(tuple(exprs), tuple(f"x{k}" for k in range(len(exprs))))
