"""How long to remember, decided on rows that no model has seen: ``memory="auto"``.

Decisions are compared after the band: a mixture that is half overruled by new evidence may have a
good log loss and still keep wrong predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from replearn.learners.incumbent_rule import Codes, Floats, Replay, Setting, evidence_of, keep, mix

CONFIDENCE = 0.95
"""Confidence of each limit of a loss, for each setting that is tried."""

LADDER = ((0.7, 1.0), (0.5, 1.0), (0.5, 0.5), (0.3, 0.5), (0.0, 0.5))
"""Settings that are tried, the most stable first: memory, and the share of the band. The last
resort is to remember nothing."""

N_GROUPS = 20
"""Groups of rows that are left out in turn to estimate the standard error of a metric."""

Metric = Callable[..., float]


class Choice(NamedTuple):
    """The setting of one retraining, and what was measured when it was chosen."""

    setting: Setting
    loss: float  # metric of plain retraining minus that of the setting
    upper: float  # its upper confidence limit
    rejected: int  # settings that were more stable and lost too much

    @property
    def is_reset(self) -> bool:
        """Tell whether nothing is remembered."""
        return self.setting.memory == 0.0 and self.setting.band == 0.0


def decide(remembered: Replay, new: Floats, setting: Setting, scale: Floats | float = 1.0) -> Codes:
    """Return the predictions after one more retraining with this setting."""
    score = mix(remembered.score, new, setting.memory)
    evidence = evidence_of(score, setting.threshold)
    return keep(evidence, remembered.prediction, setting.band * scale)


def choose_setting(
    remembered: Replay,
    new: Floats,
    codes: Codes,
    settings: Sequence[Setting],
    *,
    max_loss: float,
    metric: Metric | None = None,
    weights: Floats | None = None,
    scale: Floats | float = 1.0,
) -> Choice:
    """Return the first setting that does not lose against plain retraining.

    The first setting is rejected where the lower confidence limit of its loss exceeds ``max_loss``.
    Then something has changed, and the others must not lose more than ``max_loss`` at all. A loss
    that so many rows cannot show is possible; `Choice.upper` bounds it.

    Parameters
    ----------
    remembered : Replay
        The chain at rows of the new sample, which none of its models has seen.
    new : ndarray
        Scores of the new estimator at the same rows, cross-fitted.
    codes : ndarray of int
        Codes of the labels.
    settings : sequence of Setting
        In the order in which they are tried.
    max_loss : float
        Loss that is accepted.
    metric : callable, default=None
        ``metric(y_true, y_pred, sample_weight=...)`` on codes, larger is better; None: accuracy.
    weights : ndarray, default=None
        One weight per row.
    scale : ndarray or float, default=1.0
        What one unit of the band is.
    """
    threshold = settings[0].threshold if settings else 0.5
    nothing = Setting(0.0, 0.0, threshold)
    plain = evidence_of(new, threshold).argmax(axis=1)
    for rejected, setting in enumerate(settings):
        kept = decide(remembered, new, setting, scale)
        loss, lower, upper = loss_limits(codes, plain, kept, metric or accuracy, weights)
        # theorem: incumbent-band (section 8: the limit holds for each setting by itself)
        if (loss if rejected else lower) <= max_loss:
            return Choice(setting, loss, upper, rejected)
    return Choice(nothing, 0.0, 0.0, len(settings))


def accuracy(codes: Codes, predicted: Codes, sample_weight: Floats | None = None) -> float:
    """Return the share of right predictions, weighted."""
    return float(np.average(codes == predicted, weights=sample_weight))


def loss_limits(
    codes: Codes, plain: Codes, kept: Codes, metric: Metric, weights: Floats | None
) -> tuple[float, float, float]:
    """Return how much a metric loses against plain retraining, with lower and upper limit.

    The standard error is that of the jackknife over groups of rows; rows are paired.

    >>> codes = np.arange(400) % 2
    >>> loss_limits(codes, codes, codes, accuracy, None)
    (0.0, 0.0, 0.0)
    """
    loss = _loss(codes, plain, kept, metric, weights)
    group = np.arange(len(codes)) % N_GROUPS
    left_out: list[float] = []
    for number in range(min(N_GROUPS, len(codes))):
        rest = group != number
        some = None if weights is None else weights[rest]
        left_out.append(_loss(codes[rest], plain[rest], kept[rest], metric, some))
    n_groups = len(left_out)
    spread = float(np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
    error = np.sqrt((n_groups - 1) / n_groups * spread)
    half_width = float(stdtrit(n_groups - 1, CONFIDENCE) * error)
    return loss, loss - half_width, loss + half_width


def _loss(codes: Any, plain: Any, kept: Any, metric: Metric, weights: Any) -> float:
    params: dict[str, NDArray[Any]] = {} if weights is None else {"sample_weight": weights}
    return float(metric(codes, plain, **params) - metric(codes, kept, **params))


def ladder(band: float, threshold: float) -> tuple[Setting, ...]:
    """Return the settings to try for a widest band.

    >>> ladder(0.1, 0.5)[0]
    Setting(memory=0.7, band=0.1, threshold=0.5)
    """
    return tuple(Setting(memory, share * band, threshold) for memory, share in LADDER)
