"""Templates: a form that is known up to some functions in it, which are searched."""
