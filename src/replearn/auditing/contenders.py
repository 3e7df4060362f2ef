"""The contenders of an audit: what a user would choose between, made from one estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    MetaEstimatorMixin,
    clone,
    is_regressor,
)
from sklearn.model_selection import FixedThresholdClassifier, ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from replearn.execution.context import RunContext
from replearn.execution.fitting import keyed_seeds, random_state_names, set_seeds
from replearn.learners.incumbent import IncumbentClassifier
from replearn.learners.incumbent_regressor import IncumbentRegressor
from replearn.learners.pointwise import PointwiseReplicableClassifier
from replearn.learners.regressor import PointwiseReplicableRegressor
from replearn.learners.score import ScoreReplicableClassifier
from replearn.learners.threshold import fitted_threshold
from replearn.learners.training import usual_plan
from replearn.randomness.key import SharedKey, key_or_default
from replearn.tables.rows import copy_rows, n_rows, take_rows

BASELINE = "baseline"
BAGGING = "bagging (5 models)"
SCORE = "score thresholds"
INCUMBENT = "incumbent"
REPLICABLE = "replicable"
NOTHING = "nothing"
OLD_MODEL = "the old model"
SHARED_KEY = "a shared key"
INCUMBENTS = (IncumbentClassifier, IncumbentRegressor)
NEEDS = (NOTHING, OLD_MODEL, SHARED_KEY)
"""What a contender requires besides the data, from the least to the most."""

ParamGrid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]

AUDIT_FITS = 64
"""Base estimators that the default replicable contender trains, over all partitions.

An audit trains it forty times. Fewer partitions leave the guarantee as it is (theorem:
several-partitions) and make real flips more frequent than with the estimator's own default.
"""


@dataclass(frozen=True, eq=False)
class Contender:
    """One estimator of an audit, not fitted, and a remark for readers of the report."""

    name: str
    estimator: Any
    remark: str = ""
    measured_as: str = ""  # if it is not what ``fit`` would train: what it is, for headlines
    is_setting: bool = False  # one of a grid, from which the best is chosen

    @property
    def succeeds(self) -> bool:
        """Whether the second run of a pair takes the first one's model as its incumbent."""
        return isinstance(self.estimator, INCUMBENTS)

    @property
    def needs(self) -> str:
        """What it requires besides the data."""
        if self.succeeds:
            return OLD_MODEL
        return NOTHING if self.replicable_part is None else SHARED_KEY

    @property
    def keeps_key(self) -> bool:
        """Whether its thresholds (or offsets of its grids) are integrated out of the flips."""
        return self.is_replicable or isinstance(self.estimator, PointwiseReplicableRegressor)

    @property
    def is_replicable(self) -> bool:
        """Whether it is an estimator of this library whose thresholds can be integrated out."""
        return is_replicable(self.estimator)

    @property
    def replicable_part(self) -> Any | None:
        """The replicable estimator itself, also at the end of a pipeline; None if there is none."""
        steps = getattr(self.estimator, "steps", None)
        last = steps[-1][1] if steps else self.estimator
        part = last.estimator if isinstance(last, INCUMBENTS) else last
        return last if hasattr(part, "shared_key") else None

    @property
    def learned_in_front(self) -> tuple[str, ...]:
        """Names of transformers that learn from data in front of a replicable estimator."""
        if self.replicable_part in (None, self.estimator):
            return ()
        steps = self.estimator.steps[:-1]
        return tuple(type(step).__name__ for _, step in steps if _learns(step))

    @property
    def has_default_key(self) -> bool:
        """Whether a replicable estimator has the default key, which everybody knows."""
        part = self.replicable_part
        default = SharedKey(0).fingerprint
        return part is not None and key_or_default(part.shared_key).fingerprint == default


def is_replicable(estimator: Any) -> bool:
    """Return whether an estimator shares its randomness by a key and can explain its votes."""
    votes = not isinstance(estimator, INCUMBENTS)  # which compare scores
    return votes and hasattr(estimator, "shared_key") and hasattr(estimator, "explain")


def kind_of(estimator: Any) -> str:
    """Name the class of an estimator, of a pipeline those of its steps."""
    if isinstance(estimator, FixedThresholdClassifier):
        return kind_of(estimator.estimator)
    steps = getattr(estimator, "steps", None) or [("", estimator)]
    return ", ".join(type(step).__name__ for _, step in steps)


def _learns(step: Any) -> bool:
    return step is not None and not isinstance(step, str) and bool(get_tags(step).requires_fit)


