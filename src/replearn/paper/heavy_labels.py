"""Labels of heavy points from their own observed labels, the same in two runs.

The paper's ``prop:learn-hh-label``, ``prop:learn-hh-label-realizable`` and ``prop:apx-repl-hh-
label``: exactly k labels of each heavy point are used, and a shared threshold decides. Theory
pages: heavy-labels, approximate-heavy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds.approximate import markov_rho
from replearn.bounds.laws import uniform_law
from replearn.bounds.numeric import Floats
from replearn.bounds.selection import (
    selection_error_tail_sampled,
    selection_flip_bound_sampled,
    stable_scale,
)
from replearn.bounds.theorem import theorem
from replearn.guarantees.certificate import Certificate, certify
from replearn.guarantees.promise import Ledger, Promise, Task, reached, rounded_up
from replearn.paper.heavy_hitters import (
    HeavyHitters,
    MembershipLaw,
    SetLaw,
    below_levels,
    best_tail,
    crowd_tail,
    union_bound,
)
from replearn.paper.signs import label_flip_bound, sign_error_bound, sign_flip_bound, sign_width
from replearn.randomness.key import SharedKey
from replearn.randomness.points import Points, as_points
from replearn.records.checks import check_count, check_fraction, check_positive
from replearn.records.search import bisect
from replearn.tables.rows import row_chunks


@theorem("approximate-heavy")
def label_disagreement_tail(n: int, core: MembershipLaw, label_flip: float, gamma: float) -> float:
    """Probability that labels of heavy points outside a core differ on more than ``gamma``.

    Points outside both cores are light, except those that the core missed.

    >>> core = MembershipLaw("sqrt", 0.01, 0.02)
    >>> round(label_disagreement_tail(100_000, core, 0.01, 0.1), 4)
    0.0017
    """
    check_positive("gamma", gamma)
    return best_tail(n, core, lambda mass: crowd_tail(label_flip, 0.0, mass, gamma))


@theorem("heavy-labels")
def label_errors(n_labels: int, alpha: float, band: float, n_points: int) -> float:
    """Probability that any of this many clear labels is wrong."""
    return sign_error_bound(n_labels, n_points, alpha, band, joint=False)


@theorem("heavy-labels")
def class_label_flip(n_labels: int, n_classes: int, band: float) -> float:
    """Flip probability of a heavy point's label among several classes."""
    # section "more than two classes"
    return selection_flip_bound_sampled(1.0 / band, n_classes, n_labels)


@theorem("heavy-labels")
def class_label_errors(
    n_labels: int, n_classes: int, alpha: float, band: float, n_points: int
) -> float:
    """Probability that any of this many labels errs by more than alpha beyond the best one."""
    # section "more than two classes"
    wrong = selection_error_tail_sampled(1.0 / band, n_classes, alpha, n_labels)
    return min(1.0, n_points * wrong)


@theorem("heavy-labels")
def labels_guaranteed(n: int, low: float) -> int:
    """Labels that every member of the heavy set has at least: its count is n low or more."""
    return math.ceil(n * low * (1.0 - 1e-12))


# -- labelling them --------------------------------------------------------------------------------
def _clear_labels(alpha: float, error: float) -> str:
    return (
        f"Any member whose mean label is at least {alpha:g} from 0 gets the wrong label with "
        f"probability at most {rounded_up(error)}."
    )


def _label(
    ledger: Ledger,
    k: int,
    band: float,
    n_points: int,
    alpha: float,
    rho: float,
    beta: float | None,
    *,
    whole_set: bool = False,
) -> Promise:
    if whole_set:
        flip = ledger.add(sign_flip_bound, n=k, n_coins=n_points, a=band)
        when = "If the sets are equal, two runs label any member"
    else:
        flip = ledger.add(label_flip_bound, k=k, a=band)
        when = "Two runs label a point that is heavy in both"
    error = ledger.add(label_errors, n_labels=k, alpha=alpha, band=band, n_points=n_points)
    same = f"{when} differently with probability at most {rounded_up(flip)}."
    promises = (same, _clear_labels(alpha, error))
    return reached(promises, rho=(flip, rho), alpha=alpha, beta=(error, beta))


def _label_classes(
    ledger: Ledger,
    k: int,
    band: float,
    n_points: int,
    n_classes: int,
    alpha: float,
    rho: float,
    beta: float | None,
) -> Promise:
    sizes = {"n_labels": k, "n_classes": n_classes, "band": band}
    flip = ledger.add(class_label_flip, **sizes)
    error = ledger.add(class_label_errors, alpha=alpha, n_points=n_points, **sizes)
    promises = (
        f"Two runs label a point that is heavy in both differently with probability at most "
        f"{rounded_up(flip)}.",
        f"Any member gets a label whose probability is at least {alpha:g} below that of its most "
        f"likely one with probability at most {rounded_up(error)}.",
    )
    return reached(promises, rho=(flip, rho), alpha=alpha, beta=(error, beta))


