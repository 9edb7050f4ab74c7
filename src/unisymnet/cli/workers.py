"""Where the islands of a fit live: threads of this process, other processes, or the workers of a cluster (joblib)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec

from ..errors import DataError

BACKENDS = ("threading", "loky", "dask", "ray")


@contextmanager
def workers(backend: str | None, scheduler: str | None) -> Iterator[None]:
    """Inside this block joblib's work goes to ``backend``; ``scheduler`` is the address of a running cluster."""
    if backend is None and scheduler is None:
        yield
        return
    backend = backend or "dask"
    if backend not in BACKENDS:
        raise DataError(f"--backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    if scheduler is not None and backend not in ("dask", "ray"):
        raise DataError(f"--scheduler is for --backend dask or ray, not for {backend}")
    from joblib import parallel_config

    with ExitStack() as stack:
        if backend == "dask":
            _join_dask(stack, scheduler)
        elif backend == "ray":
            _join_ray(stack, scheduler)
        stack.enter_context(parallel_config(backend=backend))
        yield


def _join_dask(stack: ExitStack, scheduler: str | None) -> None:
    if find_spec("distributed") is None:
        raise DataError("--backend dask needs the package distributed: pip install distributed")
    from distributed import Client

    try:
        stack.enter_context(Client(scheduler, timeout="10s") if scheduler else Client())
    except (OSError, ValueError) as error:
        raise DataError(f"no Dask scheduler answers at {scheduler}: {error}") from error


def _join_ray(stack: ExitStack, scheduler: str | None) -> None:
    if find_spec("ray") is None:
        raise DataError("--backend ray needs the package ray: pip install ray")
    import ray
    from ray.util.joblib import register_ray

    try:
        ray.init(address=scheduler, log_to_driver=False)
    except (ConnectionError, ValueError) as error:
        raise DataError(f"no Ray cluster answers at {scheduler}: {error}") from error
    stack.callback(ray.shutdown)
    register_ray()
