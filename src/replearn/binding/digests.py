"""What an estimator is: a digest of its code, parameters and fitted parts, equal in two processes.

Classes of packages with a version are bound by name, and the version goes on the certificate, with
a digest of the sources where they are not those that were installed (`edited_sources`): an
installer leaves a list of files with hashes (RECORD), and a package without one of its own (an
editable install, a vendored copy) or with other files is bound by its sources.
Functions and classes without one are bound by bytecode, defaults, closures and the globals they
name. No address, no order of a set and no order of a dictionary enters.
"""

from __future__ import annotations

import base64
import builtins
import functools
import random
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple

import numpy as np
import sklearn
from numpy.lib.recfunctions import repack_fields
from scipy import sparse
from sklearn.frozen import FrozenEstimator

from replearn.randomness import SharedKey

MAX_PARTS = 200_000  # estimators with more are not walked to the end

_SHORT = 200  # characters of a text whose digest is kept
_UNVERSIONED = frozenset({"__main__", "__mp_main__", ""})
_IGNORED = frozenset({"_sklearn_version", "__doc__", "__module__", "__dict__", "__weakref__"})


@dataclass
class Fingerprint:
    """What is known of an object: its digest, and what could not be digested."""

    digest: str = ""  # sixteen hexadecimal digits
    versions: dict[str, str] = field(default_factory=dict)  # of the packages of its parts
    unbound: tuple[str, ...] = ()  # parts without a digest, in words
    fitted: tuple[str, ...] = ()  # names of fitted parts that are not `prefitted`
    own: bool = False  # whether some code comes from no package with a version


def bind(value: Any, *, is_fitted: bool = False) -> Fingerprint:
    """Bind any object; fitted parts are not listed if the model is known to be fitted.

    >>> bind({"b": 1, "a": {2, 3}}).digest == bind({"a": {3, 2}, "b": 1}).digest
    True
    >>> bind(lambda x: x > 0.5).digest == bind(lambda x: x > 0.7).digest
    False
    """
    return bind_all([value], is_fitted=is_fitted)[1]


def bind_all(values: Iterable[Any], *, is_fitted: bool = False) -> tuple[list[str], Fingerprint]:
    """Bind several objects; return their digests, and a fingerprint of what they have in common.

    The fingerprint has the digest of the last one.
    """
    walk = _Walk(is_fitted)
    digests = [walk.digest_of_whole(value).hex()[:16] for value in values]
    versions = {"numpy": np.__version__, "scikit-learn": sklearn.__version__} | walk.versions
    parts = tuple(walk.unbound), tuple(walk.fitted), walk.own
    return digests, Fingerprint(digests[-1], dict(sorted(versions.items())), *parts)


