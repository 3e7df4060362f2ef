import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from replearn import (
    IncumbentClassifier,
    PointwiseReplicableClassifier,
    ScoreReplicableClassifier,
    load,
    save,
)
from replearn.exceptions import NotCertifiedWarning
from replearn.guarantees import Certificate
from replearn.persistence import ModelFileError

X, Y = make_classification(4000, flip_y=0.25, random_state=1)
NEW = X[3000:]


def fitted(part, incumbent=None, estimator=None, **params):
    rows = slice(1000 * part, 1000 * (part + 1))
    return IncumbentClassifier(estimator, incumbent, **params).fit(X[rows], Y[rows])


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks([IncumbentClassifier()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_the_old_answer_stays_within_the_band():
    old = fitted(0)
    new = fitted(1, old, band=0.1)
    score = new.estimator_.predict_proba(NEW)[:, 1]
    before, after = old.predict(NEW), new.predict(NEW)
    inside = np.abs(score - 0.5) <= 0.1
    assert (after[inside] == before[inside]).all()
    assert (after[~inside] == (score > 0.5)[~inside]).all()
    assert (before != (score > 0.5)).any()
    assert (after != before).sum() < (before != (score > 0.5)).sum()


def test_the_first_fit_answers_like_its_estimator():
    first = fitted(0)
    assert (first.predict(NEW) == first.estimator_.predict(NEW)).all()
    assert first.n_retrainings_ == 0
    assert fitted(2, fitted(1, first)).n_retrainings_ == 2


def test_no_band_keeps_nothing_and_a_wide_one_everything():
    old = fitted(0)
    none, all_ = fitted(1, old, band=0.0), fitted(1, old, band=1.0)
    assert (none.predict(NEW) == none.estimator_.predict(NEW)).all()
    assert (all_.predict(NEW) == old.predict(NEW)).all()


def test_another_threshold_and_scores_without_probabilities():
    old = fitted(0, threshold=0.3)
    assert (old.predict(NEW) == (old.predict_proba(NEW)[:, 1] > 0.3)).all()
    lines = fitted(1, old, LinearSVC(), band=0.2)
    score = lines.estimator_.decision_function(NEW)
    kept = np.abs(score) <= 0.2
    assert (lines.predict(NEW)[kept] == old.predict(NEW)[kept]).all()
    assert not hasattr(lines, "predict_proba")


def test_several_classes_and_labels_that_are_gone():
    A, b = make_classification(3000, n_informative=5, n_classes=3, random_state=0)
    names = np.array(["a", "b", "c"])[b]
    old = IncumbentClassifier(GaussianNB()).fit(A[:1000], names[:1000])
    new = IncumbentClassifier(GaussianNB(), old, band=0.1).fit(A[1000:2000], names[1000:2000])
    chances = new.predict_proba(A[2000:])
    before = np.searchsorted(new.classes_, old.predict(A[2000:]))
    gap = chances.max(axis=1) - chances[np.arange(1000), before]
    expected = np.where(gap <= 0.2, before, chances.argmax(axis=1))
    assert (new.predict(A[2000:]) == new.classes_[expected]).all()
    rows = names != "c"
    two = IncumbentClassifier(GaussianNB(), old, band=0.5).fit(A[rows], names[rows])
    assert set(two.predict(A)) <= {"a", "b"}


def test_clone_keeps_the_incumbent():
    old = fitted(0)
    copy = clone(fitted(1, old, LogisticRegression(C=0.5)))
    assert copy.incumbent is old
    assert copy.estimator.C == 0.5
    assert not hasattr(copy, "estimator_")


def test_explanations_say_what_was_kept():
    new = fitted(1, fitted(0), band=0.1)
    told = new.explain(NEW)
    changed = told.prediction != told.incumbent_prediction
    kept = (told.prediction == told.incumbent_prediction) & (
        told.new_prediction != told.incumbent_prediction
    )
    assert (told.margin[kept] <= 0.1).all()
    assert kept.any()
    sentences = list(told.sentences())
    assert all("as before" in sentences[row] for row in np.flatnonzero(kept))
    assert all("instead of" in sentences[row] for row in np.flatnonzero(changed))
    assert (told.margin >= 0).all()


def certified(key="k", **params):
    return PointwiseReplicableClassifier(
        GaussianNB(), n_blocks=20, shared_key=key, n_partitions=1, **params
    )


def test_labs_that_share_key_and_incumbent_keep_the_certificate():
    """The flips of two labs stay below rho, and fewer predictions change than without incumbent."""
    old = fitted(0, estimator=certified())
    rng, flips, changed, alone, n = np.random.default_rng(2), 0, 0, 0, 0
    probes, before = NEW[:300], old.predict(NEW[:300])
    for pair in range(3):
        rows = rng.permutation(3000)
        a, b = (
            IncumbentClassifier(certified(), old, band=0.1).fit(X[part], Y[part])
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
    one = fitted(2, olds[0], certified(), band=0.05).certificate_
    same = IncumbentClassifier(certified(), olds[0], band=0.05).fit(X[1000:2000], Y[1000:2000])
    assert one.comparable(same.certificate_)
    for old in olds[1:]:
        other = one.comparable(fitted(2, old, certified(), band=0.05).certificate_)
        assert other.comparable == "no"
        assert "the runs differ in incumbent: " in str(other)
    wide = fitted(2, olds[0], certified(), band=0.6).certificate_
    assert "band of the incumbent: 0.05 here, 0.6 there" in str(one.comparable(wide))
    without = fitted(2, None, certified()).certificate_
    assert without == fitted(2, None, certified()).estimator_.certificate_
    assert f"incumbent: None here, {one.identity.incumbent['fingerprint']}" in str(
        without.comparable(one)
    )
    assert one.comparable(without).comparable == "no"


def test_units_of_the_band_are_compared():
    base = ScoreReplicableClassifier(GaussianNB(), shared_key="k")
    old = fitted(0, estimator=base)
    errors = fitted(1, old, base, band=0.1, unit="standard error").certificate_
    scores = fitted(1, old, base, band=0.1).certificate_
    assert "unit of the incumbent" in str(errors.comparable(scores))


def test_the_certificate_says_what_an_incumbent_leaves_of_the_promise():
    plain = fitted(2, None, certified()).certificate_
    kept = fitted(2, fitted(0), certified()).certificate_
    kept.check()
    assert kept.rho == plain.rho
    codes = {item.code for item in kept.assumptions} - {item.code for item in plain.assumptions}
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
        IncumbentClassifier(certified(), remote).fit(X[:1000], Y[:1000]).certificate_
        for _ in range(2)
    )
    assert one.comparable(two).comparable == "unknown"
    assert "incumbent: an object of type" in str(one.comparable(two))


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
    chain = fitted(2, fitted(1, first, certified()), certified())
    save(chain, tmp_path / "m.replearn")
    again = load(tmp_path / "m.replearn", shared_key="k")
    assert again.n_retrainings_ == 2
    assert (again.predict(NEW) == chain.predict(NEW)).all()
    with pytest.raises(ModelFileError, match="no certificate"):
        save(fitted(0), tmp_path / "plain.replearn")


def test_a_band_in_standard_errors():
    base = ScoreReplicableClassifier(GaussianNB(), shared_key="k")
    old = fitted(0, estimator=base)
    new = fitted(1, old, base, band=2.0, unit="standard error")
    told = new.estimator_.explain(NEW)
    clear = np.abs(told.margin) > 2.0 * told.standard_error
    before, after = old.predict(NEW), new.predict(NEW)
    assert (after[~clear] == before[~clear]).all()
    assert (after[clear] == told.prediction[clear]).all()
    assert 0 < clear.mean() < 1
    with pytest.raises(ValueError, match="needs a ScoreReplicableClassifier"):
        fitted(0, unit="standard error")


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
def test_an_incumbent_with_other_labels_is_not_supported(kind):
    X, y = make_classification(600, random_state=0)
    old = LogisticRegression().fit(X, np.where(y == 1, "g", "b"))
    incumbent = old if kind == "with classes" else _WithoutClasses()
    with pytest.raises(ValueError, match=r"\['b', 'g'\], but y has \[0, 1\].*one coding"):
        IncumbentClassifier(incumbent=incumbent).fit(X, y)
    IncumbentClassifier(incumbent=incumbent).fit(X, np.where(y == 1, "g", "n"))
