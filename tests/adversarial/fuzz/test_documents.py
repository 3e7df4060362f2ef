"""Changed plans and certificates: refused by a `CertificateError`, quickly, or they follow."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from replearn import CertificateError, PointwiseReplicableClassifier, plan
from replearn.guarantees import Certificate, Plan, certify
from replearn.records.json import digest_of
from tests.adversarial.fuzz.damage import damaged, generators, mutated, within

SECONDS = 60
LONG = pytest.mark.long

PLANS = {
    "pointwise": lambda: plan("pointwise", n=3000, rho=0.2),
    "many runs": lambda: plan("pointwise", n=3000, rho=0.2, runs=5),
    "classes": lambda: plan("pointwise", n=3000, rho=0.3, n_classes=3),
    "approximate": lambda: plan("approximate", n=20_000, rho=0.2, gamma=0.2),
    "selection": lambda: plan("selection", n=10_000, rho=0.2, alpha=0.1, beta=0.1, n_hypotheses=5),
}


def vote_certificate():
    X, y = make_classification(900, random_state=0)
    model = PointwiseReplicableClassifier(
        GaussianNB(), n_blocks=30, max_fits=30, rho=0.3, shared_key="k"
    )
    return model.fit(X, y).certificate_


CERTIFICATES = {
    "vote": vote_certificate,
    "sampling": lambda: certify("correlated sampling", "0123456789abcdef", deviation=None),
}


def signed(document):
    """Give a changed document the digest that its author would have given it."""
    content = {name: value for name, value in document.items() if name != "digest"}
    return {**content, "digest": digest_of(content)}


def read_plan(text):
    Plan.from_json(text)


def read_certificate(text):
    Certificate.from_json(text)


def check_documents(document, read, count, seed):
    """Read many changed documents; return how many were taken."""
    taken = 0
    for number, rng in generators(count, seed):
        changed = mutated(document, rng)
        try:
            text = json.dumps(signed(changed) if rng.random() < 0.9 else changed)
        except ValueError:  # no JSON
            continue
        with within(SECONDS):
            try:
                read(text)
                taken += 1
            except CertificateError:
                continue
            except BaseException as error:
                error.add_note(f"document {number} of seed {seed}: {text[:3000]}")
                raise
    return taken


def check_texts(document, read, count, seed):
    """Read many damaged texts."""
    content = json.dumps(document, indent=1).encode()
    for _, rng in generators(count, seed):
        text = damaged(content, rng).decode("utf-8", errors="replace")
        with within(SECONDS):
            try:
                read(text)
            except CertificateError:
                continue
            assert json.loads(text) == document  # blanks, for example


@pytest.mark.parametrize("name", ["pointwise", "selection"])
def test_some_changed_plans(name):
    document = PLANS[name]().to_dict()
    read_plan(json.dumps(document))
    check_documents(document, read_plan, 40, 0)
    check_texts(document, read_plan, 40, 0)


def test_some_changed_certificates():
    document = vote_certificate().to_dict()
    read_certificate(json.dumps(document))
    check_documents(document, read_certificate, 10, 0)
    check_texts(document, read_certificate, 10, 0)


@LONG
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", PLANS)
def test_changed_plans(name, seed):
    document = PLANS[name]().to_dict()
    check_documents(document, read_plan, 1000, seed)
    check_texts(document, read_plan, 1000, seed)


@LONG
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", CERTIFICATES)
def test_changed_certificates(name, seed):
    document = CERTIFICATES[name]().to_dict()
    check_documents(document, read_certificate, 1000, seed)
    check_texts(document, read_certificate, 1000, seed)


DEEP = "[" * 100_000
NASTY = {
    "nested": '{"a": ' + DEEP,
    "digits": '{"n": ' + "9" * 10_000 + "}",
    "twice": '{"n": 1, "n": 2}',
    "infinite": '{"n": 1e999}',
    "not a number": '{"n": NaN}',
    "list": "[]",
    "nothing": "",
    "zeros": "\0" * 1000,
}


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
@pytest.mark.parametrize("read", [read_plan, read_certificate])
def test_nasty_texts(read, text):
    with within(SECONDS), pytest.raises(CertificateError):
        read(text)


def test_a_design_of_astronomical_size_is_refused_quickly():
    """The numbers of a plan are computed again: that must not take forever."""
    document = PLANS["pointwise"]().to_dict()
    for size in (10**9, 10**18):
        inputs = json.loads(json.dumps(document["inputs"]))
        for place in _numbers(inputs):
            home, key = place
            old, home[key] = home[key], size if isinstance(home[key], int) else home[key]
            text = json.dumps(signed({**document, "inputs": inputs}))
            with within(SECONDS), pytest.raises(CertificateError):
                read_plan(text)
            home[key] = old


def _numbers(value):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in list(items):
        if isinstance(part, int) and not isinstance(part, bool):
            yield value, key
        elif isinstance(part, dict | list) and len(part) < 50:
            yield from _numbers(part)


def test_the_way_to_change_documents_changes_them():
    document = PLANS["selection"]().to_dict()
    rngs = [rng for _, rng in generators(50, 9)]
    assert np.mean([mutated(document, rng) != document for rng in rngs]) > 0.9
