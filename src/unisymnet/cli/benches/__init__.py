"""`bench`: suites, tables of the paper, and benchmarks of what a scientist knows."""
