"""JSON, atomic files, checks of arguments, searches and text: what every package needs."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
