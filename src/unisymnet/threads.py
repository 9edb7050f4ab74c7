"""One thread for linear algebra while a search runs.

The matrices of a search are small: two threads of BLAS win little on an idle machine, and beside another program they
wait for each other (a factorisation of 400 by 81 numbers took 0.6 s instead of 1 ms).  Sums would also depend on how
many cores a machine has.  Cores are used by islands and runs instead.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """BLAS and OpenMP on one thread until the context ends."""
    import scipy.linalg  # noqa: F401  # has a BLAS of its own, which is limited only once it is loaded
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)
