"""Tables without a known law: which columns matter, and the best sum of short features (ADR 29)."""
