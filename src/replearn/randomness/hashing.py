"""Keyed hashes of points, and the numbers made from them.

SipHash-2-4 (Aumasson and Bernstein, 2012) is a keyed function from messages to 64 bits: whoever
lacks the 128-bit key cannot tell its values from independent random numbers. Here one *lane* is one
message; all lanes have the same length, and every step of the algorithm is one numpy operation
over all lanes. Some ten thousand lanes keep the four state vectors inside the processor's cache
and still make the cost of calling numpy small: see ``LANES``.
"""

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
from replearn.randomness.points import CACHE_LINE, LANES, Points, aligned_words, points_of
from replearn.randomness.times import WORD_MASK

Words = NDArray[np.uint64]

KEY_BYTES = 16

_U = np.uint64
_CONSTANTS = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_COMPRESSION_ROUNDS = 2
_FINALIZATION_ROUNDS = 4
_FINALIZATION_MARK = _U(0xFF)

# arrays without dimension: numpy takes them as they are, but converts a scalar at every call
_S13, _S16, _S17, _S21, _S32, _S43, _S47, _S48, _S51 = (
    np.array(shift, dtype=_U) for shift in (13, 16, 17, 21, 32, 43, 47, 48, 51)
)


def last_word(n_bytes: int) -> np.uint64:
    """Return the length mark of a message's last word: its byte count modulo 256, on top."""
    return _U((n_bytes & 0xFF) << 56)


def initial_state(key: bytes) -> list[np.uint64]:
    """Return the four words of the state before the first word of a message."""
    if len(key) != KEY_BYTES:
        raise ValueError(f"key must be {KEY_BYTES} bytes, got {len(key)}")
    halves = (int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little"))
    return [_U(constant ^ halves[i % 2]) for i, constant in enumerate(_CONSTANTS)]


class SipState:
    """The running SipHash-2-4 state of many messages that grow together, word by word."""

    __slots__ = ("_initial", "_lanes", "_memory", "_spare")

    def __init__(self, key: bytes, n_lanes: int) -> None:
        self._initial = initial_state(key)
        stride = -(-n_lanes // CACHE_LINE) * CACHE_LINE
        self._memory: Words = aligned_words(5 * stride).reshape(5, stride)
        self.restart(n_lanes)

    def restart(self, n_lanes: int) -> None:
        """Begin new messages in the same memory, at most as many as at first."""
        *lanes, self._spare = self._memory[:, :n_lanes]
        for lane, value in zip(lanes, self._initial, strict=True):
            lane[:] = value
        self._lanes: tuple[Words, ...] = tuple(lanes)

    def continue_from(self, other: SipState) -> None:
        """Take over another state's messages so far, to continue them in another way."""
        self.restart(len(other._spare))
        for lane, source in zip(self._lanes, other._lanes, strict=True):
            lane[:] = source

    def absorb(self, word: Words | np.uint64) -> None:
        """Append one 64-bit word to every message (one word for all, or one per message)."""
        v0, _, _, v3 = self._lanes
        np.bitwise_xor(v3, word, v3)
        _rounds(self._lanes, self._spare, _COMPRESSION_ROUNDS)
        np.bitwise_xor(v0, word, v0)

    def digest(self, out: Words | None = None) -> Words:
        """Finish and return the 64-bit hashes; the state cannot be used afterwards."""
        v0, v1, v2, v3 = self._lanes
        np.bitwise_xor(v2, _FINALIZATION_MARK, v2)
        _rounds(self._lanes, self._spare, _FINALIZATION_ROUNDS)
        np.bitwise_xor(v0, v1, v0)
        np.bitwise_xor(v2, v3, v2)
        return np.bitwise_xor(v0, v2, out=out)


def _rounds(lanes: tuple[Words, ...], spare: Words, count: int) -> None:
    """Run SipHash's rounds over all lanes in place.

    Written out, with local names and a rotation as two shifts joined by XOR: this loop is where
    the time goes, and a round is 26 numpy calls.
    """
    v0, v1, v2, v3 = lanes
    add = np.add
    xor = np.bitwise_xor
    left = np.left_shift
    right = np.right_shift
    for _ in range(count):
        add(v0, v1, v0)
        left(v1, _S13, spare), right(v1, _S51, v1), xor(v1, spare, v1)
        xor(v1, v0, v1)
        left(v0, _S32, spare), right(v0, _S32, v0), xor(v0, spare, v0)
        add(v2, v3, v2)
        left(v3, _S16, spare), right(v3, _S48, v3), xor(v3, spare, v3)
        xor(v3, v2, v3)
        add(v0, v3, v0)
        left(v3, _S21, spare), right(v3, _S43, v3), xor(v3, spare, v3)
        xor(v3, v0, v3)
        add(v2, v1, v2)
        left(v1, _S17, spare), right(v1, _S47, v1), xor(v1, spare, v1)
        xor(v1, v2, v1)
        left(v2, _S32, spare), right(v2, _S32, v2), xor(v2, spare, v2)


class OneMessage:
    """SipHash-2-4 of a single message, on Python integers: for one row, numpy's calls cost more."""

    __slots__ = ("_lanes",)

    def __init__(self, key: bytes) -> None:
        self._lanes = tuple(map(int, initial_state(key)))

    def absorb(self, number: int) -> None:
        """Append one 64-bit word to the message."""
        v0, v1, v2, v3 = self._lanes
        v0, v1, v2, v3 = _scalar_rounds(v0, v1, v2, v3 ^ number, _COMPRESSION_ROUNDS)
        self._lanes = (v0 ^ number, v1, v2, v3)

    def digest(self) -> Words:
        """Finish and return the 64-bit hash, as an array of one."""
        v0, v1, v2, v3 = self._lanes
        v0, v1, v2, v3 = _scalar_rounds(v0, v1, v2 ^ 0xFF, v3, _FINALIZATION_ROUNDS)
        return np.array([v0 ^ v1 ^ v2 ^ v3], dtype=_U)


def _scalar_rounds(v0: int, v1: int, v2: int, v3: int, count: int) -> tuple[int, int, int, int]:
    mask = 0xFFFFFFFFFFFFFFFF
    for _ in range(count):
        v0 = (v0 + v1) & mask
        v1 = ((v1 << 13) & mask | v1 >> 51) ^ v0
        v0 = (v0 << 32) & mask | v0 >> 32
        v2 = (v2 + v3) & mask
        v3 = ((v3 << 16) & mask | v3 >> 48) ^ v2
        v0 = (v0 + v3) & mask
        v3 = ((v3 << 21) & mask | v3 >> 43) ^ v0
        v2 = (v2 + v1) & mask
        v1 = ((v1 << 17) & mask | v1 >> 47) ^ v2
        v2 = (v2 << 32) & mask | v2 >> 32
    return v0, v1, v2, v3


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
