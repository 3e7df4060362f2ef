"""The numbers of replicable choices: thin doors to bounds, JSON values in and out."""

from replearn.bounds import selection_flip_bound_sampled
from replearn.bounds.finite_class import (
    amplified_error_tail,
    amplified_flip_bound,
    order_error_tail,
    order_flip_bound,
)
from replearn.bounds.finite_randomness import finite_randomness_flip_bound
from replearn.bounds.realizable import cover_distance as _cover_distance
from replearn.bounds.realizable import realizable_flip_bound
from replearn.bounds.selection import selection_error_tail_sampled
from replearn.bounds.thresholds import threshold_error_tail, threshold_flip_bound
from replearn.bounds.vc import realizable_tail


def selection_sampled(t: float, n_hypotheses: int, m: int) -> float:
    """Probability that two choices on fresh samples differ."""
    # theorem: hypothesis-selection
    return selection_flip_bound_sampled(t, n_hypotheses, m)


def selection_error(t: float, n_hypotheses: int, m: int, alpha: float) -> float:
    """Probability that the chosen hypothesis is worse than the best by more than alpha."""
    # theorem: hypothesis-selection
    return selection_error_tail_sampled(t, n_hypotheses, alpha, m)


def search_flip(t: float, n_hypotheses: int, n_test: int, drift: float) -> float:
    """Probability that two searches choose different configurations: that of one fold."""
    # theorem: search-blocks
    return selection_flip_bound_sampled(t, n_hypotheses, n_test, drift=drift)


def search_error(t: float, n_hypotheses: int, n_test: int, alpha: float) -> float:
    """Probability that the chosen configuration is worse than the best by more than alpha."""
    pairs = n_hypotheses * (n_hypotheses - 1)
    # theorem: search-blocks
    return selection_error_tail_sampled(t, pairs + 1, alpha, n_test)


def trainings_flip(t: float, n_hypotheses: int, n_trainings: int) -> float:
    """Probability that two searches over many trainings choose different configurations."""
    # theorem: search-trainings
    return selection_flip_bound_sampled(t, n_hypotheses, n_trainings)


def trainings_error(t: float, n_hypotheses: int, n_trainings: int, alpha: float) -> float:
    """Probability that the choice's expected error is worse than the best by more than alpha."""
    # theorem: search-trainings
    return selection_error_tail_sampled(t, n_hypotheses, alpha, n_trainings)


def cover_distance(n_shared: int, d: int, beta: float) -> float:
    """Mass by which the cover's best candidate may miss the best hypothesis."""
    return _cover_distance(n_shared, d, beta)  # theorem: semi-replicable


def threshold_flip(t: float, n: int, gamma: float, n_directions: int) -> float:
    """Probability that two thresholds differ on a mass above gamma."""
    return threshold_flip_bound(t, n, gamma, n_directions)  # theorem: thresholds-proper


def threshold_error(t: float, n: int, alpha: float, n_directions: int) -> float:
    """Probability that the threshold is worse than the best by more than alpha."""
    return threshold_error_tail(t, n, alpha, n_directions)  # theorem: thresholds-proper


def realizable_flip(n: int, d: int, gamma: float, ceiling: float) -> float:
    """Probability that two realizable learners differ on a mass above gamma."""
    return realizable_flip_bound(n, d, gamma, ceiling)  # theorem: realizable


def realizable_error(n: int, d: int, alpha: float) -> float:
    """Probability that a consistent hypothesis has an error above alpha."""
    return realizable_tail(n, d, alpha)  # theorem: realizable


def order_flip(n_hypotheses: int, width: float, m: int) -> float:
    """Probability that two choices by shared order and margin differ."""
    return order_flip_bound(n_hypotheses, width, m)  # theorem: finite-class


def order_error(n_hypotheses: int, width: float, m: int, alpha: float) -> float:
    """Probability that the choice is worse than the best by more than alpha."""
    return order_error_tail(n_hypotheses, width, m, alpha)  # theorem: finite-class


def amplified_flip(
    n_hypotheses: int, width: float, block_size: int, n_blocks: int, n_strings: int, kappa: float
) -> float:
    """Probability that two amplified choices differ."""
    # theorem: finite-class
    return amplified_flip_bound(n_hypotheses, width, block_size, n_blocks, n_strings, kappa)


def amplified_error(
    n_hypotheses: int, width: float, block_size: int, n_blocks: int, alpha: float
) -> float:
    """Probability that the amplified choice is worse than the best by more than alpha."""
    # theorem: finite-class
    return amplified_error_tail(n_hypotheses, width, block_size, n_blocks, alpha)


def finite_randomness_flip(
    n_blocks: int, n_candidates: int, t: float, m: int, gamma: float | None
) -> float:
    """Probability that two models from finitely many bits differ: on gamma, or at a point."""
    # theorem: finite-randomness
    return finite_randomness_flip_bound(n_blocks, n_candidates, t, m, gamma)
