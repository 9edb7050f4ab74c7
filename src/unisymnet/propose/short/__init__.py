"""Every short formula, by its price: what must have been tried before a search may say that nothing shorter exists."""
