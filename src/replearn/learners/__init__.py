"""scikit-learn meta-estimators, one algorithm per file."""

import lazy_loader as lazy

import replearn.fastpaths  # noqa: F401 - registers the plug-ins

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
