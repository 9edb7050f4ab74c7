"""The scikit-learn door: `UniSymNetRegressor`, and `fit_formula` for a formula that the user already has."""

from .estimator import UniSymNetRegressor as UniSymNetRegressor
from .own import fit_formula as fit_formula
