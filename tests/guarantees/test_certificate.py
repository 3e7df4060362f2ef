"""Certificates recompute, refuse every change, compare, and read well."""

import copy
import dataclasses
import json

import pytest
from hypothesis import assume, given, settings, strategies as st

from replearn.bounds import flips
from replearn.bounds.flips import flip_bound
from replearn.bounds.laws import arcsine_law, table_law, uniform_law
from replearn.exceptions import CertificateError
from replearn.guarantees.assumptions import ASSUMPTIONS
from replearn.guarantees.certificate import Certificate, Identity, certify
from replearn.guarantees.comparison import Comparison
from replearn.guarantees.design import VoteDesign
from replearn.guarantees.promise import Step, derive
from replearn.records.json import digest_of
from replearn.registry import TASKS as ALL_TASKS, entries_of

TASKS_BY_NAME = entries_of(ALL_TASKS)


def votes(**params):
    return VoteDesign.of(**{"n_partitions": 1, **params})


def designs():
    uniform = {"n": 3200, "n_blocks": 32, "law": uniform_law(32)}
    whole = {"n": 9999, "n_blocks": 100, "law": uniform_law(100)}
    accurate = {"n": 60_000, "rho": 0.5, "alpha": 0.4, "beta": 0.1, "d": 1, "n_blocks": 4}
    return {
        "literal": votes(**{**uniform, "n": 3205}, rho=0.1),
        "default": votes(
            n=20_000,
            rho=0.1,
            classes=("no", "yes"),
            decimals=6,
            n_blocks=64,
            law=arcsine_law(64, 0.66),
            n_partitions=6,
        ),
        "table": votes(n=90, n_blocks=3, law=table_law([0, 0.2, 0.8, 1])),
        "soft": votes(
            n=1000, rho=0.2, vote="soft", unit="groups", n_blocks=20, law=uniform_law(20, 0.9)
        ),
        "three classes": votes(n=800, rho=0.4, n_classes=3, n_blocks=20, sharpness=3.0),
        "twelve runs": votes(**uniform, rho=0.3, runs=12, n_partitions=2),
        "soft runs": votes(**uniform, runs=4, vote="soft"),
        "missed": votes(**uniform, rho=0.01),
        "approximate": votes(**whole, rho=0.05, gamma=0.3),
        "approximate gamma": votes(**whole, gamma=0.3, max_point_mass=1e-4),
        "accurate": votes(**accurate, law=uniform_law(4)),
        "accurate, atoms": votes(**accurate, max_point_mass=1e-4, law=arcsine_law(4, 0.9)),
    }


# One certificate of every other task; some twice, because they have two ways.
CHOSEN = {"rho": 0.2, "alpha": 0.2, "beta": 0.05}
TARGETS = {"rho": 0.3, "gamma": 0.2, "alpha": 0.2, "beta": 0.1}
LAW, CORE = {"kind": "sqrt", "low": 0.005, "high": 0.08}, {"core_low": 0.05, "core_high": 0.2}
LABELS = {"k": 60, "band": 0.9, "n_points": 12, "alpha": 0.7, "rho": 0.2, "beta": 0.9}
OTHERS = {
    "complete": {
        "n": 5000, "d": 2, "n_blocks": 7, "tilt": 23.0, "beta_blocks": 0.02, "label_noise": True,
        "tiers": [[0.033, 0.004, 0.026, 19, 0.6], [0.08, 0.027, 0.07, 130, 0.25]],
        "rho": 0.4, "gamma": None, "alpha": 0.5, "beta": 0.2,
    },
    "selection": {"n": 2000, "n_hypotheses": 3, "sharpness": 30.0, "tau": None, **CHOSEN},
    "selection, near": {"n": 2000, "n_hypotheses": 3, "sharpness": 3.0, "tau": 0.01, **CHOSEN},
    "thresholds": {"n": 900_000, "sharpness": 40.0, "direction": "both", "feature": 0, **TARGETS},
    "realizable": {"n": 30_000, "d": 2, "max_error_limit": 0.05, **TARGETS},
    "realizable, no class": {"n": 30_000, "d": None, "max_error_limit": 0.05, **TARGETS},
    "regression": {
        "n": 4000, "n_blocks": 200, "resolution": 3.0, "rho": 0.2, "y_range": [0.0, 10.0],
    },
    "semi-private": {
        "n": 400_000, "n_keys": 4, "n_parts": 40, "n_shared": 3000, "d": 1, "n_hypotheses": 9,
        "sharpness": 30.0, "epsilon": 4.0, "delta": 1e-6, "alpha": 0.4, "beta": 0.2,
        "public_classes": True,
    },
    "semi": {"n": 4000, "n_shared": 3000, "d": 1, "n_hypotheses": 9, "sharpness": 30.0, **CHOSEN},
    "finite randomness": {
        "n": 10**6, "n_test": 9000, "n_blocks": 40_000, "n_candidates": 3, "sharpness": 8.0,
        "rho": 0.3, "gamma": 0.4,
    },
    "heavy": {"n": 3000, "rho": 0.1, "beta": 0.05, **LAW},
    "heavy, whole set": {"n": 4000, "rho": None, "beta": 0.05, **CORE},
    "heavy, small mass": {"n": 4000, "rho": 0.3, "beta": 0.05, "gamma": 0.3, **LAW, **CORE},
    "heavy labels": LABELS,
    "heavy labels, several classes": {**LABELS, "k": 200, "n_classes": 3},
    "heavy labels, whole set": LABELS,
    "heavy labels, small mass": {
        **LABELS, "core_k": 90, "core_band": 0.8, "core_points": 5, "n": 4000, "gamma": 0.3,
        **CORE,
    },
    "coins": {"n": 400, "p0": -0.5, "q0": 0.5, "rho": 0.1, "beta": 0.05, "low": 0.3, "high": 0.7},
    "signs": {
        "n": 900, "n_coins": 2, "alpha": 0.4, "rho": 0.2, "beta": 0.1, "width": 0.3, "joint": True,
    },
    "correlated sampling": {"deviation": 0.1},
    "score": {
        "n_blocks": 8, "n_classes": 3, "standard_error": 0.05, "least_error": 0.1, "reach": 6.0,
        "rho": 0.05,
    },
}  # fmt: skip


