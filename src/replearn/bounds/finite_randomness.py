"""Finitely many shared random bits: R global thresholds, then a replicable choice among them."""

from replearn.bounds._checks import check_fraction, checked_count
from replearn.bounds._numeric import upper_probability
from replearn.bounds.flips import central_binomial
from replearn.bounds.selection_samples import selection_flip_bound_sampled

__all__ = ["finite_randomness_flip_bound"]

# Splits of gamma that are tried: the mass allowed to every candidate may be smaller than gamma.
_SPLITS = 60


def finite_randomness_flip_bound(
    n_blocks: int, n_candidates: int, t: float, m: int, gamma: float
) -> float:
    """Probability that the models of two runs differ on a mass above ``gamma``.

    Parameters
    ----------
    n_blocks : int
        Number of voting blocks T.
    n_candidates : int
        Number of global thresholds R.
    t : float
        Scale of the choice among the candidates.
    m : int
        Rows on which the candidates are compared.
    gamma : float
        Mass on which two models may differ, in (0, 1].

    Returns
    -------
    float
        By Markov's inequality for each candidate; needs about ``R^2 / (pi rho^2 gamma^2)`` blocks.

    Examples
    --------
    >>> finite_randomness_flip_bound(1000, 10, 30.0, 10_000, 0.1)
    1.0
    >>> round(finite_randomness_flip_bound(10_000_000, 4, 30.0, 10_000_000, 0.1), 3)
    0.212
    """
    checked_count(n_candidates, name="n_candidates", smallest=1)
    check_fraction("gamma", gamma)
    flip = central_binomial(n_blocks)
    best = 1.0
    for split in range(_SPLITS):
        mass = gamma * 0.9**split
        # theorem: finite-randomness
        differ = selection_flip_bound_sampled(t, n_candidates, m, drift=mass)
        best = min(best, n_candidates * flip / mass + differ)
    return upper_probability(best)
