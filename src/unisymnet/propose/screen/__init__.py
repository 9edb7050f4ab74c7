"""Thousands of inner functions at once, alone, in pairs and in products."""
