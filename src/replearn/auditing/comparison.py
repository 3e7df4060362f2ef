"""Compare the predictions of two models on the same rows: what changes, for whom, is it better."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn._version import __version__
from replearn.auditing import _changed_rows, _update_page, _update_words
from replearn.auditing._changed_rows import ChangedRow
from replearn.auditing._contenders import is_replicable
from replearn.auditing._flip_rates import flip_rates
from replearn.auditing._golden_set import GoldenSet, check_golden_set, golden_rows
from replearn.auditing._group_flips import RowChanges, SubgroupFlips, subgroup_flips
from replearn.auditing._model_outputs import (
    ModelOutput,
    check_ids,
    check_quantity,
    check_rows,
    check_scores,
    model_output,
)
from replearn.auditing._paired_tests import PairedTest, compare_accuracy, paired_tests
from replearn.auditing._quantity_changes import (
    QuantityChanges,
    quantity_changes,
    quantity_tests,
)
from replearn.auditing._report import save_report
from replearn.auditing._row_limits import Mask, RowLimits
from replearn.auditing._score_changes import ScoreChanges, score_changes
from replearn.auditing._stability_index import StabilityIndex, column_shift, column_shifts
from replearn.auditing._statistics import (
    Estimate,
    NoModel,
    Predictions,
    Usefulness,
    as_json,
    has_changed,
    mean_limits,
    no_model,
    usefulness,
)
from replearn.auditing._swap_sets import SIDES, Approvals, Decisions, approvals
from replearn.auditing._table import as_text, factorize, make_subgroups
from replearn.learners import warn_if_trained_on
from replearn.records import (
    check_choice,
    check_count,
    check_fraction,
    check_positive,
    if_given,
    pretty_json,
)
from replearn.tables import import_pandas, n_rows

FORMAT = "replearn-update"
VERSION = 1
MAX_TRANSITIONS = 20
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Transition:
    """Number of rows whose prediction changes from one label to another."""

    a: str
    b: str
    rows: int


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """What was compared: the rows, both models, the truth."""

    X: Any
    models: tuple[Any, Any]
    ids: NDArray[Any] | None
    truth: NDArray[Any] | None
    scores: tuple[Floats, Floats] | None
    changed: Mask
    right: tuple[Mask, Mask] | None

    @property
    def worse(self) -> Mask | None:
        """Rows that become wrong."""
        return None if self.right is None else self.right[0] & ~self.right[1]

    @property
    def better(self) -> Mask | None:
        """Rows that become right."""
        return None if self.right is None else ~self.right[0] & self.right[1]


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison:
    """What changes for whom when model b replaces model a.

    Parameters
    ----------
    predictions_a, predictions_b : ndarray
        Predictions of both models for each row.
    compared : ComparedRows
        The rows, the models, and which rows change.
    flips : Estimate
        Share of rows with different predictions; exact limits over rows, or limits over groups.
    right_to_wrong, wrong_to_right : Estimate or None
        Shares of rows that change for the worse and for the better (negative and positive flip
        rate), if the truth is known.
    wrong_to_wrong : float or None
        Share of rows with two different wrong predictions.
    flip_ratio : Estimate or None
        Number of negative flips per positive one; None if there is no positive flip.
    trust_compatibility, error_compatibility : Estimate or None
        Share of the rows predicted correctly before that still are, and share of the rows
        predicted wrongly before that still are.
    accuracy_a, accuracy_b : float or None
        Accuracy of both models; of quantities, the share within the tolerance.
    usefulness_a, usefulness_b : Usefulness or None
        Balanced accuracy, AUC, recall and precision of each class, Brier score and log loss of both
        models, with limits over rows, if the truth is known.
    no_model : NoModel or None
        Scores of always predicting the most frequent class.
    p_value : float or None
        P-value for equal accuracy of both models, from McNemar's exact test or a test over groups.
    tests : tuple of PairedTest
        Paired tests of accuracy, AUC, Brier score and log loss, or of errors of quantities.
    by_subgroup, by_intersection : tuple of SubgroupFlips
        Flips by subgroup, and by the values of two columns, with corrected limits and tests.
    transitions : tuple of Transition
        How many rows change from which label to which, the most frequent first.
    quantity : QuantityChanges or None
        How far predicted quantities move.
    scores : ScoreChanges or None
        Bands, stability index, ranks and calibration of the scores of two classes.
    approvals : tuple of Approvals
        Approvals and swap sets: as both models predict (or at one threshold), and at the threshold
        that keeps the rate.
    columns : tuple of StabilityIndex
        Shift of each column against reference rows, and of each model's scores.
    golden_set : GoldenSet or None
        Rows that must not change, and those that do.
    comparable : str
        Whether the certificates of both models are those of comparable runs.
    expected_flips : float or None
        For comparable runs: flips averaged over keys (thresholds integrated out).
    n_groups : int or None
        Number of groups of rows that belong together.
    delta : float
        Each pair of limits fails with probability at most delta.
    """

    predictions_a: NDArray[Any]
    predictions_b: NDArray[Any]
    compared: ComparedRows
    flips: Estimate
    right_to_wrong: Estimate | None
    wrong_to_right: Estimate | None
    wrong_to_wrong: float | None
    flip_ratio: Estimate | None
    trust_compatibility: Estimate | None
    error_compatibility: Estimate | None
    accuracy_a: float | None
    accuracy_b: float | None
    usefulness_a: Usefulness | None
    usefulness_b: Usefulness | None
    no_model: NoModel | None
    p_value: float | None
    tests: tuple[PairedTest, ...]
    by_subgroup: tuple[SubgroupFlips, ...]
    by_intersection: tuple[SubgroupFlips, ...]
    transitions: tuple[Transition, ...]
    quantity: QuantityChanges | None
    scores: ScoreChanges | None
    approvals: tuple[Approvals, ...]
    columns: tuple[StabilityIndex, ...]
    golden_set: GoldenSet | None
    comparable: str
    expected_flips: float | None
    n_groups: int | None
    delta: float

    @property
    def flipped(self) -> NDArray[np.intp]:
        """Positions of the rows with different predictions."""
        return np.flatnonzero(self.compared.changed)

    def frame(self) -> Any:
        """Return a pandas DataFrame of the rows with different predictions."""
        rows = self.flipped
        compared = self.compared
        columns: dict[str, NDArray[Any]] = {"row": rows}
        if compared.ids is not None:
            columns["id"] = compared.ids[rows]
        columns |= {"a": self.predictions_a[rows], "b": self.predictions_b[rows]}
        if compared.truth is not None:
            columns["truth"] = compared.truth[rows]
        if compared.scores is not None:
            columns |= {f"score_{m}": s[rows] for m, s in zip("ab", compared.scores, strict=True)}
        return import_pandas().DataFrame(columns)

    def worst_subgroups(self) -> list[SubgroupFlips]:
        """Return the subgroups, sorted by the lower limit of their flip rate.

        By the lower limit, a group of three rows does not come first by chance.
        """
        return worst_first(self.by_subgroup)

    @cached_property
    def changed_rows(self) -> tuple[ChangedRow, ...]:
        """Up to 500 rows whose prediction changes, those that become wrong first, with reasons."""
        return _listed(self)

    def to_dict(self, *, values: bool = True) -> dict[str, Any]:
        """Return the numbers as JSON values; the schema is documented.

        Parameters
        ----------
        values : bool, default=True
            Whether to include the features of the rows that change, and reasons that name them.

        Returns
        -------
        dict
            See the page on the schema.
        """
        arrays = ("predictions_a", "predictions_b", "compared")
        shown = [f.name for f in fields(self) if f.name not in arrays]
        rows = [as_json(row) for row in self.changed_rows]
        if not values:
            rows = [{**row, "reason": "", "cells": []} for row in rows]
        found = {
            "format": FORMAT,
            "version": VERSION,
            "replearn": __version__,
            "rows": len(self.predictions_a),
            "changed": len(self.flipped),
            **{name: as_json(getattr(self, name)) for name in shown},
            "feature_names": _changed_rows.features_of(self.compared.X, np.arange(0))[0]
            if values
            else [],
            "changed_rows": rows,
        }
        return _finite(found)

    def to_json(self, *, values: bool = True) -> str:
        """Return everything as JSON text; parameters as in `to_dict`."""
        return pretty_json(self.to_dict(values=values))

    def to_html(self, gates: Any = (), *, values: bool = True, **names: str) -> str:
        """Return the report as one self-contained HTML page (needs jinja2).

        Parameters
        ----------
        gates : tuple of Gate, default=()
            The result of `update_gates`.
        values : bool, default=True
            Whether the features of the rows that change are shown.
        **names : str
            ``old``, ``new`` and ``data``: what the models and the rows are called.

        Returns
        -------
        str
            A page that opens from disk, and loads nothing from a network.
        """
        return _update_page.to_html(self, gates, values=values, **names)

    def to_markdown(self, gates: Any = (), **names: str) -> str:
        """Return a summary for a pull request; parameters as in `to_html`."""
        return _update_page.to_markdown(self, gates, **names)

    def save(
        self, path: str | os.PathLike[str], gates: Any = (), *, values: bool = True, **names: str
    ) -> None:
        """Write the report in the format of the suffix: .html, .json or .md.

        Parameters
        ----------
        path : path
            The file to write.
        gates, values, **names
            As in `to_html`.
        """
        judged = {"gates": [gate.to_dict() for gate in gates]}
        save_report(
            path,
            html=lambda: self.to_html(gates, values=values, **names),
            json=lambda: pretty_json({**self.to_dict(values=values), **judged}),
            md=lambda: self.to_markdown(gates, **names),
        )

    def __repr__(self) -> str:
        return f"ModelComparison({len(self.flipped)} of {len(self.predictions_a)} rows flip)"

    def __str__(self) -> str:
        return _update_words.to_text(self)


def worst_first(groups: tuple[SubgroupFlips, ...]) -> list[SubgroupFlips]:
    """Sort subgroups by the lower limit of their flips."""
    return sorted(groups, key=lambda group: (-group.lower, -group.value))


def _finite(value: Any) -> Any:
    """Replace infinite limits by None, which JSON knows."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def compare(  # noqa: PLR0913
    old: Any,
    new: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    ids: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    subgroups: Any = None,
    scores: Any = None,
    pos_label: Any = None,
    threshold: float | None = None,
    approved: str = "above",
    top_k: int | None = None,
    tolerance: float | None = None,
    reference: Any = None,
    must_not_change: Any = None,
    delta: float = 0.05,
) -> ModelComparison:
    """Compare two fitted models on the same rows.

    Parameters
    ----------
    old, new : fitted models, arrays of shape (n,), or MLflow URIs
        The model in use (a), and the one that would replace it (b); or their predictions for X; or
        texts such as ``"models:/credit/3"``, which require MLflow.
    X : array-like, frame, sparse matrix or list of text of shape (n, n_features), default=None
        Rows that neither model has learned from; None for arrays of predictions.
    y : array-like of shape (n,), default=None
        True labels, if they are known.
    ids : array-like of shape (n,), default=None
        Names of the rows, all different.
    groups : array-like of shape (n,), default=None
        Rows with the same value belong together (one patient, one prompt): limits and tests then
        treat groups as units, and are approximate.
    subgroups : "auto", None, list of column names, or dict of name to labels, default=None
        Flips are reported for each of them, and for intersections of two columns.
    scores : pair of arrays of shape (n,), default=None
        Probability of the positive label by the old and by the new model. If None, what
        ``predict_proba`` returns, if both models have it and there are two classes.
    pos_label : label, default=None
        The positive label. If None, the last one in sorted order.
    threshold : float, default=None
        Decision threshold on the scores of both models, for approvals and swap sets. If None, the
        predictions decide.
    approved : {"above", "below"}, default="above"
        Which side is approved: rows with the positive label (or with scores from the threshold on),
        or the others; "below" is for scores that are risks.
    top_k : int, default=None
        Compare this many rows with the highest scores.
    tolerance : float, default=None
        For quantities: predictions that differ by at least this much have changed, and predictions
        whose error is smaller are right.
    reference : array-like or frame, default=None
        Another sample of rows with the same columns, for the shift of each column relative to it.
    must_not_change : array-like or GoldenSet, default=None
        Rows whose predictions must not change: ids (positions without ``ids``), a mask, or a
        `GoldenSet` of other rows.
    delta : float, default=0.05
        Each pair of limits fails with probability at most delta.

    Returns
    -------
    ModelComparison
        Its limits are about other rows of the same population, for these two models. They say
        nothing about other trainings, which `audit` measures.

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
    check_fraction("delta", delta, one=False)
    _check_order(old, new)
    X = _rows_or_none(X, old)
    sides = model_output("old", old, X), model_output("new", new, X)
    warn_if_trained_on({"old": sides[0].model, "new": sides[1].model}, X)
    n = len(sides[0].labels)
    if n == 0:
        raise ValueError("X has no rows: there is nothing to compare.")
    truth = None if y is None else check_rows("y", y, n)
    codes = None if groups is None else factorize(check_rows("groups", groups, n))[1]
    limits = RowLimits(delta, codes)
    labels, changed, right, truth = _against_truth(sides, truth, tolerance)
    given_scores = None if scores is None else check_scores(scores, n)
    both_scores, label = _scores(sides, labels, truth, given_scores, pos_label, tolerance)
    compared = ComparedRows(
        X=X,
        models=(sides[0].model, sides[1].model),
        ids=None if ids is None else check_ids(ids, n),
        truth=truth,
        scores=both_scores,
        changed=changed,
        right=right,
    )
    settings = {
        "top_k": if_given(check_count, "top_k", top_k, most=n),
        "threshold": if_given(check_fraction, "threshold", threshold, zero=True),
        "approved": check_choice("approved", approved, SIDES),
    }
    single, double = subgroup_flips(
        make_subgroups(X, subgroups, np.arange(n)),
        RowChanges(changed, compared.worse, compared.better),
        limits,
    )
    verdict, same = _comparability(old, new)
    flips = limits.share(changed)
    assert flips is not None, "there are rows"
    return ModelComparison(
        predictions_a=labels[0],
        predictions_b=labels[1],
        compared=compared,
        flips=flips,
        **_of_truth(sides, compared, labels, label, limits, tolerance),
        **_of_scores(compared, labels, label, settings, limits),
        by_subgroup=single,
        by_intersection=double,
        transitions=() if tolerance is not None else _transitions(labels, changed),
        quantity=None if tolerance is None else quantity_changes(*labels, tolerance),
        columns=_shifts(compared, sides, label, reference),
        golden_set=_golden_set(must_not_change, compared, labels),
        comparable=verdict,
        expected_flips=_over_keys(old, new, X) if same else None,
        n_groups=None if codes is None else int(codes.max()) + 1,
        delta=delta,
    )


def _rows_or_none(X: Any, old: Any) -> Any:
    """Return X; for arrays of predictions without X, as many rows without columns."""
    if X is not None:
        return X
    if isinstance(old, str) or hasattr(old, "predict"):
        raise ValueError("X is None: models need rows to predict.")
    return np.empty((len(old), 0))


def _check_order(old: Any, new: Any) -> None:
    """Raise if two columns of pandas name the same rows in different orders."""
    if not (hasattr(old, "iloc") and hasattr(new, "iloc")) or old.index.equals(new.index):
        return
    is_permuted = len(old) == len(new) and old.index.is_unique and new.index.is_unique
    if is_permuted and bool(new.index.isin(old.index).all()):
        raise ValueError(
            "old and new have one index in different orders, but predictions are compared row by "
            "row: give new.reindex(old.index), or both without an index."
        )


Labels = tuple[NDArray[Any], NDArray[Any]]


def _against_truth(
    sides: tuple[ModelOutput, ModelOutput], truth: NDArray[Any] | None, tolerance: float | None
) -> tuple[Labels, Mask, tuple[Mask, Mask] | None, NDArray[Any] | None]:
    """Return predictions, which rows change, which are right before and after, and the truth."""
    if tolerance is not None:
        check_positive("tolerance", tolerance)
        old, new = (check_quantity(n, s.labels) for n, s in zip(("old", "new"), sides, strict=True))
        truth = None if truth is None else check_quantity("y", truth)
        changed = has_changed(old, new, tolerance)
        if truth is None:
            return (old, new), changed, None, None
        close = ~has_changed(old, truth, tolerance), ~has_changed(new, truth, tolerance)
        return (old, new), changed, close, truth
    old, new = (side.labels for side in sides)
    _check_kinds({"old": old, "new": new, **({} if truth is None else {"y": truth})})
    changed = has_changed(old, new)
    if truth is None:
        return (old, new), changed, None, None
    right = np.asarray(old == truth), np.asarray(new == truth)
    known = set(factorize(truth)[0])
    predicted = set(factorize(old)[0]) | set(factorize(new)[0])
    if not known & predicted:
        raise ValueError(
            f"no prediction is a label of y: predicted are {_few(predicted)}, y has {_few(known)}. "
            "Use the same labels everywhere."
        )
    return (old, new), changed, right, truth


def _check_kinds(columns: dict[str, NDArray[Any]]) -> None:
    """Raise if one column has as numbers what another one has as texts: nothing would be equal."""
    known = {name: set(factorize(column)[0]) for name, column in columns.items()}
    texts = {name: {v for v in labels if isinstance(v, str)} for name, labels in known.items()}
    for name, labels in known.items():
        numbers = labels - texts[name]
        written = {f"{v:g}" if isinstance(v, float) else str(v) for v in numbers}
        for other in known:
            if written & (texts[other] - texts[name]) and not numbers & known[other]:
                raise ValueError(
                    f"labels are numbers in {name} ({_few(labels)}) and texts in {other} "
                    f"({_few(known[other])}). Use one kind: {other}.astype(int), or "
                    f"{name}.astype(str)."
                )


def _few(labels: set[Any]) -> str:
    return ", ".join(sorted(map(repr, labels))[:5])


def _scores(
    sides: tuple[ModelOutput, ModelOutput],
    labels: Labels,
    truth: NDArray[Any] | None,
    given: tuple[Floats, Floats] | None,
    pos_label: Any,
    tolerance: float | None,
) -> tuple[tuple[Floats, Floats] | None, Any]:
    """Return scores of the positive label by both models, and that label; None without scores."""
    if tolerance is not None:
        return given, pos_label
    columns = [*labels, *([] if truth is None else [truth])]
    known = {label for column in columns for label in factorize(column)[0]}
    known |= {label for side in sides for label in side.classes}
    classes = sorted(known, key=lambda label: (str(type(label)), label))
    if pos_label is not None and pos_label not in known:
        raise ValueError(f"pos_label={pos_label!r} is not a label; the labels are {_few(known)}.")
    label = classes[-1] if pos_label is None else pos_label
    if given is not None:
        if len(classes) > 2:
            raise ValueError(
                f"scores are for two classes, but there are {len(classes)} labels: {_few(known)}."
            )
        if truth is not None and len(factorize(truth)[0]) < 2:
            raise ValueError(
                f"y has one class only ({truth[0]!r}): scores cannot be judged. Leave y or scores "
                "out, or add rows of the other class."
            )
        return given, label
    if len(classes) != 2 or any(label not in side.classes for side in sides):
        return None, label
    old, new = (_of_label(side, label) for side in sides)
    return (old, new), label


def _of_label(side: ModelOutput, label: Any) -> Floats:
    assert side.probabilities is not None
    return side.probabilities[:, side.classes.index(label)]


def _of_truth(
    sides: tuple[ModelOutput, ModelOutput],
    compared: ComparedRows,
    labels: Labels,
    pos_label: Any,
    limits: RowLimits,
    tolerance: float | None,
) -> dict[str, Any]:
    """Return the items of a comparison that need the truth; None each without it."""
    names = (
        *("right_to_wrong", "wrong_to_right", "wrong_to_wrong", "flip_ratio"),
        *("trust_compatibility", "error_compatibility", "accuracy_a", "accuracy_b"),
        *("usefulness_a", "usefulness_b", "no_model", "p_value"),
    )
    right = compared.right
    if right is None or compared.truth is None:
        return {**dict.fromkeys(names), "tests": ()}
    rates = flip_rates(*right, limits)
    found: dict[str, Any] = {
        **dict.fromkeys(names),
        "right_to_wrong": rates.negative,
        "wrong_to_right": rates.positive,
        "wrong_to_wrong": float((~right[0] & ~right[1] & compared.changed).mean()),
        "flip_ratio": rates.ratio,
        "trust_compatibility": rates.trust_compatibility,
        "error_compatibility": rates.error_compatibility,
        "accuracy_a": float(right[0].mean()),
        "accuracy_b": float(right[1].mean()),
    }
    if tolerance is not None:
        old, new = labels
        within = compare_accuracy(*right, limits, metric="share within the tolerance")
        found["tests"] = (within, *quantity_tests(old, new, compared.truth, limits))
    else:
        found |= _usefulness(sides, compared, pos_label, limits)
    return {**found, "p_value": found["tests"][0].p_value}


def _usefulness(
    sides: tuple[ModelOutput, ModelOutput],
    compared: ComparedRows,
    pos_label: Any,
    limits: RowLimits,
) -> dict[str, Any]:
    """Measure how useful both classifiers are, and test the differences."""
    assert compared.truth is not None
    assert compared.right is not None
    classes = _classes([compared.truth, *(side.labels for side in sides)])
    truth = _codes(compared.truth, classes)
    runs = tuple(
        _as_predictions(side, truth, classes, scores, pos_label)
        for side, scores in zip(sides, compared.scores or (None, None), strict=True)
    )
    mean = partial(mean_limits, delta=limits.delta, clusters=limits.groups)
    named = tuple(classes)
    return {
        "usefulness_a": usefulness(runs[0], named, mean),
        "usefulness_b": usefulness(runs[1], named, mean),
        "no_model": no_model(truth, named),
        "tests": paired_tests(*compared.right, (runs[0], runs[1]), limits),
    }


def _classes(columns: list[NDArray[Any]]) -> list[Any]:
    return np.unique(np.concatenate([np.array(factorize(c)[0]) for c in columns])).tolist()


def _codes(labels: NDArray[Any], classes: list[Any]) -> NDArray[np.intp]:
    distinct, codes = factorize(labels)
    return np.searchsorted(np.array(classes), np.array(distinct))[codes]


def _as_predictions(
    side: ModelOutput,
    truth: NDArray[np.intp],
    classes: list[Any],
    scores: Floats | None,
    pos_label: Any,
) -> Predictions:
    """One model as one run of one pair."""
    codes = _codes(side.labels, classes)
    shares = (codes[:, np.newaxis] == np.arange(len(classes))).astype(np.float64)
    table = None
    if side.probabilities is not None and np.isin(side.classes, classes).all():
        table = np.zeros_like(shares)
        table[:, np.searchsorted(classes, side.classes)] = side.probabilities
    elif side.probabilities is None and scores is not None and len(classes) == 2:
        of_positive = scores if classes[1] == pos_label else 1.0 - scores
        table = np.column_stack([1.0 - of_positive, of_positive])
    probabilities = None if table is None else table[np.newaxis, np.newaxis]
    return Predictions(truth, shares[np.newaxis, np.newaxis], probabilities)


def _of_scores(
    compared: ComparedRows,
    labels: Labels,
    pos_label: Any,
    settings: dict[str, Any],
    limits: RowLimits,
) -> dict[str, Any]:
    """Return the items of a comparison that need scores."""
    if compared.scores is None:
        if settings["top_k"] is not None:
            raise ValueError(f"top_k={settings['top_k']} requires scores of two classes.")
        return {"scores": None, "approvals": ()}
    events = None if compared.truth is None else np.asarray(compared.truth == pos_label)
    old, new = (np.asarray(side == pos_label) for side in labels)
    decisions = Decisions(compared.scores, (old, new), settings["threshold"], settings["approved"])
    # Predicted quantities approve nobody.
    decides = pos_label is not None or settings["threshold"] is not None
    return {
        "scores": score_changes(compared.scores, str(pos_label), events, settings["top_k"]),
        "approvals": approvals(decisions, events, limits) if decides else (),
    }


def _transitions(labels: Labels, changed: Mask) -> tuple[Transition, ...]:
    pairs = Counter(zip(*(side[changed].tolist() for side in labels), strict=True))
    ranked = sorted(pairs.items(), key=lambda item: (-item[1], str(item[0])))
    return tuple(Transition(str(a), str(b), n) for (a, b), n in ranked[:MAX_TRANSITIONS])


def _shifts(
    compared: ComparedRows, sides: tuple[ModelOutput, ModelOutput], pos_label: Any, reference: Any
) -> tuple[StabilityIndex, ...]:
    """Compare columns, and the scores of models, with those of reference rows."""
    if reference is None:
        return ()
    if n_rows(reference) == 0:
        raise ValueError("reference has no rows.")
    found = [*column_shifts(compared.X, reference)]
    if compared.scores is not None:
        for side, name, scores in zip(sides, ("old", "new"), compared.scores, strict=True):
            if side.model is not None:
                others = _of_label(model_output(name, side.model, reference), pos_label)
                found.append(column_shift(f"scores of the {name} model", scores, others))
    return tuple(found)


def _golden_set(wanted: Any, compared: ComparedRows, labels: Labels) -> GoldenSet | None:
    if wanted is None or isinstance(wanted, GoldenSet):
        return wanted
    rows = golden_rows(wanted, compared.ids, len(labels[0]))
    names = rows if compared.ids is None else compared.ids[rows]
    old, new = (side[rows].tolist() for side in labels)
    return check_golden_set(names.tolist(), old, new, compared.changed[rows].tolist())


def _comparability(model_a: Any, model_b: Any) -> tuple[str, bool]:
    """Tell, in words and as a truth value, whether two fitted models are comparable runs."""
    if not (hasattr(model_a, "certificate_") and hasattr(model_b, "certificate_")):
        return "unknown: not both models have a certificate", False
    verdict = model_a.certificate_.comparable(model_b.certificate_)
    return str(verdict), bool(verdict)


def _over_keys(model_a: Any, model_b: Any, X: Any) -> float | None:
    both = is_replicable(model_a) and is_replicable(model_b)
    if not both or len(model_a.classes_) != 2:
        return None
    # theorem: pointwise-threshold
    gaps = np.abs(model_a.explain(X).response - model_b.explain(X).response)
    return float(gaps.mean())


def _listed(found: ModelComparison) -> tuple[ChangedRow, ...]:
    """List rows that change, with their cells and reasons."""
    compared = found.compared
    moved = None if compared.scores is None else np.abs(compared.scores[1] - compared.scores[0])
    if found.quantity is not None:
        moved = np.abs(found.predictions_b - found.predictions_a)
    ranked = _changed_rows.ranked_rows(compared.changed, compared.worse, moved)
    rows = ranked[: _changed_rows.MAX_ROWS]
    _, cells = _changed_rows.features_of(compared.X, rows)
    labels = np.zeros(len(found.predictions_a)) if found.quantity else found.predictions_a
    reasons = _changed_rows.row_reasons(
        compared.models[1], compared.X, rows, labels, compared.changed
    )
    return tuple(
        ChangedRow(
            row=int(row),
            id=str(row if compared.ids is None else compared.ids[row]),
            a=as_text(found.predictions_a[row]),
            b=as_text(found.predictions_b[row]),
            truth=None if compared.truth is None else as_text(compared.truth[row]),
            change=_kind(compared, int(row)),
            score_a=None if compared.scores is None else float(compared.scores[0][row]),
            score_b=None if compared.scores is None else float(compared.scores[1][row]),
            reason=reason,
            cells=tuple(own),
        )
        for row, reason, own in zip(rows.tolist(), reasons, cells, strict=True)
    )


def _kind(compared: ComparedRows, row: int) -> str:
    if compared.right is None:
        return _changed_rows.CHANGES
    before, after = (bool(side[row]) for side in compared.right)
    if before:
        return _changed_rows.RIGHT_TO_RIGHT if after else _changed_rows.RIGHT_TO_WRONG
    return _changed_rows.WRONG_TO_RIGHT if after else _changed_rows.WRONG_TO_WRONG
