"""Compiled evaluation of formulas and fits of their constants."""
