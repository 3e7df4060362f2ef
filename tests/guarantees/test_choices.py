"""Plans of replicable choices: what they say is what the estimators certify."""

import json
import warnings

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import replearn
import replearn.paper
from replearn.bounds.scores import any_score_flip_bound, score_half_width
from replearn.exceptions import CertificateError, NotCertifiedWarning
from replearn.guarantees.plan import Plan
from replearn.guarantees.planner import plan
from replearn.guarantees.promise import derive
from replearn.guarantees.theorems import THEOREMS
from replearn.learners.score import ScoreReplicableClassifier
from replearn.paper.complete import CompleteLearner
from replearn.paper.finite_randomness import FiniteRandomnessClassifier
from replearn.paper.hypotheses import Thresholds
from replearn.paper.realizable import RealizableReplicableClassifier
from replearn.paper.semi_replicable import SemiReplicableClassifier
from replearn.paper.thresholds import ReplicableThresholdClassifier
from replearn.records.json import digest_of
from replearn.registry import TASKS as ALL_TASKS, entries_of
from tests.factories import Choosing

TASKS_BY_NAME = entries_of(ALL_TASKS)

MODELS = {"half": lambda X: X[:, 0] > 0.5, "third": lambda X: X[:, 0] > 0.3}
LOOSE = {"rho": 0.5, "alpha": 0.5, "beta": 0.3}


def _sample(n):
    X = np.random.default_rng(0).random((n, 1))
    return X, X[:, 0] > 0.5


def _fit(made, X, y):
    if made.task == "selection":
        return Choosing(MODELS, plan=made).fit(X, y)
    if made.task == "complete":
        return CompleteLearner(Thresholds(">"), plan=made).fit(X, y)
    if made.task == "thresholds":
        return ReplicableThresholdClassifier(plan=made).fit(X, y)
    if made.task == "realizable":
        return RealizableReplicableClassifier(Thresholds(">"), plan=made).fit(X, y)
    if made.task == "finite randomness":
        return FiniteRandomnessClassifier(GaussianNB(), plan=made).fit(X, y)
    pool = np.random.default_rng(1).random((made.inputs["n_shared"], 1))
    learner = SemiReplicableClassifier(Thresholds(">"), plan=made)
    return learner.fit(X, y, X_shared=pool)


TINY = {"n": 120, "n_candidates": 2, "rho": 0.9, "gamma": 0.9, "alpha": 0.9, "block_size": 3}
PLANS = [
    ("complete", {**LOOSE, "d": 1}),
    ("selection", {**LOOSE, "n_hypotheses": 2}),
    ("thresholds", {**LOOSE, "gamma": 0.5, "direction": ">"}),
    ("realizable", {**LOOSE, "gamma": 0.5, "d": 1}),
    ("semi", {**LOOSE, "d": 1}),
]


@pytest.mark.parametrize(("task", "targets"), PLANS)
def test_planned_rows_are_certified_and_fewer_are_not(task, targets):
    made = plan(task, **targets)
    assert made.certified
    fitted = _fit(made, *_sample(made.n))
    assert fitted.certificate_.certified
    assert set(made.theorems) == set(fitted.certificate_.theorems)
    # a pool has fewer dichotomies than Sauer's bound allows, and n is found up to a share of it
    fewer = made.n // 3 if task in ("semi", "complete") else made.n - 1
    smaller = plan(task, n=fewer, **targets)
    assert not smaller.certified
    assert smaller.needed_n == made.n
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        assert not _fit(smaller, *_sample(fewer)).certificate_.certified


FEW = [*((task, {"n": 120, **targets}) for task, targets in PLANS), ("finite randomness", TINY)]


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
@pytest.mark.filterwarnings(
    "ignore::replearn.exceptions.ConstantBlocksWarning"
)  # blocks of one row
@pytest.mark.parametrize(("task", "targets"), FEW)
def test_labs_with_more_rows_than_planned_have_the_same_scale(task, targets):
    """A surplus is left out, and which rows stay does not depend on the order of the file."""
    made = plan(task, **targets)
    X, y = _sample(3 * made.n)
    exact = _fit(made, X[: made.n], y[: made.n])
    more, turned = _fit(made, X, y), _fit(made, X[::-1], y[::-1])
    assert dict(more.certificate_.inputs) == dict(exact.certificate_.inputs)
    assert dict(more.certificate_.inputs)["n"] == made.n
    assert vars(more.certificate_) == vars(turned.certificate_)
    assert (more.predict(X) == turned.predict(X)).all()
    by_hand = _fit(made, *_sample_kept(made, X, y))
    assert (more.predict(X) == by_hand.predict(X)).all()


