"""Each finding fires on data made for it and stays silent on its twin."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from replearn import PointwiseReplicableClassifier
from replearn.auditing.audits import audit
from replearn.auditing.facts import data_facts
from replearn.auditing.findings import CHECKS, descriptions
from tests.factories import voting
from tests.populations import ConstantLearner, FirstRowLearner

ROOT = Path(__file__).parents[2]


def ours(base=None, **params):
    params = {"n_blocks": 20, "n_partitions": 1, "shared_key": "findings"} | params
    return voting(FirstRowLearner() if base is None else base, **params)


@cache
def noise(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(3, 2, (n, 2)), rng.integers(0, 2, n)


def run(estimator, X=None, y=None, **options):
    if X is None:
        X, y = noise()
    quick = {"n_pairs": 12, "subgroups": None, "test_size": 200}
    options = {**quick, "shared_key": "t"} | options
    contenders = estimator if isinstance(estimator, dict) else {"m": estimator}
    return audit(contenders, X, y, **options)


@cache
def of_a_constant():
    return run(ConstantLearner())


@cache
def of_the_first_row():
    return run(FirstRowLearner())


@cache
def of_ours():
    return run(ours())


def status(result, code):
    return next(f for f in result.findings if f.code == code).status


def words(result, code):
    return " ".join(next(f for f in result.findings if f.code == code).explanations)


def test_rpl001_high_flip_rate():
    noisy = of_the_first_row()
    assert status(noisy, "RPL001") == "found"
    assert "of the predictions change" in words(noisy, "RPL001")
    assert status(of_a_constant(), "RPL001") == "passed"


def test_rpl002_tail_above_the_promise():
    broken = run(make_pipeline(StandardScaler(), ours(n_blocks=32)))
    assert status(broken, "RPL002") == "found"
    assert "assumption" in words(broken, "RPL002")
    whole = run(ours(make_pipeline(StandardScaler(), FirstRowLearner()), n_blocks=32))
    assert status(whole, "RPL002") == "passed"
    assert status(of_the_first_row(), "RPL002") == "not applicable"


class UnsureOfTheYoung(ClassifierMixin, BaseEstimator):
    """Predict young people by the label of some row of the sample, the others by 1."""

    def fit(self, X, y):
        self.classes_, self.labels_ = np.array([0, 1]), np.asarray(y)
        return self

    def predict(self, X):
        some = self.labels_[(np.asarray(X["place"]) * len(self.labels_)).astype(int)]
        return np.where(np.asarray(X["age"]) < 30, some, 1)


def test_rpl003_a_subgroup_flips_more():
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 1200)
    young = np.where(age < 30, "yes", "no")
    X = pd.DataFrame({"age": age, "young": young, "place": rng.random(1200)})
    y = rng.integers(0, 2, 1200)
    found = run(UnsureOfTheYoung(), X, y, subgroups="auto", n_pairs=20)
    assert status(found, "RPL003") == "found"
    assert "young = yes" in words(found, "RPL003")
    assert "young = no" not in words(found, "RPL003")
    coin = {"coin": rng.choice(["a", "b"], 1200)}
    assert status(run(UnsureOfTheYoung(), X, y, subgroups=coin), "RPL003") == "passed"
    assert status(of_a_constant(), "RPL003") == "not applicable"


def test_rpl004_not_certified_at_this_n():
    X, y = noise()
    unplanned = PointwiseReplicableClassifier(FirstRowLearner(), shared_key="findings", verbose=-1)
    small = run(unplanned, X[:500], y[:500], test_size=100, n_pairs=4)
    assert status(small, "RPL004") == "found"
    assert "needs" in words(small, "RPL004")
    assert re.search(r"needs .*n=\d+ rows", words(small, "RPL004"))
    assert status(of_ours(), "RPL004") == "passed"


def test_rpl005_transformer_in_front():
    front = run(make_pipeline(StandardScaler(), ours()), n_pairs=4)
    assert status(front, "RPL005") == "found"
    assert "StandardScaler" in words(front, "RPL005")
    inside = run(ours(make_pipeline(StandardScaler(), FirstRowLearner())), n_pairs=4)
    assert status(inside, "RPL005") == "passed"
    learns_nothing = make_pipeline(FunctionTransformer(np.abs), ours())
    assert status(run(learns_nothing, n_pairs=4), "RPL005") == "passed"


def test_rpl007_repeated_rows_that_matter():
    rng = np.random.default_rng(0)
    towns = rng.integers(0, 3, (1200, 2)).astype(float)
    repeated = run(ConstantLearner(), towns, rng.integers(0, 2, 1200))
    assert status(repeated, "RPL007") == "found"
    assert "100 %" in words(repeated, "RPL007")
    assert status(of_a_constant(), "RPL007") == "passed"


def test_rpl008_groups_ignored():
    X, y = noise()
    patient = np.arange(1200) // 4
    frame = pd.DataFrame({"x": X[:, 0], "patient_id": patient})
    found = run(ConstantLearner(), frame, y)
    assert status(found, "RPL008") == "found"
    assert "patient_id" in words(found, "RPL008")
    assert status(run(ConstantLearner(), frame, y, groups=patient), "RPL008") == "passed"
    one_each = frame.assign(patient_id=np.arange(1200))
    assert status(run(ConstantLearner(), one_each, y), "RPL008") == "passed"
    named = frame.assign(patient_id=np.arange(1200) % 45)
    assert status(run(ConstantLearner(), named, y), "RPL008") == "found"
    for category in ("store_id", "customer_age", "family_size", "account_months"):
        few = named.rename(columns={"patient_id": category})
        assert status(run(ConstantLearner(), few, y), "RPL008") == "passed", category
    many = frame.rename(columns={"patient_id": "store_id"})
    assert status(run(ConstantLearner(), many, y), "RPL008") == "found"
    no_id = frame.rename(columns={"patient_id": "humidity"})
    assert status(run(ConstantLearner(), no_id, y), "RPL008") == "passed"
    assert status(of_a_constant(), "RPL008") == "not applicable"


def test_rpl009_order_of_the_file():
    X, y = noise()
    drifting = X + np.linspace(0, 3, 1200)[:, np.newaxis]
    drifted = run(ConstantLearner(), drifting, y)
    assert status(drifted, "RPL009") == "found"
    assert "First and last third" in words(drifted, "RPL009")
    sorted_by_label = np.argsort(y, kind="stable")
    by_label = run(ConstantLearner(), X[sorted_by_label], y[sorted_by_label])
    assert "the label" in words(by_label, "RPL009")
    shuffled = np.random.default_rng(1).permutation(1200)
    assert status(run(ConstantLearner(), drifting[shuffled], y[shuffled]), "RPL009") == "passed"


def test_rpl010_default_key():
    assert status(run(ours(shared_key=0), n_pairs=4), "RPL010") == "found"
    assert status(of_ours(), "RPL010") == "passed"
    assert status(of_a_constant(), "RPL010") == "not applicable"


def test_rpl015_changes_that_are_not_due_to_the_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2))
    y = (X[:, 0] + rng.normal(size=900) > 0).astype(int)
    options = {"n_pairs": 5, "n_jobs": 1}
    forest = RandomForestClassifier(1)
    varied = {**options, "vary": ["new rows", "seed", "row order"]}
    assert status(audit({"forest": forest}, X, y, **varied), "RPL015") == "found"
    assert status(audit({"bayes": GaussianNB()}, X, y, **varied), "RPL015") == "passed"
    unknown = audit({"bayes": GaussianNB()}, X, y, **options)
    assert status(unknown, "RPL015") == "not applicable"


def test_rpl016_retraining_on_the_next_period_changes_more():
    rng = np.random.default_rng(0)
    time = np.arange(900)
    X = rng.normal(size=(900, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=900) > time / 150 - 3).astype(int)
    options = {"n_pairs": 12, "n_jobs": 1, "verbose": -1}
    in_order = audit({"bayes": GaussianNB()}, X, y, time=time, **options)
    assert status(in_order, "RPL016") == "found"
    assert "new rows at random" in words(in_order, "RPL016")
    mixed = audit({"bayes": GaussianNB()}, X, y, time=rng.permutation(900), **options)
    assert status(mixed, "RPL016") == "passed"
    unknown = audit({"bayes": GaussianNB()}, X, y, **options)
    assert status(unknown, "RPL016") == "not applicable"


def test_findings_can_be_ignored_but_not_invented():
    result = of_the_first_row()
    assert status(result.with_settings(ignore=["RPL001"]), "RPL001") == "ignored"
    with pytest.raises(ValueError, match="RPL999"):
        result.with_settings(ignore=["RPL999"])


def test_a_pass_says_what_it_does_not_prove():
    passed = [f for f in of_a_constant().findings if f.status == "passed"]
    assert passed
    assert all(f.not_proved in str(f) for f in passed)


def test_every_code_has_a_section_a_test_and_words():
    codes = list(CHECKS)
    assert codes == sorted(set(codes)) == list(descriptions()), "codes are not used again"
    guide = (ROOT / "docs/reference/findings.md").read_text()
    sections = re.findall(r"^## (RPL\d+)", guide, flags=re.M)
    assert sections == codes
    tests = Path(__file__).read_text()
    for code, about in descriptions().items():
        assert f"def test_{code.lower()}" in tests
        assert all(about[name] in guide for name in ("title", "detected", "why", "not_proved"))
        command = about.get("command", about["remedy"])
        assert not re.search(r"\w\(|\w=", command), "Python for users of the command line"
        assert about["severity"] in ("issue", "tip")


def test_long_files_are_looked_at_by_pieces():
    rng, n = np.random.default_rng(0), 90_000
    codes, test = rng.integers(0, 2, n), np.arange(0, n, 90)
    X = pd.DataFrame({"calm": rng.normal(size=n), "drifting": np.linspace(0, 2, n)})
    X["drifting"] += rng.normal(size=n)
    X["session"] = np.arange(n) // 10
    facts = data_facts(X, codes, test)
    assert {name for name, _ in facts.drift} == {"drifting", "session"}
    assert facts.id_columns == (("session", 9000, 10.0),)
    assert facts.repeated_test_share == 0
    copied = pd.DataFrame({"a": np.arange(n) // 2 % 100, "b": rng.integers(0, 2, n)})
    assert data_facts(copied, codes, test).repeated_test_share == 1


def test_an_index_does_not_hide_an_id():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=900)})
    person = rng.integers(0, 300, 900)
    codes, test = rng.integers(0, 2, 900), np.arange(90)

    def ids(index):
        return [name for name, *_ in data_facts(X.set_axis(index), codes, test).id_columns]

    assert ids(pd.Index(person, name="patient_id")) == ["patient_id"]
    levels = [np.arange(900) % 7, person]
    assert ids(pd.MultiIndex.from_arrays(levels, names=["visit", "household"])) == ["household"]
    assert ids(pd.Index(person, name="age")) == []
    assert ids(pd.Index(person)) == []
    assert ids(pd.RangeIndex(900, name="patient_id")) == []


def test_rows_of_groups_that_stand_together_are_no_order_of_the_file():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(300), 5)
    X = rng.normal(size=(300, 2))[groups] + 0.1 * rng.normal(size=(1500, 2))
    codes = (X[:, 0] > 0).astype(int)
    test = np.arange(100)
    assert data_facts(X, codes, test, groups=groups).drift == ()
    ordered = X[np.argsort(X[groups * 5, 0], kind="stable")]
    assert data_facts(ordered, codes, test, groups=groups).drift


def test_too_few_groups_for_two_samples_are_counted():
    X = np.random.default_rng(0).normal(size=(400, 2))
    y = np.arange(400) % 2
    with pytest.raises(ValueError, match=r"\d groups are left .* a column of groups with more"):
        audit({"one": GaussianNB()}, X, y, groups=np.arange(400) % 3, n_pairs=2)
