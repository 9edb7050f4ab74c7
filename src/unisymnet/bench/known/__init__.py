"""Benchmarks of what a scientist already knows: units of the Feynman laws, constants per group, constraints, templates.

Their catalogs are read from a folder that the user names; none is shipped.
"""
