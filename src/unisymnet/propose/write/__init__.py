"""Coefficients written as short formulas."""
