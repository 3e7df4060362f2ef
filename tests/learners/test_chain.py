"""Chains of bounded length: what is kept, what dropping changes, where they start."""

import pickle

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replearn import (
    IncumbentClassifier,
    PointwiseReplicableClassifier,
    ScoreReplicableClassifier,
    load,
    save,
)
from replearn.learners.chain import MAX_MEMORY, MAX_RETRAININGS, Step, extended, keep, replay

X, Y = make_classification(4000, n_features=6, flip_y=0.4, class_sep=0.3, random_state=1)
NEW = X[3000:]


class Counting(GaussianNB):
    """Counts how often models of this kind predict."""

    calls = 0

    def predict_proba(self, rows):
        Counting.calls += 1
        return super().predict_proba(rows)


def chain(n_retrainings, base=None, rows=200, **params):
    rng = np.random.default_rng(3)
    model = None
    for _ in range(1 + n_retrainings):
        sample = rng.choice(3000, rows, replace=False)
        model = IncumbentClassifier(base or GaussianNB(), model, **params)
        model.fit(X[sample], Y[sample])
    return model


def relay(scores, start, band, threshold=0.5):
    """Write the rule out for one point."""
    state = start
    for score in scores:
        if score > threshold + band:
            state = 1
        elif score < threshold - band:
            state = 0
    return state


def test_the_replay_is_the_rule_at_every_point():
    rng = np.random.default_rng(0)
    scores = 0.5 + 0.2 * rng.normal(size=(7, 300))
    steps = [
        Step(None, memory, band, 0.5)
        for memory, band in zip(rng.random(7) * 0.8, rng.random(7) * 0.2, strict=True)
    ]
    found = replay(steps, scores, (scores[0] > 0.5).astype(int))
    for point in range(300):
        score = scores[0, point]
        state = int(score > 0.5)
        age = 0
        for new, step in zip(scores[1:, point], steps[1:], strict=True):
            score = step.memory * score + (1 - step.memory) * new
            before = state
            state = relay([score], state, step.band)
            age = age + 1 if state == before else 0
        assert found.score[point] == pytest.approx(score)
        assert (found.prediction[point], found.before[point]) == (state, before)
        assert found.age[point] == age


def test_a_long_chain_is_printed_with_one_incumbent():
    model = None
    for _ in range(40):  # time would double with each of them
        model = IncumbentClassifier(incumbent=model)
    assert repr(model).count("IncumbentClassifier") == 2
    of_two = IncumbentClassifier(incumbent=IncumbentClassifier())._html_repr()
    assert len(model._html_repr()) < 1.1 * len(of_two)
    assert model.incumbent.incumbent is not None


def test_an_unknown_label_is_not_kept():
    evidence = np.array([[0.0, 0.1], [0.0, 0.1]])
    assert keep(evidence, np.array([-1, 0]), 1.0).tolist() == [1, 0]


@pytest.mark.parametrize("memory", [0.0, 0.5])
def test_two_hundred_retrainings_are_no_longer_than_twenty(memory):
    short = chain(20, Counting(), memory=memory, band=0.1)
    long = chain(200, Counting(), memory=memory, band=0.1)
    assert len(long.chain_) == len(short.chain_) == 1 + MAX_RETRAININGS
    calls = []
    for model in (short, long):
        Counting.calls = 0
        model.predict(NEW)
        calls.append(Counting.calls)
    assert calls == [MAX_RETRAININGS + 1] * 2
    sizes = [len(pickle.dumps(model)) for model in (short, long)]
    per_entry = len(pickle.dumps(short.history_)) / len(short.history_)
    assert sizes[1] - sizes[0] < 1.5 * per_entry * len(long.history_)
    assert len(long.history_) <= 120


def test_dropping_changes_only_what_the_theory_page_names():
    """Either the dropped month changed the prediction, or a score is near an edge of the band."""
    rng = np.random.default_rng(5)
    months, points, memory, band = 8, 4000, 0.6, 0.1
    scores = 0.5 + 0.15 * rng.normal(size=(months + 1, points))
    start = (scores[0] > 0.5).astype(int)
    steps = [Step(None, memory, band, 0.5)] * (months + 1)
    full = [replay(steps[: k + 1], scores[: k + 1], start) for k in range(1, 9)]
    short = replay(steps[1:], [scores[0], *scores[2:]], start)
    differs = short.prediction != full[-1].prediction
    changed_then = full[0].prediction != start
    near = np.zeros(points, dtype=bool)
    for later, one in enumerate(full[1:], start=1):
        weight = (1 - memory) * memory**later  # of the dropped model
        near |= np.abs(np.abs(one.score - 0.5) - band) <= weight
    assert differs.any()
    assert not (differs & ~changed_then & ~near).any()


def test_the_longest_memory_forgets_what_is_dropped():
    assert MAX_MEMORY**MAX_RETRAININGS < 0.03


def test_a_pipeline_of_scikit_learn_may_be_the_start():
    old = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:1000], Y[:1000])
    new = IncumbentClassifier(incumbent=old, memory=0.5).fit(X[1000:2000], Y[1000:2000])
    score = (old.predict_proba(NEW) + new.estimator_.predict_proba(NEW)) / 2
    np.testing.assert_allclose(new.predict_proba(NEW), score, atol=1e-15)
    inside = np.abs(score[:, 1] - 0.5) <= 0.1
    assert (new.predict(NEW)[inside] == old.predict(NEW)[inside]).all()
    assert inside.any()
    assert len(new.chain_) == 2


