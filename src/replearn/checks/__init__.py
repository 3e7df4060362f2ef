"""What a run is bound to, and what its rows refute of the conditions of a promise."""
