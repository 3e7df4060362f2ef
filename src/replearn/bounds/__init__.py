"""Exact probabilities behind the guarantees: pure functions of numbers, rounded to the safe side.

``__all__`` lists what a user of the theory calls directly; the other names are for packages of this
library.
"""
