"""The heavy stage of PointwiseReplicableClassifier."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from replearn import PointwiseReplicableClassifier
from replearn.bounds import MembershipLaw
from replearn.exceptions import NotCertifiedWarning
from replearn.guarantees import HeavyStage, heavy_rows_needed, heavy_stage, plan
from replearn.randomness import SharedKey
from replearn.testing.populations import ConstantLearner, FirstRowLearner
from tests.factories import limit

MASSES, BIASES = np.array([0.5, 0.3, 0.2]), np.array([0.8, -0.8, 0.0])


def draw(rng, n, masses=MASSES, biases=BIASES):
    x = rng.choice(len(masses), n, p=masses)
    return x[:, None].astype(float), (rng.random(n) < (1 + biases[x]) / 2).astype(int)


def learner(**params):
    defaults = {"rho": 0.2, "alpha": 0.5, "beta": 0.1, "n_partitions": 1, "classes": [0, 1]}
    return PointwiseReplicableClassifier(ConstantLearner(), **(defaults | params))


@pytest.fixture(scope="module")
def default_model():
    return learner().fit(*draw(np.random.default_rng(0), 8000))


# -- the plan ----------------------------------------------------------------------------------


@pytest.mark.parametrize("realizable", [False, True])
@pytest.mark.parametrize("paper", [False, True])
def test_planned_stages_meet_their_targets(realizable, paper):
    targets = {"rho": 0.2, "alpha": 0.4, "beta": 0.1, "realizable": realizable, "paper": paper}
    n = heavy_rows_needed(**targets)
    made = plan(n=n, rho=0.2, heavy=heavy_stage(n=n, **targets), block_size=20)
    assert made.certified, made.reason
    assert made.alpha == 0.4
    stage = made.design.heavy
    # every member has the labels it needs, whatever the data
    least = int(np.floor(n * stage.low)) + 1
    assert least >= stage.n_labels
    few = plan(n=n // 2, rho=0.2, heavy=heavy_stage(n=n // 2, **targets))
    assert not few.certified
    assert few.needed_n == n
    assert few.rho <= 0.2 or paper


def test_stage_depends_on_numbers_only_and_is_part_of_the_certificate(default_model):
    X, y = draw(np.random.default_rng(0), 8000)
    first = default_model
    again = learner().fit(X[::-1] + 5, 1 - y)
    assert first.plan_ == again.plan_
    first.certificate_.check()
    assert first.certificate_.design.heavy == heavy_stage(n=8000, rho=0.2, alpha=0.5, beta=0.1)
    theorems = {step.theorem for step in first.certificate_.steps}
    assert theorems >= {"sample-reuse", "heavy-membership", "heavy-labels", "light-point-deviation"}
    assert "heavy points" in str(first.certificate_)
    assert "labels of their own" in first.certificate_.explain()


def test_on_exactly_when_alpha_is_given(default_model):
    X, y = draw(np.random.default_rng(0), 8000)
    assert learner(alpha=None).fit(X, y).heavy_ is None
    assert learner(heavy="off").fit(X, y).heavy_ is None
    assert default_model.heavy_ is not None
    with pytest.warns(NotCertifiedWarning, match="needs n="):
        paper = learner(heavy="paper", rho=0.15).fit(X[:2000], y[:2000])
    assert paper.certificate_.design.heavy.kind == "uniform"


def test_accuracy_that_n_cannot_promise_is_said_and_rho_is_kept():
    X, y = draw(np.random.default_rng(0), 3000)
    with pytest.warns(NotCertifiedWarning, match="beta"):
        model = learner(alpha=0.05, rho=0.2).fit(X, y)
    assert not model.certificate_.certified
    assert model.certificate_.rho <= 0.2
    assert model.certificate_.alpha is None


def test_reading_a_plan_back():
    stage = heavy_stage(n=8000, rho=0.2, alpha=0.5, beta=0.1)
    made = plan(n=8000, rho=0.2, heavy=stage, n_partitions=1)
    assert type(made).from_json(made.to_json()) == made
    model = PointwiseReplicableClassifier(ConstantLearner(), plan=made)
    X, y = draw(np.random.default_rng(0), 9000)
    assert len(model.fit(X, y).heavy_) >= 2


# -- what it does ------------------------------------------------------------------------------


def test_heavy_points_get_their_own_labels():
    """The blocks always say 1; the heavy point with labels 0 gets 0 nevertheless."""
    X, y = draw(np.random.default_rng(1), 8000)
    model = learner().fit(X, y)
    listed = dict(zip(model.heavy_.points[:, 0].tolist(), model.heavy_.labels, strict=True))
    assert listed[0.0] == 1
    assert listed[1.0] == 0
    assert model.heavy_.masses[:2] == pytest.approx([0.5, 0.3], abs=0.03)
    points = np.array([[0.0], [1.0], [7.0]])
    assert model.predict(points).tolist() == [1, 0, 1]
    explained = model.explain(points)
    assert explained.stage.tolist() == ["heavy", "heavy", "vote"]
    assert explained.score[1] < 0.2
    assert explained.score[2] == 1.0
    assert ((explained.margin > 0) == (explained.prediction == 1)).all()
    assert (model.margin(points) == explained.margin).all()
    assert "labels seen at this very point" in str(explained)
    assert repr(model.heavy_).startswith("HeavyPoints(")


def test_light_points_are_left_to_the_votes():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((8000, 2)), rng.integers(0, 2, 8000)
    model = learner().fit(X, y)
    assert len(model.heavy_) == 0
    assert (model.predict(X[:50]) == 1).all()
    assert set(model.explain(X[:50]).stage) == {"vote"}


def test_order_jobs_and_clones_do_not_matter():
    rng = np.random.default_rng(3)
    X, y = draw(rng, 8000)
    order = rng.permutation(8000)
    points = np.arange(4.0)[:, None]
    first = learner().fit(X, y)
    again = clone(first).fit(X[order], y[order])
    assert (first.predict(points) == again.predict(points)).all()
    assert (first.heavy_.masses == again.heavy_.masses).all()
    assert (first.flip_probability(points) == again.flip_probability(points)).all()


def test_ids_key_the_votes_but_not_the_heavy_stage():
    X, y = draw(np.random.default_rng(4), 8000)
    model = learner().fit(X, y)
    points = np.array([[1.0], [1.0]])
    assert (model.predict(points, ids=["ann", "bob"]) == 0).all()


def test_decimals_make_points_of_measurements():
    rng = np.random.default_rng(5)
    X, y = draw(rng, 8000)
    noisy = X + rng.uniform(-0.01, 0.01, X.shape)
    assert len(learner().fit(noisy, y).heavy_) == 0
    model = learner(decimals=1).fit(noisy, y)
    assert len(model.heavy_) >= 2
    assert model.explain(np.array([[0.004]])).stage[0] == "heavy"


@pytest.mark.parametrize(
    ("params", "message"),
    [({"alpha": 1.0}, "alpha"), ({"heavy": "maybe"}, "heavy"), ({"beta": 1.0}, "beta")],
)
def test_bad_parameters_are_named(params, message):
    X, y = draw(np.random.default_rng(0), 500)
    with pytest.raises(ValueError, match=message):
        learner(**params).fit(X, y)


def test_groups_are_refused():
    X, y = draw(np.random.default_rng(0), 6000)
    with pytest.raises(ValueError, match="groups"):
        learner().fit(X, y, groups=np.arange(6000))


def test_soft_votes_decide_light_points_only():
    X, y = draw(np.random.default_rng(1), 8000)
    hard, soft = (
        PointwiseReplicableClassifier(
            GaussianNB(),
            rho=0.2,
            alpha=0.5,
            beta=0.1,
            n_partitions=1,
            vote=vote,
            max_fits=60,
        ).fit(X, y)
        for vote in ("hard", "soft")
    )
    assert soft.certificate_.certified
    assert "absolute error of the scores" in " ".join(soft.certificate_.promises)
    assert (soft.heavy_.labels == hard.heavy_.labels).all()
    soft.certificate_.check()
    flips = soft.flip_probability(np.arange(4.0)[:, None])
    assert ((flips >= 0) & (flips <= 1)).all()


def test_certificate_has_numbers_for_training_rows(default_model):
    certificate = default_model.certificate_
    values = {step.name: step.value for step in certificate.steps}
    rho = values["reuse_flip_bound"]
    assert values["heavy_step"] > values["vote_step"]
    assert values["training_row_stage"] == pytest.approx(rho + values["heavy_step"])
    assert values["repeated_row_stage"] == pytest.approx(2 * rho + values["heavy_step"])


@pytest.mark.statistical
def test_training_row_of_a_heavy_learner_flips_within_its_number():
    """Predicts the newest row's label: the block that has it always votes 1."""
    stage = HeavyStage(low=0.1, high=0.4, n_labels=40, band=1.0)
    made = plan(n=400, heavy=stage, n_blocks=20, n_partitions=1, classes=[0, 1])
    values = {step.name: step.value for step in made.steps}
    rng, n_pairs, flips = np.random.default_rng(8), 60, 0
    for pair in range(n_pairs):
        model = PointwiseReplicableClassifier(FirstRowLearner(), plan=made, shared_key=pair)
        answers = []
        for run in range(2):
            X, y = draw(rng, 400)
            if run == 0:
                X[0], y[0] = 2.0, 1
            answers.append(clone(model).fit(X, y).predict([[2.0]])[0])
        flips += int(answers[0] != answers[1])
    assert flips <= limit(n_pairs, values["repeated_row_stage"])


