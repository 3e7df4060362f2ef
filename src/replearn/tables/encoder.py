"""Mixed tables as one matrix for any classifier.

`TableEncoder` is meant to stand inside a base estimator, where it is fitted on one block at a time,
because everything learned from data belongs there. Each row is treated on its own.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from replearn.tables.kinds import DATE, ID, NUMBER, TEXT, is_date
from replearn.tables.rows import is_nan, n_rows

Fitted = dict[str, Any]
"""What was learned about one column, in plain values: a model file needs no other types."""


@dataclass(frozen=True)
class Texts:
    """The cells of a column of texts; None where one is missing."""

    texts: list[str | None]


Cells = Texts | list[NDArray[np.float64]]
"""A column as it was read: texts, or numbers (several for a date)."""

WORDS_OF_FREE_TEXT = 3.0
"""From this many words per cell on, a text is read by its words instead of as a category."""

WORD_BUCKETS = 64

_ROUNDING = 1e-12
_LARGEST = float(np.finfo(np.float32).max)
_DAY = np.timedelta64(1, "D")
_EPOCH = np.datetime64("1970-01-01", "us")


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a frame of mixed columns into numbers.

    Parameters
    ----------
    columns : mapping of str to str, default=None
        Kind of each column: "number", "date", "text" or "id" (left out). If None, the kinds follow
        from the types of the frame.
    for_trees : bool, default=False
        If False, for linear models: numbers are centred and scaled, missing ones are marked, and
        categories become indicators. If True, numbers stay as they are, missing ones are NaN, and
        categories become codes.
    most_levels : int, default=40
        Categories of a column with a code of their own, the most frequent ones (six times as many
        for trees); all others share one code.

    Attributes
    ----------
    fitted_columns_ : list of dict
        What was learned about each column.

    >>> import pandas as pd
    >>> from replearn.tables.encoder import TableEncoder
    >>> people = pd.DataFrame({"age": [30.0, 50.0, None], "town": ["Ulm", "Rom", "Ulm"]})
    >>> TableEncoder().fit_transform(people)
    array([[-1.,  0.,  0.,  1.],
           [ 1.,  0.,  1.,  0.],
           [ 0.,  1.,  0.,  1.]])
    >>> TableEncoder(for_trees=True).fit_transform(people)
    array([[30.,  1.],
           [50.,  0.],
           [nan,  1.]])
    """

    def __init__(
        self,
        columns: Mapping[str, str] | None = None,
        *,
        for_trees: bool = False,
        most_levels: int = 40,
    ):
        self.columns = columns
        self.for_trees = for_trees
        self.most_levels = most_levels

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn scales and categories from the rows of one block, a pandas or polars frame."""
        self._learn_all(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Do what `fit` and `transform` do, and read every column once."""
        return self._encode_all(X, self._learn_all(X))

    def _learn_all(self, X: Any) -> dict[str, Cells]:
        """Learn all columns; return the cells of each as they were read."""
        kinds = dict(self.columns) if self.columns is not None else _kinds_of(X)
        read = {
            n: _read(X[n], kind == TEXT, is_date(kind)) for n, kind in kinds.items() if kind != ID
        }
        learned = [
            (name, *self._learn(cells, is_date(kinds[name]))) for name, cells in read.items()
        ]
        self.fitted_columns_: list[Fitted] = [
            {"name": name, **fitted}
            for name, fitted, known in learned
            # histogram boosting cannot be trained on a column of which nothing is known
            if known or not self.for_trees
        ]
        if not self.fitted_columns_:
            raise ValueError(
                "the table has no column that can be learned from (only ids, or nothing is known)."
            )
        self.n_features_in_ = len(X.columns)
        return read

    def _learn(self, cells: Cells, is_a_date: bool) -> tuple[Fitted, bool]:
        """Return what is to be known of a column, and whether any cell of it is."""
        if isinstance(cells, Texts):
            counted = Counter(cells.texts)
            del counted[None]
            return self._learn_texts(counted), bool(counted)
        fitted: Fitted = {"date": True} if is_a_date else {}
        fitted["scales"] = [_learn_scale(part) for part in cells]
        return fitted, any(not np.isnan(part).all() for part in cells)

    def _learn_texts(self, counted: Counter[Any]) -> Fitted:
        """Learn from how often each text occurs."""
        n_words = sum(count * len(text.split()) for text, count in counted.items())
        if counted and n_words / counted.total() >= WORDS_OF_FREE_TEXT:
            return {"words": True}
        most = self.most_levels * 6 if self.for_trees else self.most_levels
        # Ties are broken by the text itself: the order of the rows must not matter.
        ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
        return {"levels": sorted(level for level, _ in ranked[:most])}

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Turn the rows of a frame into rows of numbers."""
        return self._encode_all(X, {})

    def _encode_all(self, X: Any, read: dict[str, Cells]) -> NDArray[np.float64]:
        """Encode all columns; those that have not been read yet are read."""
        parts: list[NDArray[np.float64]] = []
        for fitted in self.fitted_columns_:
            name = fitted["name"]
            cells = read.get(name)
            if cells is None:
                cells = _read(X[name], "scales" not in fitted, "date" in fitted)
            parts += self._encode(cells, fitted)
        return np.column_stack(parts) if parts else np.zeros((n_rows(X), 0))

    def _encode(self, cells: Cells, fitted: Fitted) -> Iterable[NDArray[np.float64]]:
        if isinstance(cells, Texts):
            if "words" in fitted:
                return [count_words(cells.texts)]
            encode = _codes if self.for_trees else _indicators
            return [encode(cells.texts, fitted["levels"])]
        if self.for_trees:
            return [clip_for_trees(part) for part in cells]
        return chain.from_iterable(map(_scaled, cells, fitted["scales"]))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the numbers that `transform` makes.

        >>> import pandas as pd
        >>> people = pd.DataFrame({"age": [30.0, 50.0, None], "town": ["Ulm", "Rom", "Ulm"]})
        >>> TableEncoder().fit(people).get_feature_names_out().tolist()
        ['age', 'age missing', 'town=Rom', 'town=Ulm']
        """
        return np.array([n for fitted in self.fitted_columns_ for n in self._names(fitted)], object)

    def _names(self, fitted: Fitted) -> list[str]:
        name = fitted["name"]
        if "words" in fitted:
            return [f"{name} word {bucket}" for bucket in range(WORD_BUCKETS)]
        if "levels" in fitted:
            return [name] if self.for_trees else [f"{name}={level}" for level in fitted["levels"]]
        scales = fitted["scales"]
        names = [name] if len(scales) == 1 else [f"{name} {part}" for part in range(len(scales))]
        if self.for_trees:
            return names
        pairs = zip(names, scales, strict=True)
        return [part for n, scale in pairs for part in (n, *[f"{n} missing"] * bool(scale[2]))]

    def __getstate__(self) -> dict[str, Any]:
        """Write what was learned as one text: model files hold hundreds of encoders."""
        state: dict[str, Any] = super().__getstate__()
        if "fitted_columns_" in state:
            state = {**state, "fitted_columns_": json.dumps(state["fitted_columns_"])}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("fitted_columns_"), str):
            state = {**state, "fitted_columns_": json.loads(state["fitted_columns_"])}
        super().__setstate__(state)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _read(column: Any, as_texts: bool, as_dates: bool) -> Cells:
    if as_texts:
        return Texts(texts_of(column))
    return parts_of_dates(column) if as_dates else [numbers_of(column)]