def _label_most(  # noqa: PLR0913
    ledger: Ledger,
    k: int,
    band: float,
    n_points: int,
    core_k: int,
    core_band: float,
    core_points: int,
    n: int,
    core_low: float,
    core_high: float,
    alpha: float,
    rho: float,
    beta: float | None,
    gamma: float,
) -> Promise:
    core_flip = ledger.add(sign_flip_bound, n=core_k, n_coins=core_points, a=core_band)
    flip = ledger.add(label_flip_bound, k=k, a=band)
    core = SetLaw("power", core_low, core_high)
    rest = min(
        ledger.add(markov_rho, pointwise=flip, gamma=gamma),
        ledger.add(label_disagreement_tail, n=n, core=core, label_flip=flip, gamma=gamma),
    )
    total = ledger.add(union_bound, first=core_flip, second=rest)
    sizes: tuple[dict[str, Any], ...] = (
        {"n_labels": core_k, "band": core_band, "n_points": core_points},
        {"n_labels": k, "band": band, "n_points": n_points},
    )
    errors = [ledger.add(label_errors, alpha=alpha, **size) for size in sizes]
    wrong = ledger.add(union_bound, first=errors[0], second=errors[1])
    same = (
        "If the cores are equal, two runs label all of the core alike and differ on mass at most "
        f"{gamma:g} of the common members, except with probability {rounded_up(total)}."
    )
    promises = (same, _clear_labels(alpha, wrong))
    return reached(promises, rho=(total, rho), gamma=gamma, alpha=alpha, beta=(wrong, beta))


TASKS = (
    Task("heavy labels", _label, theorem="heavy-labels"),
    Task("heavy labels, several classes", _label_classes, theorem="heavy-labels"),
    Task("heavy labels, whole set", partial(_label, whole_set=True), theorem="coins-at-once"),
    Task("heavy labels, small mass", _label_most, theorem="approximate-heavy"),
)

_ORDER = "heavy label order"
_AT_A_TIME = 1 << 20


class Labelled(NamedTuple):
    """Labels of some points, with the shared random numbers that decided."""

    label_codes: NDArray[np.intp]  # number of the class that each point is labelled with
    noise: Floats  # threshold of each point (two classes), or Gumbel of each point and class


def count_labels(
    codes: NDArray[np.intp], member: NDArray[np.intp], n_members: int, n_classes: int
) -> NDArray[np.int64]:
    """Count how often each member has each label; ``member`` says which one a row is, or -1.

    >>> count_labels(np.array([1, 1, 0, 0]), np.array([0, 0, -1, 0]), 1, 2)
    array([[1, 2]])
    """
    cells = (member * n_classes + codes)[member >= 0]
    counts = np.bincount(cells, minlength=n_members * n_classes)
    return counts.reshape(n_members, n_classes).astype(np.int64)


def first_labels(
    points: Points,
    label_counts: NDArray[np.int64],
    n_labels: NDArray[np.int64],
    key: SharedKey,
) -> NDArray[np.int64]:
    """Count the labels among the first k of each member, in keyed order.

    k is each member's entry of ``n_labels``. Equal rows with equal labels differ in their number
    only, so that it is enough to know how often each member has each label.

    >>> from replearn.randomness.points import as_points
    >>> first_labels(as_points([5]), np.array([[0, 3]]), np.array([2]), SharedKey(0))
    array([[0, 2]])
    """
    if np.any(label_counts.sum(axis=1) < n_labels):
        raise ValueError("a member has fewer labels than are to be used: give the same sample.")
    order = key.child(_ORDER)
    n_members, n_classes = label_counts.shape
    by_label = [order.row_hashes(points, np.full(n_members, c)) for c in range(n_classes)]
    hashes = np.column_stack(by_label).ravel()
    counts = np.where(n_labels[:, np.newaxis] > 0, label_counts, 0).ravel()
    ends = np.cumsum(counts)
    cells = np.zeros(0, dtype=np.intp)
    ranks = np.zeros(0, dtype=np.uint64)
    for start, stop in row_chunks(int(counts.sum()), _AT_A_TIME):
        rows = np.arange(start, stop)
        cell = np.searchsorted(ends, rows, side="right")
        # theorem: content-keyed-partition (the order of the file does not matter)
        more = order.ranks(hashes[cell], (rows - (ends - counts)[cell]).astype(np.uint64))
        cells = np.concatenate([cells, cell])
        ranks = np.concatenate([ranks, more])
        keyed = np.lexsort((ranks, cells // n_classes))
        member = cells[keyed] // n_classes
        index = np.arange(len(member)) - np.searchsorted(member, member)
        kept = keyed[index < n_labels[member]]
        cells = cells[kept]
        ranks = ranks[kept]
    tallies = np.bincount(cells, minlength=n_members * n_classes)
    return tallies.reshape(n_members, n_classes).astype(np.int64)


def label_points(
    points: Points,
    tallies: NDArray[np.int64],
    n_labels: int,
    band: float,
    classes: NDArray[Any],
    key: SharedKey,
) -> Labelled:
    """Label points from the tallies of their labels.

    Random numbers are keyed by what the points (and, of more than two, the classes) are.

    >>> from replearn.randomness.points import as_points
    >>> tallies, names = np.array([[1, 8, 0]]), np.array(["a", "b", "c"])
    >>> label_points(as_points([5]), tallies, 9, 0.01, names, SharedKey(0)).label_codes
    array([1])
    """
    child = key.child("heavy label")
    if tallies.shape[1] == 2:
        uniforms = child.uniforms(points)
        # theorem: heavy-labels
        ones = below_levels(uniforms, uniform_law(n_labels, band).table[tallies[:, 1]])
        return Labelled(ones.astype(np.intp), uniforms)
    gumbels = child.gumbels(points, classes.tolist())
    # theorem: heavy-labels (section "more than two classes")
    scores = tallies / n_labels / band + gumbels
    return Labelled(np.argmax(scores, axis=1), gumbels)


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
        The sample that `find_heavy_hitters` was given; where it was given groups, too, the rows
        that were used there are used here.
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
    >>> from replearn.paper.heavy_hitters import MembershipLaw
    >>> from replearn.paper.heavy_hitters import find_heavy_hitters
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
    if heavy.rows is not None and len(sample) == len(codes) > heavy.rows.max():
        sample = sample.take(heavy.rows)
        codes = codes[heavy.rows]
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
            f"there must be two labels for members found with notion={notion!r}, got "
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
