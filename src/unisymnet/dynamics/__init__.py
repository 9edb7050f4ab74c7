"""Dynamics: from trajectories to differential equations one can simulate.

The order of the search is in find.py; `DynamicsRegressor` is the door, `System` what comes out.
"""

from .equations.system import System
from .estimator import DynamicsRegressor
from .watch import DynamicsEvent

__all__ = ["DynamicsEvent", "DynamicsRegressor", "System"]
