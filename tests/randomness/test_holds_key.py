"""A secret key given as text: shown nowhere, cloned, and pickled with a warning."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from replearn import PointwiseReplicableClassifier, SharedKey
from replearn.exceptions import PublicKeyWarning, SecretKeyWarning
from replearn.registry import ESTIMATORS, estimator_class

SECRET = SharedKey.generate()
TEXT = SECRET.export()
DIGITS = TEXT.split("-")[1]
LEARNERS = {
    name: kind
    for name in ESTIMATORS
    if (kind := estimator_class(name)) and "shared_key" in inspect.signature(kind).parameters
}


def made(kind, key):
    """An estimator with anything for what it requires: it is not fitted here."""
    parameters = inspect.signature(kind).parameters.values()
    required = {p.name: GaussianNB() for p in parameters if p.default is inspect.Parameter.empty}
    return kind(**required, shared_key=key)


@pytest.mark.parametrize("name", LEARNERS)
def test_an_exported_key_is_shown_nowhere(name):
    model = made(LEARNERS[name], TEXT)
    shown = (repr(model), str(model), model._repr_html_(), repr(model.get_params()))
    assert not any(DIGITS in text for text in shown)
    assert SECRET.fingerprint in repr(model)
    assert model.get_params()["shared_key"] == SECRET
    with pytest.warns(SecretKeyWarning, match="is being pickled"):
        pickle.dumps(model)


@pytest.mark.parametrize("name", LEARNERS)
def test_clone_and_set_params_keep_it_hidden(name):
    model = clone(made(LEARNERS[name], TEXT))
    assert DIGITS not in repr(model)
    model = clone(made(LEARNERS[name], 0)).set_params(shared_key=TEXT)
    assert DIGITS not in repr(model)
    assert model.shared_key == SECRET


@pytest.mark.parametrize(
    "key", ["trial-2026", b"bytes", 7, SECRET], ids=["text", "bytes", "number", "secret"]
)
def test_any_other_value_is_kept_as_it_is(key):
    model = PointwiseReplicableClassifier(shared_key=key)
    assert model.shared_key is key
    assert clone(model).shared_key == key


def test_a_mistyped_key_is_an_error_of_fit():
    model = PointwiseReplicableClassifier(shared_key=TEXT[:-1])
    with pytest.raises(ValueError, match="mistyped or cut"):
        model.fit(*make_classification(200, random_state=0))


def test_inside_a_pipeline_too():
    model = make_pipeline(FunctionTransformer(), PointwiseReplicableClassifier(shared_key=TEXT))
    model.set_params(pointwisereplicableclassifier__n_blocks=8)
    assert DIGITS not in repr(model) + model._repr_html_() + repr(model.get_params())


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
def test_text_and_key_give_the_same_model():
    X, y = make_classification(400, random_state=0)
    one, two = (
        PointwiseReplicableClassifier(GaussianNB(), n_blocks=8, rho=0.5, shared_key=key).fit(X, y)
        for key in (TEXT, SECRET)
    )
    assert (one.predict(X) == two.predict(X)).all()
    assert one.certificate_.key_fingerprint == SECRET.fingerprint


@pytest.mark.parametrize("name", LEARNERS)
def test_a_fit_without_a_key_says_so(name):
    model = made(LEARNERS[name], None)
    with pytest.warns(PublicKeyWarning, match="shared_key is not set"):
        key = model._key_for_fit()
    assert key == SharedKey(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PublicKeyWarning)
        assert made(LEARNERS[name], "trial")._key_for_fit() == SharedKey("trial")


def test_fit_warns_once_and_the_certificate_knows():
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = PointwiseReplicableClassifier(n_blocks=6, max_fits=6, rho=1.0)
    with pytest.warns(PublicKeyWarning) as caught:
        model.fit(X, X[:, 0] > 0)
    assert len(caught) == 1
    assert "default key" in str(model.certificate_)
    model.predict(X)
