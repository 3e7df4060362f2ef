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

from replearn import PointwiseReplicableRegressor, ScoreReplicableClassifier
from replearn.checks.sample import failed_by_sample
from replearn.exceptions import NotCertifiedWarning, UnsupportedValueError
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
        return "".join(failed_by_sample(rows, np.asarray(labels), groups))


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
    monkeypatch.setattr("replearn.learners.training.failed_by_sample", lambda *_: ())
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


@pytest.mark.filterwarnings("ignore::replearn.exceptions.UsefulnessWarning")  # of the plain one
def test_resampling_inside_the_estimator_keeps_the_promise():
    base = make_pipeline(StandardScaler(), Oversampling())
    model = learner(base).fit(X.to_numpy(), RARE)
    assert model.certificate_.certified
    plain = learner().fit(X.to_numpy(), RARE)
    assert model.predict(X.to_numpy()).sum() > plain.predict(X.to_numpy()).sum()


OTHER_TABLES = {
    "csr": sparse.csr_matrix,
    "coo": sparse.coo_array,
    "objects": lambda table: table.astype(object),
    "frame of objects": lambda table: pd.DataFrame(table).astype(object),
    "pyarrow": lambda table: pd.DataFrame(table).astype("double[pyarrow]"),
}


@pytest.mark.parametrize("kind", OTHER_TABLES)
def test_other_tables_do_not_hide_copies(kind):
    table = np.repeat(X.to_numpy()[:500], 5, axis=0)
    assert "500 rows occur exactly 5" in found(OTHER_TABLES[kind](table), np.repeat(Y[:500], 5))
    assert not found(OTHER_TABLES[kind](X.to_numpy()), Y)


def test_unhashable_cells_of_objects():
    people = X.to_numpy().astype(object)
    people[:, 3] = [[0]] * 2500
    with pytest.raises(UnsupportedValueError, match="column 3"):
        learner().fit(people, Y)


@pytest.mark.parametrize("names", [["visit", "patient"], ["patient"]])
def test_an_index_does_not_hide_a_panel(names):
    person = np.repeat(np.arange(500), 5)
    levels = [np.arange(2500) % 5, person][-len(names) :]
    rows = X.set_axis(pd.MultiIndex.from_arrays(levels, names=names))
    with pytest.warns(NotCertifiedWarning, match=r"groups=X.index.get_level_values\("):
        assert "index 'patient' names 500 persons" in failed_by_sample(rows, Y)[0]
    assert not found(X.set_axis(person), Y)


def panel(sizes, name, kind=int):
    person = np.repeat(np.arange(len(sizes)), sizes)
    table = X.iloc[: len(person)].assign(**{name: person.astype(kind)})
    return table.sample(frac=1.0, random_state=0), person


@pytest.mark.parametrize("kind", [int, str, float])
def test_a_panel_is_found_and_groups_are_proposed(kind):
    table, person = panel(np.full(125, 20), "client_no", kind)
    with pytest.warns(NotCertifiedWarning, match=r"groups=X\['client_no'\]"):
        assert "names 125 persons in 2500 rows" in failed_by_sample(table, Y)[0]
    assert found(table, Y, person) == ""


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
    assert found(table * 1e150, Y) == ""
    assert found(np.zeros((300, 3)), Y[:300]) == ""