def task_of(name):
    return name if name in TASKS_BY_NAME else name.rpartition(",")[0]


VOTES = tuple(designs())
NAMES = (*VOTES, *OTHERS)
KEY = "0123456789abcdef"
PARTY = {"learner": "LogisticRegression(C=1)", "learner_digest": "d1", "n_available": 10**6}


def issue_design(design, key=KEY, **identity):
    identity = Identity(key, **{"classes": design.classes, **PARTY, **identity})
    task = "pointwise" if design.gamma is None else "approximate"
    return Certificate.of(derive(task, design.to_dict()), identity)


def issue(name):
    if name in VOTES:
        return issue_design(designs()[name])
    return certify(task_of(name), KEY, **OTHERS[name])


@pytest.fixture(scope="module")
def issued():
    return {name: issue(name) for name in NAMES}


def test_every_task_is_here(issued):
    assert {certificate.task for certificate in issued.values()} == set(TASKS_BY_NAME)


@pytest.mark.parametrize("name", NAMES)
def test_a_certificate_passes_its_own_check_and_survives_json(issued, name, tmp_path):
    certificate = issued[name]
    certificate.check()
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    certificate.save(tmp_path / "certificate.json")
    assert Certificate.load(tmp_path / "certificate.json") == certificate
    assert [path.name for path in tmp_path.iterdir()] == ["certificate.json"]


def test_the_promise_is_the_bound_of_the_law(issued):
    certificate = issued["literal"]
    assert certificate.rho == flip_bound(uniform_law(32))
    assert (certificate.design.n_used, certificate.design.block_size) == (3200, 100)
    assert certificate.certified
    assert not issued["missed"].certified
    assert "requested rho=0.01; " in issued["missed"].reason
    assert issued["missed"].rho == certificate.rho


def test_many_runs_and_soft_votes_cost_more(issued):
    assert issued["twelve runs"].rho > 2 * issued["literal"].rho
    assert issued["soft runs"].rho > 1.7 * issued["literal"].rho


def test_the_approximate_promise_is_the_better_route(issued):
    certificate = issued["approximate"]
    routes = ("markov_gamma", "disagreement_bound", "jensen_bound")
    assert certificate.gamma == min(map(certificate.value, routes))


def test_partitions_do_not_change_the_promise(issued):
    design = dataclasses.replace(designs()["default"], n_partitions=1)
    assert issue_design(design).rho == issued["default"].rho


def test_the_accuracy_statement_depends_on_the_law(issued):
    assert "OPT + 0.4." in issued["accurate"].promises[1]
    assert (issued["accurate"].alpha, issued["accurate"].beta) == (0.4, 0.1)
    assert "R*" in issued["accurate, atoms"].promises[1]
    assert "times the mean error" in issued["default"].promises[1]
    assert "at most the mean error" in issued["literal"].promises[1]
    assert "2 times the mean error" in issued["three classes"].promises[1]


