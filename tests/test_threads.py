"""Linear algebra has one thread while a search runs, and as many as before afterwards."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from unisymnet import PDERegressor, UniSymNetRegressor
from unisymnet.threads import one_thread


def n_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_one_thread_and_back():
    with one_thread():
        assert n_threads() and set(n_threads()) == {1}
        during = len(n_threads())
    assert len(n_threads()) == during  # nothing was loaded in between, so all were limited


@pytest.mark.parametrize("model", [UniSymNetRegressor(max_time=1, max_epochs=1), PDERegressor(max_time=1)])
def test_a_fit_has_one_thread_from_the_start(model, monkeypatch):
    """Also where it checks and screens data, not only while it searches."""
    seen = []

    def look(*args, **kwargs):
        seen.append(set(n_threads()))
        raise RuntimeError("seen")

    module = type(model).__module__
    place = "check_parameters" if isinstance(model, UniSymNetRegressor) else "PDERegressor._search"
    monkeypatch.setattr(f"{module}.{place}", look)
    x = np.linspace(0.0, 1.0, 20)
    with pytest.raises(RuntimeError, match="seen"):
        if isinstance(model, UniSymNetRegressor):
            model.fit(x[:, None], x)
        else:
            model.fit(np.outer(np.sin(x), np.exp(-x)), {"x": x, "t": x})
    assert seen == [{1}]
