"""Structures as trainable networks: the paper's differentiable network optimisation (needs torch)."""