def test_accuracy_out_of_reach_is_not_certified():
    design = votes(rho=0.5, alpha=0.1, beta=0.1, d=10, n=400, n_blocks=4, law=uniform_law(4))
    certificate = issue_design(design)
    assert not certificate.certified
    assert "per block" in certificate.reason
    assert certificate.alpha is None
    assert len(certificate.promises) == 1


def test_only_votes_have_a_design_and_values_are_found_by_name(issued):
    for name, certificate in issued.items():
        assert (certificate.design is not None) is (name in VOTES)
        for step in certificate.steps:
            assert step.theorem in certificate.theorems
        with pytest.raises(KeyError, match="no such"):
            certificate.value("no such")
    assert issued["coins"].value("coin_flip_bound") == issued["coins"].rho
    assert issued["correlated sampling"].n is None


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
            Certificate.from_json(json.dumps(content))


# What a liar may write without touching the promise: who ran it, what was requested, and items
# that describe another, equally valid run. Everything else follows from the inputs.
FREE_IN_VOTES = {
    *("rho", "gamma", "alpha", "beta", "d", "label_noise", "runs", "small_blocks"),
    *("classes", "decimals", "encoding", "unit", "n_classes"),
}
FREE_IN_OTHERS = {"rho", "beta", "feature"}


def is_free(path, name):
    if path[0] in ("identity", "digest"):
        return True
    if path[0] != "inputs":
        return False
    if name in VOTES:
        return path[1] in FREE_IN_VOTES or is_unused(path[1], name)
    unused = {
        "complete": ("alpha",),
        "finite randomness": ("n",),
        "score": ("standard_error",),
        "realizable, no class": ("n", "gamma", "alpha", "max_error_limit"),
    }
    return path[1] in FREE_IN_OTHERS or path[1] in unused.get(name, ())


def is_unused(item, name):
    """Say whether nothing that this certificate of a vote promises depends on an item."""
    return item == "max_point_mass" and not name.startswith(("approximate", "accurate"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("amount", [1, 3])
def test_a_changed_number_fails_even_with_a_new_digest(issued, name, amount):
    original = json.loads(issued[name].to_json())
    for path, value in leaves(original):
        if is_free(path, name):
            continue
        content = copy.deepcopy(original)
        put(content, path, changed(value, amount))
        sign(content)
        with pytest.raises(CertificateError):
            Certificate.from_json(json.dumps(content))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_random_changes_fail(issued, data):
    name = data.draw(st.sampled_from(("literal", "table", "twelve runs", "approximate", "coins")))
    content = json.loads(issued[name].to_json())
    path, value = data.draw(st.sampled_from(list(leaves(content))))
    new = data.draw(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5))
    )
    same = type(new) is type(value) and new == value
    same_number = not isinstance(value, bool) and isinstance(new, int) and new == value
    assume(not same and (isinstance(new, bool) or not same_number))
    put(content, path, new)
    with pytest.raises(CertificateError):
        Certificate.from_json(json.dumps(content))


def forge(certificate, **changes):
    """Change a certificate as a liar would: with a digest that fits."""
    return dataclasses.replace(certificate, **changes)


@pytest.mark.parametrize("name", NAMES)
def test_the_error_names_the_item(issued, name):
    certificate = issued[name]
    better = 0.05 if certificate.rho is None else 0.9 * certificate.rho + 1e-6
    for change in (
        {"promises": ("All is well.",)},
        {"rho": better},
        {"reasons": ("because", "of the weather")},
        {"steps": certificate.steps[1:] or (Step("draw_flip", "dkw", {}, 0.0),)},
        {"assumptions": certificate.assumptions[:-1]},
    ):
        with pytest.raises(CertificateError, match=f"certificate ({next(iter(change))}|verdict)"):
            forge(certificate, **change).check()
    with pytest.raises(CertificateError, match="task"):
        forge(certificate, task="unknown").check()
    for at, step in enumerate(certificate.steps):
        if not isinstance(step.value, float):
            continue
        changed_step = dataclasses.replace(step, value=step.value * 0.9 - 1e-3)
        steps = (*certificate.steps[:at], changed_step, *certificate.steps[at + 1 :])
        with pytest.raises(CertificateError, match=f"steps {step.name} value"):
            forge(certificate, steps=steps).check()


def test_a_vote_is_no_promise_of_the_other_task(issued):
    for name, other in (("literal", "approximate"), ("approximate", "pointwise")):
        content = forge(issued[name], task=other).to_dict()
        with pytest.raises(CertificateError):
            Certificate.from_json(json.dumps(content))


