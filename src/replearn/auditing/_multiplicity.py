"""Other names for changed predictions: churn, multiplicity and negative flips, from the same pairs.

All runs of a contender are models of about the same accuracy for the same task: a set of
competing models, as papers on predictive multiplicity call it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from replearn.auditing._contender_results import ClassifierResult
from replearn.auditing._measurement import Measurement
from replearn.auditing._statistics import Estimate


@dataclass(frozen=True)
class Multiplicity:
    """How much the models of one contender differ, in the words of the literature.

    Parameters
    ----------
    contender : str
        Its name.
    n_models : int
        Models that are compared: two for each pair.
    churn : Estimate
        Share of predictions that differ between two models (Milani Fard and others 2016).
    self_consistency : Estimate
        Probability that two models agree on a row, averaged over rows (Cooper and others 2024).
    ambiguity : Estimate
        Share of rows on which the models are not unanimous (Marx and others 2020). It grows with
        their number; the limits are over rows, for these models.
    discrepancy : Estimate
        Largest share of rows on which the two models of a pair differ (Marx and others 2020); the
        limits are over rows, and hold for all pairs at once.
    negative_flips : Estimate
        Share of rows that the first model of a pair predicts right and the second one wrong.
    """

    contender: str
    n_models: int
    churn: Estimate
    self_consistency: Estimate
    ambiguity: Estimate
    discrepancy: Estimate
    negative_flips: Estimate


def multiplicity(result: Measurement, contender: ClassifierResult) -> Multiplicity:
    """Compute all of them from the pairs of a contender."""
    churn = result.flip_rate(contender.name)
    runs = contender.predictions.reshape(-1, len(contender.truth))
    split = (runs != runs[0]).any(axis=0).astype(np.float64)
    by_pair = contender.key_flips
    each = result.delta / len(by_pair)
    limits = [result.mean(flips[np.newaxis], delta=each) for flips in by_pair]
    return Multiplicity(
        contender=contender.name,
        n_models=len(runs),
        churn=churn,
        self_consistency=Estimate(1 - churn.value, 1 - churn.upper, 1 - churn.lower),
        ambiguity=result.mean(split[np.newaxis]),
        discrepancy=Estimate(
            max(limit.value for limit in limits),
            max(limit.lower for limit in limits),
            max(limit.upper for limit in limits),
        ),
        negative_flips=result.mean(contender.right[:, 0] - contender.both_right),
    )
