"""Measure flips on your own data: pairs of trainings, findings, displays, report."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
