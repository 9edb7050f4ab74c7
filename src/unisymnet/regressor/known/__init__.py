"""What is known about a law, in one fit: groups of rows and their labels, remarks beside formulas."""
