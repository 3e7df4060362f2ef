"""JSON documents and their files: canonical, digested, strictly read; whole or not there.

Reading fails closed: a missing, an unknown, a doubled or an ill-typed item raises
:class:`~replearn.exceptions.CertificateError` and names the item.
"""

import contextlib
import json
import math
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Self, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np

from replearn.exceptions import CertificateError

Kind = TypeVar("Kind")

# A supremum is searched until it is known to a relative 1e-6, and another version of scipy may
# stop at another cell; a promise that is better than the recomputed one by more is refused.
RELATIVE_TOLERANCE = 2e-6
FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What an ill-formed or contradictory document makes a calculation raise."""

_MAX_DIGITS = 300
"""Larger integers have no float."""

_DIGEST_BYTES = 32


def canonical_json(value: Any) -> str:
    """Write a value as JSON in one fixed way: sorted keys, no blanks, no NaN.

    >>> canonical_json({"b": 1, "a": [0.1, None]})
    '{"a":[0.1,null],"b":1}'
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest_of(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of a value, in hexadecimal digits.

    >>> digest_of({"a": 1})[:16]
    '015abd7f5cc57a2d'
    """
    return sha256(canonical_json(value).encode()).hexdigest()


def pretty_json(value: Any) -> str:
    """Write a value as indented JSON for people and version control.

    >>> print(pretty_json({"a": 1}))
    {
      "a": 1
    }
    """
    return json.dumps(value, indent=2, sort_keys=False, ensure_ascii=False, allow_nan=False)


def read_json(
    text: str | bytes,
    what: str,
    build: Callable[["Reader"], Kind],
    error: type[ValueError] = CertificateError,
) -> Kind:
    """Build a value from the text of one JSON object; whatever is wrong raises one kind of error.

    Parameters
    ----------
    text : str or bytes
        The text, or a file's bytes.
    what : str
        How messages call it: "plan", or the name of the file.
    build : callable
        Takes the items out of a `Reader`, and computes again what follows from them. Items that it
        does not take are an error.
    error : type, default=CertificateError
        What is raised.

    Examples
    --------
    >>> read_json('{"n": 3}', "plan", lambda reader: reader.take("n", int))
    3
    >>> read_json('{"n": 0}', "plan", lambda reader: 1 // reader.take("n", int))
    Traceback (most recent call last):
    ...
    replearn.exceptions.CertificateError: plan: n: integer division or modulo by zero
    """
    reader = Reader(read_object(text, what, error), what)
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            value = build(reader)
        reader.finish()
    except FAULTS as fault:
        if isinstance(fault, error):
            raise
        if isinstance(fault, CertificateError):
            raise error(str(fault)) from fault
        why = str(fault) if isinstance(fault, ValueError | ArithmeticError) else repr(fault)
        raise error(f"{what}: {reader.field}: {why}") from fault
    return value


def read_object(
    text: str | bytes, what: str, error: type[ValueError] = CertificateError
) -> dict[str, Any]:
    """Read one JSON object strictly: no doubled keys, only finite numbers, nothing but an object.

    >>> read_object('{"a": 1}', "plan")
    {'a': 1}
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=_no_doubles,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_of_usual_size,
        )
        json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair has no bytes
    except (ValueError, RecursionError) as fault:
        raise error(f"{what}: not valid JSON ({fault})") from fault
    if not isinstance(value, dict):
        raise error(f"{what}: expected a JSON object, got {type(value).__name__}")
    return value


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError(f"an item is given twice among {[key for key, _ in pairs]}")
    return result


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number that may be here")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {digits[:20]} is too large")
    return value


