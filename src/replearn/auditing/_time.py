"""Retraining in time order, as production does it, beside the same with the rows shuffled.

The rows are put in order and cut into periods. The baseline is trained on a window of periods, then
on the next window, and both models predict the period after them. The whole is repeated with the
rows in random order: the same sizes, the same shared rows, but no drift. If the order of the rows
has no meaning, the result in time order is one of equally likely ones, so that it exceeds all
``N_SHUFFLES`` others with probability at most ``1 / (N_SHUFFLES + 1)``, whatever the estimator.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._runs import Job, PairOutcome, Runner, Task
from replearn.auditing._statistics import Estimate, mean_limits
from replearn.auditing._table import DEFAULT_TEST_ROWS, MIN_SAMPLE, as_text
from replearn.bounds import binomial_limits
from replearn.randomness import SharedKey
from replearn.records import check_choice
from replearn.tables import take_rows

SLIDING = "sliding"
GROWING = "growing"
WINDOWS = (SLIDING, GROWING)

MAX_PERIODS = 12
MIN_PERIODS = 4
N_SHUFFLES = 19
"""The result in time order is among this many others with the rows shuffled."""

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class TimeDesign:
    """Rows in time order, cut into periods; a window has half of them.

    Parameters
    ----------
    rows : ndarray of int
        Positions in the file, in time order.
    ends : ndarray of int
        Where each period ends, as a position in ``rows``.
    last_values : tuple of str
        Time of the last row of each period.
    window : {"sliding", "growing"}
        Whether a retraining drops the oldest period.
    """

    rows: Ints
    ends: Ints
    last_values: tuple[str, ...]
    window: str

    @property
    def n_window(self) -> int:
        """Periods of the first window."""
        return len(self.ends) // 2

    @property
    def n_retrainings(self) -> int:
        """Pairs of windows that have a period after them."""
        return len(self.ends) - self.n_window - 1

    @property
    def n_trainings(self) -> int:
        """Trainings in time order and with the rows shuffled."""
        return (self.n_retrainings + 1) * (1 + N_SHUFFLES)

    @property
    def fingerprint(self) -> str:
        """Digest of rows, periods and kind of window."""
        content = self.rows.astype("<i8").tobytes() + self.ends.astype("<i8").tobytes()
        return hashlib.sha256(self.window.encode() + content).hexdigest()[:12]

    def training(self, order: Ints, training: int) -> Ints:
        """Rows of a window; with other orders of the rows, those at the same positions."""
        start = self.ends[training - 1] if training and self.window == SLIDING else 0
        return order[start : self.ends[training + self.n_window - 1]]

    def test(self, order: Ints, retraining: int) -> Ints:
        """Rows of the period after both windows of a retraining, evenly chosen if many."""
        period = retraining + self.n_window + 1
        start = self.ends[period - 1]
        last = self.ends[period] - 1
        n_test = min(last - start + 1, DEFAULT_TEST_ROWS)
        return order[np.linspace(start, last, n_test).round().astype(np.intp)]

    def order(self, shuffle: int, key: SharedKey) -> Ints:
        """Rows in time order (0), or shuffled by the key."""
        if shuffle == 0:
            return self.rows
        rng = np.random.default_rng(key.child("time order", shuffle).seed_for("permutation"))
        return rng.permutation(self.rows)


def make_time_design(
    time: Any, used: Ints, n_rows: int, window: str, key: SharedKey, max_rows: int
) -> TimeDesign:
    """Put the used rows in order and cut them into periods; equal times stay in one period."""
    check_choice("window", window, WINDOWS)
    values = _checked_time(time, n_rows)
    drawn = np.argsort(key.child("time rows").uniforms(used), kind="stable")[:max_rows]
    rows = used[drawn]  # in random order, which stays where times are equal
    rows = rows[np.argsort(values[rows], kind="stable")]
    times = values[rows]
    value_ends = np.append(np.flatnonzero(times[1:] != times[:-1]) + 1, len(times))
    wanted = np.linspace(0, len(times), MAX_PERIODS + 1)[1:]
    ends = np.unique(value_ends[np.searchsorted(value_ends, wanted - 0.5)])
    if len(ends) < MIN_PERIODS or np.diff(ends, prepend=0).min() < MIN_SAMPLE:
        raise ValueError(
            f"time has {len(value_ends)} different values in {len(rows)} rows, which make "
            f"{len(ends)} periods: at least {MIN_PERIODS} periods of {MIN_SAMPLE} rows are "
            "required. Use a finer time (days instead of years), or more rows."
        )
    last_values = tuple(as_text(value) for value in np.asarray(time)[rows[ends - 1]].tolist())
    return TimeDesign(rows, ends, last_values, window)


def _checked_time(time: Any, n_rows: int) -> Ints:
    """Return the rank of each row's time."""
    values = np.asarray(time)
    if values.shape != (n_rows,):
        raise ValueError(f"time has shape {values.shape}, but X has {n_rows} rows.")
    missing = [value is None or value != value for value in values.tolist()]
    if any(missing) or (values.dtype.kind == "M" and bool(np.isnat(values).any())):
        raise ValueError("time has missing values: fill them in, or leave those rows out.")
    try:
        return np.unique(values, return_inverse=True)[1].astype(np.intp)
    except TypeError:
        raise ValueError(
            "time has values of different types: use numbers, dates, or sortable texts."
        ) from None


