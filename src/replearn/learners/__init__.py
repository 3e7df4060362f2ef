"""scikit-learn meta-estimators, one algorithm per file."""

import replearn.fastpaths
from replearn._lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
