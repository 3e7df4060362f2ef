"""Certificates recompute, refuse every change, compare, and read well."""

import copy
import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replearn.bounds import arcsine_law, flip_bound, table_law, uniform_law
from replearn.exceptions import CertificateError
from replearn.guarantees import ASSUMPTIONS, Certificate, Design, HeavyStage, Request, Step
from replearn.records.json import digest_of


def designs():
    return {
        "literal": Design(Request(rho=0.1), n=3205, n_blocks=32, law=uniform_law(32)),
        "default": Design(
            Request(rho=0.1),
            n=20_000,
            n_blocks=64,
            law=arcsine_law(64, 0.66),
            n_partitions=6,
            classes=("no", "yes"),
            decimals=6,
            encoding="e1",
        ),
        "table": Design(Request(), n=90, n_blocks=3, law=table_law([0, 0.2, 0.8, 1])),
        "soft": Design(
            Request(rho=0.2),
            n=1000,
            n_blocks=20,
            law=uniform_law(20, 0.9),
            vote="soft",
            unit="groups",
        ),
        "three classes": Design(Request(rho=0.4), n=800, n_blocks=20, law=None, n_classes=3),
        "twelve runs": Design(
            Request(rho=0.3, runs=12), n=3200, n_blocks=32, law=uniform_law(32), n_partitions=2
        ),
        "soft runs": Design(Request(runs=4), n=3200, n_blocks=32, law=uniform_law(32), vote="soft"),
        "missed": Design(Request(rho=0.01), n=3200, n_blocks=32, law=uniform_law(32)),
        "approximate": Design(
            Request("approximate", rho=0.05, gamma=0.3), n=9999, n_blocks=100, law=uniform_law(100)
        ),
        "approximate gamma": Design(
            Request("approximate", gamma=0.3),
            n=9999,
            n_blocks=100,
            law=uniform_law(100),
            max_point_mass=1e-4,
        ),
        "accurate": Design(
            Request(rho=0.5, alpha=0.4, beta=0.1, d=1), n=60_000, n_blocks=4, law=uniform_law(4)
        ),
        "accurate, atoms": Design(
            Request(rho=0.5, alpha=0.4, beta=0.1, d=1),
            n=60_000,
            n_blocks=4,
            law=arcsine_law(4, 0.9),
            max_point_mass=1e-4,
        ),
        "heavy": Design(
            Request(rho=0.5),
            n=20_000,
            n_blocks=64,
            law=uniform_law(64),
            heavy=HeavyStage(low=0.005, high=0.08, n_labels=60, band=0.9),
        ),
    }


NAMES = tuple(designs())


def issue(name):
    return Certificate.issue(
        designs()[name], key_fingerprint="0123456789abcdef", learner="LogisticRegression(C=1)"
    )


