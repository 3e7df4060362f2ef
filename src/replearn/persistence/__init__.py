"""Model files without pickle."""
