"""What identifies a run: JSON both ways, and how two identities compare."""

import dataclasses
import json

import numpy as np
import pytest

from replearn.exceptions import CertificateError
from replearn.guarantees.certificate import Certificate, Identity
from replearn.guarantees.comparison import (
    MIN_ROWS,
    compare_points,
    quantiles_differ,
    slack,
)
from replearn.guarantees.promise import derive

INPUTS = {"n": 400, "p0": -0.5, "q0": 0.5, "rho": 0.1, "beta": 0.05, "low": 0.3, "high": 0.7}
COLUMN = {
    "name": "age",
    "kinds": {"number": 8000},
    "steps": {"numbers of 2 decimals": 1024, "numbers of 8 decimals": 1024},
    "zoned": False,
    "all": {"quantiles": list(range(15)), "levels": {}},
    "second": {"quantiles": list(range(7)), "levels": {}},
}
SCHEMA = {
    "encoding": "replearn-encoding-1",
    "decimals": None,
    "columns": ["age"],
    "n_columns": 1,
    "order": "",
    "rows": 8000,
    "second": 4000,
    "texts": {"text not in the form NFC": 0},
    "sketch": [COLUMN],
}
IDENTITY = Identity(
    "0123456789abcdef",
    learner="Tree()",
    learner_digest="d1",
    versions={"numpy": "2.0", "scikit-learn": "1.6"},
    schema=SCHEMA,
    points_digest="p1",
    candidates="c1",
    pool="q1",
    hypotheses="h1",
)


def certificate(**changes):
    return Certificate.of(derive("coins", INPUTS), dataclasses.replace(IDENTITY, **changes))


def test_every_item_survives_json():
    identity = dataclasses.replace(IDENTITY, unbound=("a file",), failed_conditions=("it is late",))
    issued = Certificate.of(derive("coins", INPUTS), identity)
    again = Certificate.from_json(issued.to_json())
    assert again.identity == identity
    assert again == issued
    assert not issued.certified
    assert issued.reason == "it is late"
    assert issued.failed_conditions == ("it is late",)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Identity)])
def test_no_item_may_be_missing_or_changed(name):
    items = json.loads(certificate().to_json())
    del items["identity"][name]
    with pytest.raises(CertificateError, match=f"{name} is missing"):
        Certificate.from_json(json.dumps(items))
    items = json.loads(certificate().to_json())
    items["identity"][name] = {"versions": {}, "schema": None}.get(name, items["identity"][name])
    if name in ("points_digest", "candidates", "pool", "hypotheses"):
        items["identity"][name] += "x"
    if items != json.loads(certificate().to_json()):
        with pytest.raises(CertificateError, match="digest"):
            Certificate.from_json(json.dumps(items))


def test_without_a_promise_it_is_unknown_whether_runs_are_comparable():
    late = certificate(failed_conditions=("it is late",))
    comparison = certificate().comparable(late)
    assert comparison.comparable == "unknown"
    assert comparison.unknowns == ("not certified there: it is late",)
    both = late.comparable(late)
    assert both.comparable == "unknown"
    assert both.reasons == ("not certified here: it is late", "not certified there: it is late")
    other = certificate(failed_conditions=("it is late",), learner_digest="d2")
    assert late.comparable(other).comparable == "no"


def test_a_failed_condition_cannot_be_struck_out():
    items = json.loads(certificate(failed_conditions=("rows are counted",)).to_json())
    items["certified"], items["reason"] = True, ""
    with pytest.raises(CertificateError):
        Certificate.from_json(json.dumps(items))


