"""More than two runs under one key: the probability that they are not all equal."""

from numpy.typing import ArrayLike

from replearn.bounds._binomial import Floats
from replearn.bounds.flips import flip_bound, flip_supremum, level_curve, level_supremum
from replearn.bounds.laws import ROUNDING, VOTES, ThresholdLaw, uniform_law
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_choice, check_count


def runs_curve(law: ThresholdLaw, q: ArrayLike, runs: int) -> Floats:
    """Return how often ``runs`` runs are not all equal if each block votes 1 with chance q.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold.
    q : array-like of float
        Chances of a vote for 1, in [0, 1].
    runs : int
        Number of runs, at least 2.

    Returns
    -------
    ndarray of float

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> runs_curve(uniform_law(32), [0.5], runs=12).round(3).tolist()
    [0.286]
    """
    return level_curve(law, q, check_count("runs", runs, least=2))


def runs_supremum(law: ThresholdLaw, runs: int) -> float:
    """Return a rigorous upper bound of `runs_curve` over all q, for hard votes.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold.
    runs : int
        Number of runs, at least 2.

    Returns
    -------
    float

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> round(runs_supremum(uniform_law(32), runs=12), 3)
    0.286
    """
    if check_count("runs", runs, least=2) == 2:
        return flip_supremum(law)
    # theorem: many-runs
    return level_supremum(law, runs)


@theorem("many-runs")
def runs_bound(law: ThresholdLaw, runs: int = 2, vote: str = "hard") -> float:
    """Return what a certificate quotes: at most this often are the runs not all equal at a point.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold.
    runs : int, default=2
        Number of runs, at least 2.
    vote : {"hard", "soft"}, default="hard"
        Whether blocks vote 0 or 1, or with a score in between (uniform and arcsine laws only).

    Returns
    -------
    float

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> round(runs_bound(uniform_law(32), runs=12, vote="soft"), 3)
    0.286
    """
    if check_count("runs", runs, least=2) == 2:
        return flip_bound(law, vote)
    if check_choice("vote", vote, VOTES) == "hard":
        return runs_supremum(law, runs)
    if law.lipschitz is None:
        return flip_bound(law, vote)  # says that a law with atoms takes hard votes only
    # theorem: many-runs
    # the range of the mean scores is largest for coins, and its image shrinks by 2 L
    spread = runs_supremum(uniform_law(law.n_blocks), runs) + ROUNDING
    return min(2.0 * law.lipschitz * spread * (1.0 + 1e-12), 1.0)
