"""Replicable learning: retrain on a fresh sample, keep the predictions.

Names are loaded when they are first used, so that a command or a plan does not wait for estimators.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
