"""Laws t = Σ c·φ(x) + Σ c·u(x; θ): a few inner constants, the others eliminated."""
