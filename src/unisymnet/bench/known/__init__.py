"""Benchmarks beyond a suite: units of the Feynman laws, constants per group, errors out of the domain.

Their catalogs are read from a folder that the user names; none is shipped. `outside` also makes sets of its own.  Each
file has `keys` (its runs, but for noise, time and seed), `perform` and `summary`; records.py runs them.
"""
