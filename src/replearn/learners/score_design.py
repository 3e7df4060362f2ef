"""What thresholds in standard errors require before the training: blocks, decision threshold."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from replearn.binding.useful_blocks import rows_needed
from replearn.exceptions import NotCertifiedWarning, warn_user
from replearn.guarantees import Certificate
from replearn.guarantees.score import blocks_and_partitions
from replearn.guarantees.steps import rounded_up
from replearn.learners.inputs import base_estimator
from replearn.learners.planning import Sample


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


def decision_threshold(
    threshold: Any, codes: NDArray[np.intp], classes: NDArray[Any]
) -> tuple[float, float]:
    """Return the probability from which the second class is the prediction, and its standard error.

    >>> decision_threshold((1, 4), np.array([0, 1]), np.array([0, 1]))
    (0.2, 0.0)
    """
    if len(classes) > 2 and threshold != 0.5:
        raise ValueError(
            f"threshold={threshold!r} needs two classes, but there are {len(classes)}: leave it "
            "out, and weigh the classes inside the base estimator (class_weight)."
        )
    if threshold == "prevalence":
        share = float(np.clip(np.mean(codes == 1), 1e-3, 1.0 - 1e-3))
        return share, float(np.sqrt(share * (1.0 - share) / len(codes)))
    if not isinstance(threshold, tuple):
        return float(threshold), 0.0
    costs = [float(cost) for cost in threshold if isinstance(cost, int | float)]
    if len(threshold) != 2 or len(costs) != 2 or not 0.0 < min(costs) <= max(costs) < np.inf:
        raise ValueError(
            f"threshold={threshold!r} must be a number in (0, 1), 'prevalence', or the costs of a "
            "false positive and of a false negative, two positive numbers."
        )
    return costs[0] / sum(costs), 0.0


def warn_if_above_budget(certificate: Certificate) -> None:
    """Warn that scores vary too much for the requested rho."""
    inputs = certificate.inputs
    rho = certificate.rho
    if rho is None or rho <= inputs["rho"] * (1 + 1e-9):
        return
    # theorem: score-thresholds (thresholds end at scores of 0 and 1)
    rows = math.ceil(inputs["n"] * (rho / inputs["rho"]) ** 2)
    warn_user(
        f"requested rho={inputs['rho']:g}; the estimate for this sample is "
        f"{rounded_up(rho)}: scores have a standard error of {inputs['standard_error']:.3g}, and "
        "thresholds would have to reach beyond scores of 0 and 1. Use more rows (about "
        f"{rows} {inputs['unit']} if standard errors fall as usual), an estimator whose "
        f"probabilities vary less, or rho={rounded_up(rho)}.",
        NotCertifiedWarning,
    )
