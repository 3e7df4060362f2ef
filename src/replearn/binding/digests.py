"""What an estimator is: a digest of its code, parameters and fitted parts, equal in two processes.

Classes of packages with a version are bound by name, and the version goes on the certificate, with
a digest of the sources where they are not those that were installed (`packages`).
Functions and classes without one are bound by bytecode, defaults, closures and the globals they
name. No address, no order of a set and no order of a dictionary enters.
"""

from __future__ import annotations

import builtins
import functools
import random
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import metadata
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np
import sklearn
from numpy.lib.recfunctions import repack_fields
from scipy import sparse
from sklearn.frozen import FrozenEstimator

from replearn.binding.packages import edited_sources
from replearn.randomness import SharedKey

MAX_PARTS = 200_000  # estimators with more are not walked to the end

_UNVERSIONED = frozenset({"__main__", "__mp_main__", ""})
_IGNORED = frozenset({"_sklearn_version", "__doc__", "__module__", "__dict__", "__weakref__"})


@dataclass
class Fingerprint:
    """What is known of an object: its digest, and what could not be put into one."""

    digest: str = ""  # sixteen hexadecimal digits
    versions: dict[str, str] = field(default_factory=dict)  # of the packages of its parts
    unbound: tuple[str, ...] = ()  # parts without a digest, in words
    fitted: tuple[str, ...] = ()  # names of fitted parts that are not `prefitted`
    own: bool = False  # whether some code comes from no package with a version


def bind(value: Any) -> Fingerprint:
    """Bind any object.

    >>> bind({"b": 1, "a": {2, 3}}).digest == bind({"a": {3, 2}, "b": 1}).digest
    True
    >>> bind(lambda x: x > 0.5).digest == bind(lambda x: x > 0.7).digest
    False
    """
    walk = _Walk()
    digest = walk.digest(value).hex()[:16]
    versions = {"numpy": np.__version__, "scikit-learn": sklearn.__version__} | walk.versions
    parts = tuple(walk.unbound), tuple(walk.fitted), walk.own
    return Fingerprint(digest, dict(sorted(versions.items())), *parts)


