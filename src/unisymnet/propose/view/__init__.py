"""What the data look like: y through a view, smooth or noisy."""
