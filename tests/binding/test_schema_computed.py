"""Columns that look computed are named, in fit and in predict; recorded ones are not."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from replearn.exceptions import PreprocessingWarning
from tests.factories import voting


def table(computed):
    """A column of multiples of 0.1, written down or added up, beside one of measurements."""
    rng = np.random.default_rng(0)
    steps = rng.integers(1, 9, size=1500)
    written = np.round(steps * 0.1, 1)
    added = np.where(rng.random(1500) < 0.5, written, np.cumsum(np.full(9, 0.1))[steps - 1])
    X = np.column_stack([added if computed else written, rng.normal(size=1500)])
    return X, (X[:, 1] + rng.normal(size=1500) > 0).astype(int)


def model(**params):
    return voting(GaussianNB(), n_blocks=18, max_fits=18, shared_key="computed", **params)


@pytest.mark.parametrize("as_frame", [False, True])
def test_fit_and_predict_name_a_column_that_looks_computed(as_frame):
    X, y = table(computed=True)
    name = "score" if as_frame else 0
    if as_frame:
        X = pd.DataFrame(X, columns=["score", "size"])
    with pytest.warns(PreprocessingWarning, match=f"column {name!r}: .* last bits"):
        fitted = model().fit(X, y)
    with pytest.warns(PreprocessingWarning, match=f"column {name!r}: .* last bits"):
        fitted.predict(X)


def said(fit_and_predict):
    """Return what is said about preprocessing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit_and_predict()
    return [str(item.message) for item in caught if item.category is PreprocessingWarning]


@pytest.mark.parametrize(("computed", "params"), [(False, {}), (True, {"decimals": 6})])
def test_nothing_is_said_of_recorded_or_rounded_numbers(computed, params):
    X, y = table(computed)
    assert said(lambda: model(**params).fit(X, y).predict(X)) == []


def test_whole_numbers_and_continuous_ones_do_not_look_computed():
    rng = np.random.default_rng(0)
    large = 2.0**56 + 16 * np.arange(1500.0)
    X = np.column_stack([rng.permutation(large), rng.normal(size=1500)])
    y = (X[:, 1] > 0).astype(int)
    assert said(lambda: model().fit(X, y).predict(X)) == []
