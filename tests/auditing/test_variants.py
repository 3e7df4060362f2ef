"""What differs between the two runs of a pair: new rows, seeds, the order of the rows, time."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from replearn.auditing.audits import audit
from replearn.auditing.design import (
    ANY_PERIOD,
    NEXT_PERIOD,
    check_variants,
    draw_rows,
    in_time_order,
    make_design,
    runs_of_pair,
)
from replearn.randomness.key import SharedKey
from tests.factories import limit

KEY = SharedKey("variants")
OPTIONS = {"n_jobs": 1, "verbose": -1, "subgroups": None, "shared_key": "variants"}


def table(n=900, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


class Coin(ClassifierMixin, BaseEstimator):
    """Predict one label for all rows: by the seed, or by the first row of the sample."""

    def __init__(self, random_state=None, by_seed=True):
        self.random_state = random_state
        self.by_seed = by_seed

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        seed = np.random.default_rng(self.random_state).integers(0, 2)
        self.label_ = seed if self.by_seed else int(X[0, 1] > 0)
        return self

    def predict(self, X):
        return np.full(len(X), self.label_)


def rates(result, name="m"):
    names = ["", *result.design.vary[1:]]
    return {variant: result.flip_rate(name, variant).value for variant in names}


@pytest.mark.parametrize("groups", [None, np.arange(1000) // 5])
@pytest.mark.parametrize("share", [10, 50, 100])
def test_so_many_rows_are_new(share, groups):
    rows = draw_rows(1000, 100, groups, KEY)
    name = "new rows" if share == 100 else f"{share} % new rows"
    design = make_design(1000, rows, 3, KEY, vary=(name,))
    for pair in range(3):
        first, second = (run.rows for run in runs_of_pair(design, rows, KEY, pair))
        assert len(first) == len(second)
        new = set(second) - set(first)
        assert len(new) == pytest.approx(share / 100 * len(first), abs=5)
        assert not (set(first) | set(second)) & set(rows.test)


def test_fewer_new_rows_change_fewer_predictions():
    tree = {"m": DecisionTreeClassifier(max_depth=4)}
    vary = ["new rows", "10 % new rows"]
    both = audit(tree, *table(), n_pairs=6, vary=vary, **OPTIONS)
    found = rates(both)
    assert found["10 % new rows"] < found[""]
    alone = audit(tree, *table(), n_pairs=6, vary="10 % new rows", **OPTIONS)
    assert alone.flip_rate("m").value == found["10 % new rows"]
    assert "with 10 % new rows" in str(alone)
    assert "Predictions of m that change: " in " ".join(str(both).split())
    assert both["m"].runs["10 % new rows"].flips.shape == both["m"].flips.shape


def test_a_seed_and_an_order_are_found_where_they_matter():
    vary = ["new rows", "seed", "row order"]
    by_seed = rates(audit({"m": Coin()}, *table(), n_pairs=30, vary=vary, **OPTIONS))
    assert 0.2 < by_seed["seed"] < 0.8
    assert by_seed["row order"] == 0
    by_order = rates(
        audit({"m": Coin(0, by_seed=False)}, *table(), n_pairs=30, vary=vary, **OPTIONS)
    )
    assert 0.2 < by_order["row order"] < 0.8
    assert by_order["seed"] == 0
    plain = rates(audit({"m": GaussianNB()}, *table(), n_pairs=3, vary=vary, **OPTIONS))
    assert plain["seed"] == plain["row order"] == 0 < plain[""]


def test_a_fixed_seed_is_varied_as_well():
    forest = {"m": RandomForestClassifier(3, random_state=0)}
    found = audit(forest, *table(), n_pairs=3, vary=["seed", "row order"], **OPTIONS)
    assert found.flip_rate("m").value > 0
    assert "with another seed" in str(found)


def test_every_contender_has_every_variant(tmp_path):
    kinds = ["baseline", "incumbent", "replicable"]
    options = {**OPTIONS, "n_pairs": 2, "contenders": kinds, "resume": tmp_path}
    vary = ["new rows", "seed"]
    found = audit(GaussianNB(), *table(1500), vary=vary, **options)
    assert len(found.table.select(what="flips", variant="seed", group="all")) == 3
    assert found.flip_rate("incumbent", "seed").value == 0
    again = audit(GaussianNB(), *table(1500), vary=vary, **options)
    assert again.to_json(timings=False) == found.to_json(timings=False)
    with pytest.raises(ValueError, match="not the same design"):
        audit(GaussianNB(), *table(1500), **options)


def test_an_estimator_without_parameters_is_audited():
    class Plain:
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return (X[:, 0] > 0).astype(int)

        def __sklearn_clone__(self):
            return Plain()

    found = audit({"m": Plain()}, *table(), n_pairs=2, vary=["new rows", "seed"], **OPTIONS)
    assert rates(found) == {"": 0.0, "seed": 0.0}


# -- time ------------------------------------------------------------------------------------------
def test_windows_move_in_time():
    time = np.random.default_rng(0).permutation(1000)
    rows = draw_rows(1000, 100, None, KEY)
    rows = type(rows)(rows.test, rows.pool_units, None, in_time_order(time, rows, 1000, KEY))
    design = make_design(1000, rows, 5, KEY, vary=("new rows", NEXT_PERIOD, ANY_PERIOD))
    starts = []
    for pair in range(5):
        runs = runs_of_pair(design, rows, KEY, pair)
        assert [run.variant for run in runs] == ["", "new rows", "", NEXT_PERIOD, ANY_PERIOD]
        assert [run.first for run in runs] == [0, 0, 2, 2, 0]
        window, later = time[runs[2].rows], time[runs[3].rows]
        assert np.ptp(window) < 0.6 * 1000
        assert window.min() < later.min()
        assert len(set(later) - set(window)) == design.period
        assert len(set(runs[4].rows) - set(runs[0].rows)) == design.period
        starts.append(window.min())
    assert starts == sorted(starts)
    assert time[runs[3].rows].max() == time[rows.pool_units].max()


def test_drift_is_told_from_noise():
    time = np.arange(900)
    X, _ = table()
    y = (X[:, 0] > time / 150 - 3).astype(int)
    moving = audit({"m": GaussianNB()}, X, y, n_pairs=20, time=time, **OPTIONS)
    found = rates(moving)
    assert found[NEXT_PERIOD] > found[ANY_PERIOD]
    assert moving.table.get("difference of flips", variant=NEXT_PERIOD).lower > 0


@pytest.mark.long
def test_noise_is_called_drift_at_most_as_often_as_stated():
    alarms, trials = 0, 200
    tree = {"m": DecisionTreeClassifier(max_depth=3)}
    for seed in range(trials):
        options = {**OPTIONS, "shared_key": seed, "n_pairs": 8}
        found = audit(tree, *table(300, seed), time=np.arange(300), **options)
        alarms += found.table.get("difference of flips", variant=NEXT_PERIOD).lower > 0
    assert alarms <= limit(trials, 0.025)


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ([1, 2], r"time has shape \(2,\)"),
        (np.r_[np.nan, np.arange(899)], "missing values"),
        (np.arange(900) // 500, "2 different values"),
        (np.array(["a", 1] * 450, dtype=object), "different types"),
    ],
)
def test_times_that_cannot_be(time, message):
    with pytest.raises(ValueError, match=message):
        audit({"m": GaussianNB()}, *table(), time=time, **OPTIONS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vary": "columns"}, "vary: 'columns' is not one of"),
        ({"vary": "0 % new rows"}, "vary: '0 % new rows'"),
        ({"vary": []}, r"vary=\[\]"),
        ({"vary": ["new rows", NEXT_PERIOD]}, "requires the time"),
        ({"vary": NEXT_PERIOD, "time": np.arange(900)}, "the first must be another one"),
        ({"vary": "seed", "sample": "bootstrap"}, "sample="),
        ({"vary": "0.1 % new rows"}, "less than one"),
        ({"time": np.arange(900), "groups": np.arange(900) // 2}, "not supported with groups"),
    ],
)
def test_variants_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        audit({"m": GaussianNB()}, *table(), **options, **OPTIONS)


def test_variants_are_named_once_each():
    wanted = ("seed", "new rows", "seed")
    assert check_variants(wanted, has_time=False) == ("seed", "new rows")
    assert check_variants("new rows", has_time=True) == ("new rows", NEXT_PERIOD, ANY_PERIOD)