# -- more than two classes -----------------------------------------------------------------------
THREE = np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.2, 0.6, 0.2]])


def draw_three(rng, n, masses=MASSES, chances=THREE):
    x = rng.choice(len(masses), n, p=masses)
    y = (rng.random(n)[:, None] > np.cumsum(chances[x], axis=1)).sum(axis=1)
    return x[:, None].astype(float), np.minimum(y, 2)


def three(**params):
    defaults = {"rho": 0.3, "alpha": 0.6, "beta": 0.1, "n_partitions": 1, "classes": [0, 1, 2]}
    return PointwiseReplicableClassifier(GaussianNB(), **(defaults | params))


def test_three_classes_get_labels_of_their_own():
    X, y = draw_three(np.random.default_rng(1), 30_000)
    model = three().fit(X, y)
    assert model.certificate_.certified, model.certificate_.reason
    model.certificate_.check()
    assert model.certificate_.alpha == 0.6
    names = {step.name for step in model.certificate_.steps}
    assert names >= {"class_label_flip", "class_label_errors", "heavy_step"}
    points = np.array([[0.0], [1.0], [2.0], [7.0]])
    explained = model.explain(points)
    assert explained.stage.tolist() == ["heavy", "heavy", "heavy", "vote"]
    assert model.predict(points)[:3].tolist() == [0, 2, 1]
    assert (model.predict(points) == explained.prediction).all()
    assert explained.score[1] == pytest.approx(0.8, abs=0.05)
    assert (explained.margin >= 0).all()
    assert "labels seen at this very point" in str(explained)
    flips = model.flip_probability(points)
    lower, upper = model.flip_limits(points)
    assert ((lower <= flips) & (flips <= upper + 1e-3)).all()
    assert model.heavy_.shares.shape == (len(model.heavy_), 3)
    table = model.heavy_.frame()
    assert table["mass"].tolist() == model.heavy_.masses.tolist()


