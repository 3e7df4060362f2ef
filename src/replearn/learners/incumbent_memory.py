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

N_POOLED = 6
"""Retrainings whose losses are pooled: a small one that lasts is not seen in a single month."""

RESET = "reset: every memory loses against plain retraining"

Metric = Callable[..., float]


class Loss(NamedTuple):
    """What a setting loses against plain retraining, with its standard error."""

    value: float
    error: float

    @property
    def lower(self) -> float:
        """Return the lower confidence limit."""
        return self.value - _T_QUANTILE * self.error

    @property
    def upper(self) -> float:
        """Return the upper confidence limit."""
        return self.value + _T_QUANTILE * self.error


_T_QUANTILE = float(stdtrit(N_GROUPS - 1, CONFIDENCE))


class Choice(NamedTuple):
    """The setting of one retraining, and what was measured when it was chosen."""

    setting: Setting
    loss: Loss  # metric of plain retraining minus that of the setting
    rejected: int  # settings that were more stable and lost too much
    longest: Loss  # of the first setting

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
    earlier: Sequence[Loss] = (),
) -> Choice:
    """Return the first setting that does not lose against plain retraining.

    The first setting is rejected where the lower confidence limit of its loss, or of its mean loss
    over the last retrainings, exceeds ``max_loss``. Then something has changed, and the others must
    not lose more than ``max_loss`` at all. A loss that so many rows cannot show is possible; its
    upper limit bounds it.

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
    earlier : sequence of Loss, default=()
        Losses of the first setting at earlier retrainings, the latest last.
    """
    threshold = settings[0].threshold if settings else 0.5
    nothing = Setting(0.0, 0.0, threshold)
    plain = evidence_of(new, threshold).argmax(axis=1)
    longest = Loss(0.0, 0.0)
    for rejected, setting in enumerate(settings):
        kept = decide(remembered, new, setting, scale)
        loss = loss_against(codes, plain, kept, metric or accuracy, weights)
        tested = loss.value
        if rejected == 0:
            longest = loss
            # theorem: incumbent-band (section 8: each limit holds by itself)
            tested = max(loss.lower, pooled([*earlier, loss]).lower)
        if tested <= max_loss:
            return Choice(setting, loss, rejected, longest)
    return Choice(nothing, Loss(0.0, 0.0), len(settings), longest)


def pooled(losses: Sequence[Loss]) -> Loss:
    """Return the mean of the latest losses.

    >>> pooled([Loss(0.01, 0.03), Loss(0.03, 0.04)])
    Loss(value=0.02, error=0.025)
    """
    latest = losses[-N_POOLED:]
    error = np.sqrt(sum(loss.error**2 for loss in latest)) / len(latest)
    return Loss(float(np.mean([loss.value for loss in latest])), float(error))


def accuracy(codes: Codes, predicted: Codes, sample_weight: Floats | None = None) -> float:
    """Return the share of right predictions, weighted."""
    return float(np.average(codes == predicted, weights=sample_weight))


def loss_against(
    codes: Codes, plain: Codes, kept: Codes, metric: Metric, weights: Floats | None
) -> Loss:
    """Return how much a metric loses against plain retraining.

    The standard error is that of the jackknife over groups of rows; rows are paired.

    >>> codes = np.arange(400) % 2
    >>> loss_against(codes, codes, codes, accuracy, None)
    Loss(value=0.0, error=0.0)
    """
    group = np.arange(len(codes)) % N_GROUPS
    left_out: list[float] = []
    for number in range(min(N_GROUPS, len(codes))):
        rest = group != number
        some = None if weights is None else weights[rest]
        left_out.append(_loss(codes[rest], plain[rest], kept[rest], metric, some))
    n_groups = len(left_out)
    spread = float(np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
    error = float(np.sqrt((n_groups - 1) / n_groups * spread))
    return Loss(_loss(codes, plain, kept, metric, weights), error)


def _loss(codes: Any, plain: Any, kept: Any, metric: Metric, weights: Any) -> float:
    params: dict[str, NDArray[Any]] = {} if weights is None else {"sample_weight": weights}
    return float(metric(codes, plain, **params) - metric(codes, kept, **params))


def ladder(band: float, threshold: float) -> tuple[Setting, ...]:
    """Return the settings to try for a widest band.

    >>> ladder(0.1, 0.5)[0]
    Setting(memory=0.7, band=0.1, threshold=0.5)
    """
    return tuple(Setting(memory, share * band, threshold) for memory, share in LADDER)
