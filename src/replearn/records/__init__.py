"""JSON, atomic files, checks of arguments, searches and text: what every package needs."""

from replearn._lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
