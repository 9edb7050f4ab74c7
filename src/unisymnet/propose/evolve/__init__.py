"""Formulas changed step by step, from the front and from hints."""
