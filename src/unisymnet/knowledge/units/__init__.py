"""Units of measurement: read, checked in formulas, used to search with fewer columns."""
