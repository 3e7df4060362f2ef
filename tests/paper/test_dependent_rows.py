"""Rows that are not independent: with ``groups`` every promise of a choice holds again.

Before there was ``groups``, and no certificate named the condition, these populations broke what
was certified. The numbers that were measured then are stated with each test.
"""

import inspect
import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.tree import DecisionTreeClassifier

from replearn import plan, select_hypothesis
from replearn.guarantees.certificate import certify
from replearn.guarantees.selection import choice_scale
from replearn.paper import (
    CompleteLearner,
    FiniteRandomnessClassifier,
    RealizableReplicableClassifier,
    ReplicableThresholdClassifier,
    SemiPrivateClassifier,
    SemiReplicableClassifier,
    decide_coins,
    estimate_signs,
    find_heavy_hitters,
    label_heavy_hitters,
)
from replearn.paper.groups import one_of_each_group
from replearn.paper.heavy_hitters import MembershipLaw
from replearn.paper.hypotheses import Thresholds, make_box
from replearn.randomness.key import SharedKey
from replearn.registry import PLANNED, TASKS, entries_of
from tests.factories import limit

pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning"),
    pytest.mark.filterwarnings("ignore::replearn.exceptions.UsefulnessWarning"),
]


def flips_of(run, pairs):
    """Count pairs whose two runs differ; return what the last run promises, too."""
    rng = np.random.default_rng(0)
    flips = 0
    for pair in range(pairs):
        (one, _), (two, certificate) = (run(rng, pair) for _ in range(2))
        flips += one != two
    return flips, certificate


def broken(flips, pairs, rho):
    """Whether this many flips refute the promise."""
    return flips > binom.isf(1e-3, pairs, rho)


# -- one point that occurs ten times per person ----------------------------------------------------
LAW = MembershipLaw("sqrt", 0.08, 0.14)


def heavy_run(grouped):
    def run(rng, pair):
        persons = 500
        point = (rng.random(persons) < 0.11).astype(float)
        point[point == 0] = 2 + np.arange((point == 0).sum())
        rows, ids = np.repeat(point, 10), np.repeat(np.arange(persons), 10)
        groups = {"groups": ids} if grouped else {}
        found = find_heavy_hitters(rows, 0.2, key=pair, law=LAW, rho=0.3, **groups)
        return bool(found.contains([1.0])[0]), found.certificate

    return run


def test_a_heavy_point_with_ten_rows_per_person():
    """Measured without groups: .2875 at a claim of .100 (230 of 800 pairs)."""
    pairs = 60
    flips, certificate = flips_of(heavy_run(grouped=True), pairs)
    assert certificate.n == 500
    assert certificate.certified
    assert flips <= limit(pairs, certificate.rho)
    flips, certificate = flips_of(heavy_run(grouped=False), pairs)
    assert broken(flips, pairs, certificate.rho)
    assert "independent-rows" in certificate.assumptions


def test_labels_of_heavy_points_use_one_row_of_each_person():
    rng = np.random.default_rng(0)
    x = np.repeat(rng.choice([1.0, 2.0], 600), 5)
    ids = np.repeat(np.arange(600), 5)
    y = np.where(x == 1, 1, rng.random(3000) < 0.5)
    heavy = find_heavy_hitters(x, 0.3, key="k", law=MembershipLaw("sqrt", 0.2, 0.3), groups=ids)
    assert heavy.n == 600
    assert len(np.unique(ids[heavy.rows])) == 600
    labels = label_heavy_hitters(x, y, heavy, key="k", alpha=0.9)
    assert labels.labels[heavy.locate([1.0])[0]] == 1
    with pytest.raises(ValueError, match="rows in which"):
        label_heavy_hitters(x[:100], y[:100], heavy, key="k")


# -- the same choice among models ------------------------------------------------------------------
RULES = {f"model {j}": (lambda X, j=j: X[:, j]) for j in range(4)}


def visits(rng, persons, each):
    """Each person has one set of errors, the same at every visit."""
    y = rng.random(persons) < 0.5
    X = y[:, np.newaxis] ^ (rng.random((persons, 4)) < 0.5)
    return np.repeat(X, each, axis=0), np.repeat(y, each), np.repeat(np.arange(persons), each)


