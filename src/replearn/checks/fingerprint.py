"""What an estimator is: a digest of its classes and parameters that is equal in two processes.

Classes and functions of installed packages are bound by their names, and the versions of the
packages stand beside the digest. Code from elsewhere, and what cannot be pickled, is not bound:
whether two labs have the same is then unknown.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, ClassVar

import numpy as np
import sklearn
from joblib.hashing import NumpyHasher
from numpy.lib.recfunctions import repack_fields
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator

from replearn.execution.fitting import random_state_names, set_seeds
from replearn.randomness.key import SharedKey

DISTRIBUTIONS = {"sklearn": "scikit-learn", "imblearn": "imbalanced-learn"}
"""Packages that are installed by another name; others are looked up."""

PURE = frozenset({"numpy", "scipy", "sklearn", "replearn", "builtins", "math", "operator"})
"""Packages whose functions depend on their arguments alone, unless they read files."""

_READS = re.compile(r"(load|from|fetch|gen|open|read|memmap|input)")
_NO_STATE = frozenset({"_sklearn_version", "_sklearn_output_config"})
# Objects without a repr of their own print an address, which differs between processes.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class TrustedEstimator(FrozenEstimator):
    """A fitted estimator that was fitted on data from outside the sample; see `prefitted`."""

    fitted_outside_the_sample: ClassVar[bool] = True


def prefitted(estimator: Any) -> TrustedEstimator:
    """Mark a fitted estimator as fitted outside the sample, so that it may be used as a part.

    Examples are an embedding trained on other data and a scaler with published constants. Every lab
    must use the same one: it is bound by a digest of its fitted state. What would be fitted on the
    sample itself must be unfitted in the base estimator.

    Parameters
    ----------
    estimator : fitted estimator
        It is frozen: neither ``fit`` nor ``clone`` changes it.

    Returns
    -------
    TrustedEstimator
        The estimator, marked.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from replearn.checks.fingerprint import prefitted
    >>> published = StandardScaler().fit(np.array([[150.0], [190.0]]))
    >>> base = make_pipeline(prefitted(published), LogisticRegression())
    """
    return TrustedEstimator(estimator)


@dataclass(frozen=True)
class Fingerprint:
    """What is known of an object.

    Parameters
    ----------
    digest : str
        Sixteen hexadecimal digits.
    versions : dict
        Versions of the packages that its parts come from.
    unbound : tuple of str
        Parts without a digest, in words.
    """

    digest: str
    versions: dict[str, str] = field(default_factory=dict)
    unbound: tuple[str, ...] = ()


def fingerprint(value: Any) -> Fingerprint:
    """Return the fingerprint of any object, with what it has learned.

    >>> fingerprint({"b": 1, "a": {2, 3}}).digest == fingerprint({"a": {3, 2}, "b": 1}).digest
    True
    >>> fingerprint(lambda x: x > 0.5).unbound
    ('a lambda',)
    """
    return _walked(value)[0]


def bind_estimator(base: Any) -> Fingerprint:
    """Return the fingerprint of a base estimator; fitted parts raise an error.

    >>> from sklearn.linear_model import LogisticRegression
    >>> one, two = bind_estimator(LogisticRegression()), bind_estimator(LogisticRegression(C=2))
    >>> one.digest == two.digest
    False
    """
    model = _plain_clone(base)
    set_seeds(model, dict.fromkeys(random_state_names(model), 0))  # every block has its own
    found, fitted = _walked(model)
    if fitted:
        raise ValueError(
            f"the base estimator contains a fitted part: {', '.join(fitted)}. Whatever was fitted "
            "on the sample must be fitted inside each block: give it unfitted. If it was fitted on "
            "data from outside the sample, the same in all labs, say so: "
            "replearn.checks.fingerprint.prefitted(estimator)."
        )
    return found


def joined(values: list[Any], parts: Iterable[Fingerprint]) -> Fingerprint:
    """Return one fingerprint of plain values and of parts that have one each."""
    parts = list(parts)
    return Fingerprint(
        fingerprint([values, [part.digest for part in parts]]).digest,
        {name: version for part in parts for name, version in part.versions.items()},
        tuple(dict.fromkeys(text for part in parts for text in part.unbound)),
    )


def in_words(estimator: Any) -> str:
    """Describe an estimator in one line that is the same in every process.

    >>> from sklearn.linear_model import LogisticRegression
    >>> in_words(LogisticRegression(C=np.float64(0.5)))
    'LogisticRegression(C=0.5)'
    """
    return " ".join(_ADDRESS.sub("", repr(_plain_clone(estimator))).split())


def _plain_clone(estimator: Any) -> Any:
    """Return an unfitted clone whose numbers are Python's own; other objects as they are."""
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        return estimator
    model = clone(estimator)
    params = model.get_params(deep=True)
    numbers = {name: v.item() for name, v in params.items() if isinstance(v, np.generic)}
    return model.set_params(**numbers) if numbers else model