def _kinds_of(X: Any) -> dict[str, str]:
    kinds = {"b": NUMBER, "i": NUMBER, "u": NUMBER, "f": NUMBER, "M": DATE}
    return {name: kinds.get(np.asarray(X[name]).dtype.kind, TEXT) for name in X.columns}


def _learn_scale(values: NDArray[np.float64]) -> list[float]:
    """Return mean, standard deviation, and whether some are missing."""
    known = values[~np.isnan(values)]
    if not len(known):
        return [0.0, 1.0, float(len(values) > 0)]
    with np.errstate(over="ignore"):
        mean = float(known.mean())
        spread = float(known.std())
    if not (np.isfinite(mean) and np.isfinite(spread)):
        mean = 0.0
        spread = 1.0
    # A constant has the spread of its rounding: dividing by that would make noise of it.
    if spread <= _ROUNDING * abs(mean) or spread == 0.0:
        spread = 1.0
    return [mean, spread, float(len(known) < len(values))]


def _scaled(values: NDArray[np.float64], scale: list[float]) -> list[NDArray[np.float64]]:
    mean, spread, with_missing = scale
    missing = np.isnan(values)
    centred = np.where(missing, 0.0, (values - mean) / spread)
    return [centred, missing.astype(np.float64)] if with_missing else [centred]


