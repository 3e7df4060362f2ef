"""How long to remember, decided on rows that no model has seen: ``memory="auto"``.

Decisions are compared after the band: a mixture that is half overruled by new evidence may have a
good log loss and still keep wrong predictions. Losses are counted, and they are expected from the
scores (`expected_losses`), which shows smaller ones. After a change it is memory that must not
lose; before, it is the loss that must be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import hypergeom

from replearn.learners.incumbent_chain import Codes, Floats, Replay, Setting, evidence_of, keep, mix

CONFIDENCE_IN_HISTORY = 0.95
"""Confidence of each limit of a loss in ``history_``."""

CONFIDENCE_TO_FORGET = 0.99
"""Confidence with which a loss must be shown for the longest memory to be given up."""

CONFIDENCE_OF_FEW_ROWS = 0.999
"""The same for a loss that is counted on few rows, whose limits are rough: it keeps windows with a
few hundred new rows from being forgotten by chance."""

MIN_DIFFERENT_ROWS = 100
"""Rows on which memory and plain retraining differ from which on they are not few."""

ALARM_RATE = 0.001
"""How often more errors than before raise an alarm although nothing has changed."""

SETTINGS_TRIED = ((0.7, 1.0), (0.5, 1.0), (0.5, 0.5), (0.3, 0.5), (0.0, 0.5))
"""Memories, and shares of the band, in the order in which they are tried: the most stable first.
If all lose, nothing is remembered."""

N_PARTS = 20
"""Parts of the rows that are left out in turn to estimate the standard error of a metric."""

RESET = "reset: every memory loses against plain retraining"
HELD_BACK = "every memory loses against plain retraining, but the budget limits what changes"
DRIFTED = "reset: new rows are predicted worse than the other rows of the sample"
WAITING = "reset: the sample still has rows from before the change"

Metric = Callable[..., float]


class Loss(NamedTuple):
    """What a setting loses against plain retraining, with its standard error."""

    value: float
    error: float
    n_parts: int = N_PARTS  # that were left out in turn

    def limit(self, confidence: float) -> float:
        """Return the lower confidence limit."""
        return self.value - float(stdtrit(max(1, self.n_parts - 1), confidence)) * self.error

    @property
    def lower(self) -> float:
        """Return the lower limit for ``history_``."""
        return self.limit(CONFIDENCE_IN_HISTORY)

    @property
    def upper(self) -> float:
        """Return the upper limit for ``history_``."""
        return 2.0 * self.value - self.lower


class Evidence(NamedTuple):
    """What one setting loses on the rows of one retraining."""

    counted: Loss
    expected: Loss | None = None  # None: another metric than accuracy, or no remembered score

    @property
    def value(self) -> float:
        """Return the best estimate of the loss."""
        return self.counted.value if self.expected is None else self.expected.value


class Choice(NamedTuple):
    """The setting of one retraining, and what was measured when it was chosen."""

    setting: Setting
    loss: Loss  # metric of plain retraining minus that of the setting
    rejected: int  # settings that were more stable and lost too much
    longest: Evidence  # of the first setting
    reason: str | None = None  # why nothing is remembered, if not because all settings lose

    @property
    def is_reset(self) -> bool:
        """Tell whether nothing is remembered."""
        return self.setting.memory == 0.0 and self.setting.band == 0.0

    def forgotten(self, reason: str) -> Choice:
        """Return the choice to remember nothing, for a reason that is none of the losses."""
        nothing = self.setting._replace(memory=0.0, band=0.0)
        return Choice(nothing, Loss(0.0, 0.0), max(self.rejected, 1), self.longest, reason)


def decide(remembered: Replay, new: Floats, setting: Setting, scale: Floats | float = 1.0) -> Codes:
    """Return the predictions after one more retraining with this setting."""
    score = mix(remembered.score, new, setting.memory)
    evidence = evidence_of(score, setting.threshold)
    return keep(evidence, remembered.prediction, setting.band * scale)


def choose_setting(  # noqa: PLR0913
    remembered: Replay,
    new: Floats,
    codes: Codes,
    settings: Sequence[Setting],
    *,
    max_loss: float,
    metric: Metric | None = None,
    weights: Floats | None = None,
    costs: Floats | None = None,
    scale: Floats | float = 1.0,
    groups: NDArray[np.intp] | None = None,
    cautious: bool = False,
) -> Choice:
    """Return the first setting that does not lose against plain retraining.

    The first setting is given up where a lower confidence limit of its loss exceeds ``max_loss``.
    Then something has changed, and the others must not lose more than ``max_loss`` at all; at the
    next retraining the first one neither. A loss that this many rows cannot show is possible; its
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
        ``metric(y_true, y_pred, sample_weight=...)`` on codes, of which larger values are better.
        If None, accuracy, weighted by ``costs``.
    weights : ndarray, default=None
        One weight per row.
    costs : ndarray of shape (n_classes,), default=None
        Cost of an error at a row of each class (`error_costs`). If None, 1.
    scale : ndarray or float, default=1.0
        What one unit of the band is.
    groups : ndarray of int, default=None
        Rows with the same code belong together: a limit counts them as one. If None, each row is
        its own group.
    cautious : bool, default=False
        Whether the last retraining has given up the first setting, or the incumbent is wrong more
        often than it was.
    """
    threshold = settings[0].threshold
    alone = evidence_of(new, threshold)
    plain = alone.argmax(axis=1)
    kept = [decide(remembered, new, setting, scale) for setting in settings]
    costs = np.ones(alone.shape[1]) if costs is None else costs
    measured = metric or partial(accuracy, costs=costs)
    groups = np.arange(len(codes)) if groups is None else groups
    counted = [loss_against(codes, plain, one, measured, weights, groups) for one in kept]
    evidence = [Evidence(loss) for loss in counted]
    if metric is None and remembered.score is not None:
        values, left_out = expected_losses(
            remembered.score,
            new,
            codes,
            plain,
            kept,
            threshold=threshold,
            band=settings[0].band * scale,
            weights=weights,
            costs=costs,
            part_of_row=parts_of(groups),
        )
        expected = map(_jackknife, values, left_out.T)
        evidence = [Evidence(*both) for both in zip(counted, expected, strict=True)]
    longest = evidence[0]
    # theorem: incumbent-band (section 8: each limit holds by itself)
    n_different = len(np.unique(groups[kept[0] != plain]))
    is_given_up = shows_loss(longest, max_loss, n_different)
    if not is_given_up and not (cautious and longest.value > max_loss):
        return Choice(settings[0], longest.counted, 0, longest)
    for rejected, found in enumerate(evidence[1:], start=1):
        if found.value <= max_loss:
            return Choice(settings[rejected], found.counted, rejected, longest)
    nothing = Setting(0.0, 0.0, threshold)
    return Choice(nothing, Loss(0.0, 0.0), len(settings), longest)


def shows_loss(found: Evidence, max_loss: float, n_different: int) -> bool:
    """Return whether a loss is shown, by counting it on rows or groups, or by expectation."""
    is_few = n_different < MIN_DIFFERENT_ROWS
    confidence = CONFIDENCE_OF_FEW_ROWS if is_few else CONFIDENCE_TO_FORGET
    limits = [found.counted.limit(confidence)]
    if found.expected is not None:
        limits.append(found.expected.limit(CONFIDENCE_TO_FORGET))
    return max(limits) > max_loss


class Errors(NamedTuple):
    """How many rows were predicted wrongly, of how many."""

    n_wrong: int
    n_rows: int

    @classmethod
    def of(cls, wrong: NDArray[np.bool_]) -> Errors:
        """Count them."""
        return cls(int(wrong.sum()), len(wrong))

    def grew_to(self, now: Errors) -> bool:
        """Tell whether other rows are predicted worse, all by models that have not seen them.

        Where nothing has changed, the number of wrong ones among them is hypergeometric.

        >>> before = Errors(200, 1000)
        >>> before.grew_to(Errors(210, 1000)), before.grew_to(Errors(450, 1000))
        (False, True)
        """
        n_rows = self.n_rows + now.n_rows
        n_wrong = self.n_wrong + now.n_wrong
        # theorem: incumbent-band (section 8: new rows of a window)
        chance = hypergeom.sf(now.n_wrong - 1, n_rows, n_wrong, now.n_rows)
        return bool(chance < ALARM_RATE)


def got_worse(wrong: NDArray[np.bool_], is_new: NDArray[np.bool_]) -> bool:
    """Tell whether new rows of a window are predicted worse than the others.

    >>> wrong = np.arange(1000) % 10 == 0
    >>> got_worse(wrong, np.arange(1000) >= 900), got_worse(wrong, wrong)
    (False, True)
    """
    return Errors.of(wrong[~is_new]).grew_to(Errors.of(wrong[is_new]))


def error_costs(n_classes: int, threshold: float) -> Floats:
    """Return what an error costs at a row of each class, if the decision threshold is right.

    At the threshold both errors cost the same: whoever decides at 0.1 finds a missed positive nine
    times as bad as a false one. At 0.5 all cost 1, and their mean is one minus the accuracy.

    >>> error_costs(2, 0.1).tolist(), error_costs(3, 0.5).tolist()
    ([0.2, 1.8], [1.0, 1.0, 1.0])
    """
    if n_classes != 2:
        return np.ones(n_classes)
    return np.array([2.0 * threshold, 2.0 * (1.0 - threshold)])


def accuracy(
    codes: Codes,
    predicted: Codes,
    sample_weight: Floats | None = None,
    costs: Floats | None = None,
) -> float:
    """Return the share of right predictions, weighted; each counts as much as its error costs."""
    right = (codes == predicted).astype(np.float64)
    worth = right if costs is None else right * costs[codes]
    return float(np.average(worth, weights=sample_weight))


def parts_of(groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the part of each row, of `N_PARTS` at most; rows of one group are in one part.

    >>> parts_of(np.array([7, 7, 3, 9])).tolist()
    [1, 1, 0, 2]
    """
    codes = np.unique(groups, return_inverse=True)[1].ravel()
    return np.asarray(codes % N_PARTS)


