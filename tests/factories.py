"""What tests of several folders share: limits of simulations, objects that cannot be read."""

import warnings

import numpy as np
from scipy.stats import binom
from sklearn.naive_bayes import GaussianNB

from replearn import PointwiseReplicableClassifier, plan, select_hypothesis
from replearn.bounds.laws import table_law
from replearn.exceptions import NotCertifiedWarning

FALSE_ALARM = 1e-8
"""Probability that a simulation refutes a bound that holds, for one assertion."""


class Choosing:
    """A choice among models with the methods of an estimator."""

    def __init__(self, models, **settings):
        self.models = models
        self.settings = {"shared_key": "k", **settings}

    def fit(self, X, y):
        """Choose by the errors on these rows."""
        self.selection_ = select_hypothesis(self.models, X, y, **self.settings)
        self.selected_name_ = self.selection_.name
        self.certificate_ = self.selection_.certificate
        return self

    def predict(self, X):
        """Predict with the chosen model."""
        chosen = self.selection_.candidate
        return np.asarray(getattr(chosen, "predict", chosen)(X))


def limit(n_trials, chance, n_looks=1):
    """Return the largest count that a bound allows: an exact binomial limit.

    With ``n_looks`` it holds for the largest of so many counts.
    """
    return binom.isf(FALSE_ALARM / n_looks, n_trials, np.minimum(chance, 1.0))


def law_with_atoms(n_blocks, every=4):
    """Return a law whose threshold lies at a few vote shares only: large steps, no width."""
    heights = np.arange(n_blocks // 2 + 1) // every * every / n_blocks
    return table_law([*heights, *1.0 - heights[: (n_blocks + 1) // 2][::-1]])


PLANNED = (
    *("gamma", "law", "width", "n_partitions", "block_size", "min_block", "small_blocks", "runs"),
    *("alpha", "beta", "d", "label_noise", "max_point_mass", "unit", "family", "n_columns"),
    *("rho", "n_blocks", "vote", "classes", "n_classes", "max_fits", "decimals"),
)
"""What a plan sets."""


def on_blocks(estimator=None, *, n, task="pointwise", **params):
    """Return the pointwise classifier with a plan for n rows; the plan has what a plan can have."""
    set_by_plan = {name: params.pop(name) for name in PLANNED if name in params}
    set_by_plan.setdefault("rho", 0.1)
    return PointwiseReplicableClassifier(estimator, plan=plan(task, n=n, **set_by_plan), **params)


class PlannedInFit:
    """The pointwise classifier whose plan is made for the rows that it is fitted to."""

    def __init__(self, estimator=None, **params):
        self.params = {"estimator": estimator, **params}

    def set_params(self, **params):
        self.params |= params
        return self

    def fit(self, X, y, *, groups=None, **fit_params):
        n = len(y) if groups is None else len(np.unique(groups))
        unit = "rows" if groups is None else "groups"
        n_classes = max(2, len(np.unique(y)))
        counted = {} if "classes" in self.params else {"n_classes": n_classes}
        model = on_blocks(**(counted | self.params), n=n, unit=unit)
        if not model.plan.certified:
            warnings.warn(model.plan.reason, NotCertifiedWarning, stacklevel=2)
        self.fitted = model.fit(X, y, groups=groups, **fit_params)
        return self.fitted

    def __getattr__(self, name):
        if name == "fitted":
            raise AttributeError("not fitted")
        return getattr(self.fitted, name)


def voting(estimator=None, **params):
    """Return the pointwise classifier; with a plan where only a plan has a parameter."""
    if params.get("n_blocks") and "n_partitions" in params and "max_fits" not in params:
        params["max_fits"] = params["n_blocks"] * params.pop("n_partitions")
    if params.keys() <= set(PointwiseReplicableClassifier._get_param_names()):
        return PointwiseReplicableClassifier(estimator, **params)
    return PlannedInFit(estimator, **params)


def whole_models(estimator=None, *, rho=0.1, gamma=0.1, **params):
    """Return the classifier with a promise about whole models."""
    return PlannedInFit(estimator, task="approximate", rho=rho, gamma=gamma, **params)


class Unreadable:
    """An object that can neither be pickled nor copied."""

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol):
        raise TypeError("no state")


class Holder(GaussianNB):
    """A classifier with a parameter of any kind."""

    def __init__(self, source=None):
        super().__init__()
        self.source = source
