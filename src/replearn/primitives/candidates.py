"""Candidates of a choice: their names, and the rows they get wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.randomness.key import SharedKey
from replearn.randomness.points import Points, as_points
from replearn.tables.rows import n_rows, row_chunks, slice_rows

# Rows that all candidates predict at a time; a matrix is read in blocks of this many cells.
CHUNK_ROWS = 1 << 14
_CELLS = 1 << 22
_WORD_BITS = np.uint64(12)
# Longer lists are not searched for equal names.
_LONGEST_CHECKED = 100_000


def named_candidates(candidates: Any, names: Any) -> tuple[Any, Any]:
    """Return the candidates without names, and their names.

    A mapping names its values. Anything else must be named by the caller: an index in a list is
    not a name.

    >>> named_candidates({"always": "a rule"}, None)
    (['a rule'], ['always'])
    """
    if isinstance(candidates, Mapping):
        return list(candidates.values()), list(candidates) if names is None else names
    if names is not None:
        return candidates, names
    raise ValueError(
        "names is missing: the choice is keyed by what a candidate is, not by its index in a "
        "list. Give names, or candidates as {name: model}."
    )


def name_points(names: Any, count: int) -> Points:
    """Return the names in canonical encoding; 128-bit identities as two numbers of 52 bits."""
    is_array = isinstance(names, np.ndarray)
    if is_array and names.dtype == np.uint32 and names.shape == (count, 4):
        words = np.ascontiguousarray(names).view(np.uint64) >> _WORD_BITS
        return as_points(words.astype(np.int64))
    points = as_points(names if is_array else list(names))
    if len(points) != count:
        raise ValueError(f"names has {len(points)} entries for {count} candidates.")
    return points


def error_sums(
    candidates: Any, X: Any, y: ArrayLike | None, weights: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], int]:
    """Sum the weights of each candidate's wrong rows, a chunk at a time; return them and the rows.

    The arguments are those of `replearn.select_hypothesis`; only a matrix of predictions needs no
    X. Without weights every row counts 1.

    >>> error_sums(np.array([[0, 1, 1], [0, 0, 0]]), None, [0, 1, 0])
    (array([1., 1.]), 3)
    """
    if isinstance(candidates, np.ndarray):
        labels = _labels(y)
        return _matrix_sums(candidates, labels, weights), len(labels)
    wrong = np.zeros(len(candidates))
    rows = 0
    for part, labels in _chunks(X, y):
        if len(labels):
            of_part = None if weights is None else weights[rows : rows + len(labels)]
            wrong += _part_sums(candidates, part, labels, of_part)
        rows += len(labels)
    if rows == 0:
        raise ValueError("the sample has no rows: give at least one labelled row.")
    return wrong, rows


def _labels(y: ArrayLike | None) -> NDArray[Any]:
    labels = np.asarray(y)
    if y is None or labels.ndim != 1 or len(labels) == 0:
        raise ValueError(f"y must be one label for each row, got shape {labels.shape}.")
    return labels


def _chunks(X: Any, y: ArrayLike | None) -> Iterator[tuple[Any, NDArray[Any]]]:
    if X is None:
        raise ValueError("X is missing: only a matrix of predictions needs no rows.")
    if y is None:
        for part, labels in X:
            yield from _chunks(part, labels)
        return
    labels = np.asarray(y)
    if labels.shape != (n_rows(X),):
        raise ValueError(f"y has shape {labels.shape} for {n_rows(X)} rows.")
    for start, stop in row_chunks(len(labels), CHUNK_ROWS):
        yield slice_rows(X, start, stop), labels[start:stop]


def _part_sums(
    candidates: Any, part: Any, labels: NDArray[Any], weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    if not counts_errors(candidates):
        masks = (_wrong(_predictor(model)(part), labels) for model in candidates)
        return np.array([_weighed(mask, weights) for mask in masks], dtype=float)
    if weights is None:
        return np.rint(candidates.errors(part, labels) * len(labels))
    return np.asarray(candidates.errors(part, labels, weights) * weights.sum())


def _weighed(wrong: NDArray[np.bool_], weights: NDArray[np.float64] | None) -> float:
    return float(wrong.sum() if weights is None else weights[wrong].sum())


def counts_errors(candidates: Any) -> bool:
    """Whether the list has a method that counts the errors of all its candidates at once."""
    return not isinstance(candidates, np.ndarray) and hasattr(candidates, "errors")


def _predictor(model: Any) -> Callable[[Any], Any]:
    predict = getattr(model, "predict", model)
    if not callable(predict):
        raise TypeError(f"candidate {model!r} is neither callable nor has predict(X).")
    return predict


def _wrong(predicted: Any, labels: NDArray[Any]) -> NDArray[np.bool_]:
    predictions = np.asarray(predicted)
    if predictions.shape != labels.shape:
        raise ValueError(
            f"a candidate gave predictions of shape {predictions.shape}, not {labels.shape}."
        )
    return np.asarray(predictions != labels)


def _matrix_sums(
    matrix: NDArray[Any], labels: NDArray[Any], weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    if matrix.ndim != 2 or matrix.shape[1] != len(labels):
        raise ValueError(
            f"the matrix of predictions has shape {matrix.shape}: give one line for each "
            f"candidate and one column for each of {len(labels)} rows."
        )
    step = max(1, _CELLS // len(labels))
    chunks = row_chunks(len(matrix), step)
    weighing = np.ones(len(labels)) if weights is None else weights
    parts = [(np.asarray(matrix[start:stop]) != labels) @ weighing for start, stop in chunks]
    return np.concatenate(parts)


def candidate_count(candidates: Any) -> int:
    """Return the number of candidates, at least one."""
    is_list = isinstance(candidates, Sequence | np.ndarray) or counts_errors(candidates)
    if not is_list or len(candidates) == 0:
        raise ValueError("candidates is empty or not a sequence: give at least one candidate.")
    return len(candidates)


def row_bytes(points: Points) -> list[bytes]:
    """Return each point's canonical encoding: equal bytes, equal points."""
    words, kinds = points.encoded()
    return [word.tobytes() + kind.tobytes() for word, kind in zip(words, kinds, strict=True)]


