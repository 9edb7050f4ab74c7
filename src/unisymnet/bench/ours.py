"""Our own method in its modes, behind the contract of methods.py.

`unisymnet` is what a user gets.  The others take parts away: `unisymnet-no-transformer` has all stages but that one,
`unisymnet-paper` is the transformer with our better SFO and nothing else, `unisymnet-literal` the paper's pipeline to
the letter (ADR 33), `unisymnet-no-policy` leaves all exponents to the
continuous fit, `unisymnet-dno-p` and `unisymnet-dno-np` train the transformer's structures as networks, sparse or
dense.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..arrays import Floats

Changes = dict[str, Any]

# Exponents are left to the continuous fit: no policy, and nothing that looks where a policy would.
NO_POLICY: Changes = {"exponents": (None,), "n_steps": 1, "n_rollouts": 1, "warm": False, "climb": False, "sweep": 0}


# As in the default search: a brief look at every structure of a wide beam, then full fits of the likeliest.  With full
# fits alone, of up to 1.5 s each, ten seconds may end after six structures of twenty.
WHOLE_BEAMS: Changes = {"width": 60, "brief": 16}


def fit_ours(
    X: Floats,
    y: Floats,
    *,
    max_time: float,
    seed: int,
    names: Sequence[str],
    cores: int = 1,
    settings: Changes | None = None,
    trained: str | None = None,
    without: str | None = None,
) -> Any:
    """The estimator with other `settings`; `trained` names the DNO strategy that is to be its only proposer, `without`
    a stage that it has to do without."""
    regressor = importlib.import_module("unisymnet.regressor")
    changes = dict(settings or {})
    if trained is not None:
        stages = importlib.import_module("unisymnet.search.order")
        changes |= {"proposers": list(stages.dno_proposers(trained)), "strategy": "sfo"}
    if without is not None:
        stages = importlib.import_module("unisymnet.search.order")
        changes |= {"proposers": [name for name in stages.PROPOSERS if name != without]}
    return regressor.UniSymNetRegressor(max_time=max_time, random_state=seed, n_jobs=cores, **changes).fit(X, y)


def fit_with_sfo(
    X: Floats,
    y: Floats,
    *,
    max_time: float,
    seed: int,
    names: Sequence[str] = (),
    cores: int = 1,
    sfo: Changes | None = None,
    candidates: Changes | None = None,
) -> Any:
    """The paper's method with other settings of SFO and of the transformer's `candidates`."""
    from ..fit.polish import Polish
    from ..model.proposer import TransformerProposer
    from ..regressor.estimator import UniSymNetRegressor

    class PaperRegressor(UniSymNetRegressor):
        def _options(self) -> Any:
            options = super()._options()
            fitter = options.fitter
            assert isinstance(fitter, Polish)
            return replace(options, fitter=Polish(loss=fitter.loss, sfo=replace(fitter.sfo, **(sfo or {}))))

    proposer = TransformerProposer(**(candidates or {}))
    # Every refit minimises the same loss, or it would undo what a robust one has done.
    loss = (sfo or {}).get("loss", "mse")
    model = PaperRegressor(
        max_time=max_time, random_state=seed, n_jobs=cores, proposers=[proposer], strategy="sfo", loss=loss
    )
    return model.fit(X, y)


def sfo_settings(text: str) -> Changes:
    """`init=grid,entropy=0.01,schedule=linear` as settings of SFO; the schedule is that of its temperature."""
    from ..fit.sfo.exponents import SCHEDULES, Temperature

    known = {"init": str, "loss": str, "entropy": float, "schedule": str}
    changes: Changes = {}
    for pair in text.split(","):
        key, _, value = pair.partition("=")
        if key not in known:
            raise ValueError(f"unknown setting {key!r} of SFO; use {', '.join(known)}")
        changes[key] = known[key](value)
    if (schedule := changes.pop("schedule", None)) is not None:
        if schedule not in SCHEDULES:
            raise ValueError(f"schedule must be one of {', '.join(SCHEDULES)}, got {schedule!r}")
        changes["temperature"] = Temperature(schedule)
    return changes


def unisymnet_text(model: Any) -> str | None:
    return str(model.formula_.expr)


MODES: dict[str, Callable[..., Any]] = {
    "unisymnet": fit_ours,
    "unisymnet-no-transformer": partial(fit_ours, without="transformer"),
    "unisymnet-paper": partial(fit_with_sfo, candidates=WHOLE_BEAMS),
    "unisymnet-literal": partial(fit_ours, settings={"strategy": "literal"}),
    "unisymnet-no-policy": partial(fit_with_sfo, sfo=NO_POLICY, candidates=WHOLE_BEAMS),
    "unisymnet-dno-p": partial(fit_ours, trained="dno-p"),
    "unisymnet-dno-np": partial(fit_ours, trained="dno-np"),
}