def test_a_wrong_bound_while_planning_does_not_pass_the_check(monkeypatch):
    """What is checked is computed, not looked up: caches of bounds are cleared."""
    law = uniform_law(28, 0.77)
    made = votes(n=2800, n_blocks=28, law=law, rho=0.2)
    monkeypatch.setattr(flips, "largest_mean", lambda coefficients: 0.01)
    monkeypatch.setattr(flips, "uniform_flip_bound", lambda n_blocks, width: 0.01)
    wrong = issue_design(made)
    assert wrong.rho == 0.01
    monkeypatch.undo()
    with pytest.raises(CertificateError, match=r"at most 0.01.* follows"):
        wrong.check()
    issue_design(made).check()


@pytest.mark.parametrize("name", ["twelve runs", "coins"])
def test_dropped_steps_and_other_theorems_fail(issued, name):
    certificate = issued[name]
    with pytest.raises(CertificateError, match="steps"):
        forge(certificate, steps=certificate.steps[:-1]).check()
    for key in ("wishful-thinking", "dkw"):
        other = dataclasses.replace(certificate.steps[0], theorem=key)
        with pytest.raises(CertificateError, match=key):
            forge(certificate, steps=(other, *certificate.steps[1:])).check()


def test_unknown_version_format_and_items_are_refused(issued):
    content = json.loads(issued["literal"].to_json())
    for change in ({"version": 3}, {"version": 5}, {"format": "replearn-plan"}, {"surprise": 1}):
        with pytest.raises(CertificateError):
            Certificate.from_json(json.dumps({**content, **change}))
    del content["steps"]
    with pytest.raises(CertificateError, match=r"steps|digest"):
        Certificate.from_json(json.dumps(content))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1, "a": 2}', '{"a": NaN}', "null"])
def test_what_is_not_a_certificate_is_refused(text):
    with pytest.raises(CertificateError):
        Certificate.from_json(text)


def test_contradicting_runs_are_refused():
    design = designs()["default"]
    with pytest.raises(CertificateError, match="classes"):
        issue_design(design, classes=("a", "b"))
    with pytest.raises(CertificateError, match="n_available"):
        issue_design(design, n_available=19_999)


@pytest.mark.parametrize(
    ("task", "inputs", "words"),
    [
        ("selector", {}, "'selector' is not one of 'pointwise', 'approximate', 'selection'"),
        ("correlated sampling", {"surprise": 1}, "correlated sampling: cannot be derived"),
        ("coins", {**OTHERS["coins"], "low": 0.9}, "coins: cannot be derived"),
        ("coins", {"n": 400}, "coins: cannot be derived"),
        ("signs", {**OTHERS["signs"], "n": -1}, "signs: cannot be derived"),
    ],
)
def test_inputs_that_no_promise_follows_from_are_refused(task, inputs, words):
    with pytest.raises(CertificateError, match=words):
        certify(task, KEY, **inputs)


@pytest.mark.parametrize(
    ("change", "item"),
    [
        ({"n_blocks": 0}, "n_blocks"),
        ({"n": 31}, "n = 31"),
        ({"n_blocks": 16}, "law is for 32"),
        ({"law": None}, "threshold law"),
        ({"n_classes": 3}, "threshold law"),
        ({"n_partitions": 0}, "n_partitions"),
        ({"alpha": 0.1, "beta": 0.1, "d": 1, "vote": "soft"}, "hard votes"),
    ],
)
def test_designs_that_contradict_themselves_are_refused(change, item):
    design = dataclasses.replace(designs()["literal"], **change)
    with pytest.raises(CertificateError, match=item):
        issue_design(design)


@pytest.mark.parametrize(
    ("path", "value", "item"),
    [
        (("vote",), "loud", "vote"),
        (("unit",), "cows", "unit"),
        (("max_point_mass",), 2.0, "max_point_mass"),
        (("n_classes",), 1, "n_classes"),
        (("classes",), [1, 2, 3], "classes"),
        (("decimals",), -1, "decimals"),
        (("sharpness",), 3.0, "sharpness"),
        (("runs",), 1, "runs"),
        (("rho",), 1.5, "rho"),
        (("label_noise",), 1, "label_noise"),
        (("surprise",), 1, "surprise"),
    ],
)
def test_written_designs_that_are_none_are_refused(path, value, item):
    content = designs()["literal"].to_dict()
    put(content, path, value)
    with pytest.raises(CertificateError, match=item):
        VoteDesign.from_dict(content)


