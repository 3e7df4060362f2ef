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
    build: Callable[[dict[str, Any]], Kind],
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
        Makes the value from the object, and computes again what follows from its items.
    error : type, default=CertificateError
        What is raised.

    Examples
    --------
    >>> read_json('{"n": 3}', "plan", lambda content: content["n"])
    3
    >>> read_json('{"n": 0}', "plan", lambda content: 1 // content["n"])
    Traceback (most recent call last):
    ...
    replearn.exceptions.CertificateError: plan: integer division or modulo by zero
    >>> read_json("{}", "plan", lambda content: content["n"])
    Traceback (most recent call last):
    ...
    replearn.exceptions.CertificateError: plan: 'n' is missing
    """
    content = read_object(text, what, error)
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return build(content)
    except FAULTS as fault:
        if isinstance(fault, error):
            raise
        if isinstance(fault, CertificateError):
            raise error(str(fault)) from fault
        missing = " is missing" if isinstance(fault, KeyError) else ""
        raise error(f"{what}: {fault}{missing}") from fault


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


def read_fields(kind: type[Kind], items: Any, what: str, **parts: Callable[[Any], Any]) -> Kind:
    """Read a dataclass from the items of an object, one for each field and no others.

    Values must be of the annotated types (int passes as float), and lists become tuples. ``parts``
    read the fields that are objects.

    >>> from dataclasses import make_dataclass
    >>> Pair = make_dataclass("Pair", [("code", str), ("texts", tuple[str, ...])])
    >>> read_fields(Pair, {"code": "a", "texts": ["b"]}, "pair")
    Pair(code='a', texts=('b',))
    """
    if not isinstance(items, Mapping):
        raise CertificateError(f"{what}: expected an object, got {items!r}")
    known = _fields(cast(Any, kind))
    for name in (name for name, *_ in known if name not in items):
        raise CertificateError(f"{what}: {name} is missing")
    unknown = sorted(set(items) - {name for name, *_ in known})
    if unknown:
        raise CertificateError(f"{what}: unknown items {unknown}")
    values: dict[str, Any] = {}
    for name, plain, may_be_null in known:
        value = items[name]
        if value is None and may_be_null:
            values[name] = None
            continue
        wanted = dict if name in parts else list if plain is tuple else plain
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise CertificateError(
                f"{what}: {name} must be {wanted.__name__}, got {type(value).__name__} {value!r}"
            )
        read = parts.get(name, tuple if plain is tuple else None)
        values[name] = value if read is None else read(value)
    return kind(**values)


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


def check_format(content: dict[str, Any], what: str, name: str, version: int) -> None:
    """Refuse a document of another kind or of a version this library does not know."""
    found = content.get("format"), content.get("version")
    if found != (name, version):
        raise CertificateError(
            f"{what}: this library reads {name} version {version}, "
            f"the document is {found[0]} version {found[1]}"
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
    def _read(cls, content: dict[str, Any]) -> Self:
        check_format(content, cls.KIND, cls.FORMAT, cls.VERSION)
        items = {name: content[name] for name in content if name not in ("format", "version")}
        found: Self = read_fields(cls, items, cls.KIND)
        found._check()
        return found

    def _check(self) -> None:
        """Raise an error if the fields that were read contradict each other."""
