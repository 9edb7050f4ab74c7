"""What a caller may pass, looked at piece by piece: cells, names, lists."""