def choice_run(grouped):
    def run(rng, pair):
        X, y, ids = visits(rng, 300, 20)
        noise = rng.random((len(y), 1))  # so that visits are no copies
        groups = {"groups": ids} if grouped else {}
        chosen = select_hypothesis(
            RULES, np.hstack([X, noise]), y, shared_key=pair, rho=0.1, alpha=0.9, beta=0.9, **groups
        )
        return chosen.name, chosen.certificate

    return run


def test_a_choice_with_twenty_visits_per_person():
    """Measured without groups, ten visits each: .244 at a claim of .100."""
    pairs = 80
    flips, certificate = flips_of(choice_run(grouped=True), pairs)
    assert certificate.n == 300
    assert flips <= limit(pairs, certificate.rho)
    flips, certificate = flips_of(choice_run(grouped=False), pairs)
    assert broken(flips, pairs, certificate.rho)
    assert "independent-rows" in certificate.assumptions


def test_the_mean_error_of_each_group_counts_once():
    X = np.array([[1.0], [1.0], [0.0]])
    found = select_hypothesis(
        {"ones": lambda X: X[:, 0] > 0.5, "zeros": lambda X: X[:, 0] > 2},
        X,
        np.array([True, False, False]),
        groups=["ann", "ann", "bob"],
        shared_key="k",
    )
    assert found.errors.tolist() == [0.25, 0.25]
    assert found.certificate.n == 2


# -- one rule --------------------------------------------------------------------------------------
def persons_with_rows(rng, persons, each, noise):
    """Rows of one person have one label error in common."""
    x = rng.random(persons * each)
    wrong = np.repeat(rng.random(persons) < noise, each)
    return x[:, np.newaxis], (x > 0.5) ^ wrong, np.repeat(np.arange(persons), each)


def semi_run(grouped):
    candidates = [make_box([(0, cut, np.inf)]) for cut in np.linspace(-0.2, 1.2, 40)]

    def run(rng, pair):
        X, y, ids = persons_with_rows(rng, 100, 60, 0.5)
        groups = {"groups": ids} if grouped else {}
        model = SemiReplicableClassifier(
            candidates=candidates, rho=0.3, alpha=0.9, beta=0.9, shared_key=pair
        )
        return model.fit(X, y, **groups).hypothesis_, model.certificate_

    return run


def test_one_rule_with_sixty_rows_per_person():
    """Measured without groups, twenty rows each: .667 at a claim of .300."""
    pairs = 80
    flips, certificate = flips_of(semi_run(grouped=True), pairs)
    assert certificate.n == 100
    assert flips <= limit(pairs, certificate.rho)
    flips, certificate = flips_of(semi_run(grouped=False), pairs)
    assert certificate.certified
    assert broken(flips, pairs, certificate.rho)
    assert {"independent-rows", "candidates-fixed"} <= set(certificate.assumptions)


def realizable_run(grouped):
    def run(rng, pair):
        X, y, ids = persons_with_rows(rng, *((3000, 4) if grouped else (200, 60)), 0.02)
        groups = {"groups": ids} if grouped else {}
        model = RealizableReplicableClassifier(
            Thresholds(">"), gamma=0.2, rho=0.2, max_error_limit=0.04, shared_key=pair
        )
        return model.fit(X, y, **groups).released_, model.certificate_

    return run


def test_realizable_with_sixty_rows_per_person():
    """Measured without groups, twenty rows each: .328 at a claim of .197."""
    pairs = 80
    flips, certificate = flips_of(realizable_run(grouped=True), pairs)
    assert certificate.n == 3000
    assert certificate.rho < 0.3
    assert flips <= limit(pairs, certificate.rho)
    flips, certificate = flips_of(realizable_run(grouped=False), pairs)
    assert certificate.rho < 0.1
    assert broken(flips, pairs, certificate.rho)


