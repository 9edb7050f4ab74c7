"""Every benchmark formula goes to a label and back and keeps its values, or is listed here with the reason."""

import numpy as np
import pytest

from unisymnet.bench.problems import BenchProblem, load_suite
from unisymnet.errors import EncodingError
from unisymnet.symbolic import evaluate
from unisymnet.symbolic.network.identify import identify
from unisymnet.symbolic.network.skeleton import network_to_skeleton, to_skeleton
from unisymnet.symbolic.network.tokens import Vocabulary

SMALL, LARGE = Vocabulary(4, 5, 6), Vocabulary(10, 7, 7)
PROBLEMS = (*load_suite("standard"), *load_suite("feynman"), *load_suite("strogatz"))

# No network of the library is exactly these functions.
INVERSE = {"feynman_I_26_2": "asin", "feynman_I_30_5": "asin", "feynman_test_10": "acos"}
# Networks too big for the label space of the paper's larger setting (10 inputs, 7 copies, 7 layers).
TOO_BIG = {
    "Keijzer-4": "8 layers",
    "Livermore-9": "8 copies of exp",
    "feynman_I_50_26": "8 layers",
    "feynman_II_36_38": "8 copies of ln",
}
# … and, of those with at most 4 inputs, of the smaller one (4 inputs, 5 copies, 6 layers).
TOO_BIG_FOR_SMALL = TOO_BIG | {"Livermore-21": "7 copies of exp"}


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
def test_formula_survives_the_round_trip(problem: BenchProblem) -> None:
    assert problem.expr is not None
    if problem.name in INVERSE:
        with pytest.raises(EncodingError, match=INVERSE[problem.name]):
            identify(problem.expr)
        return
    network = identify(problem.expr, problem.n_features)
    skeleton, values = network_to_skeleton(network)
    assert skeleton == to_skeleton(network.structure)
    X, y = problem.sample(200, rng=np.random.default_rng(0), part="test")
    got = evaluate(skeleton.expr, X, values)
    # Relative to the typical size: near a root of the function rounding is all there is.
    np.testing.assert_allclose(got, y, rtol=1e-9, atol=1e-11 * float(np.median(np.abs(y))))
    for vocabulary, exceptions in ((SMALL, TOO_BIG_FOR_SMALL), (LARGE, TOO_BIG)):
        if problem.n_features > vocabulary.n_features:
            continue
        if problem.name in exceptions:
            with pytest.raises(EncodingError, match=exceptions[problem.name]):
                vocabulary.encode(network.structure)
        else:
            assert vocabulary.decode(vocabulary.encode(network.structure)) == network.structure
