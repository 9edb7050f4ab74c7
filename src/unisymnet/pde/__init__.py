"""Partial differential equations from fields on a grid: `PDERegressor`, and `PDESystem`, which can be simulated."""

from .estimator import PDERegressor as PDERegressor
from .system import PDESystem as PDESystem
