"""Every table and figure of the paper as an experiment that one command repeats: `unisymnet bench NAME`.

All share one runner and one look (base.py) and one set of published numbers (facts.py).
"""

from importlib import import_module

from .base import Experiment as Experiment
from .base import Setup as Setup

_PLACES = {
    "indomain": "indomain:EXPERIMENT",
    "extrapolation": "extrapolation:EXPERIMENT",
    "srbench": "srbench:EXPERIMENT",
    "equations": "equations:EQUATIONS",
    "subset": "equations:DNO_SUBSET",
    "encoding": "encoding:EXPERIMENT",
    "pruning": "optimisers:PRUNING",
    "optimisers": "optimisers:STRATEGIES",
    "initialisation": "ablations:INITIALISATION",
    "losses": "ablations:ROBUST",
    "temperature": "ablations:TEMPERATURE",
    "scatter": "functions:SCATTER",
    "convergence": "convergence:EXPERIMENT",
    "complexity": "functions:COMPLEXITY",
    "tabular": "blackbox:EXPERIMENT",
}
NAMES = tuple(_PLACES)


def find_experiment(name: str) -> Experiment:
    """An experiment by its name; its file is loaded only now."""
    module, _, attribute = _PLACES[name].partition(":")
    experiment: Experiment = getattr(import_module(f".{module}", __package__), attribute)
    return experiment
