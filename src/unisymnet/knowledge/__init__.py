"""What the scientist already knows: units, constraints, groups, templates. Below the estimator, above the search."""