@dataclass(frozen=True)
class Setting:
    """What a contender may depend on besides the base estimator: numbers, never data."""

    rho: float
    shared_key: Any
    n: int  # units that each run learns from
    n_classes: int = 2
    tolerance: float | None = None  # of a quantity
    y_range: tuple[float, float] | None = None
    threshold: float | None = None  # on the probability of the second class


def make_contenders(
    estimators: Any,
    setting: Setting,
    names: Sequence[str] | None = None,
    param_grid: ParamGrid | None = None,
) -> list[Contender]:
    """Turn an estimator or a dict of estimators into contenders; the first is the baseline.

    A dict is taken as it is. One classifier: the contenders of `KINDS` with these names. A
    replicable estimator is the contender "replicable" itself, and the others are made from its base
    estimator. A grid adds each of its settings; without names there is the baseline beside them.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> setting = Setting(rho=0.1, shared_key="k", n=999)
    >>> [c.name for c in make_contenders(GaussianNB(), setting)]
    ['baseline', 'bagging (5 models)', 'score thresholds', 'incumbent', 'replicable']
    >>> [c.name for c in make_contenders(GaussianNB(), setting, ["baseline", "replicable"])]
    ['baseline', 'replicable']
    """
    if isinstance(estimators, Mapping):
        if setting.threshold is not None:
            raise ValueError(
                f"threshold={setting.threshold!r} is not supported with a dict of contenders: wrap "
                "each of them in FixedThresholdClassifier."
            )
        if param_grid is not None:
            raise ValueError("param_grid is not supported with a dict of contenders.")
        contenders = _of_dict(estimators, names)
    else:
        names = ["baseline"] if names is None and param_grid is not None else names
        contenders = _of_kinds(estimators, setting, names)
        contenders += _of_grid(estimators, setting, param_grid or [])
    for contender in contenders:
        if not (hasattr(contender.estimator, "fit") and hasattr(contender.estimator, "predict")):
            raise TypeError(
                f"contender {contender.name!r} is {contender.estimator!r}: "
                "it must have fit and predict."
            )
    return contenders


def _of_dict(estimators: Mapping[Any, Any], names: Sequence[str] | None) -> list[Contender]:
    if not estimators:
        raise ValueError("estimators is an empty dict: give at least one classifier.")
    contenders = [Contender(str(name), estimator) for name, estimator in estimators.items()]
    known = [contender.name for contender in contenders]
    if len(set(known)) < len(contenders):
        raise ValueError(f"two contenders have one name: {known}.")
    chosen = known if names is None else _checked_names(names, known)
    return [contender for contender in contenders if contender.name in chosen]


def _of_kinds(estimator: Any, setting: Setting, names: Sequence[str] | None) -> list[Contender]:
    kinds = KINDS if setting.tolerance is None else REGRESSOR_KINDS
    usual = default_kinds(estimator) if setting.tolerance is None else tuple(REGRESSOR_KINDS)
    chosen = _checked_names(usual if names is None else names, list(kinds))
    base = estimator
    if is_replicable(estimator) or isinstance(estimator, PointwiseReplicableRegressor):
        base = estimator.estimator
        kinds = {**kinds, "replicable": lambda *_: Contender(REPLICABLE, estimator)}
        chosen = chosen if base is not None else ["replicable"]
    base = None if base is None else with_threshold(base, setting.threshold)
    return [kinds[name](base, setting) for name in chosen]


def with_threshold(estimator: Any, threshold: float | None) -> Any:
    """Return a classifier that predicts the second class from a decision threshold on."""
    if threshold is None:
        return estimator
    return FixedThresholdClassifier(estimator, threshold=threshold, response_method="predict_proba")


def _of_grid(estimator: Any, setting: Setting, param_grid: ParamGrid) -> list[Contender]:
    """Return one contender for each setting of the grid."""
    contenders = []
    for params in ParameterGrid(param_grid) if param_grid else []:
        changed = clone(estimator)
        changed.set_params(**{_full_name(changed, name): params[name] for name in params})
        name = ", ".join(f"{name}={params[name]}" for name in params)
        model = with_threshold(changed, setting.threshold)
        contenders.append(Contender(name, model, is_setting=True))
    return contenders


def _full_name(estimator: Any, name: str) -> str:
    """Return the name of a parameter as `set_params` takes it; a last part is enough.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> _full_name(make_pipeline(DecisionTreeClassifier()), "max_depth")
    'decisiontreeclassifier__max_depth'
    """
    known = estimator.get_params(deep=True)
    if name in known:
        return name
    found = [full for full in known if full.endswith(f"__{name}")]
    if len(found) != 1:
        what = f"could be {', '.join(found)}" if found else "is not one of its parameters"
        raise ValueError(f"param_grid: {name!r} of {type(estimator).__name__} {what}.")
    return found[0]


