"""The one door to scikit-learn's private helpers.

``_fit_context`` and the parameter constraints are private in scikit-learn but stable across the
supported versions; if one of them moves, only this file changes.
"""

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import validate_data

__all__ = ["HasMethods", "Interval", "StrOptions", "fit_context", "validate_data"]
