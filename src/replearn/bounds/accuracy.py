"""What a law costs in accuracy at most: the vote's error against that of its learners."""

import numpy as np

from replearn.bounds.laws import ThresholdLaw
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_fraction


@theorem("accuracy-factor")
def error_factor(law: ThresholdLaw) -> float:
    """Return C_G: the vote's mean error is at most this many times that of the learners.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold.

    Returns
    -------
    float
        ``max_k T max(G_k, 1 - G_{T-k}) / k``, at least 1, rounded up; attained by a vote in
        which k learners of T are wrong.

    Examples
    --------
    >>> from replearn.bounds import arcsine_law, uniform_law
    >>> round(error_factor(uniform_law(32)), 6), round(error_factor(arcsine_law(32, 0.847)), 3)
    (1.0, 1.07)
    """
    wrong = np.arange(1, law.n_blocks + 1)
    # theorem: accuracy-factor
    chance = np.maximum(law.probabilities[1:], 1.0 - law.probabilities[-2::-1])
    factor = float(np.max(law.n_blocks * chance / wrong))
    return factor if factor == 1.0 else float(np.nextafter(factor, np.inf))


def vote_error_bound(law: ThresholdLaw, learner_error: float, *, bayes_risk: float = 0.0) -> float:
    """Return a bound of the vote's mean error over thresholds, given that of its learners.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold.
    learner_error : float
        Mean error of the learners, or a bound of it such as OPT + alpha, in (0, 1].
    bayes_risk : float, default=0.0
        A lower bound of the error that no classifier can avoid, at most ``learner_error``.

    Returns
    -------
    float
        ``bayes_risk + C_G (learner_error - bayes_risk)``, at most 1.

    Examples
    --------
    >>> from replearn.bounds import arcsine_law
    >>> round(vote_error_bound(arcsine_law(64, 0.651), 0.15, bayes_risk=0.14), 4)
    0.1521
    """
    learner_error = check_fraction("learner_error", learner_error)
    if not 0.0 <= bayes_risk <= learner_error:
        raise ValueError(f"bayes_risk must be in [0, learner_error], got {bayes_risk!r}")
    # theorem: accuracy-factor
    bound = bayes_risk + error_factor(law) * (learner_error - bayes_risk)
    return min(bound * (1.0 + 1e-15), 1.0)
