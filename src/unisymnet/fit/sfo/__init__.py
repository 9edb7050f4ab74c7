"""Skeletons with open constants and exponents: the paper's symbolic function optimisation."""
