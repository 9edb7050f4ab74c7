"""Commands for those who train: random functions, training, and trained models."""
