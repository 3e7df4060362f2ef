"""What a certificate binds: the base estimator, the points, the conditions that data can refute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.binding.digests import Fingerprint, bind
from replearn.binding.estimator import PROBES
from replearn.binding.sample import copy_conditions, index_of, sample_conditions
from replearn.binding.schema import describe_points, order_digest
from replearn.exceptions import NotCertifiedWarning, warn_user
from replearn.guarantees.certificate import Certificate, Identity
from replearn.guarantees.promise import derive
from replearn.randomness import SharedKey, as_points


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
    order = _order_of_points(key.child("sketch"), X, np.asarray(codes).astype(np.intp))
    points: dict[str, Any] = {}
    unread: tuple[str, ...] = ()
    if isinstance(order, str):
        unread = (f"points: {order}",)
        failed += _not_checked(order)
    else:
        points, unread = _points_if_described(X, np.asarray(codes).astype(np.intp), order)
        failed += choice_conditions(*(sample or (X, codes)))
    if points and names is not None:
        points["schema"]["order"] = order_digest(names)
    identity = Identity(
        key.fingerprint,
        failed_conditions=failed,
        pool="" if pool is None else pool_digest(pool),
        versions=_versions(fingerprints),
        unbound=unread + _unbound(fingerprints),
        **points,
        **digests,
    )
    return Certificate.of(derive(task, inputs), identity)


def choice_conditions(X: Any, y: Any, groups: Any = None) -> tuple[str, ...]:
    """Return what the sample of a choice refutes of the conditions, and warn about it."""
    return sample_conditions(X) + copy_conditions(X, np.asarray(y), groups, index_of(y))


def _order_of_points(key: SharedKey, X: Any, codes: NDArray[np.intp]) -> NDArray[np.intp] | str:
    """Return the keyed order of points; why there is none where rows cannot be read as points."""
    try:
        return key.order(X, codes)  # reads every cell, and does nothing else
    except (TypeError, ValueError) as error:  # candidates may take rows of any kind
        return str(error)


def _points_if_described(
    X: Any, codes: NDArray[np.intp], rows: NDArray[np.intp]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Describe points; what cannot be described is not bound."""
    try:
        return describe_points(X, codes, rows=rows), ()
    except (TypeError, ValueError) as error:
        return {}, (f"points: {error}",)


def _not_checked(why: str) -> tuple[str, ...]:
    condition = f"copies and panels were not looked for, since rows cannot be read as points: {why}"
    warn_user(f"{condition}.", NotCertifiedWarning)
    return (condition,)


def bind_candidates(candidates: Mapping[Any, Any], X: Any) -> Fingerprint:
    """Bind named models by their state, or by predictions of synthetic rows if it is unreadable."""
    fingerprints = {name: _bind_model(model, X) for name, model in candidates.items()}
    return Fingerprint(
        bind({name: part.digest for name, part in fingerprints.items()}).digest,
        _versions(fingerprints),
        _unbound(fingerprints),
    )


def _versions(fingerprints: Mapping[Any, Fingerprint]) -> dict[str, str]:
    return {k: v for part in fingerprints.values() for k, v in part.versions.items()}


def _unbound(fingerprints: Mapping[Any, Fingerprint]) -> tuple[str, ...]:
    return tuple(f"{name}: {text}" for name, part in fingerprints.items() for text in part.unbound)


def _bind_model(model: Any, X: Any) -> Fingerprint:
    fingerprint = bind(model)
    numbers = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"
    if not fingerprint.unbound or not numbers:
        return fingerprint
    cells = [[row, column] for row in range(PROBES) for column in range(X.shape[1])]
    uniforms = SharedKey("replearn probe rows").uniforms(cells).reshape(PROBES, -1)
    probes = (2 * uniforms - 1) * 10.0 ** (np.arange(PROBES) % 4)[:, np.newaxis]
    try:
        predictions = np.asarray(getattr(model, "predict", model)(probes))
    except Exception:
        return fingerprint
    return Fingerprint(bind(predictions).digest, fingerprint.versions)


def pool_digest(pool: Any) -> str:
    """Digest of the points of a shared pool, whatever their order."""
    hashes = np.sort(SharedKey("replearn shared pool").hashes(as_points(pool)))
    return bind(hashes).digest