@dataclass(frozen=True, eq=False)
class TimeResult:
    """Changed and right predictions of each retraining, in time order and shuffled.

    Parameters
    ----------
    design : TimeDesign
        Windows and periods.
    n_test : ndarray of shape (retrainings,)
        Test rows of each retraining.
    changed : ndarray of shape (1 + shuffles, retrainings)
        Number of changed predictions; the first line is in time order.
    right : ndarray of the same shape
        Number of right predictions of the new model; of a quantity not a number.
    """

    design: TimeDesign
    n_test: Ints
    changed: Floats
    right: Floats

    @property
    def n_shuffles(self) -> int:
        """How often the rows were shuffled."""
        return len(self.changed) - 1

    @property
    def rates(self) -> Floats:
        """Share of changed predictions over all retrainings, in time order and shuffled."""
        return np.asarray(self.changed.sum(axis=1) / self.n_test.sum())

    @property
    def p_value(self) -> float:
        """Chance of this many changes or more if the order of the rows had no meaning; exact."""
        rates = self.rates
        return float((rates >= rates[0]).mean())

    @property
    def accuracies(self) -> Floats | None:
        """Accuracy of the new models, in time order and shuffled; None of a quantity."""
        shares = self.right.sum(axis=1) / self.n_test.sum()
        return None if np.isnan(shares).any() else np.asarray(shares)

    @property
    def accuracy_p_value(self) -> float | None:
        """Chance of so little accuracy or less if the order of the rows had no meaning; exact."""
        accuracies = self.accuracies
        return None if accuracies is None else float((accuracies <= accuracies[0]).mean())

    def in_time(self, delta: float) -> Estimate:
        """Share of changed predictions in time order.

        Given the two models of each retraining, the rows of the next period are new: exact
        limits for each retraining, which hold together.
        """
        lower, upper = binomial_limits(self.changed[0], self.n_test, delta / len(self.n_test))
        weights = self.n_test / self.n_test.sum()
        return Estimate(float(self.rates[0]), float(weights @ lower), float(weights @ upper))

    def shuffled(self, delta: float) -> Estimate:
        """Mean share of changed predictions over random orders of the same rows."""
        return mean_limits(self.rates[1:, np.newaxis], delta, within=(0.0, 1.0))


def measure_time(
    task: Task, design: TimeDesign, runner: Runner, tolerance: float | None
) -> TimeResult | None:
    """Retrain the baseline in time order and with the rows shuffled; None if it was not finished.

    Shuffles that were not finished are left out.
    """
    runs = range(design.n_retrainings + 1)
    jobs = {
        _name(design, shuffle, run): partial(_job, task, design, shuffle, run, runner.deadline)
        for shuffle in range(1 + N_SHUFFLES)
        for run in runs
    }
    runner.run_missing(jobs, "trainings in time order")
    kept = runner.store.finished
    shuffles = [
        shuffle
        for shuffle in range(1 + N_SHUFFLES)
        if all(_name(design, shuffle, run) in kept for run in runs)
    ]
    if shuffles[:1] != [0] or len(shuffles) < 2:
        return None
    n_test = np.array([len(design.test(design.rows, r)) for r in range(design.n_retrainings)])
    counts = []
    for shuffle in shuffles:
        outcomes = [kept[_name(design, shuffle, run)] for run in runs]
        order = design.order(shuffle, task.key)
        counts.append(_counted(task, design, order, outcomes, tolerance))
    changed, right = np.moveaxis(np.array(counts), 2, 0)
    return TimeResult(design, n_test, changed, right)


def _name(design: TimeDesign, shuffle: int, training: int) -> str:
    return f"time-{design.fingerprint}-{shuffle:02d}-{training:02d}.pair"


def _job(
    task: Task, design: TimeDesign, shuffle: int, training: int, deadline: float | None
) -> Job:
    order = design.order(shuffle, task.key)
    rows = design.training(order, training)
    return Job(
        contender=task.contenders[0],
        pair=0,
        key=task.key,
        samples=[(take_rows(task.X, rows), task.labels[rows], None)],
        points=take_rows(task.X, np.concatenate(_tests(design, order, training))),
        classes=task.classes,
        deadline=deadline,
    )


def _tests(design: TimeDesign, order: Ints, training: int) -> list[Ints]:
    """Test rows of the retrainings that a training takes part in: as the new one, as the old."""
    retrainings = (training - 1, training)
    none = np.zeros(0, dtype=np.intp)
    return [design.test(order, r) if 0 <= r < design.n_retrainings else none for r in retrainings]


def _counted(
    task: Task,
    design: TimeDesign,
    order: Ints,
    outcomes: list[PairOutcome],
    tolerance: float | None,
) -> list[tuple[float, float]]:
    """Count changed and right predictions of each retraining."""
    counts = []
    for retraining in range(design.n_retrainings):
        test = design.test(order, retraining)
        n_before = len(_tests(design, order, retraining)[0])
        old = outcomes[retraining].of_rows(slice(n_before, None))
        new = outcomes[retraining + 1].of_rows(slice(0, len(test)))
        right = np.nan
        if task.classes is not None and new.predictions is not None:
            right = float((task.classes[new.predictions[0]] == task.labels[test]).sum())
        counts.append((float(old.changes(new, tolerance).sum()), right))
    return counts
