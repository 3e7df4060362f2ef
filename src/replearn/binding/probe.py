"""Probe rows as a lab's own pipeline encodes them, for a fitted run."""

from __future__ import annotations

from typing import Any

import numpy as np

from replearn.binding.sample import preprocessing_mark
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.probe import Probe
from replearn.randomness import as_points


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
    >>> from replearn.binding import encode_probe
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
    mark = preprocessing_mark(rows) or ""
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
