"""Further proposers of rates: the ordinary search, and fast states the other way round."""