def loss_against(
    codes: Codes,
    plain: Codes,
    kept: Codes,
    metric: Metric,
    weights: Floats | None,
    groups: NDArray[np.intp] | None = None,
) -> Loss:
    """Return how much a metric loses against plain retraining.

    The standard error is that of the jackknife over parts of the rows; rows are paired.

    >>> codes = np.arange(400) % 2
    >>> loss_against(codes, codes, codes, accuracy, None)
    Loss(value=0.0, error=0.0, n_parts=20)
    """
    part = parts_of(np.arange(len(codes)) if groups is None else groups)
    left_out: list[float] = []
    for number in range(int(part.max()) + 1):
        rest = part != number
        some = None if weights is None else weights[rest]
        left_out.append(_loss(codes[rest], plain[rest], kept[rest], metric, some))
    return _jackknife(_loss(codes, plain, kept, metric, weights), left_out)


def _jackknife(value: Any, left_out: Any) -> Loss:
    """Return an estimate with the standard error that its values without each part give."""
    n_parts = len(left_out)
    spread = float(np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
    return Loss(float(value), float(np.sqrt((n_parts - 1) / n_parts * spread)), n_parts)


def _loss(codes: Any, plain: Any, kept: Any, metric: Metric, weights: Any) -> float:
    params: dict[str, NDArray[Any]] = {} if weights is None else {"sample_weight": weights}
    return float(metric(codes, plain, **params) - metric(codes, kept, **params))


def settings_to_try(band: float, threshold: float) -> tuple[Setting, ...]:
    """Return the settings to try for a widest band.

    >>> settings_to_try(0.1, 0.5)[0]
    Setting(memory=0.7, band=0.1, threshold=0.5)
    """
    return tuple(Setting(memory, share * band, threshold) for memory, share in SETTINGS_TRIED)


# -- expected losses -------------------------------------------------------------------------------
REACH = 3.0
"""Rows whose remembered or new score is within this many bands of the threshold are near it."""

MIN_ROWS = 100
"""With fewer rows near the threshold, or on which rules differ, all rows are used."""


def expected_losses(
    remembered: Floats,
    new: Floats,
    codes: Codes,
    plain: Codes,
    kept: Sequence[Codes],
    *,
    threshold: float,
    band: Floats | float,
    weights: Floats | None,
    costs: Floats,
    part_of_row: NDArray[np.intp],
) -> tuple[Floats, Floats]:
    """Return the expected loss of each setting, and its value without each part of the rows.

    Rows on which an incumbent and plain retraining differ lie near the decision threshold, where
    labels are close to coin flips: counting them shows large losses only. The probability of a
    label is estimated from all rows near the threshold and those that differ, by a linear
    combination of the remembered score and the new one, and the loss is its mean over the rows that
    differ. A drift of the share of labels moves the constant of that combination, a change of the
    concept the weight of the new score.

    Parameters
    ----------
    remembered, new : ndarray of shape (n,) or (n, n_classes)
        Scores.
    codes : ndarray of int
        Codes of the labels.
    plain : ndarray of int
        Predictions of plain retraining.
    kept : sequence of ndarray of int
        Predictions with each setting.
    threshold : float
        Decision threshold on the score, for two classes.
    band : ndarray or float
        The widest band, in units of the score.
    weights : ndarray or None
        One weight per row.
    costs : ndarray of shape (n_classes,)
        What an error costs at a row of each class.
    part_of_row : ndarray of int
        Part of each row, from 0, for the jackknife.

    Returns
    -------
    tuple of ndarray
        Shapes (n_settings,) and (n_parts, n_settings).
    """
    share = np.ones(len(codes)) if weights is None else weights
    columns = _columns(remembered, new, codes)
    near = share
    if remembered.ndim == 1:
        distance = np.minimum(np.abs(remembered - threshold), np.abs(new - threshold))
        differs = np.any([one != plain for one in kept], axis=0)  # a tree's are far from it
        inside = differs | (distance <= REACH * np.asarray(band))
        near = share * inside if inside.sum() >= MIN_ROWS else share
    whole = np.ones(len(codes), dtype=bool)
    n_parts = int(part_of_row.max()) + 1
    used = [whole, *(part_of_row != number for number in range(n_parts))]
    found = np.array([_losses(columns, near, share, costs, rows, plain, kept) for rows in used])
    return found[0], found[1:]


def _columns(remembered: Floats, new: Floats, codes: Codes) -> list[tuple[Floats, Floats]]:
    """Return for each class what its probability is a linear function of, and whether it came."""
    if remembered.ndim == 1:
        features = np.column_stack([np.ones(len(codes)), remembered, new])
        return [(features, (codes == 1).astype(np.float64))]
    return [
        (
            np.column_stack([np.ones(len(codes)), remembered[:, label], new[:, label]]),
            (codes == label).astype(np.float64),
        )
        for label in range(remembered.shape[1])
    ]


def _losses(
    columns: Any,
    near: Floats,
    share: Floats,
    costs: Floats,
    rows: Any,
    plain: Codes,
    kept: Any,
) -> list[float]:
    """Return the expected loss of each setting on some rows, estimated from the same rows."""
    fitted = []
    for features, came in columns:
        used = features[rows]
        moments = used.T * near[rows]
        weights = np.linalg.lstsq(moments @ used, moments @ came[rows], rcond=1e-10)[0]
        fitted.append(np.clip(used @ weights, 0.0, 1.0))
    if len(fitted) == 1:
        fitted = [1.0 - fitted[0], fitted[0]]
    worth = np.column_stack(fitted) * costs  # what a prediction of each class saves
    every = np.arange(len(worth))
    now = worth[every, plain[rows]]
    total = float(share[rows].sum())
    return [float((share[rows] * (now - worth[every, one[rows]])).sum() / total) for one in kept]
