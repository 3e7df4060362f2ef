"""What a certificate binds: the base estimator, the points, the conditions that data can refute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.binding.digests import Fingerprint, bind
from replearn.binding.sample import copy_conditions
from replearn.binding.schema import describe_points, order_digest
from replearn.binding.useful_blocks import PROBES
from replearn.exceptions import UnsupportedValueError
from replearn.guarantees import Certificate, Identity
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
    failed: Any = (),
    **inputs: Any,
) -> Certificate:
    """Issue the certificate of a choice, bound to its points and parts.

    Every run must share the ``fingerprints`` of its parts (of the base estimator, of the hypotheses
    or of the candidates), the unlabelled rows ``pool`` and the ``inputs`` of the promise. ``names``
    are the columns of an array that was a frame, ``failed`` the conditions that the sample refutes.
    """
    digests: dict[str, Any] = {name: part.digest for name, part in fingerprints.items()}
    if "learner" in digests:
        digests["learner_digest"] = digests.pop("learner")
    points, unread = _points_if_read(key.child("sketch"), X, np.asarray(codes).astype(np.intp))
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
    return Certificate.issue(task, inputs, identity)


def copies_if_read(X: Any, codes: NDArray[Any]) -> tuple[str, ...]:
    """Say that rows are no independent draws, where they are points; see `copy_conditions`."""
    try:
        return copy_conditions(X, np.asarray(codes))
    except (TypeError, ValueError, UnsupportedValueError):
        return ()


def _points_if_read(
    key: SharedKey, X: Any, codes: NDArray[np.intp]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Describe points, where they are points: candidates may take rows of any kind."""
    try:
        return describe_points(X, codes, rows=key.order(X, codes)), ()
    except (TypeError, ValueError, UnsupportedValueError) as error:
        return {}, (f"points: {error}",)


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
