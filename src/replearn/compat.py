"""All use of private code of other packages.

Every name here is private in the package it comes from, and has a fallback: if a release renames
it, replearn still imports, fits and predicts the same. No other module of replearn may import a
private module of another package.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

from sklearn.utils.validation import validate_data

__all__ = ["HasMethods", "Interval", "StrOptions", "fit_context", "shared_base", "validate_data"]

_Method = TypeVar("_Method", bound=Callable[..., Any])

try:
    # All or none: scikit-learn's fit context knows no constraints but its own.
    from sklearn.base import _fit_context as fit_context
    from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
except ImportError:  # parameters are then checked by the planner and the bounds alone

    class _Constraint:
        """A constraint that nobody checks."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            pass

    HasMethods = Interval = StrOptions = _Constraint

    def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[_Method], _Method]:
        """Return a decorator that leaves a method as it is."""
        return lambda method: method


def shared_base(*kinds: type) -> tuple[type, ...]:
    """Return the private base class that public estimators share; without one, themselves.

    >>> from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    >>> [kind.__name__ for kind in shared_base(RandomForestClassifier, RandomForestRegressor)]
    ['BaseForest']
    >>> from sklearn.naive_bayes import GaussianNB
    >>> shared_base(GaussianNB, RandomForestClassifier)[0].__name__
    'GaussianNB'
    """
    home = kinds[0].__module__
    for base in kinds[0].__mro__[1:]:
        # A base from elsewhere (BaseEstimator, a mixin) is shared with estimators of other kinds.
        if base.__module__ == home and all(issubclass(kind, base) for kind in kinds):
            return (base,)
    return kinds


# --- for execution and fastpaths: each may be missing (None), and the plain way is taken

try:
    from joblib._parallel_backends import LokyBackend, ThreadingBackend
    from joblib.parallel import get_active_backend
except ImportError:  # pragma: no cover - private: they may move
    LokyBackend = ThreadingBackend = get_active_backend = None
try:
    from joblib.externals.loky import ProcessPoolExecutor, reusable_executor
except ImportError:  # pragma: no cover
    ProcessPoolExecutor = reusable_executor = None
try:
    import cloudpickle  # what joblib sends estimators to its workers with
except ImportError:  # pragma: no cover - older releases of joblib bring their own
    try:
        from joblib.externals import cloudpickle
    except ImportError:
        cloudpickle = None
try:
    from sklearn._loss.loss import HalfBinomialLoss
except ImportError:  # pragma: no cover
    HalfBinomialLoss = None

BOOSTING_INTERNALS = (
    "_baseline_prediction",
    "_loss",
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


class BoostingParts(NamedTuple):
    """What grows the trees of histogram boosting."""

    BinMapper: type
    HistogramBuilder: type
    Splitter: type
    TreePredictor: type
    NODE: Any  # the type of a node in the table of a tree
    find_thresholds: Callable[..., Any]  # (column, max_bins) to the thresholds of its bins
    max_threshold: float

    @staticmethod
    def fit(model: Any, X: Any, y: Any, **replaced: Any) -> None:
        """Run the fit of a model, without validation of parameters, with some parts replaced."""
        fit = inspect.unwrap(type(model).fit)
        unknown = set(replaced) - set(fit.__code__.co_names)
        if unknown:
            raise AttributeError(f"histogram boosting is not fitted with {sorted(unknown)}")
        names = fit.__globals__ | replaced
        own = FunctionType(fit.__code__, names, fit.__name__, fit.__defaults__, fit.__closure__)
        own.__kwdefaults__ = fit.__kwdefaults__
        own(model, X, y)


@cache
def boosting_parts() -> Any:
    """Return what grows the trees of histogram boosting; None if any of it has moved."""
    try:
        from sklearn.ensemble._hist_gradient_boosting import binning, common
        from sklearn.ensemble._hist_gradient_boosting.histogram import HistogramBuilder
        from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
        from sklearn.ensemble._hist_gradient_boosting.splitting import Splitter

        return BoostingParts(
            binning._BinMapper,
            HistogramBuilder,
            Splitter,
            TreePredictor,
            common.PREDICTOR_RECORD_DTYPE,
            binning._find_binning_thresholds,
            common.ALMOST_INF,
        )
    except (ImportError, AttributeError):  # pragma: no cover
        return None


@cache
def packed_internals() -> dict[str, type]:
    """Return the private parts of trees and boosting that model files pack; {} if any has moved."""
    try:
        from sklearn._loss.loss import HalfBinomialLoss, HalfMultinomialLoss, HalfSquaredError
        from sklearn.compose import _column_transformer
        from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
        from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
        from sklearn.tree._tree import Tree
    except ImportError:  # pragma: no cover
        return {}
    # Before scikit-learn 1.9, the columns of "remainder": a list that warns when it is read.
    remainder = getattr(_column_transformer, "_RemainderColsList", None)
    return ({} if remainder is None else {"RemainderColumns": remainder}) | {
        "BinMapper": _BinMapper,
        "HalfBinomialLoss": HalfBinomialLoss,
        "HalfMultinomialLoss": HalfMultinomialLoss,
        "HalfSquaredError": HalfSquaredError,
        "Tree": Tree,
        "TreePredictor": TreePredictor,
    }


@cache
def node_types() -> tuple[Any, ...]:
    """Return the types of the nodes of trees: the only records that model files hold."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier().fit([[0], [1]], [0, 1]).tree_
    parts = boosting_parts()
    return tree.__getstate__()["nodes"].dtype, *([] if parts is None else [parts.NODE])


def skops_entries(state: Any) -> dict[str, bytes] | None:
    """Return the files of an archive of skops, without dates and addresses; None if it changed."""
    try:
        import skops
        from skops.io._utils import SaveContext, get_state
    except ImportError:  # pragma: no cover
        return None

    class Context(SaveContext):
        """Objects are numbered in the order in which they are met."""

        def memoize(self, obj: Any) -> int:
            """Keep an object, so that no other one gets its address; return its number."""
            number, _ = self.memo.setdefault(id(obj), (len(self.memo) + 1, obj))
            return int(number)

    entries = _Entries()
    context = Context(zip_file=entries)
    schema = {**get_state(state, context), "protocol": context.protocol}
    schema["_skops_version"] = skops.__version__
    return {**entries, "schema.json": json.dumps(schema).encode()}


class _Entries(dict[str, bytes]):
    """What skops writes, by name."""

    def writestr(self, name: str, content: Any) -> None:
        """Keep the content of a file."""
        self[name] = bytes(content)

    def namelist(self) -> _Entries:
        """Return the names of the files."""
        return self
