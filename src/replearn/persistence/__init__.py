"""Model files without pickle, and folders for fits that may be interrupted."""