def test_a_model_that_only_predicts_may_be_the_start():
    class Rules:
        def predict(self, rows):
            return (rows[:, 0] > 0).astype(int)

    new = IncumbentClassifier(incumbent=Rules(), band=0.1).fit(X[:1000], Y[:1000])
    np.testing.assert_array_equal(new.predict_proba(NEW), new.estimator_.predict_proba(NEW))
    inside = np.abs(new.predict_proba(NEW)[:, 1] - 0.5) <= 0.1
    np.testing.assert_array_equal(new.predict(NEW)[inside], Rules().predict(NEW)[inside])


def test_scores_in_other_units_are_not_mixed():
    old = IncumbentClassifier(votes()).fit(X[:1000], Y[:1000])
    new = IncumbentClassifier(GaussianNB(), old, memory=0.8, band=0.0)
    new.fit(X[1000:2000], Y[1000:2000])
    np.testing.assert_array_equal(new.predict(NEW), new.estimator_.predict(NEW))


def votes():
    return PointwiseReplicableClassifier(GaussianNB(), n_blocks=20, shared_key="k", max_fits=20)


@pytest.mark.parametrize(
    "base", [votes(), ScoreReplicableClassifier(GaussianNB(), n_blocks=8, shared_key="k")]
)
def test_margins_are_mixed(base):
    old = IncumbentClassifier(base).fit(X[:1000], Y[:1000])
    new = IncumbentClassifier(base, old, memory=0.5, band=0.05).fit(X[1000:2000], Y[1000:2000])
    margin = (old.estimator_.margin(NEW) + new.estimator_.margin(NEW)) / 2
    inside = np.abs(margin) <= 0.05
    assert (new.predict(NEW)[inside] == old.predict(NEW)[inside]).all()
    assert (new.predict(NEW)[~inside] == (margin > 0)[~inside]).all()
    assert new.certificate_.verdict == new.estimator_.certificate_.verdict


def test_files_in_the_middle_of_a_chain(tmp_path):
    through = chain(6)
    rng = np.random.default_rng(3)
    model = None
    for step in range(7):
        sample = rng.choice(3000, 200, replace=False)
        model = IncumbentClassifier(GaussianNB(), model).fit(X[sample], Y[sample])
        if step == 3:
            save(model, tmp_path / "m.replearn")
            model = load(tmp_path / "m.replearn")
    np.testing.assert_array_equal(model.predict(NEW), through.predict(NEW))
    np.testing.assert_array_equal(model.predict_proba(NEW), through.predict_proba(NEW))
    assert len(model.history_) == len(through.history_) == 7


def test_a_prediction_does_not_depend_on_the_other_rows():
    model = chain(5)
    together = model.predict(NEW)
    alone = np.concatenate([model.predict(NEW[row : row + 1]) for row in range(50)])
    np.testing.assert_array_equal(alone, together[:50])


def test_a_retraining_without_memory_and_band_starts_again():
    start = Step("old", 0.0, 0.0, 0.5)
    new = Step("new", 0.0, 0.0, 0.5)
    assert extended((start, start), new) == (new,)
    assert extended((start,), Step("new", 0.0, 0.1, 0.5))[0] is start


# -- how often a prediction changes: sections 2 to 4 of the theory page ----------------------------
LAWS = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "two points": lambda rng, size: rng.choice([-1.0, 1.0], size),
    "rare jumps": lambda rng, size: (
        rng.choice([-1.0, 0.0, 1.0], size, p=[0.05, 0.9, 0.05]) * np.sqrt(10)
    ),
}
N_CHAINS = 20_000


def changed_at_last(scores, memory, band):
    """Count chains of independent scores that change at their last step."""
    steps = [Step(None, memory, band, 0.0)] * len(scores)
    found = replay(steps, scores, (scores[0] > 0).astype(int))
    return int((found.prediction != found.before).sum())


def rate_limit(band, memory):
    """Bound the changes per retraining for scores of variance 1."""
    spread = (1 - memory) / (1 + memory)
    travel = (1 - memory) * np.sqrt(2 / (1 + memory))
    rate = min(travel / (2 * band), spread / band**2)
    return min(rate, 0.5, 0.5 / band**2) if memory == 0 else min(rate, 1.0)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("memory", [0.0, 0.1, 0.5, 0.8])
@pytest.mark.parametrize("mean", [0.0, 0.4])
def test_predictions_change_no_more_often_than_the_bound(law, memory, mean):
    """The chains of one step are independent: an exact binomial limit, false alarm 1e-8."""
    rng = np.random.default_rng(11)
    scores = mean + LAWS[law](rng, (40, N_CHAINS))
    for band in (0.3, 0.6, 0.8, 1.5):
        count = changed_at_last(scores, memory, band)
        assert count <= binom.isf(1e-8, N_CHAINS, rate_limit(band, memory))


def test_the_rate_without_memory_is_attained():
    """Mass at both edges and the rest between: the variance is all spent on changes."""
    p, band = 0.2, 0.1
    rng = np.random.default_rng(5)
    scores = rng.choice([-1.001 * band, 0.0, 1.001 * band], (60, N_CHAINS), p=[p, 1 - 2 * p, p])
    count = changed_at_last(scores, 0.0, band)
    assert count / N_CHAINS == pytest.approx(p, rel=0.05)  # sigma^2 / (2 band^2) = p
