"""Formulas written for others: LaTeX, MathML, source code, sympy."""
