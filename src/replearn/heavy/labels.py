"""Label heavy points from their own observed labels, with the same result in two runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds import SetLaw, label_disagreement_tail, sign_width, stable_scale
from replearn.guarantees import Certificate, certify, labels_guaranteed
from replearn.heavy.heavy_hitters import HeavyHitters
from replearn.heavy.label_rule import count_labels, first_labels, label_points
from replearn.randomness import SharedKey, as_points
from replearn.records import bisect, check_count, check_fraction

_HALVINGS = 12


class _Design(NamedTuple):
    """Labels in use of each member, half-width of the threshold, largest number of members.

    Of more than two classes: the scale of the Gumbels instead of the half-width.
    """

    k: int
    band: float
    most: int


@dataclass(frozen=True, eq=False)
class HeavyLabels:
    """Labels of heavy points.

    Parameters
    ----------
    labels : ndarray
        One label for each member.
    ones : ndarray of int
        How many of the labels used were ``classes[1]``.
    n_labels : ndarray of int
        How many labels were used, k.
    thresholds : ndarray of float
        Shared number u of each member; with more than two classes, the Gumbel of each member and
        class.
    classes : ndarray
        The labels.
    certificate : Certificate
        What is promised.
    """

    labels: NDArray[Any]
    ones: NDArray[np.int64]
    n_labels: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    classes: NDArray[Any]
    certificate: Certificate


def label_heavy_hitters(  # noqa: PLR0913
    points: Any,
    labels: ArrayLike,
    heavy: HeavyHitters,
    *,
    key: SharedKey | str | bytes | int,
    alpha: float = 0.1,
    rho: float = 0.1,
    beta: float | None = None,
    label_noise: bool = True,
    gamma: float = 0.1,
    n_labels: int | None = None,
    classes: Any = None,
    decimals: int | None = None,
) -> HeavyLabels:
    """Label the members of a heavy set from their labels in the sample.

    Parameters
    ----------
    points : container of rows
        The sample that `find_heavy_hitters` was given.
    labels : array-like
        Its labels. More than two different ones are supported for members that were found
        pointwise; the theorems about the whole vector of labels (replicable and approximate
        notion) are proved here for two labels only.
    heavy : HeavyHitters
        The members. With a core (approximate notion) all labels of the core are the same in both
        runs, and those of the other members up to a mass ``gamma``.
    key : SharedKey, str, bytes or int
        The same in both runs.
    alpha : float, default=0.1
        A member whose mean label (on the scale from -1 to 1) is closer to 0 than this may get
        either label. With more than two classes, the probability of a label may be smaller than
        that of the best one by less than alpha.
    rho : float, default=0.1
        Probability that two runs label a point differently; with a core, see the certificate.
    beta : float, default=None
        Requested probability of any wrong label. If None, it is only stated.
    label_noise : bool, default=True
        Whether one point may have different labels. If False, 1 replaces ``alpha``.
    gamma : float, default=0.1
        Mass on which labels may differ, with a core.
    n_labels : int, default=None
        Number of labels of each member that are used, k. If None, as many as every member is sure
        to have.
    classes : array-like, default=None
        The labels. If None, those that occur. Two labs should name them: a class that only one of
        them has seen changes the promise.
    decimals : int, default=None
        As in `find_heavy_hitters`.

    Examples
    --------
    >>> from replearn.bounds import MembershipLaw
    >>> from replearn.heavy import find_heavy_hitters
    >>> X, y, key = [1] * 600 + [2] * 400, [0] * 580 + [1] * 20 + [1] * 400, SharedKey("a")
    >>> law = MembershipLaw("sqrt", 0.2, 0.3)
    >>> heavy = find_heavy_hitters(X, 0.3, key=key, law=law)
    >>> result = label_heavy_hitters(X, y, heavy, key=key, alpha=0.9, beta=0.01)
    >>> result.labels.tolist(), result.n_labels.tolist(), result.certificate.certified
    ([0, 1], [200, 200], True)
    """
    if not isinstance(label_noise, bool | np.bool_):
        raise TypeError(f"label_noise must be True or False, got {label_noise!r}.")
    check_fraction("alpha", alpha)
    check_fraction("rho", rho)
    key = SharedKey(key)
    clear = float(alpha) if label_noise else 1.0
    codes, names = _class_codes(labels, classes, heavy.notion)
    sample = as_points(points, decimals=decimals)
    if len(sample) != heavy.n or len(codes) != heavy.n:
        raise ValueError(
            f"points and labels must be the {heavy.n} rows in which heavy was found, got "
            f"{len(sample)} and {len(codes)}."
        )
    if len(names) > 2:
        designs = [_class_design(heavy, rho, n_labels, len(names))]
    else:
        designs = _designs(heavy, rho, gamma, n_labels)
    # The last design is that of the core, where there is one.
    which = np.where(heavy.core, len(designs) - 1, 0)
    used = np.array([design.k for design in designs], dtype=np.int64)[which]
    label_counts = count_labels(codes, heavy.locate(sample), len(heavy), len(names))
    tallies = first_labels(heavy.points, label_counts, used, key)
    label_codes = np.empty(len(heavy), dtype=np.intp)
    uniforms = np.empty((len(heavy), len(names)) if len(names) > 2 else len(heavy))
    for number, design in enumerate(designs):
        at = which == number
        members = heavy.points.take(at)
        rule = label_points(members, tallies[at], design.k, design.band, names, key)
        uniforms[at] = rule.noise
        label_codes[at] = rule.label_codes
    task = heavy.certificate.task.replace("heavy", "heavy labels")
    targets = {"alpha": clear, "rho": float(rho), "beta": beta}
    inputs = _design_inputs(heavy, designs, targets, gamma)
    if len(names) > 2:
        task = f"{task}, several classes"
        inputs = {**inputs, "n_classes": len(names)}
    certificate = certify(task, key.fingerprint, **inputs)
    return HeavyLabels(names[label_codes], tallies[:, 1], used, uniforms, names, certificate)


def _designs(heavy: HeavyHitters, rho: float, gamma: float, n_labels: int | None) -> list[_Design]:
    """Return the design for single members and, in the approximate notion, that for the core."""
    n = heavy.n
    low = heavy.law.low
    core = heavy.core_law
    if heavy.notion != "approximate" or core is None:
        return [_design(n, low, rho, n_labels, together=heavy.notion == "replicable")]
    return [
        _design(n, low, _label_budget(n, core, rho / 2.0, gamma), n_labels, together=False),
        _design(n, core.low, rho / 2.0, n_labels, together=True),
    ]


def _label_budget(n: int, core: SetLaw, rho: float, gamma: float) -> float:
    """Flip probability that labels outside the core may have: the better of two theorems."""
    # theorem: approximate-markov, approximate-heavy
    return bisect(
        lambda flip: label_disagreement_tail(n, core, flip, gamma) <= rho,
        rho * gamma,
        gamma,
        halvings=_HALVINGS,
    )


def _design(n: int, low: float, rho: float, n_labels: int | None, *, together: bool) -> _Design:
    surely = max(1, labels_guaranteed(n, low))
    # Every member surely has this many labels.
    k = surely if n_labels is None else check_count("n_labels", n_labels, most=surely)
    most = math.floor((1.0 + 1e-12) / low)
    width = sign_width(k, most if together else 1, rho, joint=False) or 1.0
    return _Design(k, width, most)


def _class_design(heavy: HeavyHitters, rho: float, n_labels: int | None, n_classes: int) -> _Design:
    """Return the design for more than two classes: the largest scale that keeps rho."""
    plain = _design(heavy.n, heavy.law.low, rho, n_labels, together=False)
    # theorem: heavy-labels (section "more than two classes")
    return plain._replace(band=1.0 / stable_scale(rho, n_classes, plain.k))


def _class_codes(
    labels: ArrayLike, classes: Any, notion: str
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    values, codes = np.unique(np.asarray(labels), return_inverse=True)
    known = values if classes is None else np.unique(np.asarray(classes))
    missing = values[~np.isin(values, known)]
    if len(missing):
        raise ValueError(f"labels {missing[:5].tolist()} are not among classes={known.tolist()}.")
    if len(known) > 2 and notion != "pointwise":
        raise ValueError(
            f"labels must be two different ones for members found with notion={notion!r}, got "
            f"{known[:5].tolist()}: find them with notion='pointwise'."
        )
    if len(known) == 1:
        known = np.concatenate([known, known])
    return np.searchsorted(known, values)[codes].astype(np.intp), known


def _design_inputs(
    heavy: HeavyHitters, designs: list[_Design], targets: dict[str, Any], gamma: float
) -> dict[str, Any]:
    """Return what the certificate says of the labels in use, and what was requested."""
    single, *cores = designs
    inputs = {"k": single.k, "band": single.band, "n_points": single.most, **targets}
    law = heavy.core_law
    if cores and law is not None:
        core = cores[0]
        inputs |= {"core_k": core.k, "core_band": core.band, "core_points": core.most}
        inputs |= {"n": heavy.n, "core_low": law.low, "core_high": law.high, "gamma": float(gamma)}
    return inputs