# -- the other learners and functions --------------------------------------------------------------
def test_every_learner_that_certifies_takes_groups_or_refuses_them():
    rng = np.random.default_rng(0)
    X, y, ids = persons_with_rows(rng, 300, 3, 0.1)
    for model in (
        CompleteLearner(Thresholds(), shared_key="k"),
        RealizableReplicableClassifier(Thresholds(), shared_key="k"),
        ReplicableThresholdClassifier(shared_key="k"),
    ):
        assert model.fit(X, y, groups=ids).certificate_.n == 300
    for model in (FiniteRandomnessClassifier(DecisionTreeClassifier()), SemiPrivateClassifier()):
        with pytest.raises(TypeError, match="no groups"):
            model.fit(X, y, groups=ids)


def test_coins_and_signs_use_one_throw_of_each_person():
    rng = np.random.default_rng(0)
    flips = np.repeat(rng.random((400, 2)) < [0.2, 0.8], 5, axis=0)
    ids = np.repeat(np.arange(400), 5)
    coins = decide_coins(flips, -0.3, 0.3, key="k", groups=ids)
    signs = estimate_signs(flips, 0.3, key="k", groups=ids)
    assert coins.certificate.inputs["n"] == signs.certificate.inputs["n"] == 400
    assert coins.decisions.tolist() == signs.signs.tolist() == [-1, 1]


def test_plans_count_groups():
    rng = np.random.default_rng(0)
    X, y, ids = persons_with_rows(rng, 400, 3, 0.0)
    made = plan("realizable", d=1, n=350)
    model = RealizableReplicableClassifier(Thresholds(), plan=made, shared_key="k")
    assert model.fit(X, y, groups=ids).certificate_.n == 350
    with pytest.raises(ValueError, match="needs n=350 groups"):
        model.fit(X[:300], y[:300], groups=ids[:300])
    chosen = plan("selection", n=350, n_hypotheses=2)
    rules = {"one": lambda X: X[:, 0] > 0.5, "two": lambda X: X[:, 0] > 0.6}
    found = select_hypothesis(rules, X, y, groups=ids, plan=chosen, shared_key="k")
    assert found.certificate.n == 350


def test_rows_of_a_group_are_chosen_by_chance_whatever_their_order():
    rng = np.random.default_rng(0)
    X, ids = rng.random((3000, 1)), np.repeat(np.arange(1000), 3)
    y = np.tile([0, 0, 1], 1000)
    rows = one_of_each_group(SharedKey("k"), X, y, ids)
    assert len(np.unique(ids[rows])) == len(rows) == 1000
    assert abs(y[rows].sum() - 1000 / 3) < 4 * np.sqrt(1000 * 2 / 9)
    order = rng.permutation(3000)
    again = one_of_each_group(SharedKey("k"), X[order], y[order], ids[order])
    assert sorted(rows) == sorted(order[again])


# -- candidates that have seen a sample ------------------------------------------------------------
def test_candidates_that_saw_a_sample_are_a_listed_condition():
    """Both labs choose among the same models, one of which was trained on lab A's rows.

    Measured: certified and comparable at .1, and 32 of 60 pairs chose differently.
    """
    rng = np.random.default_rng(0)
    flips = 0
    for pair in range(20):
        X = rng.random((2, 4000, 2))
        y = rng.random((2, 4000)) < 0.5
        models = {
            "trained on A": DecisionTreeClassifier().fit(X[0], y[0]),
            "rule": lambda X: X[:, 0] > 0.5,
        }
        chosen = [
            select_hypothesis(models, X[lab], y[lab], shared_key=pair, rho=0.15, alpha=0.4)
            for lab in (0, 1)
        ]
        flips += chosen[0].name != chosen[1].name
    comparison = chosen[0].certificate.comparable(chosen[1].certificate)
    assert flips > 5
    assert comparison.comparable == "yes"
    assert any("rows of either sample" in text for text in comparison.unverified_conditions)
    assert "provided" in str(comparison)
    assert "no candidate was trained" in str(comparison)
    assert "no candidate was trained" in chosen[0].certificate.explain()


