"""Partition the rows into blocks, run the blocks, vote."""
