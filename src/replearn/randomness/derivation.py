"""What follows from a secret: keys of other purposes, fingerprints, check digits, written keys."""

from __future__ import annotations

import hashlib
import operator
import re
import unicodedata
from enum import Enum
from typing import Any

import numpy as np

from replearn.randomness.siphash import KEY_BYTES

EXPORT_PREFIX = "rk1-"
_EXPORTED = re.compile(r"rk1-([0-9a-f]{32})-([0-9a-f]{8})")


class Purpose(bytes, Enum):
    """What a derivation is for: one blake2b personalisation each, so that none coincide."""

    KEY = b"replearn-key-1"
    CHECK = b"replearn-check-1"
    CHILD = b"replearn-child-1"
    FINGERPRINT = b"replearn-finger1"
    SEED = b"replearn-seed-1"
    POINT = b"replearn-point-1"
    GUMBEL = b"replearn-gumbel1"
    CONTENT = b"replearn-row-1"
    ORDER = b"replearn-order-1"


def derive(secret: bytes, purpose: Purpose, message: bytes = b"", size: int = KEY_BYTES) -> bytes:
    """Return bytes that only holders of the secret can compute."""
    return hashlib.blake2b(message, digest_size=size, key=secret, person=purpose.value).digest()


def secret_of(value: object) -> bytes:
    """Return the 16 secret bytes that a key's value stands for."""
    if isinstance(value, str) and value.startswith(EXPORT_PREFIX):
        return _read_export(value)
    if isinstance(value, str | bytes) and not value:
        raise ValueError(
            f"the key is empty ({value!r}); agree on a text, or use SharedKey.generate()"
        )
    if isinstance(value, str):
        # the same text typed on two keyboards may differ in how accents are composed
        value = unicodedata.normalize("NFC", value)
    message = framed((value,), "key")
    return hashlib.blake2b(message, digest_size=KEY_BYTES, person=Purpose.KEY.value).digest()


def _read_export(text: str) -> bytes:
    """Read back what `SharedKey.export` has written, refusing typing errors."""
    match = _EXPORTED.fullmatch(text)
    secret = bytes.fromhex(match[1]) if match else b""
    if match is None or check_digits(secret) != match[2]:
        raise ValueError(
            f"a key that begins with {EXPORT_PREFIX!r} must be what export() has written; "
            "this one was mistyped or cut"
        )
    return secret


def check_digits(secret: bytes) -> str:
    """Return eight digits that change with every typing error.

    Examples
    --------
    >>> len(check_digits(bytes(16)))
    8
    """
    return hashlib.blake2b(secret, digest_size=4, person=Purpose.CHECK.value).hexdigest()


def framed(parts: tuple[Any, ...], parameter: str) -> bytes:
    """Join parts unambiguously: the type, the length and the content of each.

    Examples
    --------
    >>> framed(("a", "bc"), "purpose") == framed(("ab", "c"), "purpose")
    False
    """
    if not parts:
        raise ValueError(f"{parameter} is missing: give at least one str, int or bytes")
    pieces = []
    for part in parts:
        tag, content = _tagged(part, parameter)
        pieces += [tag, len(content).to_bytes(8, "little"), content]
    return b"".join(pieces)


def _tagged(part: Any, parameter: str) -> tuple[bytes, bytes]:
    if isinstance(part, str):
        return b"s", part.encode("utf-8")
    if isinstance(part, bytes):
        return b"b", part
    if hasattr(part, "__index__") and not isinstance(part, bool | np.bool_):
        number = operator.index(part)
        return b"i", number.to_bytes(number.bit_length() // 8 + 1, "little", signed=True)
    raise TypeError(f"{parameter} must be str, int or bytes, got {part!r} ({type(part).__name__})")
