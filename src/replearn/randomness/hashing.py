"""Keyed hashes of points, and the numbers made from them."""

from __future__ import annotations

import hashlib
import operator
import re
import unicodedata
from collections.abc import Iterator
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.randomness.kinds import Cell, Kinds
from replearn.randomness.points import Points, points_of
from replearn.randomness.siphash import KEY_BYTES, LANES, OneMessage, SipState, last_word
from replearn.randomness.times import WORD_MASK

Hashes = NDArray[np.uint64]
Packed = list[Hashes | np.uint64]

_KINDS_PER_WORD = 16
_BITS_PER_KIND = 4
_ZERO = np.uint64(0)


def _with_kinds(packed: Packed, column: int, kinds: Kinds | np.uint8 | None) -> Packed:
    """Return packed kinds, sixteen per word, with those of one more column.

    None stands for plain numbers: a word of zeros costs nothing.
    """
    index = column % _KINDS_PER_WORD
    *full, word = packed if index else [*packed, _ZERO]
    if kinds is not None:
        word = word | kinds.astype(np.uint64) << np.uint64(_BITS_PER_KIND * index)
    return [*full, word]


def _absorb_cells(state: SipState, columns: Iterator[tuple[Hashes, Kinds | None]]) -> Packed:
    """Append the words of all columns; return their packed kinds."""
    packed: Packed = []
    for position, (words, kinds) in enumerate(columns):
        state.absorb(words)
        packed = _with_kinds(packed, position, kinds)
    return packed


def _absorb_kinds(state: SipState, packed: Packed, n_columns: int) -> None:
    """Append the packed kinds and the length mark: the message is then complete."""
    n_bytes = (n_columns + 1) // 2
    mark = last_word(8 * n_columns + n_bytes)
    whole, rest = divmod(n_bytes, 8)
    for word in packed[:whole]:
        state.absorb(word)
    state.absorb(packed[whole] | mark if rest else mark)


def hash_points(sip_key: bytes, points: Points) -> Hashes:
    """Return SipHash-2-4 of each point's canonical message."""
    if len(points) == 1:
        return _hash_one(sip_key, points.only_row())
    result = np.empty(len(points), dtype=np.uint64)
    state = SipState(sip_key, min(LANES, len(points)))
    for run, columns in points.chunks():
        state.restart(run.stop - run.start)
        packed = _absorb_cells(state, columns)
        _absorb_kinds(state, packed, points.n_columns)
        state.digest(out=result[run])
    return result


def _hash_one(sip_key: bytes, cells: list[Cell]) -> Hashes:
    """Hash one point on Python's integers: numpy's calls would cost more."""
    state = OneMessage(sip_key)
    kinds = 0
    for position, (kind, word) in enumerate(cells):
        state.absorb(word)
        kinds |= kind << _BITS_PER_KIND * position
    n_bytes = (len(cells) + 1) // 2
    for start in range(0, n_bytes - 7, 8):
        state.absorb(kinds >> 8 * start & WORD_MASK)
    mark = int(last_word(8 * len(cells) + n_bytes))
    state.absorb(kinds >> 8 * (n_bytes - n_bytes % 8) | mark)
    return state.digest()


def label_cells(labels: Any) -> list[Cell]:
    """Encode labels, which must be one-dimensional and all different."""
    words, kinds = points_of(labels, None, "labels").encoded()
    if words.shape[1] != 1 and len(words):
        raise ValueError(f"labels must be a list of values, got rows of {words.shape[1]} cells")
    cells = [(int(k), int(w)) for k, w in zip(kinds.ravel(), words.ravel(), strict=True)]
    if not cells:
        raise ValueError("labels is empty; give at least one label")
    if len(set(cells)) < len(cells):
        raise ValueError(f"labels must differ in value (1, 1.0 and True are one), got {labels!r}")
    return cells