class _Walk:
    """One walk over an object and everything it refers to."""

    def __init__(self) -> None:
        self.versions: dict[str, str] = {}
        self.unbound: dict[str, None] = {}
        self.fitted: dict[str, None] = {}
        self.own = False
        self._open: dict[int, int] = {}
        self._parts = 0
        self._inside_trusted = 0

    def digest(self, value: Any) -> bytes:
        """Return a digest of one object; an object inside itself counts by its depth."""
        self._parts += 1
        if self._parts > MAX_PARTS:
            self.unbound[f"more than {MAX_PARTS} parts"] = None
            return b""
        plain = _plain(value)
        if plain is not None:
            return plain
        if id(value) in self._open:
            return _hash("inside itself", str(len(self._open) - self._open[id(value)]))
        self._open[id(value)] = len(self._open)
        try:
            return self._compound(value)
        finally:
            del self._open[id(value)]

    def _compound(self, value: Any) -> bytes:
        for kinds, method in _METHODS:
            if isinstance(value, kinds):
                return method(self, value)
        if sparse.issparse(value):
            rows: Any = getattr(value, "tocsr")()  # noqa: B009 - the stubs do not know it
            return self._tagged("sparse", (rows.shape, rows.data, rows.indices, rows.indptr))
        return self._object(value)

    def _tagged(self, tag: str, items: Any) -> bytes:
        return _hash(tag, *(self.digest(item) for item in items))

    def _sequence(self, value: Any) -> bytes:
        return self._tagged(type(value).__name__, value)

    def _set(self, value: Any) -> bytes:
        return _hash("set", *sorted(self.digest(item) for item in value))

    def _mapping(self, value: Mapping[Any, Any]) -> bytes:
        pairs = (self.digest(k) + self.digest(v) for k, v in value.items() if k not in _IGNORED)
        return _hash("mapping", *sorted(pairs))

    def _array(self, value: np.ndarray[Any, Any]) -> bytes:
        if value.dtype.hasobject:
            return self._tagged("objects", (value.shape, value.ravel().tolist()))
        if isinstance(value, np.ma.MaskedArray):
            return self._tagged("masked", (value.filled(), np.ma.getmaskarray(value)))
        if value.dtype.names is not None:
            value = repack_fields(value)  # the bytes between fields (nodes of trees) are of chance
        plain = value.dtype.newbyteorder("<")
        content = np.ascontiguousarray(value, dtype=plain)
        return _hash("array", str(plain), repr(value.shape), content.tobytes())

    def _code(self, code: CodeType) -> bytes:
        self.versions["python"] = f"{sys.version_info.major}.{sys.version_info.minor}"
        parts = (code.co_argcount, code.co_kwonlyargcount, code.co_names, code.co_varnames)
        return _hash(
            "code", code.co_code, self._tagged("names", parts), self.digest(code.co_consts)
        )

    def _function(self, value: FunctionType) -> bytes:
        name = f"{value.__module__}.{value.__qualname__}"
        cells = value.__closure__ or ()
        parts = [value.__defaults__, value.__kwdefaults__, [_content(cell) for cell in cells]]
        if self._package(value.__module__) is None:
            known = value.__globals__
            named = {n: known[n] for n in _names(value.__code__) if n in known}
            return self._tagged(value.__qualname__, [*parts, value.__code__, named])
        if "<" in value.__qualname__:  # a lambda, or a function made by another: no name of its own
            return self._tagged(name, [*parts, value.__code__])
        return self._tagged(name, parts)

    def _method(self, value: MethodType) -> bytes:
        return self._tagged("method", (value.__self__, value.__func__))

    def _builtin(self, value: Any) -> bytes:
        owner = getattr(value, "__self__", None)
        name = f"{getattr(value, '__module__', None)}.{value.__qualname__}"
        if owner is None or isinstance(owner, ModuleType):
            return _hash("builtin", name)
        return _hash("builtin", name, self.digest(owner))

    def _partial(self, value: functools.partial[Any]) -> bytes:
        return self._tagged("partial", (value.func, value.args, value.keywords))

    def _module(self, value: ModuleType) -> bytes:
        self._package(value.__name__)
        return _hash("module", value.__name__)

    def _class(self, value: type) -> bytes:
        """Bind a class by name, and by its code where it comes from no package with a version."""
        name = f"{value.__module__}.{value.__qualname__}"
        if self._package(value.__module__) is not None:
            return _hash("class", name)
        own = {k: v for k, v in vars(value).items() if k not in _IGNORED}
        attributes = {k: v for k, v in own.items() if _is_code(v) or _is_data(k, v)}
        bases = map(self.digest, value.__bases__)
        return _hash("class", value.__qualname__, self._mapping(attributes), *bases)

    def _property(self, value: Any) -> bytes:
        parts = [getattr(value, name, None) for name in ("fget", "fset", "__func__", "func")]
        return self._tagged(type(value).__name__, parts)

    def _generator(self, value: Any) -> bytes:
        state = value.getstate() if isinstance(value, random.Random) else _numpy_state(value)
        return self._tagged(type(value).__qualname__, [state])

    def _object(self, value: Any) -> bytes:
        if isinstance(value, SharedKey):
            return _hash("key", value.fingerprint)
        self._note_fitted(value)
        trusted_part = is_trusted(value)
        self._inside_trusted += trusted_part
        try:
            if isinstance(value, FrozenEstimator):
                return self._tagged("frozen", [value.estimator])
            state = value.__reduce_ex__(4)
            if isinstance(state, str):
                return _hash("global", state)
            items = [*state[:3], *(list(part) for part in state[3:5] if part is not None)]
            return self._tagged("object", items)
        except Exception:
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            self.unbound[f"an object of type {kind}, whose state cannot be read"] = None
            return _hash("unbound", kind)
        finally:
            self._inside_trusted -= trusted_part

    def _note_fitted(self, value: Any) -> None:
        """Remember a part that carries what some fit has learned; a clone would not."""
        if self._inside_trusted or is_trusted(value):
            return
        if isinstance(value, FrozenEstimator):
            self.fitted[f"FrozenEstimator({type(value.estimator).__name__})"] = None
        elif hasattr(value, "get_params") and hasattr(value, "fit") and is_fitted(value):
            self.fitted[type(value).__name__] = None

    def _package(self, module: str | None) -> str | None:
        """Return the version of the package of a module, and remember it; None: it has none."""
        name = (module or "").partition(".")[0]
        if name in sys.stdlib_module_names and name not in _UNVERSIONED:
            self.versions.setdefault("python", f"{sys.version_info[0]}.{sys.version_info[1]}")
            return "python"
        version = _version(name)
        known = {"sklearn": "scikit-learn", "replearn": ""}.get(name, name)
        if version is not None and known:
            edited = edited_sources(name)
            self.versions[known] = f"{version}+edited.{edited}" if edited else version
        self.own |= version is None
        return version


