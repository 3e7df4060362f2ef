import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from replearn import PointwiseReplicableClassifier
from replearn.exceptions import NotCertifiedWarning
from replearn.guarantees import heavy_rows_needed, heavy_stage, plan
from replearn.learners import ApproximatelyReplicableClassifier
from replearn.testing import check_replicable_classifier
from replearn.testing.populations import FirstRowLearner, biased_labels

NOT_ARGMAX = {"check_classifiers_train": "each point has its own threshold"}


@parametrize_with_checks(
    [ApproximatelyReplicableClassifier(rho=0.4, gamma=0.4, n_partitions=1)],
    expected_failed_checks=lambda estimator: NOT_ARGMAX,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::replearn.NotCertifiedWarning")
@pytest.mark.parametrize(
    "classifier",
    [
        ApproximatelyReplicableClassifier(GaussianNB(), rho=0.3, gamma=0.3, n_partitions=1),
        PointwiseReplicableClassifier(GaussianNB(), rho=0.3, alpha=0.9, n_partitions=1),
    ],
    ids=["approximate", "heavy stage"],
)
def test_conformance(classifier):
    sample = make_classification(1000, 4, random_state=0)
    check_replicable_classifier(classifier, sample)


def fitted(n=4000, **params):
    X, y = biased_labels(0.3)(np.random.default_rng(0), n)
    defaults = {"rho": 0.2, "gamma": 0.3, "n_partitions": 1}
    return ApproximatelyReplicableClassifier(FirstRowLearner(), **(defaults | params)).fit(X, y)


def test_certificate_is_about_the_mass():
    model = fitted()
    certificate = model.certificate_
    assert model.certificate_.certified
    assert (certificate.task, certificate.rho) == ("approximate", 0.2)
    assert certificate.gamma <= 0.3
    assert "share of" in certificate.promises[0]
    model.certificate_.check()
    assert {step.theorem for step in model.certificate_.steps} >= {
        "approximate-direct",
        "approximate-markov",
    }


def test_routes():
    direct, pointwise = fitted(route="direct"), fitted(route="pointwise")
    assert direct.plan_.law.name == "uniform"
    assert pointwise.plan_.law.name == "arcsine"
    assert pointwise.certificate_.certified
    assert fitted(route="auto").plan_ == direct.plan_


def test_markov_holds_where_the_direct_route_says_nothing():
    """With heavy atoms the thresholds do not average out."""
    model = fitted(rho=0.5, gamma=0.5, max_point_mass=0.9)
    values = {step.name: step.value for step in model.certificate_.steps}
    assert model.certificate_.certified
    assert values["disagreement_bound"] > 0.5 >= values["markov_gamma"]
    assert values["markov_gamma"] == model.certificate_.gamma


def test_too_few_rows_are_said_plainly():
    with pytest.warns(NotCertifiedWarning, match="gamma"):
        model = fitted(n=200, rho=0.01, gamma=0.01)
    assert not model.certificate_.certified
    assert model.predict(np.zeros((3, 2))).shape == (3,)


def test_disagreement_of_two_labs():
    X, y = make_classification(8000, random_state=0)
    base = ApproximatelyReplicableClassifier(
        DecisionTreeClassifier(max_depth=3, random_state=0),
        rho=0.2,
        gamma=0.3,
        n_partitions=1,
    )
    a = clone(base).fit(X[:3000], y[:3000])
    b = clone(base).fit(X[3000:6000], y[3000:6000])
    assert a.disagreement(a, X[6000:]) == 0.0
    assert a.disagreement(b, X[6000:]) == b.disagreement(a, X[6000:]) <= 0.3
    other = clone(base).set_params(shared_key=1).fit(X[3000:6000], y[3000:6000])
    assert a.disagreement(other, X[6000:]) > a.disagreement(b, X[6000:])


def test_plan_shared_between_labs():
    made = plan("approximate", n=4000, rho=0.2, gamma=0.3, n_partitions=1, classes=[0, 1])
    X, y = biased_labels(0.3)(np.random.default_rng(1), 4500)
    model = ApproximatelyReplicableClassifier(FirstRowLearner(), plan=made).fit(X, y)
    assert model.plan_ == made
    assert model.certificate_.comparable(model.certificate_)


def test_same_face_as_the_pointwise_learner():
    model = fitted()
    points = np.random.default_rng(2).standard_normal((20, 2))
    assert model.predict_proba(points).shape == (20, 2)
    flips = model.flip_probability(points)
    lower, upper = model.flip_limits(points)
    assert ((lower <= flips + 1e-3) & (flips <= upper + 1e-3)).all()
    assert len(model.explain(points)) == 20


@pytest.mark.parametrize(
    ("name", "value"), [("gamma", 0.0), ("rho", 2), ("route", "short"), ("max_point_mass", -1)]
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        fitted(**{name: value})


def test_three_classes_take_the_better_of_both_routes():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((9000, 2)), rng.integers(0, 3, 9000)
    model = ApproximatelyReplicableClassifier(
        DecisionTreeClassifier(max_depth=1, random_state=0),
        rho=0.4,
        gamma=0.4,
        n_partitions=1,
    ).fit(X, y)
    assert model.certificate_.certified
    assert model.certificate_.design.law is None
    assert set(model.predict(X[:50])) <= {0, 1, 2}
    values = {step.name: step.value for step in model.certificate_.steps}
    assert model.certificate_.gamma == min(
        values["markov_gamma"], values["class_disagreement_bound"]
    )
    small = ApproximatelyReplicableClassifier(
        DecisionTreeClassifier(max_depth=1, random_state=0),
        rho=0.01,
        gamma=0.4,
        n_partitions=1,
    ).fit(X, y)
    steps = {step.name: step.value for step in small.certificate_.steps}
    assert small.certificate_.certified
    assert steps["class_disagreement_bound"] <= 0.4 < steps["markov_gamma"]


# -- the heavy stage -------------------------------------------------------------------------------
MASSES, BIASES = np.array([0.5, 0.3, 0.2]), np.array([0.8, -0.8, 0.0])


def draw(rng, n):
    x = rng.choice(3, n, p=MASSES)
    return x[:, None].astype(float), (rng.random(n) < (1 + BIASES[x]) / 2).astype(int)


def staged(**params):
    defaults = {
        "rho": 0.5,
        "gamma": 0.6,
        "alpha": 0.7,
        "beta": 0.2,
        "classes": [0, 1],
        "n_partitions": 1,
    }
    return ApproximatelyReplicableClassifier(FirstRowLearner(), **(defaults | params))


def test_heavy_stage_of_whole_models():
    X, y = draw(np.random.default_rng(0), 20_000)
    model = staged().fit(X, y)
    certificate = model.certificate_
    assert certificate.certified, certificate.reason
    certificate.check()
    assert (certificate.rho, certificate.alpha) == (0.5, 0.7)
    assert certificate.gamma <= 0.6
    names = {step.name for step in certificate.steps}
    assert names >= {
        "heavy_disagreement_bound",
        "markov_gamma",
        "membership_flip_bound",
        "label_flip_bound",
    }
    codes = {item.code for item in certificate.assumptions}
    assert "point-masses" not in codes
    assert "rolling-windows" not in codes
    listed = dict(zip(model.heavy_.points[:, 0].tolist(), model.heavy_.labels, strict=True))
    assert listed[0.0] == 1
    assert listed[1.0] == 0
    points = np.array([[0.0], [1.0], [7.0]])
    assert model.predict(points)[:2].tolist() == [1, 0]
    assert model.explain(points).stage.tolist() == ["heavy", "heavy", "vote"]
    assert model.flip_probability(points)[0] < 0.01
    assert model.flip_rate(points).upper <= 1
    for without in ({"alpha": None}, {"heavy": "off"}):
        with pytest.warns(NotCertifiedWarning, match="max_point_mass = 0 is refuted"):
            assert staged(**without).fit(X, y).heavy_ is None
    with pytest.raises(ValueError, match="groups"):
        staged().fit(X, y, groups=np.arange(len(y)))


def test_routes_of_the_heavy_stage():
    """The direct route asks for lighter light points and gives labels their part of gamma."""
    targets = {"rho": 0.3, "alpha": 0.9, "beta": 0.3, "realizable": True}
    n = heavy_rows_needed(gamma=0.9, **targets)
    direct = heavy_stage(n=n, gamma=0.9, **targets)
    markov = heavy_stage(n=n, **targets | {"rho": 0.27})
    assert direct.high < markov.high
    made = plan("approximate", n=n, rho=0.3, gamma=0.9, heavy=direct, block_size=5)
    assert made.certified, made.reason
    few = plan("approximate", n=200, rho=0.01, gamma=0.02, heavy=direct)
    assert not few.certified


def test_accuracy_that_n_cannot_promise_is_said():
    X, y = draw(np.random.default_rng(0), 3000)
    with pytest.warns(NotCertifiedWarning, match="needs n="):
        model = staged(alpha=0.05).fit(X, y)
    assert model.certificate_.alpha is None
    assert len(model.heavy_) > 0


def test_heavy_stage_of_three_classes():
    rng = np.random.default_rng(0)
    x = rng.choice(3, 60_000, p=MASSES)
    y = np.where(rng.random(60_000) < 0.9, x, rng.integers(0, 3, 60_000))
    model = staged(classes=[0, 1, 2]).set_params(estimator=GaussianNB()).fit(x[:, None] * 1.0, y)
    assert model.certificate_.certified, model.certificate_.reason
    model.certificate_.check()
    assert model.predict([[0.0], [1.0], [2.0]]).tolist() == [0, 1, 2]
    assert set(model.explain([[0.0], [9.0]]).stage) == {"heavy", "vote"}
    rows = np.array([[0.0], [1.0], [2.0], [9.0]])
    assert model.predict_proba(rows).shape == (4, 3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_model_files_keep_the_heavy_stage(tmp_path, n_classes):
    from replearn.persistence import load, save

    X, y = draw(np.random.default_rng(0), 20_000)
    y = y if n_classes == 2 else np.where(X[:, 0] == 1.0, 2, y)
    model = staged(classes=list(range(n_classes)), alpha=0.9, shared_key="k")
    model.set_params(estimator=GaussianNB(), max_fits=20, rho=0.9, gamma=0.9).fit(X, y)
    save(model, tmp_path / "m.replearn")
    again = load(tmp_path / "m.replearn", "k")
    points = np.arange(5.0)[:, None]
    assert len(again.heavy_) == len(model.heavy_) > 0
    assert (again.predict(points) == model.predict(points)).all()
    assert (again.flip_probability(points) == model.flip_probability(points)).all()
    assert (again.explain(points).stage == model.explain(points).stage).all()
