"""What rows in files refute: the same as in memory, and as much as sums and a part of them show."""

import warnings
from functools import partial

import numpy as np
import polars as pl
import pytest
from sklearn.naive_bayes import GaussianNB

from replearn.exceptions import NotCertifiedWarning, PreprocessingWarning
from replearn.outofcore import fit_files, look, pieces
from tests.factories import voting

N = 8000
CELLS = 1 << 12  # looked at in memory: an eighth of the cells of four columns


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(pieces, "PIECE_BYTES", 1 << 15)


@pytest.fixture
def large(monkeypatch):
    """Treat the tables of these tests as large."""
    monkeypatch.setattr(look, "MAX_CELLS", CELLS)


def learner(**params):
    params = {"n_blocks": 10, "rho": 0.9, "max_fits": 10, "shared_key": "k"} | params
    return voting(**{"estimator": GaussianNB()} | params)


def table(X, y=None, **columns):
    rng = np.random.default_rng(1)
    y = X[:, 0] + rng.normal(size=len(X)) > 0 if y is None else y
    names = [f"x{column}" for column in range(X.shape[1])]
    return pl.DataFrame(dict(zip(names, X.T, strict=True)) | columns | {"y": y})


def failed(frame, folder):
    """Conditions that a fit from files and a fit in memory find not to hold."""
    frame.write_parquet(folder / "rows.parquet", row_group_size=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = fit_files(learner(), folder / "rows.parquet", "y")
        expected = learner().fit(frame.drop("y"), frame["y"].to_numpy())
    found = (model.certificate_.identity.failed_conditions for model in (fitted, expected))
    return tuple(found)


def twins():
    """Each row twice, anywhere in the file."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(N // 2, 3))
    X = rng.permutation(np.concatenate([half, half]))
    return table(X, X[:, 0] > 0)


def panel(name="patient_id"):
    """Several rows of each person, the numbers of all of them different."""
    rng = np.random.default_rng(2)
    return table(rng.normal(size=(N, 3)), **{name: rng.integers(0, N // 4, N)})


def honest():
    """Independent rows, many of them equal: a few values in each column."""
    rng = np.random.default_rng(3)
    return table(rng.integers(0, 12, size=(N, 3)).astype(float), town=rng.integers(0, 400, N))


@pytest.mark.parametrize("made", [twins, panel, honest])
def test_small_files_are_looked_at_as_in_memory(made, tmp_path):
    fitted, expected = failed(made(), tmp_path)
    assert fitted == expected
    assert bool(fitted) == (made is not honest)


def test_copies_are_found_in_a_part_of_the_rows(large, tmp_path):
    fitted, expected = failed(twins(), tmp_path)
    [words] = fitted
    assert "rows occur exactly 2 times each" in words
    assert "rows occur exactly 2 times each" in expected[0]
    counted = int(words.partition(" rows occur")[0].rpartition(" ")[2])
    assert CELLS // 3 // 4 < counted < CELLS // 3  # half of the rows of a part


def test_persons_are_found_in_a_part_of_the_rows(large, tmp_path):
    fitted, expected = failed(panel(), tmp_path)
    assert "column 'patient_id' names" in fitted[0]
    assert "column 'patient_id' names" in expected[0]


def test_honest_rows_refute_nothing_in_a_part_of_them(large, tmp_path):
    assert failed(honest(), tmp_path) == ((), ())


def test_a_few_heavy_points_hide_nothing(large, tmp_path):
    rows = twins().with_columns(pl.when(pl.col("x0") < 1).then(0.0).otherwise("x0").alias("x0"))
    heavy = pl.col("x0") == 0.0
    rows = rows.with_columns(pl.when(heavy).then(0.0).otherwise(c).alias(c) for c in ("x1", "x2"))
    fitted, expected = failed(rows, tmp_path)
    assert "rows occur exactly 2 times each" in fitted[0]
    assert "rows occur exactly 2 times each" in expected[0]


def varied(name):
    """Rows of ids whose numbers vary: known by the name of the column alone."""
    rng = np.random.default_rng(9)
    return table(rng.normal(size=(N, 3)), **{name: rng.integers(0, N // 3, N)})


SAMPLES = {
    "honest": (honest, False),
    "twins": (twins, True),
    "patients": (panel, True),
    "households": (partial(varied, "household_id"), True),
    "orders": (partial(varied, "order_id"), False),
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_verdict_is_that_of_the_whole_sample(large, tmp_path, sample):
    made, refuted = SAMPLES[sample]
    assert [bool(conditions) for conditions in failed(made(), tmp_path)] == [refuted, refuted]


TRANSFORMS = {
    "StandardScaler": lambda x: (x - x.mean()) / x.std(),
    "MinMaxScaler": lambda x: (x - x.min()) / (x.max() - x.min()),
    "MaxAbsScaler": lambda x: x / np.abs(x).max(),
}


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
@pytest.mark.parametrize(
    "transform",
    TRANSFORMS,
)
def test_marks_are_found_in_sums_as_in_memory(large, tmp_path, transform):
    X = np.random.default_rng(4).normal(3, 2, (N, 2)) ** 2
    y = X[:, 0] > 12
    X = np.apply_along_axis(TRANSFORMS[transform], 0, X)
    frame = table(X, y)
    frame.write_parquet(tmp_path / "rows.parquet", row_group_size=500)
    with pytest.warns(PreprocessingWarning, match=transform):
        fitted = fit_files(learner(), tmp_path / "rows.parquet", "y")
    with pytest.warns(PreprocessingWarning, match=transform):
        expected = learner().fit(frame.drop("y"), frame["y"].to_numpy())
    assert fitted.certificate_ == expected.certificate_


def test_row_numbers_are_found_in_sums(large, tmp_path):
    rng = np.random.default_rng(5)
    frame = table(rng.normal(size=(N, 2)), row=rng.permutation(N))
    fitted, expected = failed(frame, tmp_path)
    assert fitted == expected
    assert "'row' numbers the rows" in fitted[0]
    almost = frame.with_columns(pl.col("row").replace(17, 18))
    assert failed(almost, tmp_path) == ((), ())


def test_the_user_is_warned(large, tmp_path):
    twins().write_parquet(tmp_path / "rows.parquet", row_group_size=500)
    with pytest.warns(NotCertifiedWarning, match="occur exactly 2 times"):
        fit_files(learner(), tmp_path / "rows.parquet", "y")
