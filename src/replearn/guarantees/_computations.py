"""The numbers of certificates as functions of JSON values and the law: thin doors to bounds."""

import math

from replearn.bounds import (
    MembershipLaw,
    ThresholdLaw,
    agnostic_sample_size,
    disagreement_bound,
    disagreement_tail,
    halves_supremum,
    membership_flip_bound,
    multiclass_flip_bound,
    realizable_sample_size,
)
from replearn.bounds import (
    error_factor as _error_factor,
)
from replearn.bounds import (
    flip_bound as _flip_bound,
)
from replearn.bounds import (
    runs_bound as _runs_bound,
)
from replearn.bounds.accuracy import light_point_slack
from replearn.bounds.approximate import markov_gamma as _markov_gamma
from replearn.bounds.approximate import markov_rho as _markov_rho
from replearn.bounds.approximate_heavy import reuse_flip_bound
from replearn.bounds.concentration import dkw_tail
from replearn.bounds.flips import training_row_bound as _training_row_bound
from replearn.bounds.selection import selection_flip_bound
from replearn.bounds.signs import label_error_bound, label_flip_bound
from replearn.records.checks import check_count


def block_size(n: int, n_blocks: int) -> int:
    """Rows per block: equal blocks, the surplus is left out."""
    return n // n_blocks  # theorem: content-keyed-partition


def n_used(block_size: int, n_blocks: int) -> int:
    """Rows in use."""
    return block_size * n_blocks  # theorem: content-keyed-partition


def flip_bound_hard(law: ThresholdLaw) -> float:
    """Flip probability of hard votes."""
    return _flip_bound(law, vote="hard")  # theorem: pointwise-threshold


def flip_bound_soft(law: ThresholdLaw) -> float:
    """Flip probability of soft votes."""
    return _flip_bound(law, vote="soft")  # theorem: soft-votes


def flip_bound_multiclass(n_blocks: int, n_classes: int) -> float:
    """Flip probability of labels drawn from vote shares."""
    return multiclass_flip_bound(n_blocks, n_classes)  # theorem: multiclass-vote


def flip_bound_partitions(flip_bound: float, n_partitions: int) -> float:
    """Flip probability of the average over partitions: that of one partition."""
    check_count("n_partitions", n_partitions)
    return flip_bound  # theorem: several-partitions


def runs_bound(law: ThresholdLaw, runs: int, vote: str) -> float:
    """Probability that several runs do not all agree."""
    return _runs_bound(law, runs, vote)  # theorem: many-runs


def runs_bound_union(flip_bound: float, runs: int) -> float:
    """Probability that some run differs from the first: the union bound, for any rule."""
    return min(1.0, (runs - 1) * flip_bound)  # theorem: many-runs


def halves_bound(law: ThresholdLaw) -> float:
    """Flip probability between two disjoint halves of one file."""
    return halves_supremum(law)  # theorem: halves-of-one-file


def training_row_bound(law: ThresholdLaw, runs: int, vote: str) -> float:
    """Probability that runs differ at a row on which one of them was trained."""
    # theorem: training-rows
    return _training_row_bound(law, vote=vote, runs=runs, repeated=False)


def repeated_row_bound(law: ThresholdLaw, runs: int, vote: str) -> float:
    """Return the same for data in which equal rows occur."""
    # theorem: training-rows
    return _training_row_bound(law, vote=vote, runs=runs, repeated=True)


def error_factor(law: ThresholdLaw) -> float:
    """Factor between the error and the mean error of the block models."""
    return _error_factor(law)  # theorem: accuracy-factor


def flip_bound_reuse(membership_flip: float, label_flip: float, flip_bound: float) -> float:
    """Flip probability of the three stages on one sample."""
    # theorem: sample-reuse
    return reuse_flip_bound(membership_flip, label_flip, flip_bound)


def membership_flip(n: int, kind: str, low: float, high: float) -> float:
    """Probability that membership in the heavy set differs."""
    law = MembershipLaw(kind=kind, low=low, high=high)
    return membership_flip_bound(n, law)  # theorem: heavy-membership


def label_flip(n_labels: int, band: float) -> float:
    """Flip probability of a heavy point's label."""
    return label_flip_bound(n_labels, band)  # theorem: heavy-labels


def labels_guaranteed(n: int, low: float) -> int:
    """Labels that every member of the heavy set has at least: its count is n low or more."""
    return math.ceil(n * low * (1.0 - 1e-12))  # theorem: heavy-labels


def label_error(n_labels: int, alpha: float, band: float) -> float:
    """Probability that a clear heavy label is wrong."""
    return label_error_bound(n_labels, alpha, band)  # theorem: heavy-labels


def error_slack(beta: float, max_point_mass: float) -> float:
    """How far the error may exceed its mean over the thresholds: half of beta pays for it."""
    return light_point_slack(beta / 2, max_point_mass)  # theorem: light-point-deviation


def direct_gamma(
    law: ThresholdLaw, rho: float, max_point_mass: float, shared_rows: bool, vote: str
) -> float:
    """Disagreeing mass, by bounded differences."""
    # theorem: approximate-direct
    return disagreement_bound(
        law, rho, max_point_mass=max_point_mass, shared_rows=shared_rows, vote=vote
    )


def direct_rho(
    law: ThresholdLaw, gamma: float, max_point_mass: float, shared_rows: bool, vote: str
) -> float:
    """Probability of a larger disagreeing mass, by bounded differences."""
    # theorem: approximate-direct
    return disagreement_tail(
        law, gamma, max_point_mass=max_point_mass, shared_rows=shared_rows, vote=vote
    )


def markov_gamma(flip_bound: float, rho: float) -> float:
    """Disagreeing mass, by Markov's inequality."""
    return _markov_gamma(flip_bound, rho)  # theorem: approximate-markov


def markov_rho(flip_bound: float, gamma: float) -> float:
    """Probability of a larger disagreeing mass, by Markov's inequality."""
    return _markov_rho(flip_bound, gamma)  # theorem: approximate-markov


def selection_flip(t: float, deviation: float) -> float:
    """Probability that two selections differ."""
    return selection_flip_bound(t, deviation)  # theorem: hypothesis-selection


def dkw(m: int, tau: float) -> float:
    """Probability of a large deviation of the empirical distribution function."""
    return dkw_tail(m, tau)  # theorem: dkw


def block_size_needed(
    d: int,
    alpha: float,
    beta: float,
    n_blocks: int,
    n_partitions: int,
    realizable: bool,
    error_slack: float,
) -> int | None:
    """Rows per block that make all block models accurate; None if no number is enough.

    When points carry mass, half of beta and ``error_slack`` of alpha pay for the thresholds. The
    blocks of different partitions share rows, so beta is split over all models.
    """
    rest = alpha - error_slack
    if rest <= 0:
        return None
    share = beta if error_slack == 0 else beta / 2
    size = realizable_sample_size if realizable else agnostic_sample_size
    return size(d, rest, share / (n_blocks * n_partitions))  # theorem: vc-sample-size
