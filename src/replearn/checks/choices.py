"""What a certificate binds: the base estimator, the points, the conditions that data can refute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.checks.blocks import PROBES
from replearn.checks.fingerprint import Fingerprint, fingerprint, joined
from replearn.checks.points import describe_points, order_digest
from replearn.checks.sample import failed_by_sample, index_of
from replearn.exceptions import NotCertifiedWarning, warn_user
from replearn.guarantees.certificate import Certificate, Identity
from replearn.guarantees.promise import derive
from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points


def certify_choice(
    task: str,
    key: SharedKey,
    X: Any,
    codes: NDArray[Any],
    *,
    fingerprints: dict[str, Fingerprint],
    pool: Any = None,
    names: Any = None,
    sample: tuple[Any, ...] | None = None,
    failed: tuple[str, ...] = (),
    **inputs: Any,
) -> Certificate:
    """Issue the certificate of a choice, bound to its points and parts.

    Every run must share the ``fingerprints`` of its parts (of the base estimator, of the hypotheses
    or of the candidates), the unlabelled rows ``pool`` and the ``inputs`` of the promise. ``names``
    are the columns of an array that was a frame, ``sample`` what fit was given (table, labels and
    any groups), if X and codes are not. Conditions that the sample refutes are added to those that
    ``failed`` before.
    """
    digests: dict[str, Any] = {name: part.digest for name, part in fingerprints.items()}
    if "learner" in digests:
        digests["learner_digest"] = digests.pop("learner")
    parts = joined([], fingerprints.values())
    schema, unread = _points_if_read(X)
    if unread:
        failed += _not_checked(unread)
    else:
        failed += choice_conditions(*(sample or (X, codes)))
    if schema is not None and names is not None:
        schema["order"] = order_digest(names)
    identity = Identity(
        key.fingerprint,
        failed_conditions=failed,
        pool="" if pool is None else pool_digest(pool),
        versions=parts.versions,
        unbound=(f"points: {unread}", *parts.unbound) if unread else parts.unbound,
        schema=schema,
        **digests,
    )
    return Certificate.of(derive(task, inputs), identity)


def choice_conditions(X: Any, y: Any, groups: Any = None) -> tuple[str, ...]:
    """Return what the sample of a choice refutes of the conditions, and warn about it."""
    return failed_by_sample(X, np.asarray(y), groups, index_of(y))


def _points_if_read(X: Any) -> tuple[dict[str, Any] | None, str]:
    """Describe points; why they are not where rows cannot be read as points."""
    try:
        as_points(X).encoded()  # reads every cell
        return describe_points(X), ""
    except (TypeError, ValueError) as error:  # candidates may take rows of any kind
        return None, str(error)


def _not_checked(why: str) -> tuple[str, ...]:
    condition = f"copies and panels were not looked for, since rows cannot be read as points: {why}"
    warn_user(f"{condition}.", NotCertifiedWarning)
    return (condition,)


def bind_candidates(candidates: Mapping[Any, Any], X: Any) -> Fingerprint:
    """Bind named models by their state, or by predictions of synthetic rows if it is unreadable."""
    parts = {name: _bind_model(model, X) for name, model in candidates.items()}
    named = [
        replace(part, unbound=tuple(f"{n}: {t}" for t in part.unbound)) for n, part in parts.items()
    ]
    return joined([str(name) for name in parts], named)


def _bind_model(model: Any, X: Any) -> Fingerprint:
    found = fingerprint(model)
    numbers = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"
    if not found.unbound or not numbers:
        return found
    cells = [[row, column] for row in range(PROBES) for column in range(X.shape[1])]
    uniforms = SharedKey("replearn probe rows").uniforms(cells).reshape(PROBES, -1)
    probes = (2 * uniforms - 1) * 10.0 ** (np.arange(PROBES) % 4)[:, np.newaxis]
    try:
        predictions = np.asarray(getattr(model, "predict", model)(probes))
    except Exception:
        return found
    return Fingerprint(fingerprint(predictions).digest, found.versions)


def pool_digest(pool: Any) -> str:
    """Digest of the points of a shared pool, whatever their order."""
    return fingerprint(np.sort(SharedKey("replearn shared pool").hashes(as_points(pool)))).digest
