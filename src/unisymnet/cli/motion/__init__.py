"""Commands about what changes in time."""
