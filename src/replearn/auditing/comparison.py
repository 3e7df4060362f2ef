"""Compare the predictions of two fitted models on the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from replearn.auditing._columns import make_subgroups
from replearn.auditing._contenders import is_replicable
from replearn.auditing._statistics import Estimate, GroupFlips, as_json, mean_limits
from replearn.auditing._usefulness import (
    NoModel,
    Predictions,
    Usefulness,
    no_model,
    usefulness,
)
from replearn.bounds import binomial_limits
from replearn.records import two_columns
from replearn.tables import copy_rows, import_pandas, n_rows

_OF_TRUTH = (
    *("right_to_wrong", "wrong_to_right", "wrong_to_wrong", "accuracy_a", "accuracy_b"),
    *("usefulness_a", "usefulness_b", "no_model", "p_value"),
)


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison:
    """What changes for whom when model b replaces model a.

    Parameters
    ----------
    predictions_a, predictions_b : ndarray
        Predictions of both models for each row.
    flips : Estimate
        Share of rows with different predictions; exact limits over rows.
    right_to_wrong, wrong_to_right : Estimate or None
        Shares of rows that change for the worse and for the better, when the truth is known.
    wrong_to_wrong : float or None
        Share of rows with two different wrong predictions.
    accuracy_a, accuracy_b : float or None
        Accuracy of both models.
    usefulness_a, usefulness_b : Usefulness or None
        Balanced accuracy, AUC, recall and precision of each class, Brier score, log-loss of both
        models, with limits over rows; when the truth is known.
    no_model : NoModel or None
        What always predicting the most frequent class would score.
    p_value : float or None
        Of McNemar's exact test: both models are equally accurate.
    by_subgroup : tuple of GroupFlips
        Flips by subgroup, with exact limits.
    comparable : str
        Whether the certificates of both models are those of comparable runs.
    expected_flips : float or None
        For comparable runs: flips averaged over keys (thresholds integrated out).
    delta : float
        Each pair of limits fails with probability at most delta.
    """

    predictions_a: NDArray[Any]
    predictions_b: NDArray[Any]
    flips: Estimate
    right_to_wrong: Estimate | None
    wrong_to_right: Estimate | None
    wrong_to_wrong: float | None
    accuracy_a: float | None
    accuracy_b: float | None
    usefulness_a: Usefulness | None
    usefulness_b: Usefulness | None
    no_model: NoModel | None
    p_value: float | None
    by_subgroup: tuple[GroupFlips, ...]
    comparable: str
    expected_flips: float | None
    delta: float

    @property
    def flipped(self) -> NDArray[np.intp]:
        """Positions of the rows with different predictions."""
        return np.flatnonzero(self.predictions_a != self.predictions_b)

    def frame(self) -> Any:
        """Return a pandas DataFrame of the rows with different predictions."""
        rows = self.flipped
        return import_pandas().DataFrame(
            {"row": rows, "a": self.predictions_a[rows], "b": self.predictions_b[rows]}
        )

    def worst_subgroups(self) -> list[GroupFlips]:
        """Return the subgroups, those first whose flips are shown to be most frequent.

        By the lower limit, so that a group of three rows does not come first by chance.
        """
        return sorted(self.by_subgroup, key=lambda g: (-g.lower, -g.value))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON values."""
        shown = [f.name for f in fields(self) if f.name not in ("predictions_a", "predictions_b")]
        items = {name: as_json(getattr(self, name)) for name in shown}
        return {"rows": len(self.predictions_a), **items}

    def __repr__(self) -> str:
        return f"ModelComparison({len(self.flipped)} of {len(self.predictions_a)} rows flip)"

    def __str__(self) -> str:
        lines = [("flips", str(self.flips))]
        if self.right_to_wrong is not None:
            lines += [
                ("right to wrong", str(self.right_to_wrong)),
                ("wrong to right", str(self.wrong_to_right)),
            ]
        lines += self._useful_lines()
        if self.expected_flips is not None:
            lines.append(("over all keys", f"{self.expected_flips:.2%}"))
        groups = [(group.name, f"{group}, {group.rows} rows") for group in self.worst_subgroups()]
        return two_columns([*lines, ("comparable", self.comparable), *groups])

    def _useful_lines(self) -> list[tuple[str, str]]:
        """Accuracy and its relatives of a and b, beside those of no model at all."""
        one = self.usefulness_a
        two = self.usefulness_b
        none = self.no_model
        if one is None or two is None or none is None:
            return []
        always = f"always {none.label!r}"
        lines = [
            ("accuracy", one.accuracy, two.accuracy, f"{always}: {none.accuracy:.2%}"),
            ("balanced accuracy", one.balanced_accuracy, two.balanced_accuracy, ""),
            *_class_lines(one, two),
            ("AUC", one.auc, two.auc, f"{always}: 0.5"),
            ("Brier score", one.brier, two.brier, f"class shares: {none.brier:.3f}"),
            ("log-loss", one.log_loss, two.log_loss, f"class shares: {none.log_loss:.3f}"),
        ]
        shown = [
            (name, "; ".join(filter(None, (f"a {_text(name, a)}, b {_text(name, b)}", more))))
            for name, a, b, more in lines
            if a is not None or b is not None
        ]
        return shown + [
            ("note", f"model {which} predicts {str(useful.constant)!r} for nearly every row")
            for which, useful in (("a", one), ("b", two))
            if useful.constant is not None
        ]


