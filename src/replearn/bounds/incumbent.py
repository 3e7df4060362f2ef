"""Keeping the old prediction within a band: how often retraining still changes a prediction."""

import math
from collections.abc import Sequence

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
    """Probability that a prediction has changed after this many independent retrainings.

    ``clear_evidence`` is the chance that one retraining puts the score beyond the band.

    >>> round(ever_changed(0.01, 12), 4)
    0.1136
    """
    check_fraction("clear_evidence", clear_evidence, zero=True)
    check_counts(retrainings=retrainings)
    return min(1.0, round_up(1.0 - (1.0 - clear_evidence) ** retrainings))


@theorem("incumbent-band")
def score_spread(standard_error: float, memory: float, correlations: Sequence[float] = ()) -> float:
    """Bound the standard deviation of a remembered score, in the long run.

    ``correlations`` are those of the scores of one estimator that is retrained 1, 2, ... times;
    none for independent samples.

    >>> round(score_spread(0.1, 0.6), 6)
    0.05
    """
    _check_memory(standard_error, memory, correlations)
    own = (1.0 - memory) / (1.0 + memory) * (1.0 + 2.0 * _discounted(memory, correlations))
    return standard_error * math.sqrt(round_up(max(own, 0.0)))


@theorem("incumbent-band")
def score_travel(standard_error: float, memory: float, correlations: Sequence[float] = ()) -> float:
    """Bound how far a remembered score moves at one retraining on average, in the long run.

    ``(1 - memory) * standard_error * sqrt(2 / (1 + memory))`` for independent samples, rounded up;
    less where samples overlap, by the correlations of `score_spread`.

    >>> round(score_travel(0.1, 0.0), 6), round(score_travel(0.1, 0.5), 6)
    (0.141421, 0.057735)
    >>> window = [1 - month / 12 for month in range(1, 12)]
    >>> round(score_travel(0.1, 0.5, window), 6)
    0.023567
    """
    spread = score_spread(standard_error, memory, correlations)
    if memory == 0.0:
        shared = correlations[0] if correlations else 0.0
    else:
        shared = (1.0 - memory) / memory * _discounted(memory, correlations)
    # Overlapping samples cancel: what rounding may take away is added.
    variance = standard_error**2 * (1.0 - 2.0 * shared + 1e-14) + spread**2
    return round_up((1.0 - memory) * math.sqrt(round_up(max(variance, 0.0))))


@theorem("incumbent-band")
def remembered_change_rate(
    standard_error: float, band: float, memory: float, correlations: Sequence[float] = ()
) -> float:
    """Bound the changes per retraining of one point with a remembered score, in the long run.

    A change travels twice the band, and needs a score beyond it on both sides; for independent
    samples and no memory `incumbent_change_rate` holds as well.

    >>> round(remembered_change_rate(0.04, 0.1, 0.5), 6)
    0.053333
    """
    check_positive("band", band)
    travel = score_travel(standard_error, memory, correlations) / (2.0 * band)
    spread = (score_spread(standard_error, memory, correlations) / band) ** 2
    rate = min(1.0, round_up(travel), round_up(spread))
    if memory == 0.0 and not any(correlations):
        rate = min(rate, incumbent_change_rate(standard_error, band))
    return rate


@theorem("incumbent-band")
def dead_band_change_rate(
    standard_error: float, band: float, memory: float, correlations: Sequence[float] = ()
) -> float:
    """Bound the changes per retraining of one predicted number with a dead band, in the long run.

    >>> round(dead_band_change_rate(0.02, 0.2, 0.5), 6)
    0.026667
    """
    check_positive("band", band)
    travel = score_travel(standard_error, memory, correlations) / band
    spread = 8.0 * (score_spread(standard_error, memory, correlations) / band) ** 2
    return min(1.0, round_up(travel), round_up(spread))


@theorem("incumbent-band")
def shift_lag(memory: float, before: float, after: float, edge: float) -> int:
    """Retrainings until the mean score has passed an edge of the band, after a sudden shift.

    The mean score of the estimator was ``before`` for long and is ``after`` from now on; ``edge``
    lies between them.

    >>> shift_lag(0.5, before=0.2, after=0.8, edge=0.6), shift_lag(0.0, 0.2, 0.8, 0.6)
    (2, 1)
    """
    check_fraction("memory", memory, zero=True, one=False)
    share = (after - edge) / (after - before)
    if not 0.0 < share < 1.0:
        raise ValueError(f"edge={edge} must lie between before={before} and after={after}.")
    if memory == 0.0:
        return 1
    return math.floor(math.log(share) / math.log(memory) * (1.0 - 1e-12)) + 1


@theorem("incumbent-band")
def drift_lag(memory: float, band: float, speed: float) -> float:
    """Retrainings by which a prediction is late if the mean score moves at a constant speed.

    >>> round(drift_lag(0.5, 0.1, 0.02), 6)
    6.0
    """
    check_fraction("memory", memory, zero=True, one=False)
    check_positive("band", band, zero=True)
    check_positive("speed", speed)
    return round_up(band / speed + memory / (1.0 - memory))


def _discounted(memory: float, correlations: Sequence[float]) -> float:
    """Return the sum of memory^j times the j-th correlation."""
    return math.fsum(memory**lag * value for lag, value in enumerate(correlations, start=1))


def _check_memory(standard_error: float, memory: float, correlations: Sequence[float]) -> None:
    check_positive("standard_error", standard_error, zero=True)
    check_fraction("memory", memory, zero=True, one=False)
    if any(not -1.0 <= value <= 1.0 for value in correlations):
        raise ValueError(f"correlations={list(correlations)} must lie between -1 and 1.")
