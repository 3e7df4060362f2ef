import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from replearn import (
    IncumbentClassifier,
    IncumbentRegressor,
    PointwiseReplicableClassifier,
    load,
    save,
)
from replearn.exceptions import (
    ModelFileError,
    NotCertifiedWarning,
    RetrainingWarning,
    UsefulnessWarning,
)
from replearn.guarantees.certificate import Certificate
from replearn.learners.chain import Step
from replearn.persistence.model_file import describe
from tests.factories import voting

X, Y = make_classification(4000, flip_y=0.25, random_state=1)
NEW = X[3000:]


def fitted(part, incumbent=None, estimator=None, **params):
    rows = slice(1000 * part, 1000 * (part + 1))
    return IncumbentClassifier(estimator, incumbent, **params).fit(X[rows], Y[rows])


def mixed(part, incumbent, memory):
    """Return the score of a chain of two logistic regressions."""
    old = incumbent.estimator_.predict_proba(NEW)[:, 1]
    new = part.estimator_.predict_proba(NEW)[:, 1]
    return memory * old + (1 - memory) * new


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks([IncumbentClassifier()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.8])
def test_the_old_prediction_stays_within_the_band(memory):
    old = fitted(0)
    new = fitted(1, old, memory=memory, band=0.05)
    score = mixed(new, old, memory)
    before = old.predict(NEW)
    after = new.predict(NEW)
    inside = np.abs(score - 0.5) <= 0.05
    assert (after[inside] == before[inside]).all()
    assert (after[~inside] == (score > 0.5)[~inside]).all()
    assert (before != new.estimator_.predict(NEW)).any()
    assert (after != before).sum() < (before != new.estimator_.predict(NEW)).sum()
    np.testing.assert_allclose(new.predict_proba(NEW)[:, 1], score, atol=1e-15)


def test_the_score_is_a_mean_of_the_models():
    first = fitted(0)
    second = fitted(1, first, memory=0.5)
    half = fitted(2, second, memory=0.5)
    every = [one.estimator_.predict_proba(NEW) for one in (first, second, half)]
    expected = 0.5 * np.mean(every[:2], axis=0) + 0.5 * every[2]
    np.testing.assert_allclose(half.predict_proba(NEW), expected, atol=1e-15)


def test_the_first_fit_predicts_like_its_estimator():
    first = fitted(0)
    assert (first.predict(NEW) == first.estimator_.predict(NEW)).all()
    assert [len(one.history_) for one in (first, fitted(2, fitted(1, first)))] == [1, 3]


def test_no_band_keeps_nothing_and_a_wide_one_everything():
    old = fitted(0)
    none = fitted(1, old, memory=0, band=0.0)
    every = fitted(1, old, band=1.0)
    assert (none.predict(NEW) == none.estimator_.predict(NEW)).all()
    assert (every.predict(NEW) == old.predict(NEW)).all()
    assert len(none.chain_) == 1  # nothing is remembered: the chain starts again


def test_another_threshold_and_scores_without_probabilities():
    old = fitted(0, threshold=0.3)
    assert (old.predict(NEW) == (old.predict_proba(NEW)[:, 1] > 0.3)).all()
    lines = fitted(1, old, LinearSVC(), memory=0, band=0.2)
    score = lines.estimator_.decision_function(NEW)
    kept = np.abs(score) <= 0.2
    assert (lines.predict(NEW)[kept] == old.predict(NEW)[kept]).all()
    assert not hasattr(lines, "predict_proba")
    for memory in (0.5, "auto"):  # decision values of two fits have different scales
        assert fitted(1, old, LinearSVC(), memory=memory).chain_[-1].memory == 0


def test_thresholds_of_estimator_and_incumbent_are_taken_over():
    low = FixedThresholdClassifier(LogisticRegression(), threshold=0.2)
    old = fitted(0, estimator=low)
    assert (old.predict(NEW) == (old.predict_proba(NEW)[:, 1] > 0.2)).all()
    assert (old.predict(NEW) != (old.predict_proba(NEW)[:, 1] > 0.5)).any()
    new = fitted(1, old, low)
    clear = np.abs(new.predict_proba(NEW)[:, 1] - 0.2) > 0.1
    assert (new.predict(NEW)[clear] == (new.predict_proba(NEW)[:, 1] > 0.2)[clear]).all()
    plain = clone(low).fit(X[:1000], Y[:1000])
    kept = fitted(1, plain, band=0.0)  # the incumbent is a model of scikit-learn
    assert kept.history_[-1]["threshold"] == 0.2
    assert (kept.predict(NEW) == (kept.predict_proba(NEW)[:, 1] > 0.2)).all()
    with pytest.raises(ValueError, match="has a threshold of its own"):
        fitted(0, estimator=low, threshold=0.4)
    on_values = FixedThresholdClassifier(
        LogisticRegression(), threshold=1.0, response_method="decision_function"
    )
    with pytest.raises(ValueError, match="threshold on decision values"):
        fitted(0, estimator=on_values)


