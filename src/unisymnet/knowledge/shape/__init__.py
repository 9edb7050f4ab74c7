"""Constraints on what a formula does: read from text, used in the search, proved by interval arithmetic."""
