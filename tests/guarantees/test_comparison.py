"""What identifies a run: JSON both ways, and how two identities compare."""

import dataclasses
import json

import pytest

from replearn.exceptions import CertificateError
from replearn.guarantees.certificate import Certificate, Identity
from replearn.guarantees.comparison import compare_points
from replearn.guarantees.promise import derive

INPUTS = {"n": 400, "p0": -0.5, "q0": 0.5, "rho": 0.1, "beta": 0.05, "low": 0.3, "high": 0.7}
SCHEMA = {
    "encoding": "replearn-encoding-1",
    "decimals": None,
    "columns": ["age"],
    "n_columns": 1,
    "order": "",
}
IDENTITY = Identity(
    "0123456789abcdef",
    learner="Tree()",
    learner_digest="d1",
    versions={"numpy": "2.0", "scikit-learn": "1.6"},
    schema=SCHEMA,
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
    if name in ("candidates", "pool", "hypotheses"):
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


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({**SCHEMA, "columns": None}, "columns: by name ('age') here, by position there"),
        ({**SCHEMA, "columns": ["Age"]}, "by name ('Age') there"),
        ({**SCHEMA, "decimals": 3}, "decimals of the points: None here, 3 there"),
        ({**SCHEMA, "encoding": "2"}, "encoding of the points: replearn-encoding-1 here, 2 there"),
    ],
)
def test_differences_of_points_are_named(other, words):
    differences, unknowns = compare_points(SCHEMA, other)
    assert unknowns == ()
    assert any(words in text for text in differences), differences
    assert compare_points(SCHEMA, SCHEMA) == ((), ())


def test_columns_in_another_order_are_unknown():
    differences, unknowns = compare_points(SCHEMA, {**SCHEMA, "order": "another"})
    assert differences == ()
    assert "different orders here and there" in unknowns[0]


@pytest.mark.parametrize("other", [None, {}, IDENTITY], ids=["None", "dict", "identity"])
def test_only_certificates_are_compared(other):
    certificate = Certificate.of(derive("coins", INPUTS), IDENTITY)
    with pytest.raises(TypeError, match=r"other must be a Certificate, got .*: give certificate_"):
        certificate.comparable(other)
