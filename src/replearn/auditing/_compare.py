"""Two models that exist: champion and challenger on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from replearn.auditing._columns import make_subgroups
from replearn.auditing._contenders import is_replicable
from replearn.auditing._statistics import Estimate
from replearn.bounds import binomial_limits
from replearn.records.text import two_columns
from replearn.tables import n_rows


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison:
    """What changes for whom when model b replaces model a.

    Parameters
    ----------
    answers_a, answers_b : ndarray
        Answers to each row.
    flips : Estimate
        Share of rows that are answered differently; exact limits over rows.
    right_to_wrong, wrong_to_right : Estimate or None
        Shares of rows that change for the worse and for the better, when the truth is known.
    wrong_to_wrong : float or None
        Share of rows with two different wrong answers.
    accuracy_a, accuracy_b : float or None
        Shares of right answers.
    chance : float or None
        Probability of so unequal numbers of good and bad flips if both models were equally good
        (McNemar's exact test).
    by_subgroup : tuple of dict
        Flips by subgroup, with exact limits.
    promise : str
        Whether both models belong to one promise of replicability.
    expected_flips : float or None
        For two models of one promise: flips averaged over keys (thresholds integrated out).
    delta : float
        Each pair of limits fails with probability at most delta.
    """

    answers_a: NDArray[Any]
    answers_b: NDArray[Any]
    flips: Estimate
    right_to_wrong: Estimate | None
    wrong_to_right: Estimate | None
    wrong_to_wrong: float | None
    accuracy_a: float | None
    accuracy_b: float | None
    chance: float | None
    by_subgroup: tuple[dict[str, Any], ...]
    promise: str
    expected_flips: float | None
    delta: float

    @property
    def flipped(self) -> NDArray[np.intp]:
        """Positions of the rows that are answered differently."""
        return np.flatnonzero(self.answers_a != self.answers_b)

    def frame(self) -> Any:
        """Return a pandas DataFrame of the rows that are answered differently."""
        import pandas as pd

        rows = self.flipped
        return pd.DataFrame({"row": rows, "a": self.answers_a[rows], "b": self.answers_b[rows]})

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON values."""
        return {
            "rows": len(self.answers_a),
            "flips": self.flips.to_dict(),
            "right_to_wrong": None
            if self.right_to_wrong is None
            else self.right_to_wrong.to_dict(),
            "wrong_to_right": None
            if self.wrong_to_right is None
            else self.wrong_to_right.to_dict(),
            "wrong_to_wrong": self.wrong_to_wrong,
            "accuracy_a": self.accuracy_a,
            "accuracy_b": self.accuracy_b,
            "chance": self.chance,
            "by_subgroup": [dict(line) for line in self.by_subgroup],
            "promise": self.promise,
            "expected_flips": self.expected_flips,
            "delta": self.delta,
        }

    def __repr__(self) -> str:
        return f"ModelComparison({len(self.flipped)} of {len(self.answers_a)} rows flip)"

    def __str__(self) -> str:
        lines = [("flips", _in_words(self.flips))]
        if self.right_to_wrong is not None and self.wrong_to_right is not None:
            lines += [
                ("right to wrong", _in_words(self.right_to_wrong)),
                ("wrong to right", _in_words(self.wrong_to_right)),
                ("accuracy", f"{self.accuracy_a:.2%} and {self.accuracy_b:.2%}"),
            ]
        if self.expected_flips is not None:
            lines.append(("over all keys", f"{self.expected_flips:.2%}"))
        return two_columns([*lines, ("promise", self.promise)])


def _plain(estimate: Estimate | None) -> dict[str, float] | None:
    return None if estimate is None else estimate.to_dict()


def _in_words(estimate: Estimate) -> str:
    return f"{estimate.value:.2%} ({estimate.lower:.2%} to {estimate.upper:.2%})"


def compare(
    model_a: Any,
    model_b: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    subgroups: Any = None,
    delta: float = 0.05,
) -> ModelComparison:
    """Compare two fitted models on the same rows.

    Parameters
    ----------
    model_a, model_b : fitted classifiers
        The model in use, and the one that would replace it.
    X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
        Rows that neither model has learned from.
    y : array-like of shape (n,), default=None
        The truth, where it is known.
    subgroups : "auto", None, list of column names, or dict of name to labels, default=None
        Flips are told for each.
    delta : float, default=0.05
        Each pair of limits fails with probability at most delta.

    Returns
    -------
    ModelComparison
        The limits are about other rows of the same population, for these two models; about other
        trainings they say nothing (that is what `audit` measures).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from replearn.auditing import compare
    >>> X, y = make_classification(3000, flip_y=0.2, random_state=0)
    >>> one, two = GaussianNB().fit(X[:500], y[:500]), GaussianNB().fit(X[500:1000], y[500:1000])
    >>> found = compare(one, two, X[1000:], y[1000:])
    >>> 0.02 < found.flips.lower < found.flips.value < found.flips.upper < 0.1
    True
    """
    answers_a, answers_b = np.asarray(model_a.predict(X)), np.asarray(model_b.predict(X))
    differ = answers_a != answers_b
    promise, same = _promise(model_a, model_b)
    return ModelComparison(
        answers_a=answers_a,
        answers_b=answers_b,
        flips=_share(differ, delta),
        **_against_truth(answers_a, answers_b, y, delta),
        by_subgroup=tuple(_by_subgroup(X, subgroups, differ, delta)),
        promise=promise,
        expected_flips=_over_keys(model_a, model_b, X) if same else None,
        delta=delta,
    )


def _share(which: NDArray[np.bool_], delta: float) -> Estimate:
    lower, upper = binomial_limits(int(which.sum()), len(which), delta)
    return Estimate(float(which.mean()), float(lower), float(upper))


def _against_truth(
    answers_a: NDArray[Any], answers_b: NDArray[Any], y: ArrayLike | None, delta: float
) -> dict[str, Any]:
    names = ("right_to_wrong", "wrong_to_right", "wrong_to_wrong")
    if y is None:
        return dict.fromkeys((*names, "accuracy_a", "accuracy_b", "chance"))
    truth = np.asarray(y)
    if truth.shape != answers_a.shape:
        raise ValueError(f"y has shape {truth.shape}, but X has {len(answers_a)} rows.")
    right_a, right_b = answers_a == truth, answers_b == truth
    worse, better = right_a & ~right_b, ~right_a & right_b
    changed = int(worse.sum() + better.sum())
    return {
        "right_to_wrong": _share(worse, delta),
        "wrong_to_right": _share(better, delta),
        "wrong_to_wrong": float((~right_a & ~right_b & (answers_a != answers_b)).mean()),
        "accuracy_a": float(right_a.mean()),
        "accuracy_b": float(right_b.mean()),
        "chance": float(stats.binomtest(int(worse.sum()), changed).pvalue) if changed else 1.0,
    }


def _by_subgroup(X: Any, wanted: Any, differ: NDArray[np.bool_], delta: float) -> Any:
    for name, (levels, places) in make_subgroups(X, wanted, np.arange(n_rows(X))).items():
        for place, level in enumerate(levels):
            here = places == place
            yield {
                "subgroup": name,
                "level": level,
                "rows": int(here.sum()),
                **_share(differ[here], delta).to_dict(),
            }


def _promise(model_a: Any, model_b: Any) -> tuple[str, bool]:
    if not (hasattr(model_a, "certificate_") and hasattr(model_b, "certificate_")):
        return "none: not both models have a certificate", False
    compared = model_a.certificate_.comparable(model_b.certificate_)
    return str(compared), bool(compared)


def _over_keys(model_a: Any, model_b: Any, X: Any) -> float | None:
    both = is_replicable(model_a) and is_replicable(model_b)
    if not both or len(model_a.classes_) != 2:
        return None
    # theorem: pointwise-threshold
    gaps = np.abs(model_a.explain(X).law_value - model_b.explain(X).law_value)
    return float(gaps.mean())