def _checked_names(names: Sequence[str], known: list[str]) -> list[str]:
    """Return the names once each, in the order of the known ones: the baseline stays first."""
    if isinstance(names, str) or not names or not set(names) <= set(known):
        raise ValueError(f"contenders={names!r} must be a list of names among {known}.")
    return [name for name in known if name in names]


def _affordable(base: Any, setting: Setting) -> Contender:
    """The replicable version of a classifier, with as many partitions as an audit can afford."""
    full = _full(base, setting)
    usual = usual_plan(full.estimator, setting.n, setting.n_classes).design
    assert usual is not None
    partitions = max(1, min(usual.n_partitions, AUDIT_FITS // usual.n_blocks))
    if partitions == usual.n_partitions:
        return full
    remark = (
        f"Trained with {partitions} partitions; by default the estimator would use "
        f"{usual.n_partitions}, with the same guarantee and fewer flips."
    )
    measured_as = (
        f"with {partitions} of {usual.n_partitions} partitions; with all of them fewer change"
    )
    ours = full.estimator.set_params(max_fits=usual.n_blocks * partitions)
    return Contender(REPLICABLE, ours, remark, measured_as)


def _full(base: Any, setting: Setting) -> Contender:
    """The replicable version of a classifier, as ``fit`` trains it."""
    ours = PointwiseReplicableClassifier(
        base, rho=setting.rho, shared_key=setting.shared_key, verbose=-1
    )
    return Contender(REPLICABLE, ours)


def _score(base: Any, setting: Setting) -> Contender:
    """Few large blocks, thresholds in standard errors: its guarantee is estimated."""
    ours = ScoreReplicableClassifier(
        base, rho=setting.rho, shared_key=setting.shared_key, verbose=-1
    )
    return Contender(SCORE, ours, "Its rho is estimated, not certified.")


def _incumbent(base: Any, _: Setting) -> Contender:
    """The model in use is kept where the new one is not sure."""
    remark = (
        "Its second training remembers the first one's probabilities, as long as five more fits "
        f"show no loss by it, {_KEEPS}"
    )
    return Contender(INCUMBENT, IncumbentClassifier(base), remark)


_KEEPS = (
    "and keeps its predictions where the mean of old and new is near the decision threshold (0.1 "
    "at a threshold of 0.5, less at others). Wrong predictions are kept as well."
)


def _incumbent_regressor(base: Any, setting: Setting) -> Contender:
    """The value in use is kept where the new one is closer than the tolerance."""
    ours = IncumbentRegressor(base, band=setting.tolerance)
    remark = (
        "Its second training keeps the prediction of the first where the running mean of both is "
        f"within {setting.tolerance:g} of it."
    )
    return Contender(INCUMBENT, ours, remark)


def _regressor(base: Any, setting: Setting) -> Contender:
    """The replicable version of a regressor, rounded to a grid as coarse as the tolerance."""
    ours = PointwiseReplicableRegressor(
        base,
        rho=setting.rho,
        resolution=setting.tolerance,
        y_range=setting.y_range,
        shared_key=setting.shared_key,
        verbose=-1,
    )
    return Contender(REPLICABLE, ours)


KINDS: dict[str, Callable[[Any, Setting], Contender]] = {
    "baseline": lambda base, _: Contender(BASELINE, base),
    "bagging": lambda base, _: Contender(BAGGING, SmallBagging(base)),
    "score": _score,
    "incumbent": _incumbent,
    "replicable": _affordable,
}
"""All contenders that can be made from one classifier, by the name that chooses them."""

REGRESSOR_KINDS: dict[str, Callable[[Any, Setting], Contender]] = {
    "baseline": lambda base, _: Contender(BASELINE, base),
    "bagging": lambda base, _: Contender(BAGGING, SmallBagging(base)),
    "incumbent": _incumbent_regressor,
    "replicable": _regressor,
}
"""All contenders that can be made from one regressor."""

NEED_PROBABILITIES = ("score", "incumbent")
"""Contenders that require predict_proba of the base estimator."""


def default_kinds(estimator: Any) -> tuple[str, ...]:
    """Return the default contenders that can be made from a classifier.

    >>> from sklearn.svm import LinearSVC
    >>> default_kinds(LinearSVC())
    ('baseline', 'bagging', 'replicable')
    """
    base = getattr(estimator, "estimator", None) if is_replicable(estimator) else estimator
    if base is None or hasattr(base, "predict_proba"):
        return tuple(KINDS)
    return tuple(kind for kind in KINDS if kind not in NEED_PROBABILITIES)


def missing_kinds(estimator: Any, names: Any, setting: Setting) -> list[str]:
    """Say which default contenders cannot be made from a classifier; empty if all can."""
    if names is not None or isinstance(estimator, Mapping) or setting.tolerance is not None:
        return []
    missing = [kind for kind in KINDS if kind not in default_kinds(estimator)]
    return [f"no contender {' and '.join(missing)}: predict_proba is required"] if missing else []


def prepare(contender: Contender, key: SharedKey, pair: int) -> Any:
    """Clone a contender for one run of a pair; both runs of the pair get the same.

    Seeds that were left open follow from the audit's key, so that a run can be repeated. A
    replicable estimator keeps its own key where its thresholds are integrated out; otherwise
    (inside a pipeline) its key changes from pair to pair, because its guarantee is an average over
    keys.
    """
    model = clone(contender.estimator)
    pair_key = key.child("seed", pair)
    if not hasattr(model, "get_params"):
        return model
    params = model.get_params(deep=True)
    if contender.keeps_key:
        quiet = {name: value for name, value in (("n_jobs", 1), ("verbose", -1)) if name in params}
        return model.set_params(**quiet)
    fill_open_seeds(model, pair_key)
    keyed = [name for name in params if name == "shared_key" or name.endswith("__shared_key")]
    return model.set_params(**{name: pair_key.child("key") for name in keyed})


def fill_open_seeds(model: Any, key: SharedKey) -> None:
    """Give every random_state that was left open a seed of the key."""
    params = model.get_params(deep=True)
    indices = [name for name in random_state_names(model) if _is_open(params, name)]
    set_seeds(model, keyed_seeds(indices, key))


def _is_open(params: dict[str, Any], name: str) -> bool:
    if "." in name:
        return params[name.removesuffix(".random_state")].random_state is None
    return params[name] is None


class SmallBagging(MetaEstimatorMixin, BaseEstimator):
    """Majority or mean of a few models, each trained on a bootstrap resample: the usual remedy.

    scikit-learn's bagging turns frames into arrays; this one hands the rows on as they are.
    """

    def __init__(self, estimator: Any, *, n_estimators: int = 5, random_state: int | None = None):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        return tags

    def fit(self, X: Any, y: Any, *, context: RunContext | None = None) -> SmallBagging:
        """Fit one clone per resample."""
        context = RunContext() if context is None else context
        y = np.asarray(y)
        rng = np.random.default_rng(self.random_state)
        regresses = is_regressor(self)
        if not regresses:
            self.classes_ = np.unique(y)
        self.estimators_ = []
        for _ in range(self.n_estimators):
            context.check_deadline()
            rows = rng.integers(len(y), size=len(y))
            rows = rows if regresses else _with_two_classes(rng, rows, y)
            self.estimators_.append(clone(self.estimator).fit(take_rows(X, rows), y[rows]))
        return self

    @available_if(lambda self: not is_regressor(self))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict mean probabilities, or vote shares where the base estimator has none."""
        return np.mean([self._shares(model, X) for model in self.estimators_], axis=0)

    def _shares(self, model: Any, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of one model, or 1 for the class that it predicts."""
        if not hasattr(model, "predict_proba"):
            predicted = np.asarray(model.predict(copy_rows(X)))[:, np.newaxis] == self.classes_
            return predicted.astype(np.float64)
        shares = np.zeros((n_rows(X), len(self.classes_)))
        indices = np.searchsorted(self.classes_, model.classes_)
        shares[:, indices] = model.predict_proba(copy_rows(X))
        return shares

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the mean; of classes the most probable one, or from the mean threshold on."""
        if is_regressor(self):
            return np.mean([model.predict(copy_rows(X)) for model in self.estimators_], axis=0)
        chances = self.predict_proba(X)
        thresholds = [fitted_threshold(model) for model in self.estimators_]
        known = [threshold for threshold in thresholds if threshold is not None]
        if len(known) < len(thresholds):
            return self.classes_[np.argmax(chances, axis=1)]
        return self.classes_[(chances[:, 1] >= np.mean(known)).astype(np.intp)]


def _with_two_classes(
    rng: np.random.Generator, rows: NDArray[np.intp], y: NDArray[Any]
) -> NDArray[np.intp]:
    """Draw rows again, if a rare class is missed altogether."""
    for _ in range(99):
        if (y[rows] != y[rows[0]]).any():
            break
        rows = rng.integers(len(y), size=len(y))
    return rows
