"""One form for many groups of rows: some constants shared, others with a value for each group."""
