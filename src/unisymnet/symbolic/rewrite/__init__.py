"""Formulas rewritten without changing their values: collected, simplified, presented."""