def _of_usual_size(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(f"the number {digits[:20]}... is too large")
    return int(digits)


class Reader:
    """Take typed items out of a mapping; what is missing, ill-typed or left over is an error."""

    def __init__(self, items: Any, what: str) -> None:
        if not isinstance(items, Mapping):
            raise CertificateError(f"{what}: expected an object, got {items!r}")
        self._items = dict(items)
        self._what = what
        self.field = ""  # the item that was taken last

    def take(self, name: str, kind: type[Kind]) -> Kind:
        """Take an item that must be there and of exactly this type (int passes as float)."""
        value = self.take_or_none(name, kind)
        if value is None:
            raise CertificateError(f"{self._what}: {name} must not be null")
        return value

    def take_or_none(self, name: str, kind: type[Kind]) -> Kind | None:
        """Take an item that must be there, but may be null."""
        value = self.take_any(name)
        if value is None:
            return None
        if type(value) is kind or (kind is float and type(value) is int):
            if isinstance(value, float) and not math.isfinite(value):
                raise CertificateError(f"{self._what}: {name} must be finite, got {value!r}")
            return cast(Kind, value)
        raise CertificateError(
            f"{self._what}: {name} must be {kind.__name__}, got {type(value).__name__} {value!r}"
        )

    def take_if_there(self, name: str, kind: type[Kind], default: Any = None) -> Any:
        """Take an item that is left out where it has its default."""
        return self.take(name, kind) if name in self._items else default

    def take_any(self, name: str) -> Any:
        """Take an item of any type."""
        self.field = name
        if name not in self._items:
            raise CertificateError(f"{self._what}: {name} is missing")
        return self._items.pop(name)

    def take_rest(self) -> dict[str, Any]:
        """Take all items that are left."""
        items = self._items
        self._items = {}
        return items

    def read(self, kind: type[Kind], **parts: Callable[[Any], Any]) -> Kind:
        """Take all fields of a dataclass, by their annotations; lists become tuples.

        ``parts`` read the fields (the items of a tuple) that are no plain values: from an object.
        """
        values: dict[str, Any] = {}
        for name, plain, may_be_null in _fields(cast(Any, kind)):
            part = parts.get(name)
            take = self.take_or_none if may_be_null else self.take
            value = take(name, list if plain is tuple else plain if part is None else dict)
            if plain is tuple and value is not None:
                value = tuple(value if part is None else map(part, value))
            elif part is not None and value is not None:
                value = part(value)
            values[name] = value
        return kind(**values)

    def finish(self) -> None:
        """Refuse items that nobody took: an unknown item may change the meaning."""
        if self._items:
            raise CertificateError(f"{self._what}: unknown items {sorted(self._items)}")


@lru_cache(maxsize=64)
def _fields(kind: type[Any]) -> list[tuple[str, Any, bool]]:
    """Return name, plain type and whether it may be None, for each field of a dataclass."""
    hints = get_type_hints(kind)
    found = []
    for name in (item.name for item in fields(kind)):
        hint = hints[name]
        allowed = get_args(hint) if get_origin(hint) is UnionType else (hint,)
        found.append((name, get_origin(allowed[0]) or allowed[0], NoneType in allowed))
    return found


def read_flat(kind: type[Kind], items: Any, what: str) -> Kind:
    """Read a dataclass whose fields are plain JSON values, and nothing else.

    >>> from dataclasses import make_dataclass
    >>> Pair = make_dataclass("Pair", [("code", str), ("texts", tuple[str, ...])])
    >>> read_flat(Pair, {"code": "a", "texts": ["b"]}, "pair")
    Pair(code='a', texts=('b',))
    """
    reader = Reader(items, what)
    record = reader.read(kind)
    reader.finish()
    return record


def check_format(reader: Reader, what: str, name: str, version: int) -> None:
    """Refuse a file of another kind or of a version this library does not know."""
    found = (reader.take("format", str), reader.take("version", int))
    if found != (name, version):
        raise CertificateError(
            f"{what}: this library reads {name} version {version}, "
            f"the file is {found[0]} version {found[1]}"
        )


def refuse_differences(what: str, stored: Any, computed: Any) -> None:
    """Compare what is written down with what follows: fails closed and names the item.

    >>> refuse_differences("plan", {"n": 3}, {"n": 4})
    Traceback (most recent call last):
    ...
    replearn.exceptions.CertificateError: plan n: 3 is written, 4 follows
    """
    if isinstance(stored, dict) and isinstance(computed, dict):
        if sorted(stored) != sorted(computed):
            raise CertificateError(
                f"{what}: {sorted(stored)} are written, {sorted(computed)} follow"
            )
        for name, value in computed.items():
            refuse_differences(f"{what} {name}", stored[name], value)
        return
    if isinstance(stored, list) and isinstance(computed, list) and len(stored) == len(computed):
        for index, (old, new) in enumerate(zip(stored, computed, strict=True)):
            named = old.get("name", index) if isinstance(old, dict) else index
            refuse_differences(f"{what} {named}", old, new)
        return
    if isinstance(stored, float) and isinstance(computed, float):
        equal = math.isclose(stored, computed, rel_tol=RELATIVE_TOLERANCE, abs_tol=0.0)
    else:
        # False == 0 and 1 == 1.0 in Python; a certificate is stricter
        equal = type(stored) is type(computed) and stored == computed
    if not equal:
        raise CertificateError(f"{what}: {stored!r} is written, {computed!r} follows")


# -- files that are whole or not there, and folders that say what they hold ----------------------
def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file so that a reader sees the old file or the new one, never half of it."""
    # A plan is there to be shared: the mode that open() would use.
    write_bytes_atomically(path, text.encode("utf-8"), mode=_default_mode())


def write_bytes_atomically(
    path: str | os.PathLike[str], data: bytes, *, mode: int | None = None
) -> None:
    """Write a file whole or not at all; without a mode, for its owner only.

    Models may hold training rows or a key: private is the right default.
    """
    target = Path(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
        if isinstance(error, OSError) and error.errno is not None:
            # A full disk does not say which file it was, a closed folder names the temporary one.
            raise type(error)(error.errno, error.strerror, str(target)) from error
        raise


def seal(content: bytes) -> bytes:
    """Put its digest in front of some bytes.

    >>> unseal(seal(b"a block")), unseal(seal(b"a block")[:-1])
    (b'a block', None)
    """
    return sha256(content).digest() + content


def unseal(sealed: bytes) -> bytes | None:
    """Return what was sealed; None if it is not whole."""
    content = sealed[_DIGEST_BYTES:]
    return content if sha256(content).digest() == sealed[:_DIGEST_BYTES] else None


def _default_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def differences(known: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Return the items in which two manifests are not the same.

    >>> differences({"data": 1, "key": 2}, {"data": 1, "key": 3, "estimator": 4})
    ['key', 'estimator']
    """
    return [item for item in {**wanted, **known} if known.get(item) != wanted.get(item)]


# -- objects that are kept as files ----------------------------------------------------------------
class JsonFile:
    """What is written to a JSON file, whole or not at all, and read from it."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        raise NotImplementedError

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json` wrote; anything unexpected raises an error."""
        raise NotImplementedError

    def to_json(self) -> str:
        """Return everything as JSON text."""
        return pretty_json(self.to_dict())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, whole or not at all."""
        write_atomically(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a JSON file; a changed file raises an error that names it."""
        try:
            return cls.from_json(Path(path).read_bytes())
        except CertificateError as error:
            raise CertificateError(f"{os.fspath(path)}: {error}") from None


class FlatJsonFile(JsonFile):
    """A dataclass whose fields are the items of the JSON object, after format and version."""

    KIND: ClassVar[str]  # what error messages call it
    FORMAT: ClassVar[str]
    VERSION: ClassVar[int]

    def to_dict(self) -> dict[str, Any]:
        """Return format, version and all fields as JSON values."""
        fields: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        return {"format": self.FORMAT, "version": self.VERSION, **fields}

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json` wrote; anything unexpected raises an error."""
        return read_json(text, cls.KIND, cls._read)

    @classmethod
    def _read(cls, reader: Reader) -> Self:
        check_format(reader, cls.KIND, cls.FORMAT, cls.VERSION)
        found: Self = reader.read(cls)
        found._check()
        return found

    def _check(self) -> None:
        """Raise an error if the fields that were read contradict each other."""
