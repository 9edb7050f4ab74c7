"""Partial differential equations that we simulate ourselves, and how well they are found again."""
