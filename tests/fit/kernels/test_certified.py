"""Fits against certified values: three sets of NIST's Statistical Reference Datasets (works of the US government).

That the residual sums of squares agree to eight digits also shows that the rows are typed as NIST gives them.
"""

import numpy as np
import pytest

from unisymnet.fit.kernels.fit import fit_tape
from unisymnet.fit.kernels.tape import compile_tape
from unisymnet.symbolic import parse

MISRA1A = (
    "77.6 114.9 141.1 190.8 239.9 289.0 332.8 378.4 434.8 477.3 536.8 593.1 689.1 760.0",
    "10.07 14.73 17.94 23.93 29.61 35.18 40.02 44.82 50.76 55.05 61.01 66.40 75.47 81.78",
)
DANWOOD = ("1.309 1.471 1.490 1.565 1.611 1.680", "2.138 3.421 3.597 4.340 4.882 5.660")
BOXBOD = ("1 2 3 5 7 10", "109 149 149 191 213 224")


@pytest.mark.parametrize(
    ("rows", "model", "start", "certified", "rss"),
    [
        (MISRA1A, "c0*(1 - exp(-c1*x0))", (250.0, 0.0005), (238.94212918, 0.00055015643181), 0.12455138894),
        (DANWOOD, "c0*x0**c1", (1.0, 5.0), (0.76886226176, 3.8604055871), 0.0043173084083),
        (BOXBOD, "c0*(1 - exp(-c1*x0))", (100.0, 0.75), (213.80940889, 0.54723748542), 1168.0088766),
    ],
)
def test_certified_values_are_found(
    rows: tuple[str, str], model: str, start: tuple[float, ...], certified: tuple[float, ...], rss: float
) -> None:
    x, y = (np.array([float(v) for v in row.split()]) for row in rows)
    found = fit_tape(compile_tape(parse(model), 1), x[:, None], y, np.array([start]))
    assert found.params == pytest.approx(certified, rel=1e-5)
    assert found.loss * len(y) == pytest.approx(rss, rel=1e-8)
