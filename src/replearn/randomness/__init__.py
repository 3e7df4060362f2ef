"""Shared randomness: keys, canonical encoding of points, keyed hash."""
