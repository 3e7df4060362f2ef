"""Changed plans, certificates and probes: refused by a `CertificateError`, or they follow."""

import json
import zlib

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from replearn import PointwiseReplicableClassifier, plan
from replearn.exceptions import CertificateError
from replearn.guarantees.certificate import Certificate, certify
from replearn.guarantees.plan import Plan
from replearn.guarantees.probe import Probe
from replearn.records.json import digest_of
from tests.adversarial.fuzz.damage import damaged, generators, mutated, within
from tests.guarantees.test_certificate import KEY, OTHERS, designs, issue_design, task_of

SECONDS = 60
LONG = pytest.mark.long
N_DEFAULT = 250  # for each of about 45 documents: 10,000 in all
N_LONG = 2500

TARGETS = {"rho": 0.3, "gamma": 0.3, "alpha": 0.2, "beta": 0.1}
PLANS = {
    "pointwise": lambda: plan("pointwise", n=3000, rho=0.2),
    "many runs": lambda: plan("pointwise", n=3000, rho=0.2, runs=5),
    "classes": lambda: plan("pointwise", n=3000, rho=0.3, n_classes=3),
    "approximate": lambda: plan("approximate", n=20_000, rho=0.2, gamma=0.2),
    "selection": lambda: plan("selection", n=10_000, rho=0.2, alpha=0.1, beta=0.1, n_hypotheses=5),
    "thresholds": lambda: plan("thresholds", **TARGETS),
    "realizable": lambda: plan("realizable", d=2, **TARGETS),
}


def vote_certificate():
    X, y = make_classification(900, random_state=0)
    model = PointwiseReplicableClassifier(
        GaussianNB(), n_blocks=30, max_fits=30, rho=0.3, shared_key="k"
    )
    return model.fit(X, y).certificate_


def documents():
    """Plans, certificates of every task, and a probe: each with the function that reads it."""
    made = {f"plan {name}": make() for name, make in PLANS.items()}
    made |= {f"vote {name}": issue_design(design) for name, design in designs().items()}
    made |= {name: certify(task_of(name), KEY, **inputs) for name, inputs in OTHERS.items()}
    made["probe"] = Probe.of(np.arange(12.0).reshape(4, 3))
    return {name: (type(value).from_json, value) for name, value in made.items()}


DOCUMENTS = documents()


def signed(document):
    """Give a changed document the digest that its author would have given it."""
    content = {name: value for name, value in document.items() if name != "digest"}
    return {**content, "digest": digest_of(content)}


def promised(value):
    """Return the rho that a document promises, infinite if it promises nothing."""
    if not getattr(value, "certified", False) or value.rho is None:
        return np.inf
    return value.rho


def check_documents(name, count, seed):
    """Read many changed documents: one kind of error, and no better promise."""
    read, value = DOCUMENTS[name]
    document = value.to_dict()
    allowed = promised(read(json.dumps(document))) * (1 - 1e-9)
    for number, rng in generators(count, seed + zlib.crc32(name.encode())):
        changed = mutated(document, rng)
        try:
            text = json.dumps(signed(changed) if rng.random() < 0.9 else changed)
        except ValueError:  # no JSON
            continue
        with within(SECONDS):
            try:
                assert promised(read(text)) >= allowed
            except CertificateError:
                continue
            except BaseException as error:
                error.add_note(f"document {number} of seed {seed}: {text[:3000]}")
                raise


def check_texts(name, count, seed):
    """Read many damaged texts."""
    read, value = DOCUMENTS[name]
    document = value.to_dict()
    content = json.dumps(document, indent=1).encode()
    for _, rng in generators(count, seed):
        text = damaged(content, rng)
        with within(SECONDS):
            try:
                read(text)
            except CertificateError:
                continue
            assert json.loads(text) == document  # blanks, for example


@pytest.mark.parametrize("name", DOCUMENTS)
def test_some_changed_documents(name):
    check_documents(name, N_DEFAULT, 0)
    if name != "probe":  # which has no digest of all that it says
        check_texts(name, 20, 0)


@LONG
@pytest.mark.parametrize("name", DOCUMENTS)
def test_changed_documents(name):
    check_documents(name, N_LONG, 1)
    if name != "probe":
        check_texts(name, 1000, 1)


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
@pytest.mark.parametrize("read", [Plan, Certificate, Probe])
def test_nasty_texts(read, text, tmp_path):
    with within(SECONDS), pytest.raises(CertificateError):
        read.from_json(text)
    path = tmp_path / "nasty.json"
    path.write_text(text)
    with within(SECONDS), pytest.raises(CertificateError, match=r"nasty\.json"):
        read.load(path)


def test_a_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "plan.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CertificateError, match=r"plan\.json.*not valid JSON"):
        Plan.load(path)


def test_the_field_is_named():
    document = PLANS["pointwise"]().to_dict()
    for field, value in (("inputs", 3), ("needed_n", "many"), ("rho", None)):
        with pytest.raises(CertificateError, match=field):
            Plan.from_json(json.dumps(signed({**document, field: value})))


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
                Plan.from_json(text)
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
