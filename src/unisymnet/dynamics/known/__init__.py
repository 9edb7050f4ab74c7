"""What is known about a system before any search: units, constraints, forms, groups of runs."""
