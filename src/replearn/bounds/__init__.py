"""Exact probabilities: pure functions of numbers, rounded to the safe side."""