def _sample_kept(made, X, y):
    learner = ReplicableThresholdClassifier(plan=plan("thresholds", n=made.n))
    kept, labels, rows = learner._planned_rows(X, y)
    assert len(set(rows)) == made.n
    return kept, labels


@pytest.mark.parametrize(("task", "targets"), FEW)
def test_labs_with_fewer_rows_than_planned_cannot_follow(task, targets):
    made = plan(task, **targets)
    with pytest.raises(
        ValueError, match=f"plan needs n={made.n} rows, but the sample has {made.n - 1}"
    ):
        _fit(made, *_sample(made.n - 1))


def test_which_surplus_rows_are_left_out_depends_on_the_sample_not_on_single_rows():
    """Rows that two samples share must not be kept by both: then they would not be independent."""
    X, y = np.arange(3000.0)[:, np.newaxis], np.zeros(3000, dtype=int)
    learner = ReplicableThresholdClassifier(plan=plan("thresholds", n=1000))
    one, _, _ = learner._planned_rows(X[:-1], y[:-1])
    two, _, _ = learner._planned_rows(X[1:], y[1:])
    assert 250 < len(np.intersect1d(one, two)) < 420  # a third of a third would be 333 of 1000
    other = learner.set_params(shared_key="other")
    assert len(np.intersect1d(one, other._planned_rows(X[:-1], y[:-1])[0])) < 420


