"""Transformers that count as row-wise give a row the same bits whatever stands beside it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from replearn.fastpaths.rowwise import is_rowwise_transformer
from replearn.tables.encoder import TableEncoder

RNG = np.random.default_rng(2)
N = 301
WORDS = np.array(["please", "call", "me", "back", "soon", "never", "again", "the", "of", "a"])
COLUMNS = {
    "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(50, 1e3, N)),
    "town": [None if i % 7 == 0 else f"town {RNG.integers(60)}" for i in range(N)],
    "since": np.where(
        RNG.random(N) < 0.1,
        np.datetime64("NaT", "us"),
        np.datetime64("2020-01-01", "us") + RNG.integers(0, 10**15, N).astype("timedelta64[us]"),
    ),
    "comment": [" ".join(RNG.choice(WORDS, RNG.integers(3, 40))) for _ in range(N)],
}


@pytest.mark.parametrize("for_trees", [False, True])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_the_table_encoder(frame, for_trees):
    table = frame(COLUMNS)
    encoder = TableEncoder(for_trees=for_trees).fit(table)
    assert is_rowwise_transformer(encoder)
    whole = encoder.transform(table)
    for size in (1, 2, 3, 5, 8, 13, 64, 255):
        for _ in range(5):
            rows = RNG.choice(N, size, replace=False)
            taken = table.iloc[rows] if frame is pd.DataFrame else table[rows]
            assert encoder.transform(taken).tobytes() == whole[rows].tobytes()


def test_others_are_doubted():
    class Mine(TableEncoder):
        """May do anything."""

    assert not is_rowwise_transformer(Mine())
    assert not is_rowwise_transformer(make_pipeline(TableEncoder(), PCA()))
    assert is_rowwise_transformer(make_pipeline(TableEncoder(), "passthrough"))
