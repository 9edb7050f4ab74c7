"""Fitted constants made simple numbers, and formulas spelled as people write them."""
