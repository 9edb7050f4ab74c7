"""Laws Σ t^k·P_k(x) = 0: null vectors and ratios."""
