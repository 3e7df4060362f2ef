"""Replicable learning: retrain on a fresh sample, keep the answers."""

from replearn._version import __version__

__all__ = ["__version__"]