# -- a verdict says no more than its steps ---------------------------------------------------------
def test_every_task_names_independent_rows():
    for name, entry in entries_of(TASKS).items():
        if entry.solve is None:
            continue
        required = {
            "complete": {"d": 2},
            "selection": {"n_hypotheses": 3},
            "regression": {"y_range": (0.0, 1.0), "resolution": 0.5},
            "realizable": {"d": 1},
            "semi": {"d": 1, "alpha": 0.5},
            "semi-private": {"d": 1, "alpha": 0.5},
            "heavy": {"nu": 0.1},
            "heavy, whole set": {"nu": 0.5},
            "coins": {"p0": -0.2, "q0": 0.2},
        }
        with warnings.catch_warnings(action="ignore"):
            made = plan(name, **{"n": 500, **required.get(name, {})})
        assert "independent-rows" in made.assumptions, name


def test_the_whole_set_without_a_target_is_not_certified_at_one():
    found = find_heavy_hitters([1, 1, 2], 0.3, key="k", notion="replicable")
    assert found.certificate.rho == 1.0
    assert not found.certificate.certified


def test_finite_randomness_is_about_blocks_and_promises_no_accuracy():
    made = plan("finite randomness", n=2000)
    assert made.alpha is None
    assert made.beta is None
    assert {"learned-inside-blocks", "equal-design"} <= set(made.assumptions)


def test_finite_classes_are_chosen_from_by_selection():
    with pytest.raises(ValueError, match="task"):
        plan("finite class", n_hypotheses=5)
    assert "finite class" not in PLANNED


# -- different candidates under one name -----------------------------------------------------------
def test_the_robust_form_allows_candidates_that_differ_by_tau():
    """Candidates of the two runs differ by tau in error, in opposite directions: the worst case."""
    tau, n, pairs = 0.01, 3000, 300
    rng = np.random.default_rng(0)
    t = choice_scale(2, n, 0.3, 0.9, 0.5, tau=tau)
    flips = 0
    for pair in range(pairs):
        names = []
        for sign in (1, -1):
            y = rng.random(n) < 0.5
            shifts = sign * tau / 2 * np.array([1, -1])
            wrong = rng.random((n, 2)) < 0.5 + shifts
            chosen = select_hypothesis(
                {"a": lambda X: X[:, 0], "b": lambda X: X[:, 1]},
                (y[:, np.newaxis] ^ wrong).astype(float),
                y,
                shared_key=pair,
                tau=tau,
                sharpness=t,
                rho=0.3,
            )
            names.append(chosen.name)
        flips += names[0] != names[1]
    assert chosen.certificate.rho <= 0.3
    assert "candidates-near" in chosen.certificate.assumptions
    assert flips <= limit(pairs, chosen.certificate.rho)
    same = certify("selection", "k", **{**chosen.certificate.inputs, "tau": None})
    assert same.rho < chosen.certificate.rho
    assert plan("selection", n_hypotheses=2, tau=0.001).n > plan("selection", n_hypotheses=2).n


def test_models_that_differ_are_comparable_only_in_the_robust_form():
    rng = np.random.default_rng(0)
    X, y = rng.random((2, 500, 1)), rng.random((2, 500)) < 0.5
    for tau, expected in ((None, "no"), (0.01, "yes")):
        found = [
            select_hypothesis(
                {
                    "tree": DecisionTreeClassifier(max_depth=2).fit(
                        rng.random((50, 1)), np.arange(50) % 2
                    )
                },
                X[lab],
                y[lab],
                shared_key="k",
                tau=tau,
            ).certificate
            for lab in (0, 1)
        ]
        assert found[0].comparable(found[1]).comparable == expected


def test_the_condition_is_in_the_documentation_of_the_function():
    assert "rows of either sample" in inspect.getdoc(select_hypothesis)


def test_a_plan_for_another_number_of_candidates_is_refused():
    made = plan("selection", n=20, n_hypotheses=3)
    X, y = np.zeros((30, 1)), np.zeros(30)
    rules = {"one": lambda X: X[:, 0], "two": lambda X: 1 - X[:, 0]}
    with pytest.raises(ValueError, match="3 candidates, there are 2"):
        select_hypothesis(rules, X, y, plan=made, shared_key="k")
    with pytest.raises(ValueError, match="set by `plan`"):
        select_hypothesis(rules, X, y, plan=made, rho=0.2, shared_key="k")
    with pytest.raises(ValueError, match="not for select_hypothesis"):
        select_hypothesis(rules, X, y, plan=plan("thresholds", n=20), shared_key="k")
