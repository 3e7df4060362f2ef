"""Use from other packages; each module imports its package only when it is used."""