@pytest.mark.parametrize("name", VOTES)
def test_a_design_survives_json(name):
    design = designs()[name]
    assert VoteDesign.from_dict(json.loads(json.dumps(design.to_dict()))) == design


# -- comparing -------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_equal_runs_are_comparable(issued, name):
    comparison = issued[name].comparable(issue(name))
    assert comparison
    assert comparison.comparable == "yes"
    assert str(comparison).startswith("comparable")


@pytest.mark.parametrize("name", list(OTHERS))
def test_another_input_or_key_is_named(issued, name):
    inputs = OTHERS[name]
    item, value = next((key, value) for key, value in inputs.items() if value is not None)
    other = certify(task_of(name), KEY, **{**inputs, item: changed(value, 1)})
    comparison = issued[name].comparable(other)
    assert comparison.comparable == "no"
    assert comparison.reasons == (f"{item}: {value} here, {changed(value, 1)} there",)
    stranger = certify(task_of(name), "f" * 16, **inputs)
    assert "key fingerprint" in str(issued[name].comparable(stranger))


def test_certificates_of_different_tasks_are_not_comparable(issued):
    by_task = {certificate.task: certificate for certificate in issued.values()}
    for here in by_task.values():
        for there in by_task.values():
            comparison = here.comparable(there)
            assert bool(comparison) is (here.task == there.task)
            if here.task != there.task:
                assert comparison.reasons == (f"task: {here.task} here, {there.task} there",)


def test_the_three_answers():
    unknown = Comparison(unknowns=("fitted state: not stored",))
    assert (unknown.comparable, unknown.reasons) == ("unknown", ("fitted state: not stored",))
    assert not unknown
    assert str(unknown) == "unknown whether comparable: fitted state: not stored"
    both = Comparison(("n: 1 here, 2 there",), ("fitted state: not stored",))
    assert (both.comparable, both.reasons) == ("no", ("n: 1 here, 2 there",))
    remarked = Comparison(remarks=("library version: 1 here, 2 there",))
    assert remarked.comparable == "yes"
    assert str(remarked).endswith("(also: library version: 1 here, 2 there)")


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
    other = issue_design(dataclasses.replace(designs()["literal"], **change))
    comparison = issued["literal"].comparable(other)
    assert not comparison
    assert words in str(comparison)


def test_a_different_key_learner_or_class_list_is_named(issued):
    other = issue_design(
        designs()["literal"], "f" * 16, learner="Tree()", learner_digest="d2", classes=(0, 1)
    )
    differences = issued["literal"].comparable(other).differences
    assert [item.split(":")[0] for item in differences] == [
        "classes",
        "key fingerprint",
        "estimator",
    ]
    other = issue_design(designs()["literal"], learner_digest="d2")
    [digest] = issued["literal"].comparable(other).differences
    assert digest.startswith("estimator digest: ")


def test_another_request_is_a_remark_only():
    design = dataclasses.replace(designs()["literal"], rho=0.2)
    comparison = issue("literal").comparable(issue_design(design))
    assert comparison
    assert comparison.remarks == ("requested rho: 0.1 here, 0.2 there",)


# -- words -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_words(issued, name):
    certificate = issued[name]
    text, table = certificate.explain(), str(certificate)
    for code in certificate.assumptions:
        assert ASSUMPTIONS[code] in text
        assert code in table
    for sentence in certificate.promises:
        assert sentence in text
        assert sentence in " ".join(table.split())
    assert max(len(line) for line in table.splitlines()) <= 100
    assert max(len(line.split("  ")[0]) for line in table.splitlines()) < 20
    assert ("NOT certified" in table) is (certificate.verdict == "not certified")
    assert ("estimated: " in table) is (certificate.verdict == "estimated")


def test_html_is_escaped():
    certificate = issue_design(designs()["literal"], learner="<script>alert(1)</script>")
    assert "<script>" not in certificate._repr_html_()
    assert "&lt;script&gt;" in certificate._repr_html_()


def test_assumptions_of_the_design_are_listed(issued):
    codes = {name: issued[name].assumptions for name in NAMES}
    assert "classes-agree" in codes["literal"]
    assert "classes-agree" not in codes["default"]
    assert "label-rule" in codes["three classes"]
    assert "rolling-windows" in codes["three classes"]
    for name in ("approximate", "twelve runs"):
        assert "rolling-windows" not in codes[name]
    assert "base-learner" in codes["accurate"]
    used = {code for listed in codes.values() for code in listed}
    assert used | {"same-incumbent"} == set(ASSUMPTIONS)
