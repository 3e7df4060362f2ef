"""Measure flips on your own data."""
