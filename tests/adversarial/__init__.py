"""Attacks on what the library promises, and on what it does with broken input."""
