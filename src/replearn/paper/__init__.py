"""Every algorithm of the paper "Approximate Replicability in Learning", one file each.

A file has the statement, the bounds, the rows needed, the certificate and the learner or function.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