@pytest.mark.filterwarnings("ignore::replearn.exceptions.RetrainingWarning")
@pytest.mark.parametrize(("threshold", "number"), [(0.2, 0.2), ("prevalence", None), ((1, 4), 0.2)])
def test_every_kind_of_threshold(threshold, number, tmp_path):
    tree = DecisionTreeClassifier(max_leaf_nodes=5)  # many probabilities at the threshold
    number = Y[:1000].mean() if number is None else number
    one = fitted(0, estimator=tree, threshold=threshold)
    np.testing.assert_array_equal(one.predict(NEW), one.predict_proba(NEW)[:, 1] >= number)
    assert one.history_[0]["threshold"] == pytest.approx(number)
    save(fitted(1, one, tree), tmp_path / "m.replearn")  # the threshold is the incumbent's
    kept = load(tmp_path / "m.replearn").history_[-1]["threshold"]
    assert kept == pytest.approx(number)
    with pytest.raises(ValueError, match="use TunedThresholdClassifierCV"):
        fitted(0, threshold="rate")


def test_a_threshold_on_labels_that_are_words_names_its_label():
    words = np.where(Y == 1, "bad", "good")
    rows = slice(0, 1000)
    with pytest.raises(ValueError, match=r"pos_label.*'bad' and 'good'.*predicts 'bad' where"):
        IncumbentClassifier(threshold=0.15).fit(X[rows], words[rows])
    bad = IncumbentClassifier(threshold=0.15, pos_label="bad").fit(X[rows], words[rows])
    plain = IncumbentClassifier(threshold=0.15).fit(X[rows], Y[rows])
    np.testing.assert_array_equal(bad.predict(NEW) == "bad", plain.predict(NEW) == 1)


def test_several_classes():
    A, b = make_classification(3000, n_informative=5, n_classes=3, random_state=0)
    names = np.array(["a", "b", "c"])[b]
    old = IncumbentClassifier(GaussianNB()).fit(A[:1000], names[:1000])
    new = IncumbentClassifier(GaussianNB(), old, memory=0.5, band=0.1)
    new.fit(A[1000:2000], names[1000:2000])
    chances = new.predict_proba(A[2000:])
    both = [one.estimator_.predict_proba(A[2000:]) for one in (old, new)]
    np.testing.assert_allclose(chances, np.mean(both, axis=0), atol=1e-15)
    before = np.searchsorted(new.classes_, old.predict(A[2000:]))
    gap = chances.max(axis=1) - chances[np.arange(1000), before]
    expected = np.where(gap <= 0.2, before, chances.argmax(axis=1))
    assert (new.predict(A[2000:]) == new.classes_[expected]).all()


def test_clone_keeps_the_incumbent():
    old = fitted(0)
    copy = clone(fitted(1, old, LogisticRegression(C=0.5)))
    assert copy.incumbent is old
    assert copy.estimator.C == 0.5
    assert not hasattr(copy, "estimator_")


def test_explanations_say_what_was_kept():
    new = fitted(1, fitted(0), band=0.1)
    explained = new.explain(NEW)
    changed = explained.prediction != explained.incumbent_prediction
    kept = (explained.prediction == explained.incumbent_prediction) & (
        explained.new_prediction != explained.incumbent_prediction
    )
    assert (explained.margin[kept] <= 0.1).all()
    assert kept.any()
    sentences = list(explained.sentences())
    assert all("as before" in sentences[row] for row in np.flatnonzero(kept))
    assert all("instead of" in sentences[row] for row in np.flatnonzero(changed))
    assert (explained.unchanged_for[changed] == 0).all()
    assert (explained.unchanged_for[~changed] == 1).all()
    assert (explained.margin >= 0).all()


def certified(key="k", **params):
    return voting(GaussianNB(), n_blocks=20, shared_key=key, max_fits=20, **params)


