"""What an encoder has learned survives every way of copying it, and older states are read."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from replearn.tables.encoder import TableEncoder

PEOPLE = pd.DataFrame(
    {
        "age": [30.1, 1e-300, None, 1 / 3],
        "town": ["Ulm", 'a "quoted" one', None, "Łódź"],
        "day": pd.to_datetime(["2020-01-01 00:00", None, "2021-05-05 06:07", "1969-12-31 23:59"]),
        "note": ["one two three four", "", None, "five six seven"],
    }
)


@pytest.mark.parametrize("for_trees", [False, True])
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda encoder: pickle.loads(pickle.dumps(encoder))]
)
def test_copies_transform_alike(copied, for_trees):
    encoder = TableEncoder(for_trees=for_trees).fit(PEOPLE)
    other = copied(encoder)
    assert other.fitted_columns_ == encoder.fitted_columns_
    np.testing.assert_array_equal(other.transform(PEOPLE), encoder.transform(PEOPLE))


def test_the_state_is_one_text_and_a_list_is_read_too():
    encoder = TableEncoder().fit(PEOPLE)
    state = encoder.__getstate__()
    assert isinstance(state["fitted_columns_"], str)
    assert isinstance(encoder.fitted_columns_, list)
    older = TableEncoder()
    older.__setstate__({**state, "fitted_columns_": encoder.fitted_columns_})
    np.testing.assert_array_equal(older.transform(PEOPLE), encoder.transform(PEOPLE))


def test_an_encoder_that_is_not_fitted_stays_so():
    encoder = pickle.loads(pickle.dumps(TableEncoder(most_levels=3)))
    assert encoder.most_levels == 3
    assert not hasattr(encoder, "fitted_columns_")
    assert not hasattr(clone(TableEncoder().fit(PEOPLE)), "fitted_columns_")
