"""Every table and figure of the paper as an experiment that one command repeats: `unisymnet bench NAME`.

One small file each; all share one runner (base.py), one style (style.py) and one set of published numbers (facts.py).
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
    "initialisation": "initialisation:EXPERIMENT",
    "losses": "losses:EXPERIMENT",
    "temperature": "temperature:EXPERIMENT",
    "scatter": "scatter:EXPERIMENT",
    "convergence": "convergence:EXPERIMENT",
    "complexity": "complexity:EXPERIMENT",
    "tabular": "blackbox:EXPERIMENT",
}
NAMES = tuple(_PLACES)


def find_experiment(name: str) -> Experiment:
    """An experiment by its name; its file is loaded only now."""
    module, _, attribute = _PLACES[name].partition(":")
    experiment: Experiment = getattr(import_module(f".{module}", __package__), attribute)
    return experiment
