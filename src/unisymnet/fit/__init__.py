"""Constants and exponents of a given structure: compiled kernels, least squares, SFO, snapping."""
