"""The numbers of the primitives' certificates: thin doors to bounds, JSON values in and out."""

import math

from replearn.bounds import MembershipLaw, ThresholdLaw, selection_flip_bound_sampled
from replearn.bounds.accuracy import heavy_light_tail
from replearn.bounds.approximate import vote_mean_and_spread
from replearn.bounds.approximate_heavy import (
    heavy_disagreement_bound,
    heavy_disagreement_tail,
    label_disagreement_tail,
    membership_disagreement_tail,
    membership_spread,
)
from replearn.bounds.coins import CoinLaw, coin_error_bound, coin_flip_bound
from replearn.bounds.completeness import false_members_below, found_from, some_missed_point_bound
from replearn.bounds.domain import collision_bound, reduced_disagreement, reduced_failure
from replearn.bounds.heavy_sets import (
    SetLaw,
    one_heavy_flip_bound,
    one_heavy_least_mass,
    set_flip_bound,
)
from replearn.bounds.multiclass import (
    class_disagreement_bound,
    class_disagreement_tail,
    class_mean_and_spread,
)
from replearn.bounds.selection import selection_error_tail_sampled, selection_flip_bound
from replearn.bounds.signs import (
    joint_sign_flip_bound,
    label_law,
    sign_error_bound,
    sign_flip_bound,
)


def coin_flip(n: int, low: float, high: float) -> float:
    """Probability that a coin is called differently."""
    return coin_flip_bound(n, CoinLaw("arcsine", low, high))  # theorem: coin-testing


def coin_error(n: int, low: float, high: float, p0: float, q0: float) -> float:
    """Probability that a coin outside the gap is called wrongly."""
    return coin_error_bound(n, CoinLaw("arcsine", low, high), p0, q0)  # theorem: coin-testing


def signs_flip(n: int, n_coins: int, width: float, joint: bool) -> float:
    """Probability that any of the signs differs."""
    bound = joint_sign_flip_bound if joint else sign_flip_bound
    return bound(n, n_coins, width)  # theorem: coins-at-once


def signs_error(n: int, n_coins: int, alpha: float, width: float, joint: bool) -> float:
    """Probability that any clear sign is wrong."""
    # theorem: coins-at-once
    return sign_error_bound(n, n_coins, alpha, width, joint=joint)


def set_flip(n: int, low: float, high: float) -> float:
    """Probability that two sets of heavy points differ."""
    return set_flip_bound(n, SetLaw("power", low, high))  # theorem: replicable-heavy-hitters


def one_heavy_flip(n: int, nu: float, kappa: float) -> float:
    """Probability that two runs name different heavy points."""
    return one_heavy_flip_bound(n, nu, kappa)  # theorem: single-heavy-hitter


def one_heavy_mass(n: int, nu: float, kappa: float, beta: float) -> float:
    """Mass of the named point at least."""
    return one_heavy_least_mass(n, nu, kappa, beta)  # theorem: single-heavy-hitter


def heavy_found_from(n: int, kind: str, low: float, high: float, beta: float) -> float | None:
    """Mass from which on all points are found."""
    return found_from(n, _law(kind, low, high), beta)  # theorem: heavy-membership


def heavy_none_below(n: int, kind: str, low: float, high: float, beta: float) -> float:
    """Mass below which no point is a member."""
    return false_members_below(n, _law(kind, low, high), beta)  # theorem: heavy-membership


def missed_points(n: int, kind: str, low: float, high: float, mass: float) -> float:
    """Probability that any point of this mass is not a member."""
    return some_missed_point_bound(n, _law(kind, low, high), mass)  # theorem: heavy-membership


def light_tail(alpha: float, clear: float, mass: float) -> float:
    """Probability that the thresholds of light points cost more than the labels leave of alpha."""
    # theorem: light-point-deviation (section "beside heavy points")
    return heavy_light_tail(alpha, clear, mass)


def heavy_error(missed_points: float, label_errors: float, light_tail: float) -> float:
    """Probability that any of the three goes wrong."""
    return min(1.0, missed_points + label_errors + light_tail)  # theorem: sample-reuse


def label_errors(n_labels: int, alpha: float, band: float, n_points: int) -> float:
    """Probability that any of so many clear labels is wrong."""
    # theorem: heavy-labels
    return sign_error_bound(n_labels, n_points, alpha, band, joint=False)


def labels_flip_any(n_labels: int, band: float, n_points: int) -> float:
    """Probability that any of so many labels differs."""
    return sign_flip_bound(n_labels, n_points, band)  # theorem: coins-at-once


def union_of(first: float, second: float) -> float:
    """Probability that one of two things happens, at most."""
    return min(1.0, first + second)  # theorem: approximate-markov


def draw_flip(deviation: float) -> float:
    """Probability that two draws differ when no log weight moves by more than ``deviation``."""
    return selection_flip_bound(1.0, deviation)  # theorem: correlated-sampling


def collision(size: int, n: int) -> float:
    """Probability that two runs of n indices among ``size`` hit any index twice."""
    return collision_bound(size, 2 * n)  # theorem: domain-reduction


def reduced_gamma(gamma: float, size: int, n: int, slack: float) -> float:
    """Disagreeing mass on the real domain, from that on the imagined sample."""
    return reduced_disagreement(gamma, size, n, slack)  # theorem: domain-reduction


def reduced_rho(rho: float, size: int, n: int, slack: float) -> float:
    """Probability that the promise on the real domain fails."""
    return reduced_failure(rho, size, n, slack)  # theorem: domain-reduction


def _law(kind: str, low: float, high: float) -> MembershipLaw:
    return SetLaw(kind, low, high) if kind == "power" else MembershipLaw(kind, low, high)