_METHODS: tuple[tuple[Any, Callable[[_Walk, Any], bytes]], ...] = (
    ((list, tuple), _Walk._sequence),
    ((set, frozenset), _Walk._set),
    ((dict, MappingProxyType), _Walk._mapping),
    (np.ndarray, _Walk._array),
    (CodeType, _Walk._code),
    (FunctionType, _Walk._function),
    (MethodType, _Walk._method),
    ((BuiltinFunctionType, np.ufunc), _Walk._builtin),
    (functools.partial, _Walk._partial),
    (ModuleType, _Walk._module),
    (type, _Walk._class),
    ((property, staticmethod, classmethod, functools.cached_property), _Walk._property),
    ((random.Random, np.random.Generator, np.random.RandomState), _Walk._generator),
)


def is_trusted(value: Any) -> bool:
    """Whether a part was called trusted: fitted outside the sample."""
    return getattr(type(value), "fitted_outside_the_sample", False)


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator carries attributes that only a fit leaves, and no clone has."""
    left = {n for n in getattr(estimator, "__dict__", {}) if n.endswith("_") and n[0] != "_"}
    return bool(left) and not left <= set(vars(sklearn.base.clone(estimator)))


@functools.lru_cache(maxsize=512)
def _version(package: str) -> str | None:
    if package in _UNVERSIONED:
        return None
    found = getattr(sys.modules.get(package), "__version__", None)
    if isinstance(found, str):
        return found
    try:
        return metadata.version(package)
    except (metadata.PackageNotFoundError, ValueError):
        return None


def _plain(value: Any) -> bytes | None:
    """Return a digest of a plain value; None for all others."""
    kind = type(value)
    if value is None or value is Ellipsis or value is NotImplemented or kind in (bool, int):
        return _hash(kind.__name__, repr(value))
    if kind in (float, complex):
        number = complex(value)
        return _hash(kind.__name__, struct.pack("<dd", number.real, number.imag))
    if kind in (str, bytes, bytearray):
        return _hash(kind.__name__, value if kind is not bytearray else bytes(value))
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return _hash("scalar", value.dtype.str, value.tobytes())
    if isinstance(value, np.dtype | range | slice):
        return _hash(kind.__name__, repr(value))
    return None


def _hash(tag: str, *parts: str | bytes) -> bytes:
    digest = sha256(tag.encode("utf-8", "surrogatepass"))
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.digest()


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that nothing was bound to yet
        return None


def _names(code: CodeType) -> list[str]:
    """Return the global names of a function and of the functions inside it."""
    inner = (name for c in code.co_consts if isinstance(c, CodeType) for name in _names(c))
    return sorted({*code.co_names, *inner} - set(vars(builtins)))


def _is_code(value: Any) -> bool:
    return isinstance(
        value, FunctionType | property | staticmethod | classmethod | functools.cached_property
    )


def _is_data(name: str, value: Any) -> bool:
    """Whether a class attribute is data that methods may read, such as a counter."""
    kinds = (bool, int, float, str, list, tuple, dict, set, frozenset, np.ndarray)
    generators = (random.Random, np.random.Generator, np.random.RandomState)
    return isinstance(value, (*kinds, *generators)) and not name.startswith(("__", "_abc"))


def _numpy_state(value: Any) -> Any:
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    return value.get_state()
