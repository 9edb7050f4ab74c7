"""Data files as people have them, read into a table of numbers; what is guessed or left out is always said."""