def test_labs_that_share_key_and_incumbent_keep_the_certificate():
    """The flips of two labs stay below rho, and fewer predictions change than without incumbent."""
    old = fitted(0, estimator=certified())
    rng, flips, changed, alone, n = np.random.default_rng(2), 0, 0, 0, 0
    probes, before = NEW[:300], old.predict(NEW[:300])
    for pair in range(3):
        rows = rng.permutation(3000)
        a, b = (
            IncumbentClassifier(certified(), old, memory=0.5, band=0.1).fit(X[part], Y[part])
            for part in (rows[:1000], rows[1000:2000])
        )
        flips += int((a.predict(probes) != b.predict(probes)).sum())
        changed += int((a.predict(probes) != before).sum())
        alone += int((a.estimator_.predict(probes) != before).sum())
        n += len(probes)
        assert a.certificate_.rho == a.estimator_.certificate_.rho, pair
        assert a.certificate_.comparable(b.certificate_), pair
    assert flips <= binom.isf(1e-8, n, old.certificate_.rho)
    assert changed < alone


def test_other_incumbents_and_bands_are_not_comparable():
    olds = [fitted(0), fitted(1, fitted(0)), fitted(1), fitted(0, estimator=GaussianNB())]
    one = fitted(2, olds[0], certified(), memory=0.5, band=0.05).certificate_
    same = fitted(1, olds[0], certified(), memory=0.5, band=0.05)
    assert one.comparable(same.certificate_)
    for old in olds[1:]:
        other = one.comparable(fitted(2, old, certified(), memory=0.5, band=0.05).certificate_)
        assert other.comparable == "no"
        assert "the runs differ in incumbent: " in str(other)
    wide = fitted(2, olds[0], certified(), memory=0.5, band=0.6).certificate_
    assert "band of the incumbent: 0.05 here, 0.6 there" in str(one.comparable(wide))
    short = fitted(2, olds[0], certified(), memory=0.1, band=0.05).certificate_
    assert "memory of the incumbent: 0.5 here, 0.1 there" in str(one.comparable(short))
    without = fitted(2, None, certified()).certificate_
    assert without == fitted(2, None, certified()).estimator_.certificate_
    assert f"incumbent: None here, {one.identity.incumbent['fingerprint']}" in str(
        without.comparable(one)
    )
    assert one.comparable(without).comparable == "no"


def test_the_certificate_says_what_an_incumbent_leaves_of_the_promise():
    plain = fitted(2, None, certified()).certificate_
    kept = fitted(2, fitted(0), certified(), memory=0.5).certificate_
    kept.check()
    assert kept.rho == plain.rho
    codes = set(kept.assumptions) - set(plain.assumptions)
    assert codes == {"same-incumbent"}
    assert "accuracy is about the estimator without the incumbent" in kept.explain()
    assert "band 0.1" in str(kept)
    again = Certificate.from_json(kept.to_json())
    again.check()
    assert again == kept


def test_a_model_that_cannot_be_bound_leaves_it_unknown():
    class Remote:
        def __reduce_ex__(self, protocol):
            raise TypeError("a connection")

        def predict(self, rows):
            return (rows[:, 0] > 0).astype(int)

    remote = Remote()
    one, two = (
        IncumbentClassifier(certified(), remote, memory=0.5).fit(X[:1000], Y[:1000]).certificate_
        for _ in range(2)
    )
    assert one.comparable(two).comparable == "unknown"
    assert "Remote" in str(one.comparable(two))


@pytest.mark.parametrize(
    "base",
    [
        LogisticRegression(),
        DecisionTreeClassifier(max_depth=3),
        HistGradientBoostingClassifier(max_iter=3),
    ],
    ids=lambda base: type(base).__name__,
)
def test_a_model_file_has_the_fingerprint_of_the_model(base, tmp_path):
    def votes():
        return PointwiseReplicableClassifier(base, n_blocks=4, shared_key="k", n_jobs=1)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        old = fitted(1, fitted(0, estimator=votes()), votes())
        save(old, tmp_path / "m.replearn")
        again = load(tmp_path / "m.replearn", shared_key="k")
        one = fitted(2, old, votes()).certificate_
        two = fitted(2, again, votes()).certificate_
    assert one.identity.incumbent == two.identity.incumbent


def test_model_files_keep_the_chain(tmp_path):
    first = fitted(0, estimator=certified())
    second = fitted(1, first, certified(), memory=0.5)
    chain = fitted(2, second, certified(), memory=0.5)
    save(chain, tmp_path / "m.replearn")
    again = load(tmp_path / "m.replearn", shared_key="k")
    assert len(again.history_) == 3
    assert (again.predict(NEW) == chain.predict(NEW)).all()