@pytest.mark.parametrize(
    ("changes", "answer", "words"),
    [
        ({}, "yes", "comparable"),
        ({"learner": "Forest()"}, "no", "estimator: Tree() here, Forest() there"),
        ({"learner_digest": "d2"}, "no", "estimator digest: d1 here, d2 there"),
        ({"candidates": "c2"}, "no", "digest of the candidates"),
        ({"pool": "q2"}, "no", "digest of the shared pool"),
        ({"hypotheses": "h2"}, "no", "digest of the hypothesis class"),
        ({"points_digest": "p2"}, "no", "synthetic rows are encoded differently"),
        ({"schema": None}, "unknown", "described on one certificate only"),
        ({"unbound": ("an open file",)}, "unknown", "not bound there: an open file"),
        ({"versions": {"numpy": "2.1"}}, "unknown", "version of numpy: 2.0 here, 2.1 there"),
        (
            {"versions": {"numpy": "2.1"}, "learner_digest": "d2"},
            "unknown",
            "estimator digest: d1 here, d2 there",
        ),
        ({"library_version": "999.0"}, "unknown", "version of replearn"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_what_differs_decides_the_answer(changes, answer, words):
    comparison = certificate().comparable(certificate(**changes))
    assert comparison.comparable == answer
    assert words in str(comparison)
    assert certificate(**changes).comparable(certificate()).comparable == answer


def test_another_patch_of_the_library_is_a_remark():
    comparison = certificate(library_version="1.2.3").comparable(
        certificate(library_version="1.2.4")
    )
    assert comparison.comparable == "yes"
    assert "version of replearn: 1.2.3 here, 1.2.4 there" in str(comparison)


def changed(**items):
    return {**SCHEMA, "sketch": [{**COLUMN, **items}]}


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({**SCHEMA, "columns": None}, "columns: by name ('age') here, by position there"),
        ({**SCHEMA, "columns": ["Age"]}, "by name ('Age') there"),
        ({**SCHEMA, "decimals": 3}, "decimals of the points: None here, 3 there"),
        (
            {**SCHEMA, "texts": {"text not in the form NFC": 512}},
            "text not in the form NFC: 0% here, 50%",
        ),
        (changed(kinds={"text": 8000}), "number cells: 100% here, 0% there"),
        (changed(kinds={"number": 7900, "missing": 100}), "number cells: 100% here, 99% there"),
        ({**SCHEMA, "second": 3000}, "labels: 50% here, 38% there"),
        (
            changed(steps={"numbers of 2 decimals": 102}),
            "numbers of 2 decimals: 100% here, 10% there",
        ),
        (
            changed(all={"quantiles": list(range(100, 115)), "levels": {}}),
            "other values (median 7 here, 107 there)",
        ),
        (
            changed(second={"quantiles": list(range(10, 17)), "levels": {}}),
            "other values among rows of the second class",
        ),
        (
            changed(all={"quantiles": list(range(15)), "levels": {"ab": 400}}),
            "one has 1% here, 5% there",
        ),
    ],
)
def test_differences_of_points_are_named(other, words):
    differences, unknowns, _ = compare_points(SCHEMA, other)
    assert unknowns == ()
    assert any(words in text for text in differences), differences
    assert compare_points(SCHEMA, SCHEMA) == ((), (), ())


def test_counts_that_are_not_listed_are_taken_as_near_as_they_may_be():
    def levels(count):
        return changed(all={"quantiles": list(range(15)), "levels": {"ab": count}})

    assert compare_points(levels(100), SCHEMA).differences == ()  # up to 80 may be there
    assert compare_points(levels(400), SCHEMA).differences
    assert compare_points(levels(400), levels(420)).differences == ()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({**SCHEMA, "rows": 0, "sketch": []}, "fewer than 200 rows there"),
        ({**SCHEMA, "order": "another"}, "different orders here and there"),
        (changed(kinds={"time": 8000}, steps={"whole days": 12}), "times without a time zone"),
    ],
)
def test_what_cannot_be_compared_is_unknown(other, words):
    here = other if "time" in words else SCHEMA
    assert words in compare_points(here, other).unknowns[0]
    assert compare_points(here, other).differences == ()


def test_times_with_a_zone_and_whole_days_are_known():
    days = changed(kinds={"time": 8000}, steps={"whole days": 1024})
    zoned = changed(kinds={"time": 8000}, steps={"whole days": 12}, zoned=True)
    for schema in (days, zoned):
        assert compare_points(schema, schema)[:2] == ((), ())
        assert "in the same way" in compare_points(schema, schema).unverified[0]


def test_computed_numbers_are_asked_about():
    full = changed(steps={"numbers of 8 decimals": 3})
    assert "prepared column 'age' in the same way" in compare_points(full, full).unverified[0]


def test_slack_keeps_its_false_alarm_rate_and_shrinks_with_rows():
    assert slack(MIN_ROWS, MIN_ROWS, 1) < 1
    assert slack(10_000, 10_000, 20) < 0.09 < slack(1000, 1000, 20)


@pytest.mark.parametrize("draw", ["normal", "standard_cauchy", "poisson", "integers"])
def test_quantiles_of_one_population_agree(draw):
    def quantiles(seed, n=1000):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 2, n) if draw == "integers" else getattr(rng, draw)(size=n)
        places = np.ceil(np.arange(1, 16) / 16 * n).astype(int) - 1
        return np.sort(values)[places].tolist()

    lists = [quantiles(seed) for seed in range(40)]
    width = slack(1000, 1000, 1)
    assert not any(quantiles_differ(one, two, width) for one in lists for two in lists)
    assert quantiles_differ(lists[0], [value + 100 for value in lists[0]], width)


@pytest.mark.parametrize("other", [None, {}, IDENTITY], ids=["None", "dict", "identity"])
def test_only_certificates_are_compared(other):
    certificate = Certificate.of(derive("coins", INPUTS), IDENTITY)
    with pytest.raises(TypeError, match=r"other must be a Certificate, got .*: give certificate_"):
        certificate.comparable(other)