def names_digest(names: Any, count: int) -> str:
    """Return a digest of the set of names, whatever their order; of long lists by 64-bit hashes.

    Examples
    --------
    >>> names_digest(["a", "b"], 2) == names_digest(["b", "a"], 2)
    True
    """
    if count > _LONGEST_CHECKED:
        hashes = SharedKey("names of candidates").hashes(name_points(names, count))
        return sha256(np.sort(hashes).astype("<u8").tobytes()).hexdigest()[:16]
    lines = sorted(row_bytes(name_points(names, count)))
    if len(set(lines)) < count:
        raise ValueError("names must differ: two candidates have the same name.")
    return sha256(b"".join(lines)).hexdigest()[:16]


def sample_key(key: SharedKey, X: Any, y: NDArray[Any]) -> SharedKey:
    """Return a key that depends on this sample, but not on the order of its rows.

    Two samples are cut independently of each other, even if they have rows in common; equal
    samples are cut in the same way.

    Examples
    --------
    >>> X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 0, 1])
    >>> one, two = sample_key(SharedKey(0), X, y), sample_key(SharedKey(0), X[::-1], y[::-1])
    >>> one.fingerprint == two.fingerprint
    True
    """
    content = key.child("sample").hashes(as_points(X).beside(as_points(y)))
    digest = sha256(np.sort(content).astype("<u8").tobytes()).hexdigest()
    return key.child("rows of one sample", digest)


def sample_order(key: SharedKey, X: Any, y: NDArray[Any]) -> NDArray[np.intp]:
    """Return the rows in a random order that depends on the sample.

    Examples
    --------
    >>> X, y = np.arange(6.0), np.array([0, 1, 0, 1, 0, 1])
    >>> one, two = sample_order(SharedKey(0), X, y), sample_order(SharedKey(0), X[::-1], y[::-1])
    >>> bool((X[one] == X[::-1][two]).all())
    True
    """
    return sample_key(key, X, y).order(as_points(X), y)
