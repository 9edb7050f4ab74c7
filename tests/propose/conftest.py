"""One thread for linear algebra: small matrices run faster so, and much faster when tests share the machine."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    with threadpool_limits(1):
        yield
