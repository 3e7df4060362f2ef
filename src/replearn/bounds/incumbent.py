"""Keeping the old prediction within a band: how often retraining still changes a prediction."""

from replearn.bounds.numeric import round_up
from replearn.bounds.theorem import theorem
from replearn.records import check_counts, check_fraction, check_positive


@theorem("incumbent-band")
def incumbent_change_rate(standard_error: float, band: float) -> float:
    """Bound the changes per retraining of one point, in the long run, for any distribution.

    ``min(1/2, (standard_error / band)^2 / 2)``, rounded up, best possible: the standard deviation
    of its score over independent retrainings, and within what distance of the decision threshold
    the old prediction stays.

    >>> round(incumbent_change_rate(0.02, 0.1), 6)
    0.02
    """
    check_positive("standard_error", standard_error, zero=True)
    check_positive("band", band)
    return min(0.5, round_up((standard_error / band) ** 2 / 2.0))


@theorem("incumbent-band")
def expected_changes(standard_error: float, band: float, retrainings: int) -> float:
    """Bound the mean number of changes of one point's prediction, from any first prediction.

    >>> round(expected_changes(0.02, 0.1, 12), 6)
    1.24
    """
    check_counts(retrainings=retrainings)
    return round_up(1.0 + retrainings * incumbent_change_rate(standard_error, band))


@theorem("incumbent-band")
def ever_changed(clear_evidence: float, retrainings: int) -> float:
    """Probability that a prediction has changed after so many independent retrainings.

    ``clear_evidence`` is the chance that one retraining puts the score beyond the band.

    >>> round(ever_changed(0.01, 12), 4)
    0.1136
    """
    check_fraction("clear_evidence", clear_evidence, zero=True)
    check_counts(retrainings=retrainings)
    return min(1.0, round_up(1.0 - (1.0 - clear_evidence) ** retrainings))
