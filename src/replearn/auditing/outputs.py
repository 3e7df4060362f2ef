"""What two models predict for the same rows: labels or quantities, probabilities, scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.auditing.facts import factorize
from replearn.auditing.metrics import Labels, Quantities
from replearn.records.checks import check_positive
from replearn.tables.rows import copy_rows, n_rows

Floats = NDArray[np.float64]
MLFLOW_SCHEMES = ("models:/", "runs:/", "mlflow-artifacts:/")


@dataclass(frozen=True, eq=False)
class ModelOutput:
    """What one model predicts.

    Parameters
    ----------
    model : object or None
        The fitted model; None if predictions were passed instead.
    labels : ndarray of shape (n,)
        Predictions.
    probabilities : ndarray of shape (n, n_classes) or None
        What ``predict_proba`` returns.
    """

    model: Any
    labels: NDArray[Any]
    probabilities: Floats | None

    @property
    def classes(self) -> list[Any]:
        """The labels that the probabilities are of."""
        return [] if self.probabilities is None else np.asarray(self.model.classes_).tolist()


def model_output(name: str, model: Any, X: Any) -> ModelOutput:
    """Let a model predict, or take the predictions that were passed instead of it.

    >>> model_output("old", [0, 1], np.zeros((2, 1))).labels.tolist()
    [0, 1]
    """
    if isinstance(model, str):
        model = load_from_mlflow(name, model)
    if not hasattr(model, "predict"):
        return ModelOutput(None, _checked_labels(name, model, X), None)
    labels = _checked_labels(name, labels_of(model.predict(copy_rows(X))), X)
    probabilities = None
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(model.predict_proba(copy_rows(X)), dtype=np.float64)
    return ModelOutput(model, labels, probabilities)


def labels_of(predictions: Any) -> NDArray[Any]:
    """Return the labels alone, of a frame with other columns beside ``prediction`` too.

    >>> labels_of([1, 0]).tolist()
    [1, 0]
    """
    columns = getattr(predictions, "columns", ())
    return np.asarray(predictions["prediction"] if "prediction" in columns else predictions)


def _checked_labels(name: str, predictions: Any, X: Any) -> NDArray[Any]:
    labels = np.asarray(predictions)
    if labels.shape != (n_rows(X),):
        raise ValueError(
            f"{name} has no predict, and is not one prediction for each of the {n_rows(X)} rows of "
            f"X: its shape is {labels.shape}."
        )
    return labels


def load_from_mlflow(name: str, uri: str) -> Any:
    """Load a model from an MLflow URI such as ``models:/credit/3``.

    Loading runs code of the model: load models that you trust.
    """
    if not uri.startswith(MLFLOW_SCHEMES):
        raise ValueError(
            f"{name}={uri!r} is a text, but not the URI of an MLflow model, which begins with "
            f"{' or '.join(MLFLOW_SCHEMES)}. Load a model file with replearn.load first."
        )
    try:
        from mlflow import pyfunc
    except ImportError as error:
        raise ImportError(
            f"{name}={uri!r} requires MLflow: pip install 'replicable-learn[mlflow]'."
        ) from error
    loaded = pyfunc.load_model(uri)
    # Probabilities and their classes are those of the scikit-learn estimator inside.
    try:
        inner = loaded.get_raw_model()
    except (AttributeError, NotImplementedError):
        return loaded
    return inner if hasattr(inner, "predict_proba") and hasattr(inner, "classes_") else loaded


def check_rows(name: str, values: ArrayLike, n: int) -> NDArray[Any]:
    """Return one value per row.

    >>> check_rows("groups", [1, 2], 2).tolist()
    [1, 2]
    """
    column = np.asarray(values)
    if column.shape != (n,):
        raise ValueError(f"{name} has shape {column.shape}, but X has {n} rows.")
    return column


def check_ids(ids: ArrayLike, n: int) -> NDArray[Any]:
    """Return one id per row; all must be different.

    >>> check_ids(["a", "b"], 2).tolist()
    ['a', 'b']
    """
    column = check_rows("ids", ids, n)
    seen: set[Any] = set()
    for name in column.tolist():
        if name in seen:
            raise ValueError(f"ids: {name!r} occurs more than once; ids must be different.")
        seen.add(name)
    return column


def check_scores(scores: Any, n: int, n_runs: tuple[int, int] = (1, 1)) -> tuple[Floats, Floats]:
    """Return the scores of both models, one line per run: probabilities of the positive label.

    >>> [side.tolist() for side in check_scores(([0.2], [0.4]), 1)]
    [[[0.2]], [[0.4]]]
    """
    if not isinstance(scores, tuple | list) or len(scores) != 2:
        raise ValueError("scores must be a pair: scores of the old and of the new model.")
    old, new = (
        _checked_scores(f"scores[{index}]", side, n, n_runs[index])
        for index, side in enumerate(scores)
    )
    return old, new


def _checked_scores(name: str, values: Any, n: int, n_runs: int) -> Floats:
    table = np.asarray(values)
    table = table[np.newaxis] if table.ndim == 1 else table
    if table.shape != (n_runs, n):
        raise ValueError(
            f"{name} has shape {table.shape}, but there are {n_runs} runs of {n} rows."
        )
    try:
        numbers = table.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {table.dtype}.") from None
    bad = np.argwhere(~((numbers >= 0.0) & (numbers <= 1.0)))
    if len(bad):
        raise ValueError(
            f"{name} must lie in [0, 1]: row {bad[0, 1]} has {numbers[tuple(bad[0])]:g} "
            f"({len(bad)} of {n} rows lie outside). Scores are probabilities of the positive label."
        )
    return numbers


def check_quantity(name: str, values: NDArray[Any]) -> Floats:
    """Return predictions as finite numbers.

    >>> check_quantity("old", np.array([1, 2])).tolist()
    [1.0, 2.0]
    """
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite numbers where a tolerance is given.")
    return numbers


# -- labels, quantities, scores --------------------------------------------------------------------
def labels_of_outputs(
    outputs: list[ModelOutput],
    truth: NDArray[Any] | None,
    scores: tuple[Floats, Floats] | None,
    pos_label: Any,
) -> Labels:
    """Put the predictions of all runs together; the first axis is the run."""
    columns = [output.labels for output in outputs]
    _check_kinds(columns, truth)
    labels = {label for column in columns for label in factorize(column)[0]}
    known = labels if truth is None else labels | set(factorize(truth)[0])
    known |= {label for output in outputs for label in output.classes}
    classes = sorted(known, key=lambda label: (str(type(label)), label))
    if pos_label is not None and pos_label not in known:
        raise ValueError(f"pos_label={pos_label!r} is not a label; the labels are {_few(known)}.")
    if truth is not None and not labels & set(factorize(truth)[0]):
        raise ValueError(
            f"no prediction is a label of y: predicted are {_few(labels)}, y has "
            f"{_few(set(factorize(truth)[0]))}. Use the same labels everywhere."
        )
    if scores is not None:
        probabilities = _of_scores(scores, classes, truth, pos_label)
    elif all(output.probabilities is not None for output in outputs):
        probabilities = np.stack([_in_order(output, classes) for output in outputs])
    else:
        probabilities = None
    return Labels(
        classes=tuple(classes),
        codes=np.stack([_codes(column, classes) for column in columns]).astype(np.int32),
        truth=None if truth is None else _codes(truth, classes),
        probabilities=probabilities,
    )


def _codes(labels: NDArray[Any], classes: list[Any]) -> NDArray[np.intp]:
    distinct, codes = factorize(labels)
    places = {_key(label): index for index, label in enumerate(classes)}
    return np.array([places[_key(label)] for label in distinct], dtype=np.intp)[codes]


def _key(label: Any) -> Any:
    """A missing label is equal to another missing one."""
    return None if label != label else label


def _in_order(output: ModelOutput, classes: list[Any]) -> Floats:
    """Return probabilities in the order of all classes."""
    assert output.probabilities is not None
    table = np.zeros((len(output.labels), len(classes)))
    table[:, [classes.index(label) for label in output.classes]] = output.probabilities
    return table


def _of_scores(
    scores: tuple[Floats, Floats], classes: list[Any], truth: NDArray[Any] | None, pos_label: Any
) -> Floats:
    """Return the probabilities of both labels by all runs."""
    if len(classes) > 2:
        raise ValueError(
            f"scores are for two classes, but there are {len(classes)} labels: "
            f"{_few(set(classes))}."
        )
    if truth is not None and len(factorize(truth)[0]) < 2:
        raise ValueError(
            f"y has one class only ({truth[0]!r}): scores cannot be judged. Leave y or scores "
            "out, or add rows of the other class."
        )
    of_positive = np.concatenate(scores)
    is_first = len(classes) == 2 and pos_label == classes[0]
    parts = [1.0 - of_positive, of_positive]
    return np.stack(parts[::-1] if is_first else parts, axis=-1)


def quantities_of_outputs(
    outputs: list[ModelOutput], truth: NDArray[Any] | None, tolerance: float
) -> Quantities:
    """Put the predicted quantities of all runs together; the first axis is the run."""
    check_positive("tolerance", tolerance)
    return Quantities(
        tolerance=tolerance,
        reported=np.stack([check_quantity("predictions", output.labels) for output in outputs]),
        truth=None if truth is None else check_quantity("y", truth),
    )


def _check_kinds(predicted: list[NDArray[Any]], truth: NDArray[Any] | None) -> None:
    """Raise if one column has as numbers what another one has as texts: nothing would be equal."""
    columns = {"old": predicted[0], "new": predicted[-1]} | ({} if truth is None else {"y": truth})
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
