"""A fixed corpus: what the library answers today, as fingerprints that must come out again."""
