"""What goes into an estimator (features, labels, groups, ids), and what a fit leaves on it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, has_fit_parameter

from replearn.compat import fit_context, validate_data
from replearn.exceptions import PreprocessingWarning, warn_user
from replearn.randomness.encoding import pandas_names
from replearn.randomness.key import SharedKey
from replearn.randomness.points import Points, as_points, id_texts
from replearn.tables.rows import is_frame, is_nan, n_rows, without_arrow

_CLASS_WEIGHT = "; use class_weight in `estimator` (class_weight='balanced')"


class FittedState:
    """Mixin for estimators of this library: they own how they are restored from a model file.

    A file holds what `_file_state` returns: the parameters and the fitted attributes, without the
    shared key. `_restore` is called on an object that has all of them again, and the key.

    A subclass that fits something which does not belong in a file, or is not in the form in which
    it can be written, lists it in ``_derived_state``, or changes it in `_file_state`, and overrides
    `_derive`. Nothing that is written may hold the key.
    """

    _private_state: ClassVar[tuple[str, ...]] = ()
    """Fitted attributes whose names do not end with an underscore."""

    _derived_state: ClassVar[tuple[str, ...]] = ()
    """Fitted attributes that are not written, because `_derive` computes them."""

    _always_certified: ClassVar[bool] = True
    """Whether every fitted estimator has a certificate, which its file must contain."""

    certificate_: Any
    shared_key: Any

    def _forget_fit(self) -> None:
        """Delete the fitted attributes."""
        for name in list(vars(self)):
            is_fitted = name.endswith("_") and not name.startswith("__")
            if is_fitted or name in self._private_state:
                delattr(self, name)

    def _file_state(self) -> dict[str, Any]:
        """Return the attributes that a file needs; raise ValueError if one cannot be written."""
        left_out = {"shared_key", *self._derived_state}
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def _restore(self, key: SharedKey) -> None:
        """Check the attributes of a file, and compute what follows from them and the key.

        Raises
        ------
        ValueError
            If the attributes do not fit together, or belong to another key.
        """
        certificate = getattr(self, "certificate_", None)
        if certificate is None:  # not fitted: a parameter of another estimator
            return
        if certificate.key_fingerprint != key.fingerprint:
            raise ValueError(f"the certificate of {type(self).__name__} belongs to another key.")
        self._derive(key)

    def _derive(self, key: SharedKey) -> None:
        """Check the attributes of a fitted estimator, and compute those of ``_derived_state``."""


def check_n_models(models: list[Any], n_blocks: int, n_partitions: int) -> None:
    """Raise if there is not one model for each block of each partition."""
    if len(models) != n_blocks * n_partitions:
        raise ValueError(
            f"the plan has {n_blocks} blocks in {n_partitions} partitions, but the file has "
            f"{len(models)} models."
        )


@contextmanager
def all_or_nothing(estimator: FittedState) -> Iterator[None]:
    """Forget an earlier fit, and leave no half-fitted estimator behind, not even on Ctrl-C."""
    estimator._forget_fit()
    try:
        yield
    except BaseException:
        estimator._forget_fit()
        raise


def checked_fit(fit: Any) -> Any:
    """Decorate ``fit``: check parameters, and refuse what it does not take: weights."""
    validated = fit_context(prefer_skip_nested_validation=False)(fit)
    signature = inspect.signature(fit)
    groups = "give groups by name, groups=..." if "groups" in signature.parameters else "no groups"
    weights = "sample_weight is not supported"
    takes_weights = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    if takes_weights:
        weights = "give weights by name, sample_weight=..."

    @wraps(fit)
    def checked(self: Any, *args: Any, **params: Any) -> Any:
        try:
            signature.bind(self, *args, **params)
        except TypeError as error:
            remedy = "" if is_regressor(self) or takes_weights else _CLASS_WEIGHT
            message = f"fit: {error}. fit takes X and y; {groups}; {weights}{remedy}."
            raise TypeError(message) from None
        return validated(self, *args, **params)

    return checked


def base_estimator(estimator: Any) -> Any:
    """Return the base estimator; logistic regression if none is given."""
    return LogisticRegression(max_iter=1000) if estimator is None else estimator


def with_base_tags(tags: Any, base: Any) -> Any:
    """Return scikit-learn's tags of an estimator that takes the tables its base estimator takes."""
    known = get_tags(base).input_tags
    tags.input_tags.sparse = known.sparse
    tags.input_tags.allow_nan = known.allow_nan
    return tags


