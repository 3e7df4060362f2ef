"""Replicable building blocks: coins, heavy hitters, correlated sampling, selection."""
