"""The one door to scikit-learn's private helpers.

``_fit_context`` and the parameter constraints are private in scikit-learn but stable across the
supported versions; if one of them moves, only this file changes.
"""

from typing import Any

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import validate_data

__all__ = ["HasMethods", "Interval", "StrOptions", "fit_context", "validate_data"]


# --- doors of execution and fastpaths: each may be missing (None), and the plain way is taken

try:
    from joblib._parallel_backends import LokyBackend, ThreadingBackend
    from joblib.parallel import get_active_backend
except ImportError:  # pragma: no cover - private: they may move
    LokyBackend = ThreadingBackend = get_active_backend = None
try:
    from joblib.externals.loky import reusable_executor
except ImportError:  # pragma: no cover
    reusable_executor = None
try:
    from sklearn._loss.loss import HalfBinomialLoss
except ImportError:  # pragma: no cover
    HalfBinomialLoss = None

BOOSTING_INTERNALS = (
    "_baseline_prediction",
    "_predictors",
    "_predict_iterations",
    "n_trees_per_iteration_",
)
"""What the fast path of histogram boosting reads of a fitted model."""


def threads_are_configured() -> bool:
    """Tell whether joblib would use threads of this process; if in doubt, it would not."""
    if get_active_backend is None or ThreadingBackend is None:
        return False
    return isinstance(get_active_backend(prefer="threads")[0], ThreadingBackend)


def workers_run(prefer: str) -> bool:
    """Tell whether joblib's workers are there already (threads always are); if in doubt, not."""
    if get_active_backend is None:
        return False
    backend, _ = get_active_backend(prefer=prefer)
    if getattr(backend, "supports_sharedmem", False):
        return True
    if LokyBackend is None or not isinstance(backend, LokyBackend):
        return False
    executor = getattr(reusable_executor, "_executor", None)
    return bool(getattr(executor, "_processes", None))


def boosting_is_readable(model: Any) -> bool:
    """Tell whether a fitted histogram boosting has the private parts that are read, plainly."""
    parts_are_there = all(hasattr(model, name) for name in BOOSTING_INTERNALS)
    return parts_are_there and getattr(model, "_preprocessor", model) is None