@pytest.fixture(scope="module")
def issued():
    return {name: issue(name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_certificate_passes_its_own_check_and_survives_json(issued, name, tmp_path):
    certificate = issued[name]
    certificate.check()
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    again.check()
    certificate.save(tmp_path / "certificate.json")
    assert Certificate.load(tmp_path / "certificate.json") == certificate
    assert [path.name for path in tmp_path.iterdir()] == ["certificate.json"]


def test_the_promise_is_the_bound_of_the_law(issued):
    certificate = issued["literal"]
    assert certificate.claim.rho == flip_bound(uniform_law(32))
    assert (certificate.n_used, certificate.block_size) == (3200, 100)
    assert certificate.certified
    assert not issued["missed"].certified
    assert "rho = 0.01" in issued["missed"].reason
    assert issued["missed"].claim.rho == certificate.claim.rho


def test_many_runs_and_soft_votes_cost_more(issued):
    assert issued["twelve runs"].claim.rho > 2 * issued["literal"].claim.rho
    assert issued["soft runs"].claim.rho > 1.7 * issued["literal"].claim.rho


def test_the_approximate_claim_is_the_better_route(issued):
    values = {step.name: step.value for step in issued["approximate"].steps}
    assert issued["approximate"].claim.gamma == min(values["markov_gamma"], values["direct_gamma"])


def test_partitions_do_not_change_the_promise(issued):
    design = dataclasses.replace(designs()["default"], n_partitions=1)
    single = Certificate.issue(design, key_fingerprint="x", learner="y")
    assert single.claim.rho == issued["default"].claim.rho


def test_the_accuracy_statement_depends_on_the_law(issued):
    assert "OPT + 0.4." in issued["accurate"].accuracy
    assert "R*" in issued["accurate, atoms"].accuracy
    assert "times the mean error" in issued["default"].accuracy
    assert "at most the mean error" in issued["literal"].accuracy
    assert "at most the mean error" in issued["three classes"].accuracy


def test_accuracy_out_of_reach_is_not_certified():
    design = Design(
        Request(rho=0.5, alpha=0.1, beta=0.1, d=10), n=400, n_blocks=4, law=uniform_law(4)
    )
    certificate = Certificate.issue(design, key_fingerprint="x", learner="y")
    assert not certificate.certified
    assert "per block" in certificate.reason
    assert certificate.claim.alpha is None


# -- tampering -------------------------------------------------------------------------------------
def leaves(value, path=()):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def changed(value, amount):
    """Return another value of the same JSON type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + amount
    if isinstance(value, float):
        return value * (1 + 0.01 * amount) if value else 0.01 * amount
    if isinstance(value, str):
        return value + "x" * amount
    return amount


def put(content, path, value):
    for key in path[:-1]:
        content = content[key]
    content[path[-1]] = value


def sign(content):
    content["digest"] = digest_of({key: content[key] for key in content if key != "digest"})


@pytest.mark.parametrize("name", NAMES)
def test_any_changed_leaf_fails_the_check(issued, name):
    original = json.loads(issued[name].to_json())
    for path, value in leaves(original):
        content = copy.deepcopy(original)
        put(content, path, changed(value, 1))
        with pytest.raises(CertificateError):
            Certificate.from_json(json.dumps(content)).check()


# What a liar may write without touching the promise: who ran it, what was asked for, and items
# that describe another, equally valid run. Everything else follows from the design.
FREE = {
    "key_fingerprint",
    "learner",
    "learner_digest",
    "classes",
    "n_available",
    "library_version",
    "digest",
}
FREE_IN_DESIGN = {"request", "classes", "decimals", "encoding", "unit", "n_classes"}


def is_free(path):
    return path[0] in FREE or (path[0] == "design" and path[1] in FREE_IN_DESIGN)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("amount", [1, 3])
def test_a_changed_number_fails_even_with_a_new_digest(issued, name, amount):
    original = json.loads(issued[name].to_json())
    for path, value in leaves(original):
        if is_free(path) or is_unused(path, name):
            continue
        content = copy.deepcopy(original)
        put(content, path, changed(value, amount))
        sign(content)
        with pytest.raises(CertificateError):
            Certificate.from_json(json.dumps(content)).check()


def is_unused(path, name):
    """Say whether nothing that this certificate promises depends on an item."""
    if path == ("design", "max_point_mass"):
        return not name.startswith(("approximate", "accurate"))
    return path == ("design", "shared_rows") and not name.startswith("approximate")


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_random_changes_fail(data):
    name = data.draw(st.sampled_from(("literal", "table", "twelve runs", "approximate")))
    content = json.loads(cached(name))
    path, value = data.draw(st.sampled_from(list(leaves(content))))
    new = data.draw(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5))
    )
    same = type(new) is type(value) and new == value
    same_number = not isinstance(value, bool) and isinstance(new, int) and new == value
    if same or (same_number and not isinstance(new, bool)):
        return
    put(content, path, new)
    with pytest.raises(CertificateError):
        Certificate.from_json(json.dumps(content)).check()


_CACHE: dict[str, str] = {}


def cached(name):
    if name not in _CACHE:
        _CACHE[name] = issue(name).to_json()
    return _CACHE[name]


def test_the_error_names_the_item(issued):
    certificate = issued["literal"]
    better = dataclasses.replace(certificate.claim, rho=0.05)
    forged = forge(certificate, claim=better)
    with pytest.raises(CertificateError, match="claim rho"):
        forged.check()
    step = dataclasses.replace(certificate.steps[2], value=0.05)
    assert step.name == "flip_bound"
    steps = (*certificate.steps[:2], step, *certificate.steps[3:])
    with pytest.raises(CertificateError, match="flip_bound"):
        forge(certificate, steps=steps).check()
    with pytest.raises(CertificateError, match="digest"):
        dataclasses.replace(certificate, learner="another").check()


def forge(certificate, **changes):
    derivation = dataclasses.replace(certificate.derivation, **changes)
    forged = dataclasses.replace(certificate, derivation=derivation)
    return dataclasses.replace(forged, digest=forged._content_digest())


def test_dropped_and_unknown_steps_fail(issued):
    certificate = issued["twelve runs"]
    with pytest.raises(CertificateError, match="steps"):
        forge(certificate, steps=certificate.steps[:-2]).check()
    unknown = Step("flip_bound", "wishful-thinking", (), 0.0)
    with pytest.raises(CertificateError, match="wishful-thinking"):
        forge(certificate, steps=(unknown,)).check()


def test_unknown_version_format_and_items_are_refused(issued):
    content = json.loads(issued["literal"].to_json())
    for change in ({"version": 2}, {"format": "replearn-plan"}, {"surprise": 1}):
        with pytest.raises(CertificateError):
            Certificate.from_json(json.dumps({**content, **change}))
    del content["steps"]
    with pytest.raises(CertificateError, match="steps is missing"):
        Certificate.from_json(json.dumps(content))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1, "a": 2}', '{"a": NaN}', "null"])
def test_what_is_not_a_certificate_is_refused(text):
    with pytest.raises(CertificateError):
        Certificate.from_json(text)


def test_contradicting_runs_are_refused():
    design = designs()["default"]
    with pytest.raises(CertificateError, match="classes"):
        Certificate.issue(design, key_fingerprint="x", learner="y", classes=("a", "b"))
    with pytest.raises(CertificateError, match="n_available"):
        Certificate.issue(design, key_fingerprint="x", learner="y", n_available=19_999)


@pytest.mark.parametrize(
    ("change", "item"),
    [
        ({"n_blocks": 0}, "n_blocks"),
        ({"n": 31}, "n = 31"),
        ({"n_blocks": 16}, "law is for 32"),
        ({"law": None}, "threshold law"),
        ({"n_classes": 3}, "threshold law"),
        ({"vote": "loud"}, "vote"),
        ({"unit": "cows"}, "unit"),
        ({"n_partitions": 0}, "n_partitions"),
        ({"max_point_mass": 2.0}, "max_point_mass"),
        ({"request": Request("vague")}, "notion"),
        ({"request": Request(runs=1)}, "runs"),
        ({"classes": (1, 2, 3)}, "classes"),
        ({"heavy": HeavyStage(0.01, 0.1, 5), "unit": "groups"}, "heavy"),
        ({"request": Request(alpha=0.1, beta=0.1, d=1), "vote": "soft"}, "hard votes"),
    ],
)
def test_designs_that_contradict_themselves_are_refused(change, item):
    design = dataclasses.replace(designs()["literal"], **change)
    with pytest.raises(CertificateError, match=item):
        Certificate.issue(design, key_fingerprint="x", learner="y")


# -- comparing -------------------------------------------------------------------------------------
def test_equal_runs_are_comparable(issued):
    comparison = issued["literal"].comparable(issue("literal"))
    assert comparison
    assert str(comparison).startswith("comparable")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n": 6400, "n_blocks": 64, "law": uniform_law(64)}, "n_blocks: 32 here, 64 there"),
        ({"n": 3204}, "n: 3205 here, 3204 there"),
        ({"law": uniform_law(32, 0.9)}, "law: uniform"),
        ({"n_partitions": 2}, "n_partitions: 1 here, 2 there"),
        ({"decimals": 3}, "decimals: None here, 3 there"),
        ({"encoding": "e2"}, "encoding"),
        ({"unit": "groups"}, "unit: rows here, groups there"),
        ({"vote": "soft"}, "vote: hard here, soft there"),
    ],
)
def test_a_different_design_is_named(issued, change, words):
    other = Certificate.issue(
        dataclasses.replace(designs()["literal"], **change),
        key_fingerprint="0123456789abcdef",
        learner="LogisticRegression(C=1)",
    )
    comparison = issued["literal"].comparable(other)
    assert not comparison
    assert words in str(comparison)


def test_a_different_key_learner_or_class_list_is_named(issued):
    other = Certificate.issue(
        designs()["literal"], key_fingerprint="f" * 16, learner="Tree()", classes=(0, 1)
    )
    differences = issued["literal"].comparable(other).differences
    assert [item.split(":")[0] for item in differences] == [
        "classes",
        "key fingerprint",
        "learner",
        "learner digest",
    ]


def test_another_request_is_a_remark_only():
    design = dataclasses.replace(designs()["literal"], request=Request(rho=0.2))
    other = Certificate.issue(design, key_fingerprint="x", learner="y")
    mine = Certificate.issue(designs()["literal"], key_fingerprint="x", learner="y")
    comparison = mine.comparable(other)
    assert comparison
    assert comparison.remarks == ("rho asked for: 0.1 here, 0.2 there",)


# -- words -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_words(issued, name):
    certificate = issued[name]
    text, table = certificate.explain(), str(certificate)
    for item in certificate.claim.assumptions:
        assert item.text in text
        assert item.code in table
    assert certificate.claim.sentence() in text
    assert max(len(line) for line in table.splitlines()) <= 100
    assert max(len(line.split("  ")[0]) for line in table.splitlines()) < 20
    assert ("NOT certified" in table) is (not certificate.certified)


def test_html_is_escaped():
    certificate = Certificate.issue(
        designs()["literal"], key_fingerprint="x", learner="<script>alert(1)</script>"
    )
    assert "<script>" not in certificate._repr_html_()
    assert "&lt;script&gt;" in certificate._repr_html_()


def test_assumptions_of_the_design_are_listed(issued):
    codes = {name: [a.code for a in issued[name].claim.assumptions] for name in NAMES}
    assert "classes-agree" in codes["literal"]
    assert "classes-agree" not in codes["default"]
    assert "label-rule" in codes["three classes"]
    assert "no-shared-rows" in codes["approximate"]
    assert "base-learner" in codes["accurate"]
    used = {code for listed in codes.values() for code in listed}
    assert used == set(ASSUMPTIONS)
