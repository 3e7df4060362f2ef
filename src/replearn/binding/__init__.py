"""What a certificate binds a promise to, and what the data of a run can refute."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
