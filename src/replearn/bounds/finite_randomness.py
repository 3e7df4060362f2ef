"""Finitely many shared random bits: R global thresholds, then a replicable choice among them."""

from replearn.bounds.flips import central_binomial
from replearn.bounds.numeric import upper_probability
from replearn.bounds.selection import selection_flip_bound_sampled
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count, check_fraction


@theorem("finite-randomness")
def finite_randomness_flip_bound(
    n_blocks: int, n_candidates: int, sharpness: float, m: int, gamma: float | None
) -> float:
    """Probability that the models of two runs differ, at one point or on a mass above ``gamma``.

    Returns ``R f(T) / gamma + tanh((t / 2) (R f(T) + sqrt(ln R / m)))`` for R thresholds that are
    compared on m rows, rounded up; gamma None (one fixed point) counts as 1.

    >>> finite_randomness_flip_bound(1000, 10, 30.0, 10_000, 0.1)
    1.0
    >>> round(finite_randomness_flip_bound(10_000_000, 4, 30.0, 10_000_000, 0.1), 3)
    0.023
    """
    check_count("n_candidates", n_candidates)
    moved = n_candidates * central_binomial(n_blocks)
    # theorem: finite-randomness
    alike = moved if gamma is None else moved / check_fraction("gamma", gamma)
    differ = selection_flip_bound_sampled(sharpness, n_candidates, m, drift=moved)
    return upper_probability(alike + differ)