def check_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check shape and names; values are left to the base estimator and the encoding."""
    X = without_arrow(X)
    if not reset:
        _warn_if_order_changed(estimator, X)
    if not reset and _fits(estimator, X):
        return X
    if hasattr(X, "columns"):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    if _is_text_column(X):
        documents = X if isinstance(X, list | tuple | np.ndarray) else np.asarray(X, dtype=object)
        validate_data(estimator, documents, reset=reset, skip_check_array=True)
        return documents
    checks = {"accept_sparse": True, "dtype": None, "ensure_all_finite": False, "order": "C"}
    return validate_data(estimator, X, reset=reset, **checks)


def _fits(estimator: Any, X: Any) -> bool:
    """Tell whether there is nothing to check: scikit-learn's questions cost more than a row."""
    names = getattr(estimator, "feature_names_in_", None)
    if type(X) is np.ndarray:
        plain = X.ndim == 2 and X.dtype.kind == "f" and X.flags.c_contiguous and len(X) > 0
        return plain and names is None and X.shape[1] == estimator.n_features_in_
    if names is None or not is_frame(X) or not len(X):
        return False
    return bool(pandas_names(X) == names.tolist())


def _warn_if_order_changed(estimator: Any, X: Any) -> None:
    """Warn about arrays where rows were a frame, or the reverse, if their points differ.

    Points of frames are ordered by name, those of arrays by position: where the names are not in
    order, every point has another threshold.
    """
    fitted = hasattr(estimator, "feature_names_in_")
    now = hasattr(X, "columns")
    names = [
        str(name) for name in (estimator.feature_names_in_ if fitted else X.columns if now else ())
    ]
    if fitted == now or names == sorted(names):
        return
    forms = ("an array", "a frame")
    warn_user(
        f"X is {forms[now]}, but the training rows were {forms[fitted]}: points of frames are "
        f"ordered by the names of the columns ({', '.join(map(repr, sorted(names)[:3]))}, ...), "
        "those of arrays by position. The same person has another threshold, and the promise does "
        f"not hold: give {forms[fitted]}.",
        PreprocessingWarning,
    )


def _is_text_column(X: Any) -> bool:
    """A single column of documents, as text vectorisers take it."""
    if getattr(X, "ndim", 1) != 1 or not hasattr(X, "__len__") or len(X) == 0:
        return False
    first = X[0] if isinstance(X, list | tuple | np.ndarray) else next(iter(X))
    return isinstance(first, str)


def check_labels(X: Any, y: Any, classes: Any) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Labels as codes into the sorted list of classes.

    The list comes from the caller or the plan where one is given, because a list learned from the
    data may differ between two labs.
    """
    if y is None:
        raise ValueError("y is missing: requires y to be passed, but the target y is None.")
    y = _of_one_type(column_or_1d(np.asarray(y), warn=True), "Input y", "leave out the row")
    check_consistent_length(X, y)
    check_classification_targets(y)
    present, codes = np.unique(y, return_inverse=True)
    if classes is None:
        return codes.astype(np.intp), present
    known = check_classes(classes)
    unknown = [label for label in present.tolist() if label not in set(known.tolist())]
    if unknown:
        raise ValueError(
            f"y has labels that are not in classes={known.tolist()}: {unknown[:5]}. "
            "Add them to classes, or leave those rows out."
        )
    return np.searchsorted(known, present)[codes].astype(np.intp), known


def refuse_one_class(classes: NDArray[Any]) -> None:
    """Refuse a sample in which there is nothing to tell apart."""
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only ({classes.tolist()[0]!r}): there is nothing to learn. Give rows "
            "of at least two classes; if this sample lacks a class that other samples have, name "
            "all of them where the estimator takes classes=[...]."
        )


def check_classes(classes: Any) -> NDArray[Any]:
    """Return a given list of classes in order, each of them once."""
    known = np.asarray(classes)
    if known.ndim != 1 or known.size == 0:
        raise ValueError(f"classes={classes!r} must be a list of labels.")
    return np.unique(_of_one_type(known, "classes", "leave it out"))


def check_groups(groups: Any, n_rows: int) -> NDArray[Any] | None:
    """One group id per row, or None."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n_rows,):
        raise ValueError(f"groups has shape {groups.shape}, but there are {n_rows} rows.")
    known = _of_one_type(groups, "groups", "give a row without a group an id of its own")
    return np.asarray(id_texts(known))


def fitted_key(estimator: Any) -> SharedKey:
    """Return the key of the last fit; one that was changed since is refused."""
    key = estimator._key()
    if key.fingerprint != estimator.certificate_.identity.key_fingerprint:
        raise ValueError(
            "shared_key was changed after fit: the blocks were cut and trained by another key. "
            "Fit again."
        )
    return key


def keyed_points(X: Any, ids: Any, decimals: int | None) -> Points:
    """Return the points that key the shared random numbers: rows of X, or one id for each row.

    Ids are taken as they are, only features are rounded.
    """
    return as_points(X, decimals=decimals) if ids is None else check_ids(X, ids)


def check_ids(X: Any, ids: Any) -> Points:
    """Return the points of ids, of which each row must have one."""
    rows = n_rows(X)
    if isinstance(ids, str | bytes) or not hasattr(ids, "__len__"):
        raise ValueError(
            f"ids={ids!r} must hold one id for each of the {rows} rows of X: give a list, "
            "an array or a column."
        )
    points = as_points(id_texts(ids))
    missing = [row for row, cell in enumerate(_cells_of_ids(ids)) if _has_no_label(cell)]
    if missing:
        raise ValueError(
            f"ids contains a missing value in row {missing[0]}: all rows without an id would have "
            "one threshold. Give every row an id, or leave ids out."
        )
    if len(points) != rows:
        raise ValueError(
            f"ids has {len(points)} entries, but X has {rows} rows: give one id per row."
        )
    return points


