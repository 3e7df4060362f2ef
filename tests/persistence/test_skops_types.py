"""Estimators without a validator are loaded only if they are named."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import replearn
from replearn import PointwiseReplicableClassifier
from replearn.persistence import ModelFileError

KMEANS = "sklearn.cluster._kmeans.KMeans"
WORDS = np.array(["good day", "bad night", "good night", "bad day", "day", "night"] * 30)


def fitted(estimator, X, y):
    model = PointwiseReplicableClassifier(estimator, n_blocks=18, max_fits=18, shared_key="types")
    return model.fit(X, y)


def numbers():
    return make_classification(360, random_state=0)


@pytest.mark.parametrize("estimator", [SVC(), SGDClassifier(random_state=0)])
def test_estimators_with_a_validator_or_of_numpy_are_loaded(estimator, tmp_path):
    X, y = numbers()
    model = fitted(estimator, X, y)
    replearn.save(model, tmp_path / "m", include_key=True)
    assert (replearn.load(tmp_path / "m").predict(X) == model.predict(X)).all()


def test_an_estimator_without_validator_must_be_named(tmp_path):
    X, y = numbers()
    model = fitted(make_pipeline(KMeans(3, n_init=1, random_state=0), LogisticRegression()), X, y)
    replearn.save(model, tmp_path / "m", include_key=True)
    with pytest.raises(ModelFileError, match=f"not trusted: {KMEANS}"):
        replearn.load(tmp_path / "m")
    again = replearn.load(tmp_path / "m", trusted_types=[KMEANS])
    assert (again.predict(X) == model.predict(X)).all()


def texts(vectorizer):
    words = np.tile(WORDS, 3)
    y = np.array([word.startswith("good") for word in words])
    return fitted(make_pipeline(vectorizer, MultinomialNB()), words, y)


def test_a_vocabulary_is_loaded_if_it_numbers_the_columns(tmp_path):
    model = texts(CountVectorizer())
    replearn.save(model, tmp_path / "m", include_key=True)
    assert (replearn.load(tmp_path / "m").predict(WORDS) == model.predict(WORDS)).all()


@pytest.mark.parametrize("number", [10**6, -1, "day"])
def test_a_vocabulary_with_a_wrong_number_is_refused(number, tmp_path):
    model = texts(CountVectorizer())
    for pipeline in model.estimators_:
        pipeline[0].vocabulary_ = {**pipeline[0].vocabulary_, "day": number}
    with pytest.raises(ModelFileError, match="parts do not fit together"):
        replearn.save(model, tmp_path / "m", include_key=True)


def test_a_hashing_vectorizer_must_be_named(tmp_path):
    model = texts(HashingVectorizer(n_features=16, alternate_sign=False))
    replearn.save(model, tmp_path / "m", include_key=True)
    with pytest.raises(ModelFileError, match="HashingVectorizer"):
        replearn.load(tmp_path / "m")
