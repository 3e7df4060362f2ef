"""Plans of replicable choices: what they say is what the learners certify."""

import json
import warnings

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import replearn
from replearn import NotCertifiedWarning
from replearn.exceptions import CertificateError
from replearn.hypotheses import Thresholds
from replearn.learners import (
    FiniteRandomnessClassifier,
    RealizableReplicableClassifier,
    ReplicableSearchCV,
    ReplicableSelector,
    ReplicableThresholdClassifier,
    SemiReplicableClassifier,
)
from replearn.planning import ChoicePlan, plan_choice
from replearn.planning._choice_tasks import TASKS
from replearn.primitives import learn_finite_class, select_hypothesis
from replearn.primitives._certificate import PrimitiveCertificate
from replearn.randomness import SharedKey

MODELS = {"half": lambda X: X[:, 0] > 0.5, "third": lambda X: X[:, 0] > 0.3}
LOOSE = {"rho": 0.5, "alpha": 0.5, "beta": 0.3}
NAIVE = {"var_smoothing": [1e-9, 1.0]}


def _sample(n):
    X = np.random.default_rng(0).random((n, 1))
    return X, X[:, 0] > 0.5


def _fit(made, X, y):
    if made.task == "selector":
        return ReplicableSelector.from_plan(made, MODELS).fit(X, y)
    if made.task == "search":
        return ReplicableSearchCV.from_plan(made, GaussianNB(), NAIVE).fit(X, y)
    if made.task == "threshold":
        return ReplicableThresholdClassifier.from_plan(made).fit(X, y)
    if made.task == "realizable":
        return RealizableReplicableClassifier.from_plan(made, Thresholds(">")).fit(X, y)
    pool = np.random.default_rng(1).random((made.details["rows of the shared pool"], 1))
    learner = SemiReplicableClassifier.from_plan(made, Thresholds(">"))
    return learner.fit(X, y, X_shared=pool)


PLANS = [
    ("selector", {**LOOSE, "n_hypotheses": 2}),
    ("search", {**LOOSE, "n_hypotheses": 2, "train_size": 6}),
    ("search", {**LOOSE, "n_hypotheses": 2, "drift": 0.0, "cv": 2}),
    ("threshold", {**LOOSE, "gamma": 0.5, "n_directions": 1}),
    ("realizable", {**LOOSE, "gamma": 0.5, "d": 1}),
    ("semi", {**LOOSE, "d": 1}),
]


@pytest.mark.parametrize(("task", "targets"), PLANS)
def test_planned_rows_are_certified_and_fewer_are_not(task, targets):
    made = plan_choice(task, **targets)
    assert made.certified
    assert made.n == made.needed_n
    for n in (made.n, 2 * made.n):
        fitted = _fit(made, *_sample(n))
        assert fitted.certificate_.certified
        assert made.theorem in (*fitted.certificate_.theorems, "semi-replicable")
    # a pool has fewer dichotomies than Sauer's bound allows: the plan is then generous
    fewer = made.n // 3 if task == "semi" else made.n - 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        assert not _fit(made, *_sample(fewer)).certificate_.certified
    assert not plan_choice(task, n=made.n - 1, **targets).certified


@pytest.mark.parametrize("beta", [0.3, 1e-30])
def test_the_cheapest_way_through_a_finite_class(beta):
    made = plan_choice("finite class", n_hypotheses=2, rho=0.5, alpha=0.5, beta=beta)
    X, y = _sample(made.n)
    choose = {"select_hypothesis": select_hypothesis, "learn_finite_class": learn_finite_class}[
        made.details["cheapest"]
    ]
    assert made.details["cheapest"] == (
        "select_hypothesis" if beta == 0.3 else "learn_finite_class"
    )
    assert made.n == min(value for name, value in made.details.items() if name != "cheapest")
    chosen = choose(MODELS, X, y, key=SharedKey(0), **made.settings)
    assert chosen.certificate.certified


