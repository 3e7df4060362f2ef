"""Missing cells of unusual types: blocks that vote together prediction as each of them would."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from replearn.execution.voting import BlockEnsemble

IMPUTER, ENCODER = SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
KINDS = {"float": float, "float16": np.float16, "float32": np.float32, "longdouble": np.longdouble}


def column(cell, n=300):
    """A column of "a", "b" and the cell; missing ones are mostly of class 1."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, n)
    cells = np.empty(n, dtype=object)
    cells[:] = [("a", "b", cell)[kind] for kind in kinds]
    y = ((kinds == 2) != (rng.random(n) < 0.1)).astype(int)
    return pd.DataFrame({"town": pd.Series(cells, dtype=object)}), y


def blocks(steps, last, X, y):
    model = make_pipeline(*steps, last)
    return [clone(model).fit(X[start::3], y[start::3]) for start in range(3)]


@pytest.mark.parametrize("last", [LogisticRegression(), DecisionTreeClassifier(random_state=0)])
@pytest.mark.parametrize("steps", [[ENCODER], [IMPUTER, ENCODER]], ids=["encoded", "filled"])
@pytest.mark.parametrize("kind", KINDS)
def test_nan_of_every_kind_of_number(kind, steps, last):
    X, y = column(float("nan"))
    Z, _ = column(KINDS[kind]("nan"))
    models = blocks(steps, last, X, y)
    votes = sum(model.predict(Z) for model in models)
    np.testing.assert_array_equal(BlockEnsemble(models, [0, 1]).vote_counts(Z)[:, 0], votes)
    if steps == [ENCODER]:
        assert len(np.unique(votes)) > 1


@pytest.mark.parametrize("cell", [pd.NaT, np.datetime64("NaT")], ids=["pandas", "numpy"])
def test_no_time_among_texts_is_refused_rather_than_guessed(cell):
    models = blocks([IMPUTER, ENCODER], LogisticRegression(), *column(float("nan")))
    with pytest.raises(ValueError, match=r"NaT.* among the cells"):
        BlockEnsemble(models, [0, 1]).vote_counts(column(cell)[0])
