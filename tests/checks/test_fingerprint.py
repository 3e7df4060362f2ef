"""What an estimator is: equal in two processes, other for other parameters, unknown if own."""

import functools
import os
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, scale
from sklearn.tree import DecisionTreeClassifier

from replearn import SharedKey
from replearn.checks import fingerprint as module
from replearn.checks.fingerprint import (
    bind_estimator,
    fingerprint,
    in_words,
    is_fitted,
    prefitted,
)
from tests.factories import Holder, Unreadable, voting

N = 2000


def table(seed):
    rng = np.random.default_rng(seed)
    X = rng.gamma(9, 5, (N, 2))
    return X, (X[:, 0] > 45).astype(int)


def certificate(base, seed=0):
    model = voting(base, rho=0.4, max_fits=12, shared_key="k")
    return model.fit(*table(seed)).certificate_


# -- parameters ------------------------------------------------------------------------------------
def test_numbers_are_what_they_are_worth():
    """``max_features=1`` and ``1.0`` are different estimators, so 1 and 1.0 are."""
    digests = [bind_estimator(LogisticRegression(C=c)).digest for c in (0.5, np.float64(0.5), 2)]
    assert digests[0] == digests[1] != digests[2]
    one, share = (RandomForestClassifier(max_features=value) for value in (1, 1.0))
    assert bind_estimator(one).digest != bind_estimator(share).digest
    assert in_words(LogisticRegression(C=np.float64(0.5))) == "LogisticRegression(C=0.5)"


def test_settings_of_the_output_and_seeds_do_not_matter():
    plain = bind_estimator(StandardScaler())
    assert bind_estimator(StandardScaler().set_output(transform="pandas")) == plain
    forests = [RandomForestClassifier(random_state=seed) for seed in (0, 1, None)]
    assert len({bind_estimator(forest).digest for forest in forests}) == 1


def test_another_version_leaves_it_unknown(monkeypatch):
    here = certificate(LogisticRegression())
    monkeypatch.setattr(module.sklearn, "__version__", "0.1")
    monkeypatch.setattr(module, "_distribution", lambda package: ("scikit-learn", "0.1"))
    there = certificate(LogisticRegression(), 1)
    assert here.comparable(there).comparable == "unknown"
    assert "version of scikit-learn" in str(here.comparable(there))


@pytest.mark.parametrize(
    "pair",
    [
        ([1], [1.0]),
        ({"a": 1}, {"a": 2}),
        (np.arange(3), np.arange(3.0)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (functools.partial(max, 1), functools.partial(max, 2)),
        (np.random.default_rng(1), np.random.default_rng(2)),
        (sparse.eye_array(2), sparse.eye_array(3)),
        (GaussianNB(), BernoulliNB()),
        (SharedKey("secret"), SharedKey("x")),
    ],
)
def test_different_things_have_different_digests(pair):
    one, two = pair
    assert fingerprint(one).digest != fingerprint(two).digest
    assert fingerprint(one).digest == fingerprint(one).digest


def test_a_thing_inside_itself_is_unknown():
    loop = [1]
    loop.append(loop)
    assert "state cannot be read" in fingerprint(loop).unbound[0]


SCRIPT = """
    import numpy as np, functools
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
    from replearn.checks.fingerprint import fingerprint
    columns = make_column_transformer((StandardScaler(), ["a"]), (OneHotEncoder(), ["b", "c"]))
    base = make_pipeline(columns, FunctionTransformer(np.log1p), LogisticRegression())
    part = functools.partial(np.clip, a_min=0), {"b": np.arange(3), "a": {1, 2, 3}}
    generators = [np.random.default_rng(1), np.random.RandomState(2)]
    print(fingerprint([base, part, generators]).digest)
"""


def test_two_processes_give_one_digest(capsys):
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT)]
    seeded = {**os.environ, "PYTHONHASHSEED": "1"}  # sets and dictionaries in another order
    done = subprocess.run(command, env=seeded, capture_output=True, text=True, check=True)
    exec(textwrap.dedent(SCRIPT), {"__name__": "__main__"})
    assert done.stdout == capsys.readouterr().out


# -- code ------------------------------------------------------------------------------------------
def own(X):
    return X