def test_finite_randomness_is_planned_though_nobody_has_the_rows():
    made = plan(
        FiniteRandomnessClassifier, n_candidates=2, rho=0.3, gamma=0.3, alpha=0.5, block_size=50
    )
    assert made.certified
    learner = FiniteRandomnessClassifier(plan=made)._in_force()
    n_test = round(learner.test_share * made.n)
    assert (made.n - n_test) // learner.n_blocks == 50
    half = {**made.inputs, "n_blocks": learner.n_blocks // 2}
    assert not derive("finite randomness", half).certified
    with pytest.raises(ValueError, match="needs more than"):
        plan("finite randomness", n=10**9, gamma=0.01)


def test_finite_randomness_is_planned_point_by_point():
    asked = {"n_candidates": 2, "rho": 0.3, "alpha": 0.5, "block_size": 50}
    made = plan("finite randomness", **asked)
    mass = plan("finite randomness", gamma=0.1, **asked)
    assert (made.gamma, mass.gamma) == (None, 0.1)
    assert made.promises[0].startswith("Two models predict one fixed point differently")
    assert made.n < mass.n
    assert Plan.from_json(made.to_json()) == made
    assert FiniteRandomnessClassifier(plan=made)._in_force().gamma is None
    # elsewhere None stands for the default of the task
    assert plan("thresholds", n=5, gamma=None) == plan("thresholds", n=5)


def test_targets_beyond_numbers_are_refused_in_words():
    with pytest.raises(ValueError, match="more than"):
        plan("realizable", d=10**11)


MEANS = [
    ("heavy", {"nu": 0.1, "rho": 0.2}),
    ("heavy, whole set", {"nu": 0.2, "rho": 0.3}),
    ("coins", {"p0": -0.3, "q0": 0.2, "rho": 0.2, "beta": 0.1}),
    ("finite randomness", {"n_candidates": 2, "rho": 0.3, "alpha": 0.5}),
]


@pytest.mark.parametrize(("task", "targets"), MEANS[:3])
def test_planned_rows_of_functions_are_certified_and_one_less_is_not(task, targets):
    made = plan(task, **targets)
    assert (made.certified, made.solved) == (True, ("n",))
    assert made.steps
    short = plan(task, n=made.n - 1, **targets)
    assert (short.certified, short.needed_n) == (False, made.n)
    assert short.advice == (f"{made.n} rows are needed, there are {made.n - 1}",)


def test_every_task_that_can_be_planned_is_here():
    plannable = {task for task, entry in TASKS_BY_NAME.items() if entry.solve}
    # no labels, and fresh noise: tests/learners/test_regressor.py, test_semi_private.py; an
    # estimate: below
    apart = {"regression", "semi-private", "score"}
    assert {task for task, _ in (*PLANS, *MEANS)} | apart == plannable


def tampered(made, *path, value):
    content = json.loads(made.to_json())
    place = content
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    unsigned = json.dumps(content)
    content["digest"] = digest_of({key: content[key] for key in content if key != "digest"})
    return unsigned, json.dumps(content)


@pytest.mark.parametrize(("task", "targets"), [*PLANS, *MEANS])
def test_json_both_ways_and_changes_are_refused(task, targets, tmp_path):
    made = plan(task, n=77, **targets)
    made.save(tmp_path / "plan.json")
    again = Plan.load(tmp_path / "plan.json")
    assert again == made
    assert str(again) == str(made)
    for *path, value, words in (
        ("promises", ["All will be well."], "promises"),
        ("verdict", "surely", "verdict"),
        ("rho", 1e-3, "rho"),
        ("inputs", "n", -1, "n"),
        ("inputs", "surprise", 1, "surprise"),
        ("solved", 3, "int"),
        ("task", "signs", "signs"),
    ):
        unsigned, signed = tampered(made, *path, value=value)
        with pytest.raises(CertificateError, match=words):
            Plan.from_json(signed)
        with pytest.raises(CertificateError):
            Plan.from_json(unsigned)


def test_the_table_can_be_read():
    made = plan("selection", n_hypotheses=3, n=100)
    for part in ("select_hypothesis", "NOT certified", "rows are needed", "alpha", "sharpness"):
        assert part in str(made)
    assert "<table>" in plan("selection", n_hypotheses=3)._repr_html_()
    assert repr(made) == "Plan('selection', rho=0.9731, alpha=0.1, beta=1, n=100, certified=False)"


def test_every_task_has_a_page_and_a_learner():
    homes = (replearn, replearn.paper)
    for entry in TASKS_BY_NAME.values():
        assert entry.theorem in THEOREMS
        for learner in entry.learners:
            assert any(hasattr(home, learner) for home in homes), learner


def test_a_task_is_named_by_its_learner():
    assert plan(ReplicableThresholdClassifier, n=5) == plan("thresholds", n=5)
    assert plan("select_hypothesis", n_hypotheses=3).task == "selection"
    assert plan("find_heavy_hitters", nu=0.1).task == "heavy"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plan("cut"), "task=.* must be one of"),
        (lambda: plan("signs"), "task=.* must be one of"),
        (lambda: plan("coins", p0="low", q0=0.5), "p0 must be a number"),
        (lambda: plan("heavy", nu=1.5), "nu=1.5 must lie in"),
        (lambda: plan("selection"), r"needs \['n_hypotheses'\]"),
        (lambda: plan("selection", n_hypotheses=3, gamma=0.1), r"does not take \['gamma'\]"),
        (lambda: plan("selection", n_hypotheses=2.5), "n_hypotheses must be a whole number"),
        (lambda: plan("thresholds", rho=0), "rho=.* must lie in"),
        (lambda: plan("semi", d=2, n_shared=5), "n_shared=5 is too small"),
        (lambda: plan("semi", d=300), r"d=300, .* cannot be enumerated"),
        (lambda: plan("semi", d=3_000_000), r"e\^2079442 candidates or more"),
        (
            lambda: Choosing(MODELS, plan=plan("selection", n=5, n_hypotheses=3), rho=0.5).fit(
                *_sample(9)
            ),
            "rho is set by `plan`",
        ),
        (
            lambda: Choosing(MODELS, plan=plan("thresholds", n=5)).fit(*_sample(9)),
            "plan is for ReplicableThresholdClassifier, not for select_hypothesis",
        ),
    ],
)
def test_errors_name_what_is_wrong(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()


def test_a_plan_in_standard_errors_is_an_estimate_that_follows_from_n():
    made = plan("score", n=20_000, rho=0.2)
    assert (made.verdict, made.certified) == ("estimated", False)
    assert (made.inputs["n_blocks"], made.inputs["n_partitions"]) == (8, 3)
    assert plan("score", n=20_000).inputs["n_blocks"] == 24
    assert plan("score", n=9_999, rho=0.2).inputs["n_blocks"] == 24
    assert made.value("score_half_width") == score_half_width(0.2)
    assert made.value("any_score_flip_bound") == any_score_flip_bound(score_half_width(0.2))
    # thresholds over all scores are the widest there are: others have a larger worst case
    narrow = plan("score", n=20_000, rho=0.2, standard_error=0.05)
    assert narrow.value("worst_score_flip_bound") > made.value("worst_score_flip_bound")
    for each in (made, narrow):
        assert Plan.from_json(each.to_json()) == each
    with pytest.raises(TypeError, match=r"needs \['n'\]"):
        plan("score", rho=0.1)


def test_the_learner_follows_a_plan_in_standard_errors():
    X, y = _sample(400)
    made = plan(ScoreReplicableClassifier, n=300, rho=0.2, standard_error=0.05)
    model = ScoreReplicableClassifier(GaussianNB(), plan=made, shared_key="k").fit(X, y)
    for name in ("n", "n_blocks", "n_partitions"):
        assert model.certificate_.inputs[name] == made.inputs[name]
    stated = model.certificate_.value("worst_score_flip_bound")
    assert stated >= made.value("worst_score_flip_bound") * 0.999
    with pytest.raises(ValueError, match="plan is for PointwiseReplicableClassifier, not for"):
        ScoreReplicableClassifier(plan=plan(n=300, rho=0.3)).fit(X, y)
