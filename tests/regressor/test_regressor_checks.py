"""All of scikit-learn's estimator checks, with no expected failure.

Formulas are counted instead of seconds, so that two fits of the same data agree whatever else the machine does, and
only the quick proposers are asked: the checks look at the contract, not at what is found.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from unisymnet import UniSymNetRegressor


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # some checks warn on purpose
@parametrize_with_checks(
    [UniSymNetRegressor(max_evaluations=4, max_epochs=1, max_time=None, proposers=["monomial", "evolve"])]
)
def test_scikit_learn(estimator, check) -> None:
    check(estimator)