def _indicators(texts: list[str | None], levels: list[str]) -> NDArray[np.float64]:
    indices = _indices(texts, levels)
    result = np.zeros((len(texts), len(levels) + 1))
    result[np.arange(len(texts)), indices] = 1.0
    return result[:, : len(levels)]


def _codes(texts: list[str | None], levels: list[str]) -> NDArray[np.float64]:
    codes = _indices(texts, levels).astype(np.float64)
    codes[codes == len(levels)] = -1.0
    codes[[text is None for text in texts]] = np.nan
    return codes


def _indices(texts: list[str | None], levels: list[str]) -> NDArray[np.intp]:
    """Return the index of each text among the levels; their number if it is none of them."""
    index = {level: number for number, level in enumerate(levels)}
    other = len(levels)
    return np.fromiter(map(index.get, texts, repeat(other)), np.intp, len(texts))  # type: ignore[arg-type]


# -- the cells of one column: pandas and polars columns are read alike, without importing either ---
def numbers_of(column: Any) -> NDArray[np.float64]:
    """Read a column of a frame as numbers; NaN where a cell is missing."""
    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if values.dtype != object:
        return np.asarray(values, dtype=np.float64)
    known = [np.nan if gone else cell for cell, gone in _cells(column)]
    return np.array(known, dtype=np.float64)


def clip_for_trees(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring numbers into the range of single precision: trees refuse larger ones."""
    return np.clip(values, -_LARGEST, _LARGEST)


def texts_of(column: Any) -> list[str | None]:
    """Read a column of a frame as texts; None where a cell is missing.

    >>> import pandas as pd
    >>> texts_of(pd.Series(["Ulm", None, 7]))
    ['Ulm', None, '7']
    """
    if not isinstance(column, np.ndarray) and str(column.dtype) == "String":  # polars
        return list(column.to_list())
    cells = _listed(column)
    if all(type(cell) is str for cell in cells):  # nothing is missing, nothing to convert
        return list(cells)
    return [None if gone else str(cell) for cell, gone in _cells(column)]


def parts_of_dates(column: Any) -> list[NDArray[np.float64]]:
    """Return days since 1970, month, weekday and hour; NaN where a date is missing.

    >>> import pandas as pd
    >>> parts_of_dates(pd.Series(pd.to_datetime(["1970-01-02 06:00"])))
    [array([1.25]), array([1.]), array([4.]), array([6.])]
    """
    instants = np.asarray(column).astype("datetime64[us]")
    missing = np.isnat(instants)
    days = instants.astype("datetime64[D]")
    whole = (days - _EPOCH.astype("datetime64[D]")) / _DAY
    parts = [
        (instants - _EPOCH) / _DAY,
        (instants.astype("datetime64[M]").astype(np.int64) % 12 + 1).astype(np.float64),
        (whole + 3) % 7,
        (instants - days) / np.timedelta64(1, "h"),
    ]
    return [np.where(missing, np.nan, part) for part in parts]


def count_words(texts: list[str | None]) -> NDArray[np.float64]:
    """Count hashed words, damped; the last column is the number of words."""
    counts = np.zeros((len(texts), WORD_BUCKETS + 1))
    for row, text in enumerate(texts):
        for bucket in _word_buckets(text or ""):
            counts[row, bucket] += 1.0
    counts[:, -1] = counts[:, :-1].sum(axis=1)
    return np.log1p(counts)


@lru_cache(maxsize=1 << 16)
def _word_buckets(text: str) -> tuple[int, ...]:
    return tuple(zlib.crc32(word.encode()) % WORD_BUCKETS for word in text.lower().split())


def _cells(column: Any) -> Iterable[tuple[Any, bool]]:
    """Yield each cell of a pandas or polars column, and whether it is missing."""
    if isinstance(column, np.ndarray):  # of a pandas column
        missing = [cell is None or is_nan(cell) for cell in column.tolist()]
    else:
        missing = _listed(column.isna() if hasattr(column, "isna") else column.is_null())
    return zip(_listed(column), missing, strict=True)


def _listed(column: Any) -> list[Any]:
    """Return the cells of a column: those of an array or of a series."""
    return list(column.to_list() if hasattr(column, "to_list") else column.tolist())
