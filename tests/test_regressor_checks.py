"""All of scikit-learn's estimator checks, with a limit on formulas instead of time, and no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from unisymnet import UniSymNetRegressor


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # some checks warn on purpose
@parametrize_with_checks([UniSymNetRegressor(max_evaluations=40, max_time=None)])
def test_scikit_learn(estimator, check) -> None:
    check(estimator)
