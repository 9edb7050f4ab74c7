"""What the parameters of the estimator mean for one fit: stages, fitter and limits of the search.

Apart from the estimator, so that a model is made, loaded and asked without loading the search.
"""

from __future__ import annotations

import math
from typing import Any

from joblib import effective_n_jobs

from ..fit.polish import Polish
from ..fit.sfo.exponents import EXPONENTS
from ..fit.sfo.sfo import SFO
from ..judge.noise import read_noise
from ..knowledge.known import Known
from ..problem import Problem
from ..propose.view.smooth import looks_noisy, only_noise_left
from ..protocols import Proposer
from ..search.literal import literal_proposers, literal_sfo
from ..search.loop import SearchSettings
from ..search.order import brief_proposers, default_proposers, dno_proposers
from .kinds import Options
from .validation import operator_set, own_operators, read_loss


def options_of(model: Any) -> Options:
    """The options of one fit of this estimator, whose parameters have been checked."""
    operators = operator_set(model.operators)
    given = list(model.proposers or ())
    own = tuple(proposer for proposer in given if not isinstance(proposer, str))
    names = [name for name in given if isinstance(name, str)]
    default_proposers(names)  # an unknown name is told before any work
    # Who names the ways of proposing gets no other unless the strategy asks for it.
    trained = dno_proposers(model.strategy) if not given or model.strategy.startswith("dno") else ()
    literal = model.strategy == "literal"

    def chosen(problem: Problem) -> tuple[Proposer, ...]:
        if literal and not given:
            return literal_proposers()
        if given and not names:
            return (*own, *trained)
        evolution = {"n_jobs": model.n_jobs, "max_epochs": model.max_epochs, "checkpoint": model.checkpoint}
        return (*own, *default_proposers(names or None, trained, evolution))

    def brief(problem: Problem) -> tuple[Proposer, ...]:
        return () if literal or own else brief_proposers(names or None)

    known = Known(model.units, model.constants, model.constraints, model.template, own_operators(model.operators))
    values = EXPONENTS if model.exponents is None else (*map(float, model.exponents), None)
    sfo = SFO(exponents=values, n_threads=effective_n_jobs(model.n_jobs))
    if literal:
        sfo = literal_sfo(sfo)
    return Options(
        settings=SearchSettings(
            max_time=None if model.max_time is None or math.isinf(model.max_time) else float(model.max_time),
            max_evaluations=model.max_evaluations,
            repeatable=model.max_evaluations is not None or model.max_epochs is not None,
            max_complexity=model.max_complexity,
            is_noise=only_noise_left,
            looks_noisy=looks_noisy,
        ),
        proposers=chosen,
        brief=brief,
        fitter=Polish(sfo=sfo),
        fitter_for=lambda loss: Polish(loss=loss, sfo=sfo),
        operators=operators,
        noise=read_noise(model.noise)[0],
        noise_kind=read_noise(model.noise)[1],
        selection=model.selection,
        validation_fraction=model.validation_fraction,
        max_rows=model.max_rows,
        max_columns=model.max_columns,
        checkpoint=model.checkpoint,
        callback=model.callback,
        verbose=model.verbose,
        known=known,
        fingerprinted={
            **known.fingerprinted(),
            "operators": sorted(operators),
            "max_complexity": model.max_complexity,
            **({} if model.loss == "mse" else {"loss": model.loss}),
        },
        loss=read_loss(model.loss),
        goal=model.goal,
    )
