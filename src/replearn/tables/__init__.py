"""Frames, arrays and files in one shape."""

from replearn._lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