def hash_with_labels(
    sip_key: bytes, points: Points, labels: list[Cell]
) -> Iterator[tuple[slice, int, Hashes]]:
    """Hash each point with each label as one more cell; the point's part is hashed only once.

    Yields which rows, which label, and the hashes.
    """
    state = SipState(sip_key, min(LANES, len(points)))
    longer = SipState(sip_key, min(LANES, len(points)))
    n_columns = points.n_columns
    for run, columns in points.chunks():
        state.restart(run.stop - run.start)
        packed = _absorb_cells(state, columns)
        for position, (kind, word) in enumerate(labels):
            longer.continue_from(state)
            longer.absorb(np.uint64(word))
            _absorb_kinds(longer, _with_kinds(packed, n_columns, np.uint8(kind)), n_columns + 1)
            yield run, position, longer.digest()


def uniforms_in_place(hashes: Hashes) -> NDArray[np.float64]:
    """Turn hashes into multiples of 2**-53 in [0, 1), in their own memory."""
    uniforms = hashes.view(np.float64)
    for start in range(0, len(hashes), LANES):
        rows = slice(start, start + LANES)
        np.multiply(hashes[rows] >> np.uint64(11), 2.0**-53, out=uniforms[rows])
    return uniforms


def gumbel_from_hashes(hashes: Hashes) -> NDArray[np.float64]:
    """Turn hashes into standard Gumbel numbers, all finite."""
    # the middle of one of 2**52 equal cells: never 0, never 1, and exact in float64
    uniforms = ((hashes >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return np.negative(np.log(np.negative(np.log(uniforms))))


def occurrence_numbers(content: Hashes) -> Hashes:
    """Return how many equal entries came before each one."""
    numbers = np.zeros(len(content), dtype=np.uint64)
    in_order = np.sort(content)
    if (in_order[1:] == in_order[:-1]).any():  # else all differ, and sorting positions is slow
        by_content = np.argsort(content, kind="stable")
        indices = np.arange(len(content))
        is_first = np.append(True, in_order[1:] != in_order[:-1])
        numbers[by_content] = indices - np.maximum.accumulate(np.where(is_first, indices, 0))
    return numbers


def hash_occurrences(sip_key: bytes, content: Hashes, numbers: Hashes | None = None) -> Hashes:
    """Hash (content, occurrence number), so that equal rows get different values.

    Numbers that are known are overwritten by the hashes.
    """
    if numbers is None:
        numbers = occurrence_numbers(content)
    state = SipState(sip_key, min(LANES, len(content)))
    for start in range(0, len(content), LANES):
        rows = slice(start, start + LANES)
        state.restart(len(content[rows]))
        state.absorb(content[rows])
        state.absorb(numbers[rows])
        state.absorb(last_word(16))
        state.digest(out=numbers[rows])
    return numbers


MIN_CHARACTERS = 20
"""A shorter text has fewer than 128 bits, even if its characters were drawn at random."""

MIN_INTEGER_BITS = 112
"""An integer without more bits was not drawn from 128 bits, or with probability 2**-16."""

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


def is_weak(value: Any) -> bool:
    """Whether a key surely has fewer than 128 bits that an outsider cannot guess.

    So is a text of fewer than 20 characters (a keyboard has 95), fewer than 16 bytes, and an
    integer below 2**112 (of random numbers of 128 bits one in 65,536 is). A longer text may be weak
    as well; nobody can tell.

    >>> is_weak("trial-2026"), is_weak(7), is_weak(b"0" * 16), is_weak(2**127)
    (True, True, False, False)
    """
    if isinstance(value, str):
        return len(value) < MIN_CHARACTERS
    if isinstance(value, bytes):
        return len(value) < KEY_BYTES
    return operator.index(value).bit_length() <= MIN_INTEGER_BITS


def check_digits(secret: bytes) -> str:
    """Return eight digits that change with every typing error."""
    return hashlib.blake2b(secret, digest_size=4, person=Purpose.CHECK.value).hexdigest()


def framed(parts: tuple[Any, ...], parameter: str) -> bytes:
    """Join parts unambiguously: the type, the length and the content of each.

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
