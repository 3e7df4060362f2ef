"""Label heavy points from their own observed labels, alike in two runs.

Exactly k labels of each member are used, the first k in keyed order: k follows from n and the law
of membership, never from the data, because members occur at least n low times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds.approximate_heavy import label_disagreement_tail
from replearn.bounds.heavy_sets import SetLaw
from replearn.bounds.signs import label_law, sign_width
from replearn.guarantees._label_promises import MANNERS
from replearn.guarantees._primitive_certificate import PrimitiveCertificate
from replearn.heavy.heavy_hitters import HeavyHitters
from replearn.primitives._rule import below_levels
from replearn.randomness import Points, SharedKey, as_points
from replearn.records.checks import check_choice, check_fraction
from replearn.records.search import bisect

__all__ = ["HeavyLabels", "label_heavy_hitters"]

_SETTINGS = ("agnostic", "realizable")
_HALVINGS = 12


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
        Shared number u of each member.
    classes : ndarray
        The two labels.
    certificate : PrimitiveCertificate
        What is promised.
    """

    labels: NDArray[Any]
    ones: NDArray[np.int64]
    n_labels: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    classes: NDArray[Any]
    certificate: PrimitiveCertificate


def label_heavy_hitters(  # noqa: PLR0913
    points: Any,
    labels: ArrayLike,
    heavy: HeavyHitters,
    *,
    key: SharedKey,
    alpha: float = 0.1,
    rho: float = 0.1,
    beta: float | None = None,
    setting: str = "agnostic",
    gamma: float = 0.1,
    n_labels: int | None = None,
    classes: Any = None,
    decimals: int | None = None,
) -> HeavyLabels:
    """Label the members of a heavy set from the sample in which they were found.

    Parameters
    ----------
    points : container of rows
        The sample that `find_heavy_hitters` was given.
    labels : array-like
        Its labels, two different ones.
    heavy : HeavyHitters
        The members. With a core (approximate notion) the labels of the core are the same in both
        runs as a whole, those of the rest up to mass ``gamma``.
    key : SharedKey
        The same in both runs.
    alpha : float, default=0.1
        A member whose mean label (on the scale -1, +1) is closer to 0 may get either label.
    rho : float, default=0.1
        Probability that two runs label a point differently; with a core, see the certificate.
    beta : float, default=None
        Probability of any wrong label that is asked for; None: only stated.
    setting : {"agnostic", "realizable"}, default="agnostic"
        Realizable: every point has one label only; then 1 replaces ``alpha``.
    gamma : float, default=0.1
        Mass on which labels may differ, with a core.
    n_labels : int, default=None
        How many labels of each member are used, k; None: as many as every member surely has.
    classes : array-like, default=None
        The two labels; None: those found.
    decimals : int, default=None
        As in `find_heavy_hitters`.

    Returns
    -------
    HeavyLabels

    Examples
    --------
    >>> from replearn.bounds import MembershipLaw
    >>> from replearn.heavy import find_heavy_hitters
    >>> X, y, key = [1] * 600 + [2] * 400, [0] * 580 + [1] * 20 + [1] * 400, SharedKey("a")
    >>> law = MembershipLaw("sqrt", 0.2, 0.3)
    >>> heavy = find_heavy_hitters(X, 0.3, key=key, law=law)
    >>> found = label_heavy_hitters(X, y, heavy, key=key, alpha=0.9, beta=0.01)
    >>> found.labels.tolist(), found.n_labels.tolist(), found.certificate.certified
    ([0, 1], [200, 200], True)
    """
    check_choice("setting", setting, _SETTINGS)
    check_fraction("alpha", alpha)
    check_fraction("rho", rho)
    clear = 1.0 if setting == "realizable" else float(alpha)
    codes, found = _two_classes(labels, classes)
    sample = as_points(points, decimals=decimals)
    if len(sample) != heavy.n or len(codes) != heavy.n:
        raise ValueError(
            f"points and labels must be the {heavy.n} rows in which heavy was found, got "
            f"{len(sample)} and {len(codes)}."
        )
    designs = _designs(heavy, rho, gamma, n_labels)
    # The last design is that of the core, where there is one.
    which = np.where(heavy.core, len(designs) - 1, 0)
    used = np.array([k for k, _, _ in designs], dtype=np.int64)[which]
    ones = first_labels(sample, codes, heavy.locate(sample), used, key)[:, 1]
    uniforms, answers = np.empty(len(heavy)), np.empty(len(heavy), dtype=np.intp)
    for number, (k, band, _) in enumerate(designs):
        at = which == number
        uniforms[at], answers[at] = decide_labels(heavy.points.take(at), ones[at], k, band, key)
    certificate = _certificate(heavy, designs, clear, rho, beta, gamma, key)
    return HeavyLabels(found[answers], ones, used, uniforms, found, certificate)


