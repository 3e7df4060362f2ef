"""Every random_state, however deeply nested, follows from the key."""

from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn.execution.fitting import keyed_seeds, random_state_names, set_seeds
from replearn.randomness.key import SharedKey

KEY = SharedKey("seed tests")


def test_nested_estimators_and_splitters_are_found():
    pipeline = make_pipeline(StandardScaler(), BaggingClassifier(DecisionTreeClassifier()))
    search = GridSearchCV(pipeline, {}, cv=StratifiedKFold(shuffle=True))
    assert random_state_names(search) == [
        "cv.random_state",
        "estimator__baggingclassifier__estimator__random_state",
        "estimator__baggingclassifier__random_state",
    ]
    assert random_state_names(GaussianNB()) == []
    # without shuffling a splitter has no randomness, and refuses a seed
    assert random_state_names(GridSearchCV(GaussianNB(), {}, cv=KFold())) == []


def test_seeds_are_set_and_the_template_is_left_alone():
    template = GridSearchCV(
        LogisticRegression(random_state=5), {}, cv=KFold(shuffle=True, random_state=6)
    )
    seeds = keyed_seeds(random_state_names(template), KEY)
    model = clone(template)
    set_seeds(model, seeds)
    assert model.estimator.random_state == seeds["estimator__random_state"]
    assert model.cv.random_state == seeds["cv.random_state"]
    assert (template.estimator.random_state, template.cv.random_state) == (5, 6)


def test_seeds_differ_by_name_and_by_key():
    names = ["a__random_state", "b__random_state"]
    first, second = keyed_seeds(names, KEY.child(1)), keyed_seeds(names, KEY.child(2))
    assert len({*first.values(), *second.values()}) == 4
    assert first == keyed_seeds(names, KEY.child(1))
