"""SipHash-2-4 over many messages at once, in plain numpy.

SipHash (Aumasson and Bernstein, 2012) is a keyed function from messages to 64 bits: whoever lacks
the 128-bit key cannot tell its values from independent random numbers. Here one *lane* is one
message; all lanes have the same length, and every step of the algorithm is one numpy operation
over all lanes. A few thousand lanes keep the four state vectors inside the processor's cache and
still make the cost of calling numpy small: see ``LANES``.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

LANES = 8192
"""Messages hashed together: four state vectors and a buffer then fill 320 KB of cache."""

KEY_BYTES = 16

_U = np.uint64
_CONSTANTS = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_COMPRESSION_ROUNDS = 2
_FINALIZATION_ROUNDS = 4
_FINALIZATION_MARK = _U(0xFF)

_S13, _S16, _S17, _S21, _S32 = _U(13), _U(16), _U(17), _U(21), _U(32)
_S43, _S47, _S48, _S51 = _U(43), _U(47), _U(48), _U(51)


def _rotate(lane: Words, left: np.uint64, right: np.uint64, spare: Words) -> None:
    """Rotate a lane in place by ``left`` bits (``right`` is 64 minus ``left``)."""
    np.left_shift(lane, left, spare)
    np.right_shift(lane, right, lane)
    np.bitwise_or(lane, spare, lane)


def last_word(n_bytes: int) -> np.uint64:
    """Return the length mark of a message's last word: its byte count modulo 256, on top.

    Examples
    --------
    >>> hex(int(last_word(15)))
    '0xf00000000000000'
    """
    return _U((n_bytes & 0xFF) << 56)


class SipState:
    """The running SipHash-2-4 state of many messages that grow together, word by word.

    Parameters
    ----------
    key : bytes
        The 16 bytes of the key.
    n_lanes : int
        How many messages.

    Examples
    --------
    The empty message and the key 00 01 ... 0f, the first of the authors' test vectors:

    >>> state = SipState(bytes(range(16)), 1)
    >>> state.absorb(last_word(0))
    >>> hex(int(state.digest()[0]))
    '0x726fdb47dd0e0e31'
    """

    __slots__ = ("_lanes", "_spare")

    def __init__(self, key: bytes, n_lanes: int) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"key must be {KEY_BYTES} bytes, got {len(key)}")
        halves = (int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little"))
        self._lanes: tuple[Words, ...] = tuple(
            np.full(n_lanes, constant ^ halves[i % 2], dtype=_U)
            for i, constant in enumerate(_CONSTANTS)
        )
        self._spare: Words = np.empty(n_lanes, dtype=_U)

    def fork(self) -> SipState:
        """Return an independent copy, to continue the same messages in several ways."""
        twin = object.__new__(SipState)
        twin._lanes = tuple(lane.copy() for lane in self._lanes)
        twin._spare = np.empty_like(self._spare)
        return twin

    def absorb(self, word: Words | np.uint64) -> None:
        """Append one 64-bit word to every message (one word for all, or one per message)."""
        v0, _, _, v3 = self._lanes
        np.bitwise_xor(v3, word, v3)
        self._rounds(_COMPRESSION_ROUNDS)
        np.bitwise_xor(v0, word, v0)

    def digest(self, out: Words | None = None) -> Words:
        """Finish and return the 64-bit hashes; the state cannot be used afterwards."""
        v0, v1, v2, v3 = self._lanes
        np.bitwise_xor(v2, _FINALIZATION_MARK, v2)
        self._rounds(_FINALIZATION_ROUNDS)
        np.bitwise_xor(v0, v1, v0)
        np.bitwise_xor(v2, v3, v2)
        return np.bitwise_xor(v0, v2, out=out)

    def _rounds(self, count: int) -> None:
        v0, v1, v2, v3 = self._lanes
        spare = self._spare
        for _ in range(count):
            np.add(v0, v1, v0)
            _rotate(v1, _S13, _S51, spare)
            np.bitwise_xor(v1, v0, v1)
            _rotate(v0, _S32, _S32, spare)
            np.add(v2, v3, v2)
            _rotate(v3, _S16, _S48, spare)
            np.bitwise_xor(v3, v2, v3)
            np.add(v0, v3, v0)
            _rotate(v3, _S21, _S43, spare)
            np.bitwise_xor(v3, v0, v3)
            np.add(v2, v1, v2)
            _rotate(v1, _S17, _S47, spare)
            np.bitwise_xor(v1, v2, v1)
            _rotate(v2, _S32, _S32, spare)


def hash_words(key: bytes, words: Iterable[Words], n_bytes: int) -> Words:
    """Hash messages given as whole 64-bit little-endian words, all in one piece.

    Parameters
    ----------
    key : bytes
        The 16 bytes of the key.
    words : iterable of uint64 arrays of equal length
        Word after word of the messages, without the length mark.
    n_bytes : int
        Length of each message, eight times the number of words.

    Examples
    --------
    >>> import numpy as np
    >>> message = np.array([0x0706050403020100], dtype=np.uint64)
    >>> hex(int(hash_words(bytes(range(16)), [message], 8)[0]))
    '0x93f5f5799a932462'
    """
    state: SipState | None = None
    for word in words:
        if state is None:
            state = SipState(key, len(word))
        state.absorb(word)
    if state is None:
        raise ValueError("words must hold at least one word; for the empty message use SipState")
    state.absorb(last_word(n_bytes))
    return state.digest()
