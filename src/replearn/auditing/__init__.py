"""Measure flips on your own data: pairs of trainings, findings, displays, report."""

from replearn._lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
