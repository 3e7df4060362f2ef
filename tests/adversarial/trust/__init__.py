"""Attacks on every claim: search for the population on which it is nearest to being false."""
