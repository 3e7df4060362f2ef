"""Replicable learning: retrain on a fresh sample, keep the predictions.

Names are loaded when they are first used, so that a command or a plan does not wait for estimators.
"""

from replearn._lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
