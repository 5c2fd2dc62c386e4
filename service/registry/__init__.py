"""Model files become graphs and facts: one reader a format, each a pure function of the file's bytes."""
