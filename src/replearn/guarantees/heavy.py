"""Points that occur often: finding them (three notions) and labelling them."""

import math
from functools import partial
from typing import Any

from replearn.bounds import (
    MembershipLaw,
    SetLaw,
    false_members_below,
    found_from,
    label_disagreement_tail,
    label_flip_bound,
    markov_rho,
    membership_disagreement_tail,
    membership_flip_bound,
    selection_error_tail_sampled,
    selection_flip_bound_sampled,
    set_flip_bound,
    sign_error_bound,
    sign_flip_bound,
    smallest_sample_membership,
    smallest_sample_set,
)
from replearn.bounds.theorem import theorem
from replearn.guarantees.guarantee import Conclusion, Guarantee, Ledger, Needed, reached, rounded_up

POINTWISE = "heavy"
WHOLE_SET = "heavy, whole set"
SMALL_MASS = "heavy, small mass"
TASKS = (POINTWISE, WHOLE_SET, SMALL_MASS)
"""Tasks of a search for heavy points, in the order of its notions."""


@theorem("approximate-markov")
def union_bound(first: float, second: float) -> float:
    """Probability that one of two things happens, at most."""
    return min(1.0, first + second)


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


# -- finding them ----------------------------------------------------------------------------------
def _range(ledger: Ledger, n: int, law: MembershipLaw, beta: float) -> str:
    """Completeness and soundness, half of beta each."""
    mass = ledger.add(found_from, n=n, law=law, beta=beta / 2.0)
    below = ledger.add(false_members_below, n=n, law=law, beta=beta / 2.0)
    all_from = "no mass is surely found" if mass is None else f"mass {rounded_up(mass)} and more"
    return (
        f"Except with probability {rounded_up(beta)} every point of {all_from} is a member, and "
        f"none of mass below {below:.4g}."
    )


def _pointwise(
    ledger: Ledger, n: int, rho: float | None, beta: float, kind: str, low: float, high: float
) -> Conclusion:
    law = MembershipLaw(kind, low, high)
    flip = ledger.add(membership_flip_bound, n=n, law=law)
    promises = (
        "A fixed point is a member in one of two runs only with probability at most "
        f"{rounded_up(flip)}.",
        _range(ledger, n, law, beta),
    )
    return reached(promises, rho=(flip, rho), beta=(beta, None))


def _whole_set(
    ledger: Ledger, n: int, rho: float | None, beta: float, core_low: float, core_high: float
) -> Conclusion:
    law = SetLaw("power", core_low, core_high)
    flip = ledger.add(set_flip_bound, n=n, law=law)
    promises = (
        f"The sets of two runs differ at all with probability at most {rounded_up(flip)}.",
        _range(ledger, n, law, beta),
    )
    return reached(promises, rho=(flip, rho), beta=(beta, None))


def _small_mass(
    ledger: Ledger,
    n: int,
    rho: float | None,
    beta: float,
    kind: str,
    low: float,
    high: float,
    core_low: float,
    core_high: float,
    gamma: float,
) -> Conclusion:
    law = MembershipLaw(kind, low, high)
    core = SetLaw("power", core_low, core_high)
    core_flip = ledger.add(set_flip_bound, n=n, law=core)
    flip = ledger.add(membership_flip_bound, n=n, law=law)
    rest = min(
        ledger.add(markov_rho, pointwise=flip, gamma=gamma),
        ledger.add(membership_disagreement_tail, n=n, law=law, membership_flip=flip, gamma=gamma),
    )
    total = ledger.add(union_bound, first=core_flip, second=rest)
    promises = (
        "The cores of two runs are equal and the sets differ on mass at most "
        f"{gamma:g}, except with probability {rounded_up(total)}.",
        "Core: " + _range(ledger, n, core, beta),
        "Set: " + _range(ledger, n, law, beta),
    )
    return reached(promises, rho=(total, rho), gamma=gamma, beta=(beta, None))


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
) -> Conclusion:
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
) -> Conclusion:
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
) -> Conclusion:
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


# -- rows needed -----------------------------------------------------------------------------------
def _pointwise_needed(rho: float, nu: float) -> Needed:
    n = smallest_sample_membership(rho, MembershipLaw.standard(nu))
    return Needed(n, rate=1.0 / (nu * rho**2))


def _whole_set_needed(rho: float, nu: float) -> Needed:
    n = smallest_sample_set(rho, SetLaw.standard(nu))
    return Needed(n, rate=math.log(1 / (nu * rho)) / (nu**2 * rho**2))


GUARANTEES = (
    Guarantee(
        POINTWISE,
        _pointwise,
        learners=("find_heavy_hitters",),
        theorem="heavy-membership",
        needed=_pointwise_needed,
        required=("nu",),
        optional={"rho": 0.1},
        promise="A fixed point is a member in one of two runs only with probability at most "
        "{rho:g}; points that make up {nu:g} of a sample or more are members.",
    ),
    Guarantee(
        WHOLE_SET,
        _whole_set,
        learners=("find_heavy_hitters",),
        theorem="replicable-heavy-hitters",
        needed=_whole_set_needed,
        required=("nu",),
        optional={"rho": 0.1},
        promise="The sets of heavy points of two runs differ with probability at most {rho:g}.",
    ),
    Guarantee(
        SMALL_MASS, _small_mass, learners=("find_heavy_hitters",), theorem="approximate-heavy"
    ),
    Guarantee("heavy labels", _label, theorem="heavy-labels"),
    Guarantee("heavy labels, several classes", _label_classes, theorem="heavy-labels"),
    Guarantee("heavy labels, whole set", partial(_label, whole_set=True), theorem="coins-at-once"),
    Guarantee("heavy labels, small mass", _label_most, theorem="approximate-heavy"),
)
