"""Rows that are not independent draws are a failed condition; discrete tables are not."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replearn import (
    NotCertifiedWarning,
    PointwiseReplicableRegressor,
    ScoreReplicableClassifier,
    UnsupportedValueError,
)
from replearn.binding.sample import copy_conditions
from replearn.paper.hypotheses import Stumps
from replearn.paper.realizable import RealizableReplicableClassifier
from tests.factories import Choosing, voting

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(2500, 4)), columns=list("abcd"))
Y = (RNG.random(2500) < 0.5 + 0.05 * np.sign(X["a"])).to_numpy().astype(int)
RARE = (RNG.random(2500) < 0.1).astype(int)


def learner(base=None, **params):
    settings = {"rho": 0.2, "max_fits": 60, "shared_key": "s"} | params
    return voting(base or GaussianNB(), **settings)


def found(rows, labels, groups=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        return "".join(copy_conditions(rows, np.asarray(labels), groups))


def oversampled(labels):
    rare = np.flatnonzero(labels)
    missing = len(labels) - 2 * len(rare)
    return np.r_[np.arange(len(labels)), np.random.default_rng(1).choice(rare, missing)]


COPIES = {
    "ten times": (np.repeat(np.arange(250), 10), Y, "250 rows occur exactly 10 times each"),
    "twice": (np.tile(np.arange(1250), 2), Y, "1250 rows occur exactly 2 times"),
    "three times": (np.tile(np.arange(833), 3), Y, "833 rows occur exactly 3 times"),
    "five times": (np.tile(np.arange(500), 5), Y, "500 rows occur exactly 5 times"),
    "a join": (np.r_[np.arange(2500), np.arange(700)], Y, "700 rows occur exactly 2 times"),
    "oversampled": (oversampled(RARE), RARE, "the class was oversampled before fit"),
    "bootstrap": (RNG.choice(2500, 2500), Y, "no other row has: they are copies"),
    "one class twice": (
        np.r_[np.arange(2500), np.flatnonzero(RARE)],
        RARE,
        "rows of one class occur exactly 2 times",
    ),
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("kind", ["frame", "array", "array of columns", "polars"])
def test_copies_are_found(name, kind):
    rows, labels, words = COPIES[name]
    table = X.iloc[rows]
    if kind == "polars":
        polars = pytest.importorskip("polars")
        table = polars.DataFrame({column: table[column].to_numpy() for column in table})
    elif kind != "frame":
        table = np.array(table, order="F" if kind == "array of columns" else "C")
    assert words in found(table, labels[rows])


@pytest.mark.parametrize("name", ["ten times", "oversampled"])
def test_the_certificate_says_why_and_the_model_is_the_same(name, monkeypatch):
    rows, labels, words = COPIES[name]
    with pytest.warns(NotCertifiedWarning, match="rows are not independent draws"):
        model = learner().fit(X.iloc[rows], labels[rows])
    certificate = model.certificate_
    certificate.check()
    assert certificate.verdict == "not certified"
    assert words in certificate.reason
    monkeypatch.setattr("replearn.learners.training.copy_conditions", lambda *_: ())
    silent = learner().fit(X.iloc[rows], labels[rows])
    assert silent.certificate_.certified
    assert (silent.predict(X) == model.predict(X)).all()


def test_other_learners_look_as_well():
    rows, labels, words = COPIES["ten times"]
    with pytest.warns(NotCertifiedWarning, match="not independent draws"):
        score = ScoreReplicableClassifier(GaussianNB(), rho=0.2).fit(X.iloc[rows], labels[rows])
    assert score.certificate_.verdict == "not certified"
    line = PointwiseReplicableRegressor(LinearRegression(), resolution=10.0, y_range=(-9, 9))
    with pytest.warns(NotCertifiedWarning, match="not independent draws"):
        line.fit(X.iloc[rows].to_numpy(), X["a"].to_numpy()[rows])
    assert words in line.certificate_.reason


def test_choices_look_as_well():
    rows, _, words = COPIES["ten times"]
    table = X.iloc[rows].to_numpy()
    classes = (table[:, 0] > 0).astype(int)
    single = RealizableReplicableClassifier(Stumps(4), rho=0.3)
    assert single.fit(X.to_numpy(), X["a"] > 0).certificate_.certified
    first = {"a": GaussianNB().fit(X.to_numpy(), Y), "b": GaussianNB().fit(X.to_numpy(), RARE)}
    choices = {
        "single rule": single,
        "selection": Choosing(first),
    }
    for choice in choices.values():
        with pytest.warns(NotCertifiedWarning, match="not independent draws"):
            choice.fit(table, classes)
        assert words in choice.certificate_.reason


class Oversampling(ClassifierMixin, BaseEstimator):
    """What an imblearn pipeline does: repeat rows of the rare class in fit."""

    def fit(self, rows, labels):
        wanted = np.bincount(labels).max()
        kept = [np.resize(np.flatnonzero(labels == label), wanted) for label in (0, 1)]
        kept = np.concatenate(kept)
        self.model_ = GaussianNB().fit(rows[kept], labels[kept])
        self.classes_ = self.model_.classes_
        return self

    def predict(self, rows):
        return self.model_.predict(rows)


@pytest.mark.filterwarnings("ignore::replearn.UsefulnessWarning")  # of the plain one
def test_resampling_inside_the_estimator_keeps_the_promise():
    base = make_pipeline(StandardScaler(), Oversampling())
    model = learner(base).fit(X.to_numpy(), RARE)
    assert model.certificate_.certified
    plain = learner().fit(X.to_numpy(), RARE)
    assert model.predict(X.to_numpy()).sum() > plain.predict(X.to_numpy()).sum()


@pytest.mark.parametrize("noise", [1e-9, 1e-3, 1e-2])
def test_jittered_copies_are_found(noise):
    table = np.repeat(X.to_numpy()[:500], 6, axis=0) + noise * RNG.normal(size=(3000, 4))
    words = "rounded to a grid, occur exactly 6 times each"
    assert words in found(table, np.repeat(Y[:500], 6))
    assert words in found(pd.DataFrame(table, columns=list("abcd")), np.repeat(Y[:500], 6))


def varied_copies(rng, noise, n_columns, shared=False):
    """Return copies with noise, one to nine of each of 600 rows, and their labels."""
    rows = np.repeat(np.arange(600), rng.integers(1, 10, 600))
    table = rng.normal(size=(600, n_columns))[rows] + noise * rng.normal(
        size=(len(rows), n_columns)
    )
    labels = (rng.random(600) < 0.3).astype(int)
    return table, labels[rows] if shared else (rng.random(len(rows)) < 0.3).astype(int)


@pytest.mark.parametrize("noise", [1e-9, 1e-4, 1e-3])
@pytest.mark.parametrize("n_columns", [2, 3, 6, 20])
def test_jittered_copies_are_found_whatever_their_numbers(noise, n_columns):
    rng = np.random.default_rng(n_columns)
    table, labels = varied_copies(rng, noise, n_columns, shared=True)
    assert "nearly equal in several columns" in found(table, labels)
    # Places with readings that differ a little, each with labels of both kinds: no copies.
    assert found(*varied_copies(rng, noise, n_columns)) == ""


def test_rows_that_lie_close_together_are_no_copies():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(300, 4000))
        labels = np.zeros(n, dtype=int)
        for table in (
            rng.normal(size=(n, 2)),
            np.exp(4 * rng.normal(size=(n, 3))),  # many of them near zero
            np.cumsum(rng.normal(size=(n, 3)), axis=0),  # along a curve
            np.column_stack([rng.integers(0, 9, (n, 2)), rng.normal(size=(n, 1))]).astype(float),
            np.round(rng.normal(size=(n, 3)), 1) + 1e-15,
            rng.normal(size=(n, 1)) * np.ones(3) + 1e-6 * rng.normal(size=(n, 3)),
            rng.normal(size=(n, 1)) ** np.arange(1, 7),
            np.exp(rng.normal(size=(n, 1))) * (1, 2, 3) + rng.normal(size=(n, 3)) / 99,
        ):
            assert found(table, labels) == ""


OTHER_TABLES = {
    "csr": sparse.csr_matrix,
    "coo": sparse.coo_array,
    "objects": lambda table: table.astype(object),
    "frame of objects": lambda table: pd.DataFrame(table).astype(object),
    "pyarrow": lambda table: pd.DataFrame(table).astype("double[pyarrow]"),
}


@pytest.mark.parametrize("kind", OTHER_TABLES)
def test_other_tables_hide_neither_jittered_copies_nor_panels(kind):
    table = np.repeat(X.to_numpy()[:500], 6, axis=0) + 1e-9 * RNG.normal(size=(3000, 4))
    labels = np.repeat(Y[:500], 6)
    assert "rounded to a grid" in found(OTHER_TABLES[kind](table), labels)
    person = np.repeat(np.arange(500), 5)
    people = np.column_stack([X.to_numpy(), person])
    assert "500 values of column 4 occur exactly 5" in found(OTHER_TABLES[kind](people), Y)
    assert not found(OTHER_TABLES[kind](X.to_numpy()), Y)


def test_texts_and_unhashable_cells_of_objects():
    person = np.repeat(np.arange(500), 5).astype(str)
    people = np.column_stack([X.to_numpy().astype(object), person.astype(object)])
    people[::7, 0] = None
    assert "500 values of column 4" in found(people, Y)
    people[:, 4] = [[0]] * 2500
    with pytest.raises(UnsupportedValueError, match="column 4"):
        learner().fit(people, Y)


INDICES = {
    "named": lambda person: pd.Index(person, name="visit of"),
    "texts": lambda person: pd.Index(person.astype(str)),
    "categories": lambda person: pd.CategoricalIndex(person.astype(str)),
    "levels": lambda person: pd.MultiIndex.from_arrays(
        [np.arange(len(person)) % 5, person], names=["visit", "machine"]
    ),
}


@pytest.mark.parametrize("kind", INDICES)
def test_an_index_does_not_hide_a_panel(kind):
    person = np.repeat(np.arange(500), 5)
    rows = X.set_axis(INDICES[kind](person))
    assert "500 values of" in found(rows, Y)
    with pytest.warns(NotCertifiedWarning, match=r"groups=X.index.get_level_values\("):
        copy_conditions(rows, Y)


def test_an_index_of_persons_or_of_rows():
    person = np.random.default_rng(0).integers(0, 1000, 2500)
    assert "index 'patient' names" in found(X.set_axis(pd.Index(person, name="patient")), Y)
    assert not found(X.set_axis(person), Y)
    person.sort()
    numbered = X.set_axis(1000 + person)
    assert "the index has 9" in found(numbered, Y)
    assert "numbers for 2500 rows that stand together" in found(numbered, Y)
    with pytest.warns(NotCertifiedWarning, match=r"means nothing: y.reset_index\(drop=True\)"):
        assert "the index of y has" in copy_conditions(X, Y, label_index=numbered.index)[0]
    two_frames = pd.concat([X[:1250].reset_index(drop=True), X[1250:].reset_index(drop=True)])
    assert not found(two_frames, Y)
    assert not found(two_frames.sample(frac=1.0, random_state=0), Y)
    years = X.set_axis(np.repeat(np.arange(1995, 2020), 100))
    assert not found(years, Y)


def panel(sizes, name, kind=int):
    person = np.repeat(np.arange(len(sizes)), sizes)
    table = X.iloc[: len(person)].assign(**{name: person.astype(kind)})
    return table.sample(frac=1.0, random_state=0), person


@pytest.mark.parametrize("kind", [int, str, float])
def test_a_panel_is_found_and_groups_are_proposed(kind):
    table, person = panel(np.full(125, 20), "whom", kind)
    with pytest.warns(NotCertifiedWarning, match=r"groups=X\['whom'\]"):
        assert "125 values of column 'whom' occur exactly 20 times" in copy_conditions(table, Y)[0]
    assert found(table, Y, person) == ""
    if kind is not str:
        assert "values of column 4 occur" in found(table.to_numpy(dtype=float), Y)


def test_ids_of_persons_are_known_by_their_names():
    sizes = np.random.default_rng(5).poisson(8, 250) + 1
    for name in ("patient_id", "Customer", "user id"):
        table, person = panel(sizes[np.cumsum(sizes) < 2500], name)
        assert f"column {name!r} names" in found(table, Y[: len(person)])
    for name in ("product_id", "city", "age"):
        table, person = panel(sizes[np.cumsum(sizes) < 2500], name)
        assert found(table, Y[: len(person)]) == ""


def discrete(rng, n):
    return np.column_stack([rng.integers(0, k, n) for k in (2, 3, 5, 7)]).astype(float)


def test_equal_rows_of_discrete_tables_refute_nothing():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(150, 4000))
        table = discrete(rng, n)
        labels = (rng.random(n) < 0.1).astype(int)
        assert found(table, labels) == ""
        assert found(pd.DataFrame(table).astype(str), labels) == ""
        towns = rng.normal(size=(300, 3))[rng.integers(0, 300, n)]  # unrounded, yet repeated
        assert found(towns, labels) == ""
        assert found(np.column_stack([table, rng.normal(size=n)]), labels) == ""


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, make_classification])
def test_ordinary_tables_refute_nothing(load):
    table, labels = (
        load(2000, random_state=1) if load is make_classification else load(return_X_y=True)
    )
    for rows in (table, table.round(1), np.floor(table)):
        assert found(rows, labels) == ""


@pytest.mark.parametrize("rows", [X.to_numpy()[:20], X.iloc[:0], ["a", "b"] * 200])
def test_odd_tables_are_no_error(rows):
    assert found(rows, np.arange(len(rows)) % 2) == ""


def test_missing_cells_and_infinite_spreads_are_no_error():
    table = X.to_numpy().copy()
    table[::3] = np.nan
    assert found(table, Y) == ""
    assert found(table * 1e300, Y) == ""
    assert found(np.zeros((300, 3)), Y[:300]) == ""
