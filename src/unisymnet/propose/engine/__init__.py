"""Evolution as compiled islands: a whole epoch of births, fits and deaths runs without Python."""
