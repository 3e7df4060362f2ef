"""SipHash-2-4 over many messages at once, in plain numpy.

SipHash (Aumasson and Bernstein, 2012) is a keyed function from messages to 64 bits: whoever lacks
the 128-bit key cannot tell its values from independent random numbers. Here one *lane* is one
message; all lanes have the same length, and every step of the algorithm is one numpy operation
over all lanes. Some ten thousand lanes keep the four state vectors inside the processor's cache
and still make the cost of calling numpy small: see ``LANES``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

LANES = 32768
"""Messages hashed together: the four state vectors and a buffer then take 1.3 MB.

Half as many are as fast alone, but disturb other threads more often: every numpy call takes the
interpreter lock.
"""

KEY_BYTES = 16

_U = np.uint64
_CONSTANTS = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_COMPRESSION_ROUNDS = 2
_FINALIZATION_ROUNDS = 4
_FINALIZATION_MARK = _U(0xFF)
_CACHE_LINE = 64 // 8

# arrays without dimension: numpy takes them as they are, but converts a scalar at every call
_S13, _S16, _S17, _S21, _S32, _S43, _S47, _S48, _S51 = (
    np.array(shift, dtype=_U) for shift in (13, 16, 17, 21, 32, 43, 47, 48, 51)
)


def aligned_words(n_words: int) -> Words:
    """Return memory for words that begins with a cache line, which numpy reads a fifth faster."""
    memory = np.empty(n_words + _CACHE_LINE - 1, dtype=_U)
    start = (-memory.ctypes.data % 64) // 8
    return memory[start : start + n_words]


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
        stride = -(-n_lanes // _CACHE_LINE) * _CACHE_LINE
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