# -- whole models ----------------------------------------------------------------------------------
def class_gamma(
    n_blocks: int, n_classes: int, rho: float, max_point_mass: float, shared_rows: bool
) -> float:
    """Disagreeing mass of class votes, by bounded differences."""
    # theorem: approximate-direct
    return class_disagreement_bound(
        n_blocks, n_classes, rho, max_point_mass=max_point_mass, shared_rows=shared_rows
    )


def class_rho(
    n_blocks: int, n_classes: int, gamma: float, max_point_mass: float, shared_rows: bool
) -> float:
    """Probability of a larger disagreeing mass of class votes, by bounded differences."""
    # theorem: approximate-direct
    return class_disagreement_tail(
        n_blocks, n_classes, gamma, max_point_mass=max_point_mass, shared_rows=shared_rows
    )


def vote_mean(law: ThresholdLaw, shared_rows: bool, vote: str) -> float:
    """Mean of the expected disagreement of the votes."""
    # theorem: approximate-direct
    return vote_mean_and_spread(law, shared_rows=shared_rows, vote=vote)[0]


def vote_spread(law: ThresholdLaw, shared_rows: bool, vote: str) -> float:
    """Spread of the expected disagreement of the votes, over the blocks."""
    # theorem: approximate-direct
    return vote_mean_and_spread(law, shared_rows=shared_rows, vote=vote)[1]


def class_mean(n_blocks: int, n_classes: int, shared_rows: bool) -> float:
    """Mean of the expected disagreement of class votes."""
    # theorem: approximate-direct
    return class_mean_and_spread(n_blocks, n_classes, shared_rows=shared_rows)[0]


def class_spread(n_blocks: int, n_classes: int, shared_rows: bool) -> float:
    """Spread of the expected disagreement of class votes, over the blocks."""
    # theorem: approximate-direct
    return class_mean_and_spread(n_blocks, n_classes, shared_rows=shared_rows)[1]


def heavy_gamma(
    mean: float,
    spread: float,
    rho: float,
    n: int,
    kind: str,
    low: float,
    high: float,
    membership_flip: float,
    label_flip: float,
) -> float:
    """Disagreeing mass of models with a heavy stage."""
    # theorem: approximate-heavy
    mass = heavy_disagreement_bound(
        (mean, spread),
        rho,
        n=n,
        law=MembershipLaw(kind, low, high),
        membership_flip=membership_flip,
        label_flip=label_flip,
    )
    return min(1.0, mass)


def heavy_rho(
    mean: float,
    spread: float,
    gamma: float,
    n: int,
    kind: str,
    low: float,
    high: float,
    membership_flip: float,
    label_flip: float,
) -> float:
    """Probability of a larger disagreeing mass of models with a heavy stage."""
    # theorem: approximate-heavy
    return heavy_disagreement_tail(
        (mean, spread),
        gamma,
        n=n,
        law=MembershipLaw(kind, low, high),
        membership_flip=membership_flip,
        label_flip=label_flip,
    )


def set_rho(
    n: int, kind: str, low: float, high: float, membership_flip: float, gamma: float
) -> float:
    """Probability that two heavy sets differ on more than gamma."""
    law = MembershipLaw(kind, low, high)
    # theorem: approximate-heavy
    return membership_disagreement_tail(n, law, membership_flip, gamma)


def labels_rho(n: int, low: float, high: float, label_flip: float, gamma: float) -> float:
    """Probability that labels outside the core differ on more than gamma."""
    # theorem: approximate-heavy
    return label_disagreement_tail(n, SetLaw("power", low, high), label_flip, gamma)


# -- several classes -------------------------------------------------------------------------------
def class_label_flip(n_labels: int, n_classes: int, band: float) -> float:
    """Flip probability of a heavy point's label among several classes."""
    # theorem: heavy-labels (section "more than two classes")
    return selection_flip_bound_sampled(1.0 / band, n_classes, n_labels)


def class_label_errors(
    n_labels: int, n_classes: int, alpha: float, band: float, n_points: int
) -> float:
    """Probability that any of so many labels errs by more than alpha beyond the best one."""
    # theorem: heavy-labels (section "more than two classes")
    wrong = selection_error_tail_sampled(1.0 / band, n_classes, alpha, n_labels)
    return min(1.0, n_points * wrong)


# -- rows that were trained on ---------------------------------------------------------------------
def vote_step(law: ThresholdLaw) -> float:
    """Flip probability when one block changes its mind."""
    return law.largest_step  # theorem: training-rows


def class_step(n_blocks: int) -> float:
    """Flip probability of class votes when one block changes its mind."""
    return 2.0 / (n_blocks + 1.0) * (1.0 + 1e-15)  # theorem: training-rows


def heavy_step(
    n: int,
    kind: str,
    low: float,
    high: float,
    n_labels: int,
    band: float,
    n_classes: int,
    vote_step: float,
) -> float:
    """Flip probability of a learner with a heavy stage when one row changes."""
    spread = membership_spread(n, MembershipLaw(kind, low, high), 0.5)
    member = math.sqrt(spread / n)
    if n_classes == 2:
        label = label_law(n_labels, band).largest_step
    else:
        label = math.tanh(0.5 / (band * n_labels))
    # theorem: training-rows (section "heavy stage")
    return min(1.0, (member + max(label, vote_step)) * (1.0 + 1e-12))


def training_row_stage(flip_bound: float, step: float, runs: int) -> float:
    """Probability that runs differ at a row on which one of them was trained."""
    return min(1.0, (runs - 1) * (flip_bound + step))  # theorem: training-rows


def repeated_row_stage(flip_bound: float, step: float, runs: int) -> float:
    """Return the same for data in which equal rows occur."""
    return min(1.0, (runs - 1) * (2.0 * flip_bound + step))  # theorem: training-rows
