"""Keyed hashes of points, and the numbers made from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.randomness.kinds import Cell
from replearn.randomness.points import Chunk, Points, points_of
from replearn.randomness.siphash import LANES, OneMessage, SipState, last_word

Hashes = NDArray[np.uint64]

_KINDS_PER_WORD = 16
_BITS_PER_KIND = 4
_ZERO = np.uint64(0)


class _Kinds:
    """The kinds of a run of points, packed sixteen per word; a word of zeros costs nothing."""

    def __init__(self) -> None:
        self._n_columns = 0
        self._words: list[Hashes | np.uint64] = []

    def add(self, kinds: NDArray[np.uint8] | np.uint8 | None) -> None:
        """Append one more column's kinds (None: all are plain numbers)."""
        place = self._n_columns % _KINDS_PER_WORD
        if place == 0:
            self._words.append(_ZERO)
        if kinds is not None:
            shifted = kinds.astype(np.uint64) << np.uint64(_BITS_PER_KIND * place)
            self._words[-1] = self._words[-1] | shifted
        self._n_columns += 1

    def with_cell(self, kind: np.uint8) -> _Kinds:
        """Return the kinds of the same points with one more cell, the same for all."""
        longer = _Kinds()
        longer._n_columns, longer._words = self._n_columns, list(self._words)
        longer.add(kind)
        return longer

    def absorb_into(self, state: SipState | OneMessage) -> None:
        """Append the packed kinds and the length mark: the message is then complete."""
        n_bytes = (self._n_columns + 1) // 2
        mark = last_word(8 * self._n_columns + n_bytes)
        whole, rest = divmod(n_bytes, 8)
        for word in self._words[:whole]:
            state.absorb(word)
        state.absorb(self._words[whole] | mark if rest else mark)


def _absorb_cells(state: SipState | OneMessage, chunk: Chunk) -> _Kinds:
    state.restart(len(chunk))
    kinds = _Kinds()
    for words, column_kinds in chunk.columns():
        state.absorb(words)
        kinds.add(column_kinds)
    return kinds


def hash_points(sip_key: bytes, points: Points) -> Hashes:
    """Return SipHash-2-4 of each point's canonical message.

    Examples
    --------
    >>> from replearn.randomness.points import as_points
    >>> hashes = hash_points(bytes(16), as_points([3, 3.0, True]))
    >>> bool(hashes[0] == hashes[1] != hashes[2])
    True
    """
    result = np.empty(len(points), dtype=np.uint64)
    one = len(points) == 1
    state = OneMessage(sip_key) if one else SipState(sip_key, min(LANES, len(points)))
    for chunk in points.chunks():
        _absorb_cells(state, chunk).absorb_into(state)
        state.digest(out=result[chunk.rows])
    return result


def label_cells(labels: Any) -> list[Cell]:
    """Encode labels, which must be one-dimensional and all different.

    Examples
    --------
    >>> label_cells([1]) == label_cells([True])
    True
    """
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

    Yields
    ------
    tuple
        Which rows, which label, and the hashes.

    Examples
    --------
    >>> from replearn.randomness.points import as_points
    >>> triples = hash_with_labels(bytes(16), as_points([[0.5]]), label_cells(["yes"]))
    >>> [(rows, label, hashes)] = triples
    >>> bool(hashes[0] == hash_points(bytes(16), as_points([[0.5, "yes"]]))[0])
    True
    """
    state = SipState(sip_key, min(LANES, len(points)))
    longer = SipState(sip_key, min(LANES, len(points)))
    for chunk in points.chunks():
        kinds = _absorb_cells(state, chunk)
        for position, (kind, word) in enumerate(labels):
            longer.continue_from(state)
            longer.absorb(np.uint64(word))
            kinds.with_cell(np.uint8(kind)).absorb_into(longer)
            yield chunk.rows, position, longer.digest()


def uniforms_in_place(hashes: Hashes) -> NDArray[np.float64]:
    """Turn hashes into multiples of 2**-53 in [0, 1), in their own memory.

    Examples
    --------
    >>> import numpy as np
    >>> uniforms_in_place(np.array([2**63, 0], dtype=np.uint64))
    array([0.5, 0. ])
    """
    uniforms = hashes.view(np.float64)
    for start in range(0, len(hashes), LANES):
        rows = slice(start, start + LANES)
        np.multiply(hashes[rows] >> np.uint64(11), 2.0**-53, out=uniforms[rows])
    return uniforms


def gumbel_from_hashes(hashes: Hashes) -> NDArray[np.float64]:
    """Turn hashes into standard Gumbel numbers, all finite.

    Examples
    --------
    >>> import numpy as np
    >>> gumbel_from_hashes(np.array([0, 2**64 - 1], dtype=np.uint64)).round(2)
    array([-3.6 , 36.74])
    """
    # the middle of one of 2**52 equal cells: never 0, never 1, and exact in float64
    uniforms = ((hashes >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return np.negative(np.log(np.negative(np.log(uniforms))))


def occurrence_numbers(content: Hashes) -> Hashes:
    """Return how many equal entries came before each one.

    Examples
    --------
    >>> import numpy as np
    >>> occurrence_numbers(np.array([7, 5, 7, 7], dtype=np.uint64))
    array([0, 0, 1, 2], dtype=uint64)
    """
    numbers = np.zeros(len(content), dtype=np.uint64)
    in_order = np.sort(content)
    if (in_order[1:] == in_order[:-1]).any():  # else all differ, and sorting positions is slow
        by_content = np.argsort(content, kind="stable")
        places = np.arange(len(content))
        is_first = np.append(True, in_order[1:] != in_order[:-1])
        numbers[by_content] = places - np.maximum.accumulate(np.where(is_first, places, 0))
    return numbers


def hash_occurrences(sip_key: bytes, content: Hashes) -> Hashes:
    """Hash (content, occurrence number), so that equal rows get different values.

    Examples
    --------
    >>> import numpy as np
    >>> hashes = hash_occurrences(bytes(16), np.array([7, 7], dtype=np.uint64))
    >>> bool(hashes[0] == hashes[1])
    False
    """
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