def test_finite_randomness_is_planned_though_nobody_has_the_rows():
    made = plan_choice(
        FiniteRandomnessClassifier, n_candidates=2, rho=0.3, gamma=0.3, alpha=0.5, block_size=50
    )
    learner = FiniteRandomnessClassifier.from_plan(made)
    n_test = round(learner.test_share * made.n)
    assert (made.n - n_test) // learner.n_blocks == 50
    certificate = PrimitiveCertificate.issue(
        "finite randomness", "0" * 16, n_test=n_test, n_blocks=learner.n_blocks, n_candidates=2,
        t=made.details["scale t"], rho=0.3, gamma=0.3,
    )  # fmt: skip
    assert certificate.certified
    out_of_reach = plan_choice("finite randomness", n=10**9, gamma=0.01)
    assert not out_of_reach.certified
    assert out_of_reach.reason == "no number of rows is enough"
    with pytest.raises(ValueError, match="no number of rows is enough"):
        plan_choice("finite randomness", gamma=0.01)


@pytest.mark.parametrize(("task", "targets"), PLANS)
def test_json_both_ways_and_changes_are_refused(task, targets, tmp_path):
    made = plan_choice(task, n=77, **targets)
    made.save(tmp_path / "plan.json")
    again = ChoicePlan.load(tmp_path / "plan.json")
    assert again == made
    assert str(again) == str(made)
    for change in ({"needed_n": 5}, {"promise": "All will be well."}, {"details": {}}):
        with pytest.raises(CertificateError, match=next(iter(change))):
            ChoicePlan.from_json(json.dumps({**json.loads(made.to_json()), **change}))
    content = json.loads(made.to_json())
    content["targets"]["rho"] = 7
    with pytest.raises(CertificateError, match="rho"):
        ChoicePlan.from_json(json.dumps(content))


def test_the_table_can_be_read():
    text = str(plan_choice("selector", n_hypotheses=3, n=100))
    for part in ("ReplicableSelector", "NOT certified", "rows needed", "an orientation", "alpha"):
        assert part in text
    assert "<table>" in plan_choice("selector", n_hypotheses=3)._repr_html_()


def test_every_task_has_a_page_and_a_learner():
    import replearn.learners
    import replearn.primitives
    from replearn.certificates.registry import THEOREMS

    for entry in TASKS.values():
        assert entry.theorem in THEOREMS
        homes = (replearn.learners, replearn.primitives)
        assert any(hasattr(home, entry.learner) for home in homes)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plan_choice("cut"), "learner must be one of"),
        (lambda: plan_choice("selector"), r"needs \['n_hypotheses'\]"),
        (lambda: plan_choice("selector", n_hypotheses=3, gamma=0.1), r"does not take \['gamma'\]"),
        (lambda: plan_choice("selector", n_hypotheses=2.5), "n_hypotheses must be a whole number"),
        (lambda: plan_choice("threshold", rho=0), "rho must lie in"),
        (lambda: plan_choice("search", n_hypotheses=3), "give one of them"),
        (lambda: plan_choice("semi", d=2, n_shared=5), "n_shared=5 is too small"),
        (lambda: plan_choice("semi", d=300), r"d=300, .* nobody can list"),
        (lambda: plan_choice("semi", d=3_000_000), r"e\^2079442 candidates or more"),
        (
            lambda: ReplicableSelector.from_plan(
                plan_choice("selector", n_hypotheses=3), MODELS, rho=0.5
            ),
            "the plan fixes rho",
        ),
        (
            lambda: ReplicableSelector.from_plan(plan_choice("threshold", n=5), MODELS),
            "this plan is for ReplicableThresholdClassifier",
        ),
    ],
)
def test_errors_name_what_is_wrong(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()


def test_public_names():
    assert {"ChoicePlan", "plan_choice"} <= set(replearn.__all__)
    assert replearn.plan_choice is plan_choice
    assert sorted(replearn.__all__) == replearn.__all__
    assert all(hasattr(replearn, name) for name in replearn.__all__)
