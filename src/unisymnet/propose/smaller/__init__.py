"""Smaller problems found in the data and solved by the other rooms."""