@pytest.mark.parametrize(
    "base",
    [LogisticRegression(), HistGradientBoostingClassifier(max_iter=3)],
    ids=lambda base: type(base).__name__,
)
def test_model_files_keep_a_chain_of_plain_classifiers(base, tmp_path):
    path = tmp_path / "m.replearn"
    one = fitted(0, estimator=base)
    two = fitted(1, one, base)
    save(two, path)
    again = load(path)  # it has no key
    assert again.incumbent is None
    assert again.history_ == two.history_
    assert again.estimator_ is again.chain_[-1].model
    third = fitted(2, two, base)
    resumed = fitted(2, again, base)
    np.testing.assert_array_equal(resumed.predict_proba(NEW), third.predict_proba(NEW))
    np.testing.assert_array_equal(resumed.predict(NEW), third.predict(NEW))
    assert describe(path).certificate is None


def test_a_chain_that_no_fit_has_made_is_not_loaded(tmp_path):
    model = fitted(0)
    model.chain_ = (Step(model.estimator_, 2.0, 0.0, 0.5),)
    with pytest.raises(ModelFileError, match="out of range"):
        save(model, tmp_path / "m.replearn")


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="trained on 20 features"):
        IncumbentClassifier(incumbent=fitted(0)).fit(X[:, :5], Y)
    with pytest.raises(ValueError, match="two classes only"):
        IncumbentClassifier(certified()).fit(X, np.arange(len(X)) % 3)


class _WithoutClasses:
    """A model of another system: it only predicts."""

    def predict(self, X):
        return np.where(np.asarray(X)[:, 0] > 0, "g", "b")


@pytest.mark.parametrize("kind", ["with classes", "without classes"])
def test_labels_must_match(kind):
    X, y = make_classification(600, random_state=0)
    old = LogisticRegression().fit(X, np.where(y == 1, "g", "b"))
    incumbent = old if kind == "with classes" else _WithoutClasses()
    with pytest.raises(ValueError, match=r"has \['b', 'g'\], y has \[0, 1\].*one coding"):
        IncumbentClassifier(incumbent=incumbent).fit(X, y)
    with pytest.raises(ValueError, match=r"not in y: \['b'\].*"):
        IncumbentClassifier(incumbent=incumbent).fit(X, np.where(y == 1, "g", "n"))
    IncumbentClassifier(incumbent=incumbent).fit(X, np.where(y == 1, "g", "b"))


class _Column(_WithoutClasses):
    def predict(self, X):
        return super().predict(X)[:, np.newaxis]


def test_a_column_of_labels_is_one_label_per_row():
    labels = np.where(Y[:1000] == 1, "g", "b")
    found, expected = (
        IncumbentClassifier(incumbent=start).fit(X[:1000], labels).predict(NEW)
        for start in (_Column(), _WithoutClasses())
    )
    np.testing.assert_array_equal(found, expected)


def test_a_new_class_or_a_missing_one_is_named():
    old = fitted(0)
    three = np.where(np.arange(1000) % 10 == 0, 2, Y[:1000])
    with pytest.raises(ValueError, match=r"unknown to incumbent: \[2\]"):
        IncumbentClassifier(incumbent=old).fit(X[:1000], three)
    more = IncumbentClassifier().fit(X[:1000], three)
    with pytest.raises(ValueError, match=r"not in y: \[2\]"):
        IncumbentClassifier(incumbent=more).fit(X[:1000], Y[:1000])


def test_a_missing_column_is_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:1000, :3], columns=["age", "income", "debt"])
    old = IncumbentClassifier().fit(frame, Y[:1000])
    with pytest.raises(ValueError, match=r"lacks the columns \['income'\]"):
        IncumbentClassifier(incumbent=old).fit(frame.drop(columns="income"), Y[:1000])


def test_weights_reach_the_estimator():
    weights = np.where(Y[:1000] == 1, 5.0, 1.0)
    old = IncumbentClassifier().fit(X[:1000], Y[:1000], sample_weight=weights)
    plain = LogisticRegression(max_iter=1000).fit(X[:1000], Y[:1000], sample_weight=weights)
    np.testing.assert_array_equal(old.predict_proba(NEW), plain.predict_proba(NEW))
    with pytest.warns(
        RetrainingWarning, match=r"share of '1' in all new rows: 0\.496, by the model in use 0\.7"
    ):
        same = IncumbentClassifier(incumbent=old).fit(X[1000:2000], Y[1000:2000], sample_weight=1.0)
    assert same.history_[-1]["tested"] == 1000


