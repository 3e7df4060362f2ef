"""Cut the rows into blocks, fit the blocks, let them vote: the plain loop.

Faster ways to the same result plug in from `replearn.fastpaths`; nothing here needs them.
"""
