"""What thresholds in standard errors require before the training: blocks, decision threshold."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from replearn.binding import rows_needed
from replearn.exceptions import NotCertifiedWarning, warn_user
from replearn.guarantees import Certificate, blocks_and_partitions, rounded_up
from replearn.learners.decision_threshold import block_thresholds, known_threshold, prevalence
from replearn.learners.inputs import base_estimator
from replearn.learners.training import Sample, TrainedBlocks


class Cut(NamedTuple):
    """How the rows are cut: the same in all runs that are compared."""

    n: int
    n_blocks: int
    n_partitions: int
    decimals: int | None

    @property
    def block_size(self) -> int:
        """Rows (or groups) of a block."""
        return self.n // self.n_blocks


def cut_for(sample: Sample, params: Any, n: int) -> Cut:
    """Return how n rows of a sample are cut by the parameters in force.

    It depends on the number of rows, rho and the base estimator's parameters, never on the data.
    """
    need = rows_needed(base_estimator(params.estimator)) if sample.unit == "rows" else None
    useful = 0 if need is None else need.useful
    sizes = params.n_blocks, params.n_partitions
    n_blocks, ways = blocks_and_partitions(n, float(params.rho), *sizes, useful)
    if n < n_blocks:
        raise ValueError(
            f"n_blocks={n_blocks} blocks need as many {sample.unit}, but n_samples={n}."
        )
    return Cut(n, n_blocks, ways, params.decimals)


class ScoreThreshold(NamedTuple):
    """The decision threshold of a fit, its standard error, and the models that give scores."""

    threshold: float
    standard_error: float
    estimators: list[Any]


def score_threshold(blocks: TrainedBlocks, threshold: Any) -> ScoreThreshold:
    """Return the probability from which the second class is the prediction.

    A target is reached by each block on its own rows: thresholds of the blocks of one partition
    are independent draws, and their mean has a standard error that they show themselves.
    """
    known = known_threshold(threshold)
    if known is not None:
        return ScoreThreshold(known, 0.0, blocks.estimators)
    codes = blocks.sample.codes
    if threshold == "prevalence":
        share = prevalence(codes)
        error = math.sqrt(share * (1.0 - share) / len(codes))
        return ScoreThreshold(share, error, blocks.estimators)
    estimators, chosen = block_thresholds(blocks.estimators, threshold, ())
    assert chosen is not None
    # theorem: decision-threshold, section "Scores"
    spread = float(chosen.std(ddof=1)) / math.sqrt(blocks.design.n_blocks)
    return ScoreThreshold(float(chosen.mean()), spread, estimators)


def warn_if_above_budget(certificate: Certificate) -> None:
    """Warn that scores vary too much for the requested rho."""
    inputs = certificate.inputs
    rho = certificate.rho
    if rho is None or rho <= inputs["rho"] * (1 + 1e-9):
        return
    # theorem: score-thresholds (thresholds end at scores of 0 and 1)
    rows = math.ceil(inputs["n"] * (rho / inputs["rho"]) ** 2)
    warn_user(
        f"requested rho={inputs['rho']:g}, but the estimate for this sample is "
        f"{rounded_up(rho)}: scores have a standard error of {inputs['standard_error']:.3g}, and "
        "thresholds would have to reach beyond scores of 0 and 1. Use more rows (about "
        f"{rows} {inputs['unit']} if standard errors fall as usual), an estimator whose "
        f"probabilities vary less, or rho={rounded_up(rho)}.",
        NotCertifiedWarning,
    )