@pytest.mark.parametrize(
    ("base", "words"),
    [
        (FunctionTransformer(lambda X: X), "a lambda"),
        (FunctionTransformer(own), "function own, whose code is in no package"),
        (FunctionTransformer(np.load), "function load, which reads files"),
        (FunctionTransformer(os.path.abspath), "function abspath, which may read the clock"),
        (Holder(Unreadable()), "class Holder, whose code is in no package"),
        (CountVectorizer(input="filename"), "the files that CountVectorizer reads"),
    ],
    ids=["lambda", "own", "load", "os", "class", "filename"],
)
def test_code_from_outside_installed_packages_is_unknown(base, words):
    assert any(words in text for text in bind_estimator(base).unbound)
    made = make_pipeline(FunctionTransformer(own), GaussianNB())
    comparison = certificate(made).comparable(certificate(made, 1))
    assert comparison.comparable == "unknown"


@pytest.mark.parametrize(
    "base",
    [
        FunctionTransformer(np.log1p),
        FunctionTransformer(scale),
        HistGradientBoostingClassifier(),
        make_column_transformer((StandardScaler(), ["a"]), (OneHotEncoder(), [1, 2])),
    ],
    ids=["ufunc", "scikit-learn's", "boosting", "columns"],
)
def test_code_of_installed_packages_is_bound_by_name_and_version(base):
    bound = bind_estimator(base)
    assert not bound.unbound
    assert set(bound.versions) == {"numpy", "scikit-learn"}


def test_a_package_that_is_not_installed_is_unknown(tmp_path, monkeypatch):
    (tmp_path / "vendored_copy.py").write_text("__version__ = '1.0'\ndef f(X):\n    return X\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    copy = __import__("vendored_copy")
    assert isinstance(copy, types.ModuleType)
    assert "in no package" in bind_estimator(FunctionTransformer(copy.f)).unbound[0]


# -- fitted parts ----------------------------------------------------------------------------------
def test_fitted_parts_are_refused():
    X, y = table(0)
    for base in (
        FrozenEstimator(LogisticRegression().fit(X, y)),
        make_pipeline(FrozenEstimator(StandardScaler().fit(X)), GaussianNB()),
    ):
        with pytest.raises(ValueError, match=r"contains a fitted part: .*prefitted\(estimator\)"):
            certificate(base)


def test_an_estimator_that_was_fitted_before_is_no_fitted_part():
    assert certificate(GaussianNB().fit(*table(0))).certified


class NamesOfItsOwn(GaussianNB):
    """Like the nets of skorch: attributes that end in _ stand there before any fit."""

    def __init__(self, priors=None):
        super().__init__(priors=priors)
        self.initialized_ = False

    def __sklearn_is_fitted__(self):
        return hasattr(self, "theta_")


def test_what_a_clone_has_too_was_not_learned():
    assert not is_fitted(NamesOfItsOwn())
    assert is_fitted(NamesOfItsOwn().fit(*table(0)))


def test_trusted_parts_are_bound_by_their_state():
    def base(seed):
        return make_pipeline(prefitted(StandardScaler().fit(table(seed)[0])), GaussianNB())

    alike = [certificate(base(2), seed) for seed in (0, 1)]
    assert alike[0].certified
    assert alike[0].comparable(alike[1]).comparable == "yes"
    assert "estimator digest" in str(alike[0].comparable(certificate(base(1), 1)))
    assert isinstance(clone(base(0))[0], type(prefitted(GaussianNB())))


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3, random_state=0),
        LogisticRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fitted_model_is_bound_by_what_it_learned(model):
    import pickle

    one = clone(model).fit(*table(0))
    again = clone(model).fit(*table(0))
    assert fingerprint(one) == fingerprint(again) == fingerprint(pickle.loads(pickle.dumps(one)))
    assert fingerprint(one).digest != fingerprint(clone(model).fit(*table(1))).digest


def test_bytes_between_the_fields_of_an_array_are_not_bound():
    kind = np.dtype([("left", np.int64), ("missing", np.uint8)], align=True)
    one, two = np.zeros(3, kind), np.full(3, 255, np.uint8).repeat(16).view(kind)
    for name in kind.names:
        two[name] = one[name]
    assert one.tobytes() != two.tobytes()
    assert fingerprint(one).digest == fingerprint(two).digest
    two["left"][0] = 1
    assert fingerprint(one).digest != fingerprint(two).digest