def test_the_default_band_is_narrower_at_low_thresholds():
    first = fitted(0, threshold=0.06)
    second = fitted(1, first, threshold=0.06)
    assert second.chain_[-1].band == pytest.approx(0.012)
    assert fitted(1, fitted(0)).chain_[-1].band == 0.1
    with pytest.warns(
        UsefulnessWarning, match=r"band=0\.1 reaches beyond .* prediction of '1' can"
    ):
        fitted(1, first, threshold=0.06, band=0.1)


def test_a_regressor_in_use_is_refused():
    X = np.arange(40.0).reshape(-1, 1)
    labels = np.arange(40) % 2
    incumbent = DecisionTreeRegressor().fit(X, labels)  # it predicts 0.0 and 1.0
    with pytest.raises(ValueError, match=r"incumbent=.* is a regressor: give a classifier"):
        IncumbentClassifier(incumbent=incumbent, memory=0.5).fit(X, labels)


def test_ties_are_those_of_scikit_learn():
    X = np.repeat([[0.0], [1.0]], [40, 40], axis=0)
    y = np.r_[np.arange(40) % 2, np.ones(40, dtype=int)]
    tree = DecisionTreeClassifier()
    fixed = FixedThresholdClassifier(tree, threshold=0.5).fit(X, y)
    assert tree.fit(X, y).predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]
    assert tree.predict([[0.0]]) == [0]
    assert fixed.predict([[0.0]]) == [1]
    assert IncumbentClassifier(tree).fit(X, y).predict([[0.0]]) == [0]
    for model in (
        IncumbentClassifier(tree, threshold=0.5),
        IncumbentClassifier(fixed),
        IncumbentClassifier(tree, incumbent=fixed, memory=0.5, band=0.0),
    ):
        assert clone(model).fit(X, y).predict([[0.0]]) == [1]


@pytest.mark.parametrize("kind", [IncumbentClassifier, IncumbentRegressor])
def test_an_estimator_is_not_its_own_incumbent(kind):
    X = np.arange(40.0).reshape(-1, 1)
    model = kind().fit(X, np.arange(40) % 2)
    before = model.predict(X)
    with pytest.raises(ValueError, match="incumbent is this estimator itself"):
        model.set_params(incumbent=model).fit(X, np.arange(40) % 2)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("kind", [IncumbentClassifier, IncumbentRegressor])
def test_ids_that_no_model_needs_are_checked_as_well(kind):
    X = np.arange(40.0).reshape(-1, 1)
    model = kind().fit(X, np.arange(40) % 2)
    np.testing.assert_array_equal(model.predict(X, ids=np.arange(40)), model.predict(X))
    with pytest.raises(ValueError, match="ids has 3 entries, but X has 40 rows"):
        model.predict(X, ids=[1, 2, 3])


def test_no_more_predictions_change_than_a_share():
    tree = DecisionTreeClassifier(min_samples_leaf=10, random_state=0)
    old = fitted(0)
    free = fitted(1, old, tree, memory=0.1, band=0.01)
    tight = fitted(1, old, tree, memory=0.1, band=0.01, max_changes=0.03)
    before = old.predict(NEW)
    assert (free.predict(NEW) != before).mean() > 0.06
    entry = tight.history_[-1]
    assert entry["changed"] <= 0.03 < entry["changed_limit"] < 0.05
    assert entry["band"] > 0.01
    n_changed = int((tight.predict(NEW) != before).sum())
    assert n_changed <= binom.isf(1e-8, len(NEW), entry["changed_limit"])


@pytest.mark.parametrize("share", [0.0, 0.01, 0.05])
def test_a_batch_never_changes_more_than_a_share(share):
    old = fitted(0)
    model = fitted(
        1, old, DecisionTreeClassifier(max_depth=6, random_state=0), memory=0.0, band=0.0
    )
    model.chain_ = (old.chain_[0], model.chain_[0])  # the start is remembered
    before, free = old.predict(NEW), model.predict(NEW)
    found = model.predict_batch(NEW, max_changes=share)
    made = found != before
    assert made.sum() == share * len(NEW) < (free != before).sum()
    np.testing.assert_array_equal(found[made], free[made])
    margin = model.explain(NEW).margin
    waiting = (free != before) & ~made
    assert share == 0.0 or margin[made].min() >= margin[waiting].max()
    np.testing.assert_array_equal(model.predict_batch(NEW), free)
    with pytest.raises(ValueError, match=r"max_changes=2 must be a share"):
        model.predict_batch(NEW, max_changes=2)
