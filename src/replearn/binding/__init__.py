"""What a certificate binds a promise to, and what the data of a run can refute."""

from replearn._lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
