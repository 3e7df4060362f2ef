"""Files larger than memory: fit, predict and draw rows in pieces, on one machine or on many."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
