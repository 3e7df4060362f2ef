"""How a run describes its points on the certificate: names of columns, their order, rounding.

What two tables mean by their columns cannot be read from a certificate. A probe tells: both labs
encode the same raw rows as they encode their own (`encode_probe`).
"""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer

from replearn.checks.sample import moments, scaler_mark
from replearn.exceptions import PreprocessingWarning, warn_user
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.probe import Probe
from replearn.randomness.kinds import ENCODING_VERSION
from replearn.randomness.points import as_points
from replearn.records.json import digest_of
from replearn.tables.encoder import TableEncoder
from replearn.tables.rows import n_rows, take_rows

TEXT_ROWS = 1024
"""Rows whose texts are looked at."""


def describe_points(X: Any, *, base: Any = None, decimals: int | None = None) -> dict[str, Any]:
    """Describe the points of a sample, as the ``schema`` of an `Identity`.

    A base estimator that takes columns by name does not depend on their order.
    """
    names = as_points(take_rows(X, np.arange(min(1, n_rows(X))))).names
    by_position = list(names) == list(range(len(names))) or names == (None,)
    _warn_of_other_forms(X)
    return {
        "encoding": ENCODING_VERSION,
        "decimals": decimals,
        "columns": None if by_position else [str(name) for name in names],
        "n_columns": len(names),
        "order": "" if by_position or takes_columns_by_name(base) else _order_of(X),
    }


def takes_columns_by_name(base: Any) -> bool:
    """Whether an estimator finds every column by its name, so that their order does not matter.

    >>> takes_columns_by_name(ColumnTransformer([("kept", "passthrough", ["age", "sex"])]))
    True
    """
    steps = getattr(base, "steps", None)
    if steps:
        return takes_columns_by_name(steps[0][1])
    if isinstance(base, ColumnTransformer):
        wanted = [columns for _, _, columns in base.transformers]
        return base.remainder == "drop" and all(
            isinstance(columns, list | tuple) and all(isinstance(name, str) for name in columns)
            for columns in wanted
        )
    return isinstance(base, TableEncoder)


def _order_of(X: Any) -> str:
    return order_digest(getattr(X, "column_names", getattr(X, "columns", ())))  # pyarrow, others


def order_digest(names: Any) -> str:
    """Digest of the names of columns in their order."""
    return digest_of([str(name) for name in names])[:16]


def _warn_of_other_forms(X: Any) -> None:
    """Warn if texts are not in the Unicode form NFC: the same word is then another point."""
    first = take_rows(X, np.arange(min(n_rows(X), TEXT_ROWS)))
    n_other = sum(not unicodedata.is_normalized("NFC", text) for text in _texts(first))
    if n_other:
        warn_user(
            f"{n_other} texts of the first {n_rows(first)} rows are not in the Unicode form NFC: "
            "the same word in the usual form is a different point. Normalise texts first: "
            'unicodedata.normalize("NFC", text).',
            PreprocessingWarning,
        )


def _texts(X: Any) -> list[str]:
    """Return the texts among the cells."""
    if hasattr(X, "tocsr") or _is_number(X):
        return []
    if hasattr(X, "columns"):
        rows: Any = (list(X[name]) for name in X.columns if not _is_number(X[name]))
    else:
        rows = (row if isinstance(row, list | tuple | np.ndarray) else (row,) for row in X)
    return [cell for row in rows for cell in row if isinstance(cell, str)]


def _is_number(column: Any) -> bool:
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    return kind in ("b", "i", "u", "f", "M", "m")


# -- probes ----------------------------------------------------------------------------------------
def encode_probe(certificate: Certificate, X: Any, *, ids: Any = None) -> Probe:
    """Make the probe of one lab: digests of the probe rows as they are passed to its estimator.

    Pass the shared raw rows through all preprocessing in front of the estimator, with transformers
    fitted on the training rows, and pass the result to this function. Two labs with equal probes
    encode points in the same way: ``a.comparable(b, probes=(mine, theirs))``.

    Parameters
    ----------
    certificate : Certificate
        The certificate of the lab's run, whose columns are used, by name if they have names.
    X : array, frame, sparse matrix or list of text
        The encoded probe rows.
    ids : array-like, default=None
        The ids of the probe rows, as they are passed to ``predict``, if the lab uses ids.

    Returns
    -------
    Probe
        Digests, to be saved and sent to the other lab.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from replearn import PointwiseReplicableClassifier
    >>> from replearn.checks.points import encode_probe
    >>> X, y = make_classification(10_000, random_state=0)
    >>> model = PointwiseReplicableClassifier(max_fits=88, shared_key="k").fit(X, y)
    >>> certificate = model.certificate_
    >>> raw = X[:5].round(2)
    >>> mine = encode_probe(certificate, raw)
    >>> theirs = encode_probe(certificate, raw / X.std(axis=0))
    >>> certificate.comparable(certificate, probes=(mine, theirs)).comparable
    'no'
    """
    schema = certificate.identity.schema
    if schema is None:
        raise ValueError(f"the certificate of a {certificate.task} run describes no points")
    rows = _wanted(X, schema)
    mark = scaler_mark(moments(rows))
    mark = "" if mark is None else f"X looks as if {mark} had been fitted on it before"
    return Probe.of(rows, decimals=schema["decimals"], mark=mark, ids=ids)


def _wanted(X: Any, schema: dict[str, Any]) -> Any:
    """Return the columns of the certificate; refuse rows that lack one."""
    names = as_points(X).names
    wanted = schema["columns"]
    if wanted is None:
        rows = np.asarray(X) if hasattr(X, "columns") else X
        if len(names) != schema["n_columns"]:
            raise ValueError(
                f"the probe has {len(names)} columns, but the run had {schema['n_columns']}: give "
                "the rows as the estimator gets them, without target and index."
            )
        return rows
    known = {str(name): name for name in X.columns} if hasattr(X, "columns") else {}
    missing = [name for name in wanted if name not in known]
    if missing:
        raise ValueError(
            f"the probe has no column {missing[0]!r}, which the run had: give the rows as the "
            "estimator gets them, in a frame with the same names."
        )
    return X[[known[name] for name in wanted]]
