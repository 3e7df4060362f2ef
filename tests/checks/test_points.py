"""What two runs mean by a point: names, order and rounding of columns; a probe for the rest."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PowerTransformer, StandardScaler

from replearn import PointwiseReplicableClassifier
from replearn.checks.points import encode_probe
from replearn.exceptions import CertificateError, PreprocessingWarning
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.comparison import DRAWN, PREPARED
from replearn.guarantees.probe import Probe
from tests.factories import voting

N = 2000


def table(seed, n=N):
    """Return age, an indicator, an income in full precision, and labels."""
    rng = np.random.default_rng(seed)
    age, sex = np.round(rng.gamma(9, 5, n), 1), rng.integers(0, 2, n)
    income = rng.lognormal(3, 0.5, n)
    y = (age / 20 + sex + rng.normal(size=n) > 3).astype(int)
    return pd.DataFrame({"age": age, "sex": sex, "income": income}), y


def certified(lab, base=None, **settings):
    """Fit a lab and return its certificate, after a journey through JSON."""
    settings = {"rho": 0.4, "max_fits": 12, "shared_key": "k", **settings}
    made = voting(GaussianNB() if base is None else base, **settings).fit(*lab).certificate_
    certificate = Certificate.from_json(made.to_json())
    certificate.check()
    assert certificate.certified, certificate.reason
    return certificate


def as_array(X):
    return X.to_numpy(float)


# -- what certificates tell ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (as_array, "columns: by name .* here, by position there"),
        (lambda X: X.rename(columns={"age": "Age"}), "columns: by name"),
        (lambda X: X.drop(columns="sex"), "n_columns of the points: 3 here, 2 there"),
    ],
    ids=["array", "header", "fewer"],
)
def test_columns_that_differ_are_not_comparable(change, words):
    X, y = table(1)
    comparison = certified(table(0)).comparable(certified((change(X), y)))
    assert comparison.comparable == "no"
    assert pytest.importorskip("re").search(words, str(comparison)), str(comparison)


def test_columns_in_another_order_are_unknown_unless_they_are_taken_by_name():
    X, y = table(1)
    turned = X[["income", "age", "sex"]], y
    assert certified(table(0)).comparable(certified(turned)).comparable == "unknown"
    by_name = make_pipeline(make_column_transformer((StandardScaler(), list(X))), GaussianNB())
    assert certified(table(0), by_name).comparable(certified(turned, by_name)).comparable == "yes"


def test_rounding_is_compared():
    one, other = certified(table(0), decimals=3), certified(table(1), decimals=2)
    assert "decimals of the points" in str(one.comparable(other))


def test_texts_in_another_form_are_warned_about():
    texts = np.array([f"cafe\u0301 {i % 50}" for i in range(N)], dtype=object)
    base = make_pipeline(HashingVectorizer(n_features=16), BernoulliNB())
    with pytest.warns(PreprocessingWarning, match="not in the Unicode form NFC"):
        certified((texts, table(0)[1]), base)


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.assign(age=X["age"] * 12),
        lambda X: X.round({"income": 3}),
        lambda X: X.astype({"income": "float32"}),
        lambda X: X.assign(income=(X["income"] / X["income"].max()).round(3)),
    ],
    ids=["months", "csv", "float32", "scaled and rounded"],
)
def test_what_only_a_probe_tells_is_a_condition(change):
    X, y = table(1)
    raw = table(9, 40)[0]
    one, other = certified(table(0)), certified((change(X), y))
    without = one.comparable(other)
    assert without.comparable == "yes"
    assert without.unverified_conditions == (PREPARED, DRAWN)
    assert f"comparable, provided {PREPARED}" in str(without)
    probes = (encode_probe(one, raw), encode_probe(other, change(raw)))
    assert one.comparable(other, probes=probes).comparable == "no"


def mixed(seed, n=N):
    X, y = table(seed, n)
    rng = np.random.default_rng(seed + 100)
    town = rng.choice(["Ulm", "Köln", "Jena", None], n, p=[0.5, 0.3, 0.1, 0.1])
    X["town"] = pd.Categorical(town, categories=rng.permutation(["Ulm", "Köln", "Jena", "Rom"]))
    X["age"] = X["age"].where(rng.random(n) > 0.05)
    X["member"] = rng.random(n) < 0.5
    X["visits"] = pd.array(rng.integers(0, 9, n), dtype="Int64" if seed % 2 else "int64")
    return X[rng.permutation(X.columns)], y


ENCODED = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["town"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income", "visits"]),
        ("passthrough", ["sex", "member"]),
    ),
    LogisticRegression(),
)


def flags(seed):
    return np.random.default_rng(seed).integers(0, 2, N)


@pytest.mark.parametrize(
    ("lab", "base"),
    [
        (table, None),
        (mixed, ENCODED),
        (lambda seed: (as_array(table(seed)[0]), table(seed)[1]), None),
        (
            lambda seed: (
                sparse.random(N, 300, 0.02, format="csr", random_state=seed),
                flags(seed),
            ),
            BernoulliNB(),
        ),
        (
            lambda seed: ([f"w{i % 7} w{i % 11}" for i in range(seed, N + seed)], flags(seed)),
            make_pipeline(HashingVectorizer(n_features=16), BernoulliNB()),
        ),
        (table, GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2)),
        (table, RandomForestClassifier(2, max_depth=2)),
    ],
    ids=["frame", "mixed", "array", "sparse", "text", "search", "forest"],
)
def test_two_labs_that_do_the_same_are_certified_and_comparable(lab, base):
    comparison = certified(lab(0), base).comparable(certified(lab(1), base))
    assert comparison.comparable == "yes", str(comparison)


# -- probes ----------------------------------------------------------------------------------------
def two_labs(fit_front):
    """Return both certificates, and the encoded probe rows of both labs."""
    raw = table(9, 64)[0]
    certificates, probes = [], []
    for seed in (0, 1):
        X, y = table(seed)
        front = fit_front(X)
        certificates.append(certified((front(X), y)))
        probes.append(encode_probe(certificates[-1], front(raw)))
    return certificates, tuple(probes)


def test_labs_that_encode_alike():
    (one, two), probes = two_labs(lambda X: lambda Z: Z)
    with_probe = one.comparable(two, probes=probes)
    assert with_probe.comparable == "yes"
    assert with_probe.unverified_conditions == (DRAWN,)


@pytest.mark.parametrize(
    ("transformer", "name"),
    [
        (PowerTransformer(standardize=False), "column 0"),
        (TruncatedSVD(1), "column 0"),
    ],
    ids=["power", "svd"],
)
def test_what_leaves_no_mark_in_a_table(transformer, name):
    def fit_front(X):
        fitted = type(transformer)(**transformer.get_params()).fit(X)
        return fitted.transform

    (one, two), probes = two_labs(fit_front)
    assert one.certified
    comparison = one.comparable(two, probes=probes)
    assert comparison.comparable == "no"
    assert f"probe: {name} is encoded differently" in str(comparison)


def test_a_transformer_that_is_fitted_on_the_probe_itself_answers_nothing():
    (one, two), _ = two_labs(lambda X: lambda Z: Z)
    raw, _ = table(9, 64)
    scaled = pd.DataFrame(StandardScaler().fit_transform(raw), columns=raw.columns)
    probe = encode_probe(one, scaled)
    comparison = one.comparable(two, probes=(probe, probe))
    assert comparison.comparable == "unknown"
    assert "fitted on the training rows" in str(comparison)


def test_columns_are_those_of_the_run():
    X, y = table(0)
    X = X.drop(columns="sex")
    run, by_position = certified((X, y)), certified((X.to_numpy(), y))
    more = X.assign(target=y)[["target", "income", "age"]]
    assert encode_probe(run, more[:9]) == encode_probe(run, X[:9])
    with pytest.raises(ValueError, match="no column 'age'"):
        encode_probe(run, X[["income"]])
    with pytest.raises(ValueError, match="3 columns, but the run had 2"):
        encode_probe(by_position, more.to_numpy())
    assert encode_probe(by_position, X[:9]) == encode_probe(by_position, X[:9].to_numpy())


def test_probes_are_files(tmp_path):
    probe = Probe.of(table(0, 9)[0], decimals=3)
    probe.save(tmp_path / "p.json")
    assert Probe.load(tmp_path / "p.json") == probe
    with pytest.raises(CertificateError):
        Probe.from_json(probe.to_json().replace('"rows"', '"lines"'))


def test_rows_that_are_lost_or_combined_differently():
    X = np.arange(12.0).reshape(6, 2)
    run = Probe.of(X)
    from replearn.guarantees.probe import compare_probes

    assert compare_probes(run, Probe.of(X[:5]))[0] == ("probe: rows 6 here, 5 there",)
    mixed = np.column_stack([X[:, 0], X[::-1, 1]])
    assert "in other rows" in compare_probes(run, Probe.of(mixed))[0][0]


@pytest.mark.parametrize(
    ("mine", "yours", "answer", "words"),
    [
        ([1, 2, 3], [3, 1, 2], "yes", ""),
        ([1, 2, 3], ["1", "2", "3"], "yes", ""),
        (["1", "2", "3"], ["001", "002", "003"], "no", "'7' and '007' are two ids"),
        ([1, 2, 3], None, "no", "ids key the thresholds here only"),
        (None, [1, 2, 3], "no", "ids key the thresholds there only"),
    ],
)
def test_ids_that_differ_are_found(mine, yours, answer, words):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 2)), rng.integers(0, 2, 2000)
    model = PointwiseReplicableClassifier(GaussianNB(), rho=0.4, max_fits=40).fit(X, y)
    certificate, raw = model.certificate_, np.arange(6.0).reshape(3, 2)
    probes = (
        encode_probe(certificate, raw, ids=mine),
        encode_probe(certificate, raw, ids=yours),
    )
    comparison = certificate.comparable(certificate, probes=probes)
    assert comparison.comparable == answer
    assert words in str(comparison)
    assert Probe.from_json(probes[0].to_json()) == probes[0]