class _Walk:
    """One walk over an object and everything it refers to."""

    def __init__(self, is_fitted: bool) -> None:
        self.versions: dict[str, str] = {}
        self.unbound: dict[str, None] = {}
        self.fitted: dict[str, None] = {}
        self.own = False
        self._open: dict[int, int] = {}
        self._named: dict[int, bytes] = {}
        self._methods: dict[type, _Methods] = {}
        self._parts = 0
        self._inside_trusted = int(is_fitted)

    def digest_of_whole(self, value: Any) -> bytes:
        """Return a digest of one object that is no part of those before it."""
        self._parts = 0
        return self.digest(value)

    def digest(self, value: Any) -> bytes:
        """Return a digest of one object; an object inside itself counts by its depth."""
        self._parts += 1
        if self._parts > MAX_PARTS:
            self.unbound[f"more than {MAX_PARTS} parts"] = None
            return _NOT_WALKED
        kind = type(value)
        if kind not in self._methods:
            self._methods[kind] = _methods_for(kind)
        hash_plain, method = self._methods[kind]
        if hash_plain is not None:
            return hash_plain(value)
        if method is _Walk._array and not value.dtype.hasobject:
            return self._array(value)
        if id(value) in self._open:
            return _hash("inside itself", str(len(self._open) - self._open[id(value)]))
        self._open[id(value)] = len(self._open)
        try:
            return self._compound(value) if method is None else method(self, value)
        finally:
            del self._open[id(value)]

    def _compound(self, value: Any) -> bytes:
        if isinstance(value, np.void) and not value.dtype.hasobject:
            return _hash_scalar(value)
        if sparse.issparse(value):
            rows: Any = getattr(value, "tocsr")()  # noqa: B009 - the stubs do not know it
            return self._tagged("sparse", (rows.shape, rows.data, rows.indices, rows.indptr))
        return self._object(value)

    def _tagged(self, tag: str, items: Any) -> bytes:
        return _hash_digests(tag, self._digests(items))

    def _digests(self, items: Iterable[Any]) -> list[bytes]:
        """Return the digest of each item; most are plain."""
        found = []
        for item in items:
            hash_plain = _PLAIN.get(type(item))
            if hash_plain is None:
                found.append(self.digest(item))
            else:
                self._parts += 1
                found.append(hash_plain(item))
        return found

    def _sequence(self, value: Any) -> bytes:
        return self._tagged(type(value).__name__, value)

    def _set(self, value: Any) -> bytes:
        return _hash_digests("set", sorted(self._digests(value)))

    def _mapping(self, value: Mapping[Any, Any]) -> bytes:
        kept = {k: v for k, v in value.items() if k not in _IGNORED}
        pairs = zip(self._digests(kept), self._digests(kept.values()), strict=True)
        return _hash_digests("mapping", sorted(name + item for name, item in pairs))

    def _array(self, value: np.ndarray[Any, Any]) -> bytes:
        if value.dtype.hasobject:
            return self._tagged("objects", (value.shape, value.ravel().tolist()))
        if isinstance(value, np.ma.MaskedArray):
            return self._tagged("masked", (value.filled(), np.ma.getmaskarray(value)))
        plain, head = _array_head(value.dtype, value.shape)
        content = np.ascontiguousarray(value, dtype=plain).tobytes()
        return sha256(b"".join([head, len(content).to_bytes(8, "little"), content])).digest()

    def _code(self, code: CodeType) -> bytes:
        self.versions["python"] = f"{sys.version_info.major}.{sys.version_info.minor}"
        parts = (code.co_argcount, code.co_kwonlyargcount, code.co_names, code.co_varnames)
        return _hash(
            "code", code.co_code, self._tagged("names", parts), self.digest(code.co_consts)
        )

    def _function(self, value: FunctionType) -> bytes:
        name = f"{value.__module__}.{value.__qualname__}"
        if id(value) in self._named:  # a function that a module keeps
            return self._named[id(value)]
        cells = value.__closure__ or ()
        parts = [value.__defaults__, value.__kwdefaults__, [_content(cell) for cell in cells]]
        if self._package(value.__module__) is None:
            known = value.__globals__
            named = {n: known[n] for n in _names(value.__code__) if n in known}
            return self._tagged(value.__qualname__, [*parts, value.__code__, named])
        if "<" in value.__qualname__:  # a lambda, or a function made by another: no name of its own
            return self._tagged(name, [*parts, value.__code__])
        self._named[id(value)] = self._tagged(name, parts)
        return self._named[id(value)]

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
        if id(value) in self._named:
            return self._named[id(value)]
        name = f"{value.__module__}.{value.__qualname__}"
        if self._package(value.__module__) is not None:
            self._named[id(value)] = _hash("class", name)
            return self._named[id(value)]
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
        """Return the version of the package of a module, and remember it; None if it has none."""
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


@functools.lru_cache(maxsize=1024)
def _array_head(dtype: np.dtype[Any], shape: tuple[int, ...]) -> tuple[np.dtype[Any], bytes]:
    """Return the layout whose bytes are bound, and what is hashed before them.

    Fields are packed: the bytes between them (nodes of trees) are of chance.
    """
    plain = (dtype if dtype.names is None else repack_fields(dtype)).newbyteorder("<")
    return plain, _joined("array", str(plain), repr(shape))


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


_Hash = Callable[[Any], bytes]


_Methods = tuple[_Hash | None, Callable[[_Walk, Any], bytes] | None]


def _methods_for(kind: type) -> _Methods:
    """Return what hashes plain values of a type, or what walks over its other values."""
    hash_plain = _PLAIN.get(kind)
    if issubclass(kind, np.dtype):
        hash_plain = _hash_repr
    elif issubclass(kind, np.generic) and not issubclass(kind, _WITH_OBJECTS):
        hash_plain = _hash_scalar
    return hash_plain, next((method for of, method in _METHODS if issubclass(kind, of)), None)


def _hash_repr(value: Any) -> bytes:
    return _hash(type(value).__name__, repr(value))


def _hash_integer(value: int) -> bytes:
    return _hash_word(type(value).__name__, repr(value))


def _hash_text(value: str) -> bytes:
    return _hash("str", value) if len(value) > _SHORT else _hash_word("str", value)


def _hash_float(value: complex) -> bytes:
    number = complex(value)
    return _hash(type(value).__name__, struct.pack("<dd", number.real, number.imag))


def _hash_bytes(value: bytes | bytearray) -> bytes:
    return _hash(type(value).__name__, bytes(value))


def _hash_scalar(value: np.generic) -> bytes:
    return _hash("scalar", value.dtype.str, value.tobytes())


_WITH_OBJECTS = (np.void, np.object_)
_PLAIN: dict[type, _Hash] = {
    str: _hash_text,
    int: _hash_integer,
    bool: _hash_integer,
    type(None): _hash_integer,
    type(Ellipsis): _hash_repr,
    type(NotImplemented): _hash_repr,
    range: _hash_repr,
    slice: _hash_repr,
    float: _hash_float,
    complex: _hash_float,
    bytes: _hash_bytes,
    bytearray: _hash_bytes,
}