def _walked(value: Any) -> tuple[Fingerprint, tuple[str, ...]]:
    """Return the fingerprint of an object, and the names of fitted parts."""
    hasher = _Hasher()
    try:
        digest = hasher.hash(value)
    except Exception as error:  # pickling may run any code
        digest = NumpyHasher("sha256").hash(in_words(value))
        if not hasher.unbound:
            kind = type(value).__name__
            hasher.unbound[f"{kind}, whose state cannot be read ({error})"] = None
    known = {"numpy": np.__version__, "scikit-learn": sklearn.__version__, **hasher.versions}
    found = Fingerprint(digest[:16], dict(sorted(known.items())), tuple(hasher.unbound))
    return found, tuple(hasher.fitted)


class _Hasher(NumpyHasher):
    """Joblib's hash, which is a pickle that depends on values only."""

    def __init__(self) -> None:
        super().__init__("sha256")
        self.versions: dict[str, str] = {}
        self.unbound: dict[str, None] = {}
        self.fitted: dict[str, None] = {}
        self._reducer: Any = None
        self._inside_trusted = 0

    def memoize(self, obj: Any) -> None:
        """Write equal objects alike, whether or not they are the same one."""

    def save_reduce(self, func: Any, args: Any, *rest: Any, **named: Any) -> None:
        """Remember the function that makes an object again: it is no part of the object."""
        self._reducer = func
        super().save_reduce(func, args, *rest, **named)

    def save(self, obj: Any) -> None:
        """Hash one object and everything that it refers to."""
        if isinstance(obj, np.generic) and not isinstance(obj, np.void):
            obj = obj.item()
        elif isinstance(obj, np.ndarray):
            # the bytes between the nodes of a tree are of chance, and so are strides
            packed = obj if obj.dtype.names is None else repack_fields(obj)
            obj = np.array(packed, order="C")
        elif isinstance(obj, np.random.Generator):
            obj = ("Generator", obj.bit_generator.state)  # whatever it was seeded with
        elif isinstance(obj, SharedKey):
            obj = ("SharedKey", obj.fingerprint)
        elif obj is self._reducer:
            self._reducer = None
        elif isinstance(obj, type):
            self._note(obj, "class")
        elif isinstance(obj, FunctionType | BuiltinFunctionType | np.ufunc):
            self._note_function(obj)
        elif isinstance(obj, BaseEstimator):
            self._save_estimator(obj)
            return
        super().save(obj)

    def _save_estimator(self, estimator: Any) -> None:
        is_trusted = getattr(type(estimator), "fitted_outside_the_sample", False)
        if not self._inside_trusted and not is_trusted:
            self._note_fitted(estimator)
        if getattr(estimator, "input", None) in ("file", "filename"):
            self.unbound[f"the files that {type(estimator).__name__} reads"] = None
        state = estimator.__getstate__()
        self._inside_trusted += is_trusted
        super().save(type(estimator))
        self._note(type(estimator), "class")
        super().save({name: state[name] for name in state if name not in _NO_STATE})
        self._inside_trusted -= is_trusted

    def _note_fitted(self, estimator: Any) -> None:
        """Remember a part that carries what some fit has learned; a clone would not."""
        if isinstance(estimator, FrozenEstimator):
            self.fitted[f"FrozenEstimator({type(estimator.estimator).__name__})"] = None
        elif hasattr(estimator, "fit") and is_fitted(estimator):
            self.fitted[type(estimator).__name__] = None

    def _note(self, code: Any, kind: str) -> None:
        """Remember the version of the package of a class or function, or that it has none."""
        package = _package(code)
        if package in ("replearn", "joblib"):
            return
        if package in sys.stdlib_module_names:
            self.versions["python"] = f"{sys.version_info[0]}.{sys.version_info[1]}"
            if kind == "function":
                self.unbound[f"function {code.__qualname__}, which may read the clock"] = None
            return
        name, version = _distribution(package)
        if version is None:
            self.unbound[f"{kind} {code.__qualname__}, whose code is in no package"] = None
            return
        self.versions[name] = version
        if kind == "function" and package not in PURE:
            self.unbound[f"function {code.__qualname__}, which may read files"] = None

    def _note_function(self, function: Any) -> None:
        owner = getattr(function, "__self__", None)
        if owner is not None and not isinstance(owner, ModuleType):
            return  # a method: joblib hashes its object
        if function.__name__ == "<lambda>":
            self.unbound["a lambda"] = None
        elif isinstance(function, np.ufunc) or _package(function) not in PURE:
            self._note(function, "function")
        elif _READS.match(function.__name__):
            self.unbound[f"function {function.__qualname__}, which reads files"] = None


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator carries attributes that only a fit leaves, and no clone has."""
    left = {n for n in getattr(estimator, "__dict__", {}) if n.endswith("_") and n[0] != "_"}
    return bool(left) and not left <= set(vars(clone(estimator)))


def _package(code: Any) -> str:
    if isinstance(code, np.ufunc):
        return "numpy" if getattr(np, code.__name__, None) is code else "scipy"
    return str(getattr(code, "__module__", None) or "").partition(".")[0]


@lru_cache(maxsize=512)
def _distribution(package: str) -> tuple[str, str | None]:
    """Return the distribution that a package belongs to, and its version; None if there is none."""
    name = DISTRIBUTIONS.get(package, package)
    if name in ("", "__main__", "__mp_main__"):
        return name, None
    try:
        return name, metadata.version(name)
    except (metadata.PackageNotFoundError, ValueError):
        names = metadata.packages_distributions().get(package, [])  # slow: reads every list
        return (names[0], metadata.version(names[0])) if names else (name, None)
