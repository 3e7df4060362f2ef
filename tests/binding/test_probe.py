"""Probes: what two certificates cannot show, the same raw rows encoded by both labs do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import KBinsDiscretizer, PowerTransformer, StandardScaler

from replearn import PointwiseReplicableClassifier
from replearn.binding import describe_points, encode_probe
from replearn.exceptions import CertificateError
from replearn.guarantees.comparison import compare_points
from replearn.guarantees.probe import Probe

N = 2000


def people(seed, n=N):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.gamma(9, 5, n), "income": rng.lognormal(3, 0.5, n)})
    return X, (rng.random(n) < 0.5).astype(int)


def certificate(X, y):
    model = PointwiseReplicableClassifier(GaussianNB(), rho=0.4, max_fits=20, shared_key="k")
    return model.fit(X, y).certificate_


def two_labs(fit_front):
    """Return both certificates, and the encoded probe rows of both labs."""
    raw, _ = people(9, 64)
    certificates, probes = [], []
    for seed in (0, 1):
        X, y = people(seed)
        front = fit_front(X)
        certificates.append(certificate(front(X), y))
        probes.append(encode_probe(certificates[-1], front(raw)))
    return certificates, tuple(probes)


def test_labs_that_encode_alike():
    (one, two), probes = two_labs(lambda X: lambda Z: Z)
    without = one.comparable(two)
    assert (without.comparable, len(without.unverified_conditions)) == ("yes", 1)
    assert "provided both labs prepared columns 'age', 'income' in the same way" in str(without)
    with_probe = one.comparable(two, probes=probes)
    assert (with_probe.comparable, with_probe.unverified_conditions) == ("yes", ())
    assert str(with_probe) == "comparable: the promise is about this pair of runs"


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
    raw, _ = people(9, 64)
    scaled = pd.DataFrame(StandardScaler().fit_transform(raw), columns=raw.columns)
    probe = encode_probe(one, scaled)
    comparison = one.comparable(two, probes=(probe, probe))
    assert comparison.comparable == "unknown"
    assert "fitted on the training rows" in str(comparison)


def test_small_samples_need_a_probe():
    X, y = people(0, 150)
    run = certificate(X, y)
    comparison = run.comparable(run)
    assert comparison.comparable == "unknown"
    assert "fewer than 200 rows here and there" in str(comparison)
    probe = encode_probe(run, X[:40])
    assert run.comparable(run, probes=(probe, probe)).comparable == "yes"


def test_columns_are_those_of_the_run():
    X, y = people(0)
    run, by_position = certificate(X, y), certificate(X.to_numpy(), y)
    more = X.assign(target=y)[["target", "income", "age"]]
    assert encode_probe(run, more[:9]) == encode_probe(run, X[:9])
    with pytest.raises(ValueError, match="no column 'age'"):
        encode_probe(run, X[["income"]])
    with pytest.raises(ValueError, match="3 columns, but the run had 2"):
        encode_probe(by_position, more.to_numpy())
    assert encode_probe(by_position, X[:9]) == encode_probe(by_position, X[:9].to_numpy())


def test_probes_are_files(tmp_path):
    probe = Probe.of(people(0, 9)[0], decimals=3)
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
        ([1, 2, 3], ["1", "2", "3"], "no", "the ids of the rows are of another kind"),
        (["1", "2", "3"], ["001", "002", "003"], "no", "'7' and '007' are three ids"),
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


@pytest.mark.filterwarnings("ignore:The current default behavior, quantile_method")
@pytest.mark.filterwarnings("ignore::replearn.PreprocessingWarning")
@pytest.mark.parametrize("n_bins", [5, 12])
@pytest.mark.parametrize("strategy", ["quantile", "uniform", "kmeans"])
def test_bins_may_be_those_of_each_lab(strategy, n_bins):
    labs = []
    for seed in range(2):
        rows = np.random.default_rng(seed).normal(size=(3000, 2))
        front = KBinsDiscretizer(n_bins, encode="ordinal", strategy=strategy).fit(rows)
        order = np.arange(len(rows))
        described = describe_points(front.transform(rows), np.zeros(3000, dtype=int), rows=order)
        labs.append(described["schema"])
    compared = compare_points(*labs)
    assert compared.differences or "prepared columns 0, 1 in the same way" in compared.unverified[0]


def test_small_numbers_that_are_no_codes_need_no_proviso():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 2, 3000), rng.integers(1, 6, 3000)]).astype(float)
    described = describe_points(rows, np.zeros(3000, dtype=int), rows=np.arange(3000))
    assert compare_points(described["schema"], described["schema"]).unverified == ()
