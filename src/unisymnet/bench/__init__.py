"""Benchmarks: catalogs of problems, methods behind one contract, a runner with hard limits, and scores.

The rest of the package never imports this folder and knows no benchmark.
"""

from .problems import BenchProblem as BenchProblem
from .problems import add_noise as add_noise
from .problems import find_problem as find_problem
from .problems import load_suite as load_suite
from .problems import suites as suites