def _cells_of_ids(ids: Any) -> list[Any]:
    """Return single ids as a list; ids of several parts are not looked at."""
    if isinstance(ids, np.ndarray) and ids.dtype.kind in "biuUS":
        return []  # none can be missing
    cells = np.asarray(ids, dtype=object)
    return list(cells) if cells.ndim == 1 else []


def check_base(base: Any, vote: str | None) -> None:
    """Refuse what cannot vote before anything is trained; without a vote, scores are averaged."""
    kind = get_tags(base).estimator_type if hasattr(base, "__sklearn_tags__") else None
    if kind not in (None, "classifier"):
        raise ValueError(f"estimator={base!r} is a {kind}: give a classifier.")
    # Some classifiers show their methods only when fitted (stacking); then both are missing.
    if vote != "hard" and hasattr(base, "predict") and not hasattr(base, "predict_proba"):
        need = "mean scores need" if vote is None else 'vote="soft" needs'
        remedy = "" if vote is None else 'use vote="hard", or '
        raise ValueError(
            f"{need} predict_proba, which estimator={base!r} does not have: {remedy}wrap it in "
            "CalibratedClassifierCV."
        )


def refuse_classifier(base: Any, name: str = "estimator") -> None:
    """Refuse a classifier where numbers are predicted."""
    if hasattr(base, "__sklearn_tags__") and is_classifier(base):
        raise ValueError(f"{name}={base!r} is a classifier: give a regressor.")


def _of_one_type(values: NDArray[Any], name: str, remedy: str) -> NDArray[Any]:
    """Refuse missing values and a mixture of types, which have no order; unpack numbers."""
    is_time = values.dtype.kind in "mM"
    if is_time or values.dtype.kind == "f":
        missing = np.isnat(values) if is_time else np.isnan(values)
        if missing.any():
            word = "NaT" if is_time else "NaN"
            row = int(np.flatnonzero(missing)[0])
            raise ValueError(f"{name} contains {word} in row {row}: {remedy}.")
    if values.dtype != object:
        return values
    cells = values.tolist()
    row = next((index for index, cell in enumerate(cells) if _has_no_label(cell)), -1)
    if row >= 0:
        raise ValueError(f"{name} contains a missing value in row {row}: {remedy}.")
    kinds = {type(cell) for cell in cells}
    if all(issubclass(kind, Real | np.bool_) for kind in kinds):
        return np.asarray(cells)
    if len(kinds) > 1 and not all(issubclass(kind, str) for kind in kinds):
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"{name} mixes values of the types {names}: use one type for all rows.")
    return values


def _has_no_label(cell: Any) -> bool:
    """Tell whether a cell is missing: None, a NaN of any kind, a time that is none (NaT)."""
    is_time = isinstance(cell, np.datetime64 | np.timedelta64)
    no_time = type(cell).__name__ == "NaTType" or (is_time and bool(np.isnat(cell)))
    return cell is None or no_time or is_nan(cell)


# -- arguments of fit that go to the base estimator, one value per row -----------------------------
class PassesFitParams:
    """Hand ``sample_weight`` and routed metadata to the base estimator."""

    estimator: Any

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how scikit-learn routes metadata: arguments of ``fit`` to the base estimator.

        Returns
        -------
        MetadataRouter
            The routing of this estimator and its base estimator.
        """
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                estimator=base_estimator(self.estimator),
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )

    def _params_of_rows(self, params: dict[str, Any], n_rows: int) -> dict[str, NDArray[Any]]:
        """Return what the base estimator gets beside rows and labels."""
        given = {name: value for name, value in params.items() if value is not None}
        if get_config()["enable_metadata_routing"]:
            given = dict(process_routing(self, "fit", **given).estimator.fit)
        else:
            self._refuse_unknown(given)
        rows = {name: np.asarray(value) for name, value in given.items()}
        for name, value in rows.items():
            if value.shape != (n_rows,):
                raise ValueError(
                    f"{name} has shape {value.shape}, but there are {n_rows} rows: give one value "
                    "per row."
                )
        return rows

    def _refuse_unknown(self, given: dict[str, Any]) -> None:
        base = base_estimator(self.estimator)
        for name in given:
            if name != "sample_weight":
                raise TypeError(f"fit got an unexpected keyword argument {name!r}")
            if not has_fit_parameter(base, name):
                raise TypeError(
                    f"fit of {type(base).__name__} does not accept {name}. For a pipeline, enable "
                    "metadata routing, sklearn.set_config(enable_metadata_routing=True), and let "
                    f"the step request it: set_fit_request({name}=True)."
                )
