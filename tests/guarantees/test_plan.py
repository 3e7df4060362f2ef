"""The plan as a protocol: JSON both ways, tampering refused, certificates, columns, words."""

import copy
import dataclasses
import json
import pickle
import subprocess
import sys

import pytest
from hypothesis import given, settings, strategies as st

from replearn.exceptions import CertificateError
from replearn.guarantees.certificate import Certificate, Identity
from replearn.guarantees.plan import Plan
from replearn.guarantees.planner import plan
from replearn.records.json import digest_of

ARGUMENTS = {
    "default": {"n": 20_000, "rho": 0.1, "classes": ["no", "yes"], "decimals": 6},
    "uncertified": {"n": 300, "rho": 0.1},
    "soft": {"n": 5_000, "rho": 0.2, "vote": "soft", "unit": "groups"},
    "multiclass": {"n": 5_000, "rho": 0.3, "classes": ["a", "b", "c"]},
    "runs": {"n": 5_000, "rho": 0.3, "runs": 4},
    "approximate": {"task": "approximate", "n": 5_000, "rho": 0.1, "gamma": 0.3},
    "accurate": {"n": 90_000, "rho": 0.2, "alpha": 0.25, "beta": 0.1, "d": 2},
}


@pytest.fixture(scope="module")
def made():
    return {name: plan(**arguments) for name, arguments in ARGUMENTS.items()}


@pytest.mark.parametrize("name", list(ARGUMENTS))
def test_round_trip(made, name, tmp_path):
    original = made[name]
    again = Plan.from_json(original.to_json())
    assert again == original
    assert again.digest == original.digest
    original.save(tmp_path / "plan.json")
    loaded = Plan.load(tmp_path / "plan.json")
    assert loaded.to_json() == original.to_json()
    assert str(loaded) == str(original)


@given(
    n=st.integers(1, 10**7),
    rho=st.none() | st.floats(0.01, 1.0),
    blocks=st.none() | st.integers(1, 40),
    decimals=st.none() | st.integers(0, 12),
    classes=st.none() | st.lists(st.text(max_size=5) | st.integers(), unique_by=repr, max_size=2),
)
@settings(max_examples=30, deadline=None)
def test_any_plan_survives_json(n, rho, blocks, decimals, classes):
    blocks = min(blocks or 40, n)
    first = plan(n=n, rho=rho, n_blocks=blocks, law="uniform", classes=classes, decimals=decimals)
    second = Plan.from_json(first.to_json())
    assert second == first
    assert second.to_json() == first.to_json()


def leaves(value, path=()):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, dict | list):
            yield from leaves(item, (*path, key))
        else:
            yield (*path, key), item


def tampered(text, path):
    content = json.loads(text)
    place = content
    for key in path[:-1]:
        place = place[key]
    old = place[path[-1]]
    place[path[-1]] = (not old) if isinstance(old, bool) else "x" if old is None else old * 2
    if place[path[-1]] == old:
        place[path[-1]] = old + type(old)(1)
    return content


@pytest.mark.parametrize("name", list(ARGUMENTS))
def test_any_change_is_refused(made, name):
    text = made[name].to_json()
    for path, _ in leaves(json.loads(text)):
        with pytest.raises(CertificateError):
            Plan.from_json(json.dumps(tampered(text, path)))


@pytest.mark.parametrize("item", ["promises", "rho", "assumptions", "steps", "verdict", "reasons"])
def test_a_better_promise_is_refused_even_with_a_new_digest(made, item):
    text = made["default"].to_json()
    for path, _ in leaves(json.loads(text)):
        if path[0] != item:
            continue
        content = tampered(text, path)
        content["digest"] = digest_of({k: v for k, v in content.items() if k != "digest"})
        with pytest.raises(CertificateError):
            Plan.from_json(json.dumps(content))


def test_the_law_cannot_be_exchanged(made):
    content = json.loads(made["default"].to_json())
    other = copy.deepcopy(content)
    other["inputs"]["law"]["width"] = 0.3
    other["digest"] = digest_of({k: v for k, v in other.items() if k != "digest"})
    with pytest.raises(CertificateError, match="law"):
        Plan.from_json(json.dumps(other))


def test_certificate_of_a_plan(made):
    planned = made["default"]
    run = Identity("0123456789abcdef", "Tree()")
    certificate = planned.certificate(dataclasses.replace(run, n_available=25_000))
    certificate.check()
    for name in ("rho", "gamma", "alpha", "beta", "promises", "steps", "inputs"):
        assert getattr(certificate, name) == getattr(planned, name)
    assert certificate.classes == ("no", "yes")
    assert certificate.identity.n_available == 25_000
    other = Plan.from_json(planned.to_json()).certificate(run)
    assert certificate.comparable(other)


def test_a_plan_of_another_task_has_no_blocks():
    other = plan("selection", n_hypotheses=3)
    assert other.design is None
    assert other.inputs["n_hypotheses"] == 3
    assert [step.name for step in other.steps] == [
        "selection_flip_bound_sampled",
        "selection_error_tail_sampled",
    ]
    assert other.certificate(Identity("x", "y")).rho == other.rho


def test_certificate_can_count_groups_and_name_classes(made):
    run = Identity("x", "y", classes=[0, 1])
    certificate = made["uncertified"].certificate(run, unit="groups")
    certificate.check()
    assert (certificate.design.unit, certificate.classes) == ("groups", (0, 1))
    assert "groups" in certificate.reason
    assert Certificate.from_json(certificate.to_json()) == certificate


def test_short_form(made):
    assert repr(made["default"]) == ("Plan('pointwise', rho=0.09999, n=20000, certified=True)")
    issued = made["approximate"].certificate(Identity("x", "y"))
    assert repr(issued).startswith("Certificate('approximate', rho=0.1, gamma=0.")


@pytest.mark.parametrize("name", list(ARGUMENTS))
def test_copies_and_pickles_are_equal(made, name):
    for again in (copy.deepcopy(made[name]), pickle.loads(pickle.dumps(made[name]))):
        assert again == made[name]
        assert again.to_json() == made[name].to_json()


def test_html_is_escaped():
    html = plan(n=500, rho=0.2, classes=["<b>", "&"])._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_another_process_makes_the_same_plan_and_imports_nothing_to_draw(made):
    code = (
        "import sys; from replearn import plan;"
        "print(plan(n=20_000, rho=0.1, classes=['no', 'yes'], decimals=6).digest);"
        "print([name for name in ('matplotlib', 'dask', 'jinja2') if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split("\n")[:2] == [made["default"].digest, "[]"]