def _hash(tag: str, *parts: str | bytes) -> bytes:
    return sha256(_joined(tag, *parts)).digest()


def _hash_digests(tag: str, digests: list[bytes]) -> bytes:
    """Do what `_hash` does, faster, for parts of one length."""
    if not digests:
        return _hash(tag)
    length = len(digests[0]).to_bytes(8, "little")
    name = tag.encode("utf-8", "surrogatepass")
    return sha256(b"".join([name, length, length.join(digests)])).digest()


def _joined(tag: str, *parts: str | bytes) -> bytes:
    """Return a tag and parts, each behind its length."""
    content = [tag.encode("utf-8", "surrogatepass")]
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        content.append(len(encoded).to_bytes(8, "little"))
        content.append(encoded)
    return b"".join(content)


_NOT_WALKED = _hash("not walked")


@functools.lru_cache(maxsize=4096)
def _hash_word(tag: str, word: str) -> bytes:
    """Hash a short text: names of attributes occur in every part of a model."""
    return _hash(tag, word)


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


# -- packages that are not as they were installed --------------------------------------------------
DISTRIBUTIONS = {"sklearn": "scikit-learn", "imblearn": "imbalanced-learn"}
"""Packages with another name than the distribution they come from; others are looked up."""

_SITES = ("site-packages", "dist-packages")
_SAME_TIME = 2.0  # seconds: file systems round


class _Listed(NamedTuple):
    """A file of an installed distribution."""

    hash: str
    size: str


@lru_cache(maxsize=512)
def edited_sources(package: str) -> str:
    """Return a digest of the sources of a package that is not as it was installed; else "".

    Files of the size that is listed, no newer than the list, count as they are: the hash of every
    file of a large package would take longer than a fit.

    >>> edited_sources("sklearn"), edited_sources("replearn_no_such_package")
    ('', '')
    """
    folder = _package_folder(package)
    if folder is None:
        return ""
    root = folder.parent
    listed, written = _listed_files(package, root)
    if not any(name.startswith(f"{package}/") or name == f"{package}.py" for name in listed):
        if root.name in _SITES:
            return ""  # a distributor's own installer: it keeps no hashes
        return _sources_digest({path: _file_hash(path) for path in _source_files(folder)}, root)
    changed = {}
    for name, item in listed.items():
        path = root / name
        if name.endswith(".py") and name.startswith((f"{package}/", f"{package}.py")):
            found = _changed(path, item, written)
            if found is not None:
                changed[path] = found
    return _sources_digest(changed, root) if changed else ""


def _package_folder(package: str) -> Path | None:
    """Return where a package lies: its folder, or its only file."""
    module = sys.modules.get(package)
    paths = list(getattr(module, "__path__", ()))
    if paths:
        return Path(paths[0])
    file = getattr(module, "__file__", None)
    return Path(file) if file and file.endswith(".py") else None


def _listed_files(package: str, root: Path) -> tuple[dict[str, _Listed], float]:
    """Return the list of files of a package's distribution in this folder, and when it was made."""
    for name in _distributions(package):
        try:
            found = metadata.distribution(name)
        except (metadata.PackageNotFoundError, ValueError):
            continue
        record = Path(str(found.locate_file(""))) / str(getattr(found, "_path", "")) / "RECORD"
        if Path(str(found.locate_file(""))).resolve() != root.resolve() or not record.is_file():
            continue
        lines = (line.rsplit(",", 2) for line in record.read_text("utf-8").splitlines())
        items = {parts[0]: _Listed(*parts[1:]) for parts in lines if len(parts) == 3}
        return items, record.stat().st_mtime
    return {}, 0.0


def _distributions(package: str) -> list[str]:
    name = DISTRIBUTIONS.get(package, package)
    try:
        metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return metadata.packages_distributions().get(package, [])  # slow: reads every list
    return [name]


def _changed(path: Path, listed: _Listed, written: float) -> str | None:
    """Return the hash of a file that is not what was installed; None if it is."""
    try:
        found = path.stat()
    except OSError:
        return "missing"
    size_fits = not listed.size or int(listed.size) == found.st_size
    if size_fits and found.st_mtime <= written + _SAME_TIME:
        return None
    here = _file_hash(path)
    return None if f"sha256={here}" == listed.hash else here


def _file_hash(path: Path) -> str:
    digest = sha256(path.read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _source_files(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder]
    return sorted(folder.rglob("*.py"))


def _sources_digest(hashes: dict[Path, str], root: Path) -> str:
    lines = sorted(f"{path.relative_to(root).as_posix()} {text}" for path, text in hashes.items())
    return sha256("\n".join(lines).encode()).hexdigest()[:12]