def test_plan_for_three_classes_passes_where_it_says_so():
    targets = {"rho": 0.3, "alpha": 0.6, "beta": 0.1, "n_classes": 3}
    n = heavy_rows_needed(**targets)
    made = plan(n=n, rho=0.3, heavy=heavy_stage(n=n, **targets), n_classes=3, block_size=5)
    assert made.certified, made.reason
    few = plan(n=n // 2, rho=0.3, heavy=heavy_stage(n=n // 2, **targets), n_classes=3)
    assert not few.certified
    assert few.needed_n == n


@pytest.mark.parametrize("chances", [[1 / 3] * 3, [0.45, 0.4, 0.15], [0.9, 0.1, 0.0]])
def test_labels_of_three_classes_agree_by_shared_gumbels(chances):
    """Many points, two runs each: within the bound; with a key each, far beyond."""
    from replearn.heavy.label_rule import label_points
    from replearn.randomness import as_points

    n_points = 1500
    rng, points, names = np.random.default_rng(0), as_points(np.arange(n_points)), np.arange(3)
    tallies = rng.multinomial(400, chances, (2, n_points))
    first, same, other = (
        label_points(points, tally, 400, 0.5, names, SharedKey(key))
        for tally, key in ((tallies[0], 1), (tallies[1], 1), (tallies[1], 2))
    )
    most = limit(n_points, first.flip_bound)
    assert (first.label_codes != same.label_codes).sum() <= most
    assert (first.label_codes != other.label_codes).sum() > most
    # what one run says about the next one is right on average over points
    chance = first.chances()
    told = 1.0 - chance[np.arange(n_points), first.label_codes]
    seen = (first.label_codes != same.label_codes).mean()
    assert told.mean() == pytest.approx(seen, abs=0.03)
    assert (first.limits(0.05) >= told - 0.01).all()


@pytest.mark.statistical
def test_labels_of_three_classes_flip_within_the_certificate():
    """All three labels equally likely at a doubtful member; the votes always say 0."""
    stage = HeavyStage(low=0.1, high=0.3, n_labels=40, band=0.15)
    made = plan(n=400, heavy=stage, n_blocks=20, n_partitions=1, classes=[0, 1, 2])
    even = np.full((3, 3), 1 / 3)
    rng, n_pairs, flips = np.random.default_rng(8), 150, 0
    for pair in range(n_pairs):
        model = PointwiseReplicableClassifier(ConstantLearner(), plan=made, shared_key=pair)
        a, b = (
            clone(model).fit(*draw_three(rng, 400, chances=even)).predict([[2.0]])[0]
            for _ in range(2)
        )
        flips += int(a != b)
    assert 0 < flips <= limit(n_pairs, made.rho)


def test_frame_lists_the_members(default_model):
    table = default_model.heavy_.frame()
    assert len(table) == len(default_model.heavy_)
    assert table["mass"].tolist() == default_model.heavy_.masses.tolist()


# -- the flip rate -------------------------------------------------------------------------------


def test_flip_rate_counts_membership_labels_and_votes(default_model):
    rng, model = np.random.default_rng(0), default_model
    X, y = draw(rng, 8000)
    points = np.arange(3.0)[:, None]
    rate, heavy_only = model.flip_rate(points), model.flip_rate(np.zeros((5, 1)))
    assert 0 <= rate.estimate <= rate.upper <= 1
    # a point of mass 1/2 with clear labels stays; one with mean label 0 does not
    assert heavy_only.estimate < 0.01 < model.flip_rate(np.full((5, 1), 2.0)).estimate
    # continuous points add next to nothing to the votes alone
    light = model.flip_rate(rng.standard_normal((50, 1)))
    plain = learner(alpha=None, n_blocks=model.plan_.n_blocks, law=model.plan_.law).fit(X, y)
    assert light.estimate == pytest.approx(plain.flip_rate(np.ones((5, 1)) * 9).estimate, abs=1e-6)


@pytest.mark.statistical
def test_flip_rate_limit_covers_what_fresh_samples_do():
    stage = HeavyStage(low=0.1, high=0.4, n_labels=40, band=1.0)
    made = plan(n=400, heavy=stage, n_blocks=20, n_partitions=1, classes=[0, 1])
    rng, points, uppers, estimates, flips = (
        np.random.default_rng(8),
        np.arange(3.0)[:, None],
        [],
        [],
        [],
    )
    for pair in range(120):
        model = PointwiseReplicableClassifier(FirstRowLearner(), plan=made, shared_key=pair)
        first, second = (clone(model).fit(*draw(rng, 400)) for _ in range(2))
        rate = first.flip_rate(points)
        uppers.append(rate.upper)
        estimates.append(rate.estimate)
        flips.append(np.mean(first.predict(points) != second.predict(points)))
    assert np.mean(flips) == pytest.approx(np.mean(estimates), abs=0.06)
    assert np.mean(flips) < np.quantile(uppers, 0.05)


@pytest.mark.parametrize("container", ["array", "pandas", "polars", "text"])
def test_state_without_the_key_gives_the_same_stage(container):
    import pandas as pd
    import polars as pl

    from replearn.heavy import HeavyPoints, fit_heavy
    from replearn.randomness import as_points

    X, y = draw(np.random.default_rng(0), 2000)
    both = np.hstack([X, -X])
    sample = {
        "array": both,
        "pandas": pd.DataFrame(both, columns=["b", "a"]),
        "polars": pl.DataFrame({"b": both[:, 0], "a": both[:, 1]}),
        "text": [f"point {int(x)}" for x in X[:, 0]],
    }[container]
    stage, classes, key = HeavyStage(0.1, 0.15, 150, 0.5), np.array([0, 1]), SharedKey(3)
    heavy = fit_heavy(sample, y, classes, stage, key, None)
    again = HeavyPoints.from_state(heavy.to_state(None), stage, classes, key, None)
    assert len(again) == len(heavy) > 0
    assert (again.labels == heavy.labels).all()
    first, second = (h.view(as_points(sample)) for h in (heavy, again))
    assert (first.member == second.member).all()
    assert (first.numbers == second.numbers).all()


def test_pickles_keep_the_stage(default_model):
    import pickle

    model = default_model
    again = pickle.loads(pickle.dumps(model))
    points = np.arange(4.0)[:, None]
    assert (again.predict(points) == model.predict(points)).all()
    assert (again.explain(points).stage == model.explain(points).stage).all()


# -- flip probabilities ------------------------------------------------------------------------


@pytest.mark.statistical
def test_flip_probability_of_heavy_points_is_calibrated():
    """Label at mean 0 and membership in doubt: compare with what fresh samples do."""
    stage = HeavyStage(low=0.1, high=0.4, n_labels=60, band=1.0)
    made = plan(n=600, rho=0.5, heavy=stage, n_blocks=20, n_partitions=1, classes=[0, 1])
    rng = np.random.default_rng(6)
    point, estimates, uppers, flips, n_keys, n_fresh = np.array([[2.0]]), [], [], [], 16, 12
    for key in range(n_keys):
        model = PointwiseReplicableClassifier(FirstRowLearner(), plan=made, shared_key=key)
        fits = [clone(model).fit(*draw(rng, 600)) for _ in range(n_fresh)]
        answers = np.array([fit.predict(point)[0] for fit in fits])
        flips.append(np.mean([(answers != a).mean() for a in answers]) * n_fresh / (n_fresh - 1))
        estimates.append(np.mean([fit.flip_probability(point)[0] for fit in fits]))
        uppers.append(np.mean([fit.flip_limits(point)[1][0] for fit in fits]))
    assert np.mean(estimates) == pytest.approx(np.mean(flips), abs=0.1)
    assert np.corrcoef(estimates, flips)[0, 1] > 0.5
    assert (np.array(uppers) >= np.array(estimates) - 1e-9).all()


@pytest.mark.statistical
def test_flip_probability_of_membership_is_right_key_by_key():
    """Its labels are always 0, votes always 1: a fresh sample differs iff membership does."""
    stage = HeavyStage(low=0.1, high=0.4, n_labels=60, band=1.0)
    made = plan(n=600, rho=0.5, heavy=stage, n_blocks=5, n_partitions=1, classes=[0, 1])
    rng, point, told, seen = np.random.default_rng(6), np.array([[2.0]]), [], []
    for key in range(25):
        model = PointwiseReplicableClassifier(ConstantLearner(), plan=made, shared_key=key)
        fits = [clone(model).fit(*draw(rng, 600, biases=np.array([1, 1, -1.0]))) for _ in range(8)]
        heavy = np.array([fit.predict(point)[0] == 0 for fit in fits])
        seen.append(2 * heavy.mean() * (1 - heavy.mean()) * 8 / 7)
        told.append(np.mean([fit.flip_probability(point)[0] for fit in fits]))
    assert 0.02 < np.mean(seen) < 0.3
    assert np.mean(told) == pytest.approx(np.mean(seen), abs=0.07)
    assert np.corrcoef(told, seen)[0, 1] > 0.7


def test_least_counts_follow_the_law():
    from replearn.heavy import fit_heavy

    X, y = draw(np.random.default_rng(7), 900)
    stage = HeavyStage(low=0.1, high=0.4, n_labels=90, band=1.0)
    law = MembershipLaw("sqrt", 0.1, 0.4)
    for key in range(40):
        heavy = fit_heavy(X, y, np.array([0, 1]), stage, SharedKey(key), None)
        view = heavy.view(heavy._known.points)
        needed = view._needed().astype(int)
        u = view.known.member_thresholds
        assert (u < law.probabilities(needed, 900)).all()
        assert not (u < law.probabilities(needed - 1, 900)).any()
        assert (view.known.member == (view.known.seen.counts >= needed)).all()


# -- the promise -------------------------------------------------------------------------------


@pytest.mark.statistical
def test_flips_at_a_doubtful_member_stay_below_the_certificate():
    """Mass in the middle of the membership law, labels at mean 0, votes against them."""
    stage = HeavyStage(low=0.1, high=0.4, n_labels=40, band=1.0)
    made = plan(n=400, heavy=stage, n_blocks=20, n_partitions=1, classes=[0, 1])
    rng, n_pairs, flips = np.random.default_rng(8), 80, 0
    for pair in range(n_pairs):
        model = PointwiseReplicableClassifier(ConstantLearner(), plan=made, shared_key=pair)
        a, b = (clone(model).fit(*draw(rng, 400)).predict([[2.0]])[0] for _ in range(2))
        flips += int(a != b)
    assert flips <= limit(n_pairs, made.rho)
    assert flips > 0


class TwoPointLearner(FirstRowLearner):
    """The footnote's class {delta_1, delta_2}: predict 0 at one of the two points, 1 at the other.

    Both hypotheses are equally good, so the block's first row decides.
    """

    def _rule(self, X, y):
        return int(X[0, 0])

    def predict(self, X):
        return (np.asarray(X)[:, 0] != self.label_).astype(int)


@pytest.mark.statistical
def test_the_footnote_breaks_plain_averaging_and_the_heavy_stage_mends_it():
    """Two points of mass 1/2, nine labels in ten are 1. Averaging often errs on both points.

    With the heavy stage both are labelled from their own labels.
    """
    rng, n_runs = np.random.default_rng(9), 60
    both = np.array([[0.0], [1.0]])
    plain, mended = [], []
    for key in range(n_runs):
        X = rng.integers(0, 2, 3000)[:, None].astype(float)
        y = (rng.random(3000) < 0.9).astype(int)
        base = {"rho": 0.3, "classes": [0, 1], "shared_key": key}
        averaging = PointwiseReplicableClassifier(
            TwoPointLearner(),
            law="uniform",
            width=1.0,
            n_partitions=1,
            n_blocks=20,
            **base,
        )
        plain.append((averaging.fit(X, y).predict(both) == 0).mean())
        staged = PointwiseReplicableClassifier(
            TwoPointLearner(),
            alpha=0.6,
            beta=0.1,
            n_partitions=1,
            max_fits=20,
            **base,
        ).fit(X, y)
        assert staged.certificate_.certified
        mended.append((staged.predict(both) == 0).mean())
    # wrong on both with probability about 1/4, far from any beta of 0.05
    wrong_on_both = int((np.array(plain) == 1.0).sum())
    assert wrong_on_both > limit(n_runs, 0.02)
    assert mended == [0.0] * n_runs