def _class_lines(one: Usefulness, two: Usefulness) -> list[tuple[str, Any, Any, str]]:
    """Recall and precision of the rarer class; of several classes, the recall of each."""
    pairs = list(zip(one.classes, two.classes, strict=True))
    if len(pairs) > 2:
        return [(f"recall of {str(a.label)!r}", a.recall, b.recall, "") for a, b in pairs]
    a, b = min(pairs, key=lambda pair: pair[0].rows)
    label = str(a.label)
    rows = f"{a.rows} rows"
    return [
        (f"recall of {label!r}", a.recall, b.recall, rows),
        (f"precision of {label!r}", a.precision, b.precision, ""),
    ]


def _text(name: str, estimate: Estimate | None) -> str:
    if estimate is None:
        return "none"
    return f"{estimate:.3f}" if name in ("AUC", "Brier score", "log-loss") else str(estimate)


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
    model_a, model_b : fitted classifiers, or arrays of shape (n,)
        The model in use, and the one that would replace it; or what they predict for X.
    X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
        Rows that neither model has learned from.
    y : array-like of shape (n,), default=None
        True labels, where they are known.
    subgroups : "auto", None, list of column names, or dict of name to labels, default=None
        Flips are reported for each.
    delta : float, default=0.05
        Each pair of limits fails with probability at most delta.

    Returns
    -------
    ModelComparison
        The limits are about other rows of the same population, for these two models; they say
        nothing about other trainings (that is what `audit` measures).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from replearn.auditing import compare
    >>> X, y = make_classification(3000, flip_y=0.2, random_state=0)
    >>> one, two = GaussianNB().fit(X[:500], y[:500]), GaussianNB().fit(X[500:1000], y[500:1000])
    >>> flips = compare(one, two, X[1000:], y[1000:]).flips
    >>> 0.02 < flips.lower < flips.value < flips.upper < 0.1
    True
    """
    labels_a = _predictions("model_a", model_a, X)
    labels_b = _predictions("model_b", model_b, X)
    differ = labels_a != labels_b
    verdict, same = _comparability(model_a, model_b)
    return ModelComparison(
        predictions_a=labels_a,
        predictions_b=labels_b,
        flips=_share(differ, delta),
        **_against_truth((model_a, labels_a), (model_b, labels_b), X, y, delta),
        by_subgroup=tuple(_by_subgroup(X, subgroups, differ, delta)),
        comparable=verdict,
        expected_flips=_over_keys(model_a, model_b, X) if same else None,
        delta=delta,
    )


def _predictions(name: str, model: Any, X: Any) -> NDArray[Any]:
    """Return what a model predicts, or the predictions that were passed instead of it."""
    if hasattr(model, "predict"):
        return np.asarray(model.predict(copy_rows(X)))
    labels = np.asarray(model)
    if labels.shape != (n_rows(X),):
        raise ValueError(
            f"{name} has no predict, and is not one prediction for each of the {n_rows(X)} rows of "
            f"X: its shape is {labels.shape}."
        )
    return labels


def _comparability(model_a: Any, model_b: Any) -> tuple[str, bool]:
    """Tell, in words and as a truth value, whether two fitted models are comparable runs."""
    if not (hasattr(model_a, "certificate_") and hasattr(model_b, "certificate_")):
        return "unknown: not both models have a certificate", False
    verdict = model_a.certificate_.comparable(model_b.certificate_)
    return str(verdict), bool(verdict)


def _share(which: NDArray[np.bool_], delta: float) -> Estimate:
    lower, upper = binomial_limits(int(which.sum()), len(which), delta)
    return Estimate(float(which.mean()), float(lower), float(upper))


def _against_truth(
    one: tuple[Any, NDArray[Any]],
    two: tuple[Any, NDArray[Any]],
    X: Any,
    y: ArrayLike | None,
    delta: float,
) -> dict[str, Any]:
    """Return the items of a comparison that need the truth; None each without it."""
    if y is None:
        return dict.fromkeys(_OF_TRUTH)
    labels = np.asarray(y)
    if labels.shape != one[1].shape:
        raise ValueError(f"y has shape {labels.shape}, but X has {len(one[1])} rows.")
    right_a = one[1] == labels
    right_b = two[1] == labels
    worse = right_a & ~right_b
    better = ~right_a & right_b
    changed = int(worse.sum() + better.sum())
    classes = np.unique(np.concatenate([labels, one[1], two[1]]))
    truth = np.searchsorted(classes, labels)
    named = tuple(classes.tolist())
    found = (
        _share(worse, delta),
        _share(better, delta),
        float((~right_a & ~right_b & (one[1] != two[1])).mean()),
        float(right_a.mean()),
        float(right_b.mean()),
        *(
            usefulness(
                _as_predictions(*side, X, truth, classes), named, partial(mean_limits, delta=delta)
            )
            for side in (one, two)
        ),
        no_model(truth, named),
        float(stats.binomtest(int(worse.sum()), changed).pvalue) if changed else 1.0,
    )
    return dict(zip(_OF_TRUTH, found, strict=True))


def _as_predictions(
    model: Any, predictions: NDArray[Any], X: Any, truth: NDArray[np.intp], classes: NDArray[Any]
) -> Predictions:
    """One model as one run of one pair."""
    shares = (predictions[:, np.newaxis] == classes).astype(np.float64)
    probabilities = None
    if hasattr(model, "predict_proba") and np.isin(model.classes_, classes).all():
        probabilities = np.zeros_like(shares)
        indices = np.searchsorted(classes, model.classes_)
        probabilities[:, indices] = model.predict_proba(copy_rows(X))
        probabilities = probabilities[np.newaxis, np.newaxis]
    return Predictions(truth, shares[np.newaxis, np.newaxis], probabilities)


def _by_subgroup(
    X: Any, wanted: Any, differ: NDArray[np.bool_], delta: float
) -> Iterator[GroupFlips]:
    for name, (levels, indices) in make_subgroups(X, wanted, np.arange(n_rows(X))).items():
        for index, level in enumerate(levels):
            here = indices == index
            share = _share(differ[here], delta)
            yield GroupFlips(**vars(share), subgroup=name, level=level, rows=int(here.sum()))


def _over_keys(model_a: Any, model_b: Any, X: Any) -> float | None:
    both = is_replicable(model_a) and is_replicable(model_b)
    if not both or len(model_a.classes_) != 2:
        return None
    # theorem: pointwise-threshold
    gaps = np.abs(model_a.explain(X).response - model_b.explain(X).response)
    return float(gaps.mean())
