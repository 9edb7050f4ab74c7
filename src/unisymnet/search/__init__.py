"""The search: which proposers run in which order (order), whose turn it is (turns), and the loop (loop)."""
