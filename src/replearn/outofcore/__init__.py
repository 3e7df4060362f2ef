"""Files larger than memory: fit, predict and draw rows in pieces, on one machine or on many."""

from replearn._lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
