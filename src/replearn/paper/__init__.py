"""Every algorithm of the paper "Approximate Replicability in Learning", one file each.

A file has the statement, the bounds, the rows needed, the certificate and the learner or function.
"""

from replearn._lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
