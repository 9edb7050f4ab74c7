"""Laws t = Σ c·φ(x), t a view of y or its logarithm: least squares."""
