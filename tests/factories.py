"""What tests of several folders share: limits of simulations, objects that cannot be read."""

import numpy as np
from scipy.stats import binom
from sklearn.naive_bayes import GaussianNB

from replearn import PointwiseReplicableClassifier, plan

FALSE_ALARM = 1e-8
"""Probability that a simulation refutes a bound that holds, for one assertion."""


def limit(n_trials, chance, n_looks=1):
    """Return the largest count that a bound allows: an exact binomial limit.

    With ``n_looks`` it holds for the largest of so many counts.
    """
    return binom.isf(FALSE_ALARM / n_looks, n_trials, np.minimum(chance, 1.0))


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