def _designs(
    heavy: HeavyHitters, rho: float, gamma: float, n_labels: int | None
) -> list[tuple[int, float, int]]:
    """Labels used, half-width and most members: for single members, and for the core."""
    n, low = heavy.n, heavy.law.low
    if heavy.notion != "approximate":
        return [_design(n, low, rho, n_labels, together=heavy.notion == "replicable")]
    core = SetLaw.standard(heavy.gamma_prime or 1.0)
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


def _design(
    n: int, low: float, rho: float, n_labels: int | None, *, together: bool
) -> tuple[int, float, int]:
    surely = max(1, math.ceil(n * low * (1.0 - 1e-12)))
    k = surely if n_labels is None else int(n_labels)
    if not 1 <= k <= surely:
        raise ValueError(
            f"n_labels={n_labels!r} must lie between 1 and {surely}, which every member has."
        )
    most = math.floor((1.0 + 1e-12) / low)
    return k, sign_width(k, most if together else 1, rho, joint=False) or 1.0, most


def first_labels(
    sample: Points,
    codes: NDArray[np.intp],
    member: NDArray[np.intp],
    n_labels: NDArray[np.int64],
    key: SharedKey,
    *,
    n_classes: int = 2,
) -> NDArray[np.int64]:
    """Count the labels among the first k of each member, in keyed order.

    Parameters
    ----------
    sample : Points
        The rows.
    codes : ndarray of int
        Their labels, 0, 1, ...
    member : ndarray of int
        Which member each row is, or -1.
    n_labels : ndarray of int
        How many labels of each member are used.
    key : SharedKey
        The learner's key.
    n_classes : int, default=2
        Number of labels.

    Returns
    -------
    ndarray of int, shape (members, n_classes)

    Examples
    --------
    >>> sample, member = as_points([5, 5, 6, 5]), np.array([0, 0, -1, 0])
    >>> first_labels(sample, np.array([1, 1, 0, 1]), member, np.array([2]), SharedKey(0))
    array([[0, 2]])
    """
    rows = np.flatnonzero(member >= 0)
    # theorem: content-keyed-partition (the order of the file does not matter)
    keyed = rows[key.child("heavy label order").order(sample.take(rows), codes[rows])]
    by_member = keyed[np.argsort(member[keyed], kind="stable")]
    counts = np.bincount(member[rows], minlength=len(n_labels))
    if np.any(counts < n_labels):
        raise ValueError("a member has fewer labels than are to be used: give the same sample.")
    starts = np.cumsum(counts) - counts
    place = np.arange(len(by_member)) - np.repeat(starts, counts)
    taken = by_member[place < np.repeat(n_labels, counts)]
    cells = member[taken] * n_classes + codes[taken]
    tallies = np.bincount(cells, minlength=len(n_labels) * n_classes)
    return tallies.reshape(len(n_labels), n_classes).astype(np.int64)


def decide_labels(
    points: Points, ones: NDArray[np.int64], k: int, band: float, key: SharedKey
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Compare the ones among k labels with each point's shared threshold.

    Parameters
    ----------
    points : Points
        The members.
    ones : ndarray of int
        How many of the k labels were 1.
    k : int
        Labels used.
    band : float
        Half-width of the threshold.
    key : SharedKey
        The learner's key.

    Returns
    -------
    uniforms : ndarray of float
        The shared numbers.
    answers : ndarray of int
        0 or 1.

    Examples
    --------
    >>> decide_labels(as_points([5, 6]), np.array([0, 9]), 9, 1.0, SharedKey(0))[1]
    array([0, 1])
    """
    uniforms = key.child("heavy label").uniforms(points)
    # theorem: heavy-labels
    return uniforms, below_levels(uniforms, label_law(k, band).table[ones]).astype(np.intp)


def _two_classes(labels: ArrayLike, classes: Any) -> tuple[NDArray[np.intp], NDArray[Any]]:
    values, codes = np.unique(np.asarray(labels), return_inverse=True)
    known = values if classes is None else np.unique(np.asarray(classes))
    if len(known) > 2 or not np.isin(values, known).all():
        raise ValueError(f"labels must be two different ones, got {values[:5].tolist()}.")
    if len(known) == 1:
        known = np.concatenate([known, known])
    return np.searchsorted(known, values)[codes].astype(np.intp), known


def _certificate(
    heavy: HeavyHitters,
    designs: list[tuple[int, float, int]],
    alpha: float,
    rho: float,
    beta: float | None,
    gamma: float,
    key: SharedKey,
) -> PrimitiveCertificate:
    (k, band, most), *core = designs
    inputs: dict[str, Any] = {"k": k, "band": band, "n_points": most, "alpha": alpha}
    inputs |= {"rho": float(rho), "beta": beta}
    if core:
        inputs |= {"core_k": core[0][0], "core_band": core[0][1], "core_points": core[0][2]}
        law = SetLaw.standard(heavy.gamma_prime or 1.0)
        inputs |= {"n": heavy.n, "core_low": law.low, "core_high": law.high, "gamma": float(gamma)}
    manner = MANNERS[heavy.notion]
    return PrimitiveCertificate.issue(
        f"labels of heavy points, {manner}", key.fingerprint, **inputs
    )
