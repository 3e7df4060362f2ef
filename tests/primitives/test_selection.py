"""The replicable choice: keyed by name, drawn as the formula says, streamed, certified."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.dummy import DummyClassifier

from replearn import select_hypothesis
from replearn.bounds.selection import selection_agreement, smallest_sample_selection
from replearn.guarantees.selection import choice_scale
from replearn.paper.hypotheses import Stumps
from replearn.primitives.candidates import CHUNK_ROWS, name_points
from replearn.primitives.selection import choose_by_errors
from replearn.randomness.hashing import gumbel_from_hashes
from replearn.randomness.key import SharedKey

pytestmark = pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")

FALSE_ALARM = 1e-8


def test_the_choice_belongs_to_the_name_not_to_the_place():
    rng = np.random.default_rng(0)
    names = [f"model {i}" for i in range(40)]
    errors = rng.uniform(0.2, 0.25, 40)
    for trial in range(20):
        key = SharedKey(trial)
        chosen = names[choose_by_errors(errors, names, sharpness=60, key=key)[0]]
        order = rng.permutation(40)
        shuffled = [names[i] for i in order]
        assert (
            shuffled[choose_by_errors(errors[order], shuffled, sharpness=60, key=key)[0]] == chosen
        )


def test_a_candidate_that_loses_changes_nothing():
    key, errors = SharedKey("k"), [0.2, 0.21, 0.22]
    for name in ("d", "e", "f"):
        place, _ = choose_by_errors([*errors, 0.2], ["a", "b", "c", name], sharpness=50, key=key)
        without, _ = choose_by_errors(errors, ["a", "b", "c"], sharpness=50, key=key)
        assert place in (without, 3)


def test_frequencies_are_those_of_the_exponential_mechanism():
    errors, t, trials = np.array([0.20, 0.21, 0.25]), 40.0, 1500
    weights = np.exp(-t * errors) / np.exp(-t * errors).sum()
    chosen = [
        choose_by_errors(errors, "abc", sharpness=t, key=SharedKey(k))[0] for k in range(trials)
    ]
    for place in range(3):
        found = chosen.count(place)
        assert binomtest(found, trials, weights[place]).pvalue > FALSE_ALARM


def test_two_runs_agree_as_often_as_the_exact_formula_says():
    rng = np.random.default_rng(1)
    first, second = rng.uniform(0.2, 0.24, (2, 12))
    names, trials, t = np.arange(12), 1000, 60.0
    exact = selection_agreement(t, first, second)
    alike = sum(
        choose_by_errors(first, names, sharpness=t, key=SharedKey(k))[0]
        == choose_by_errors(second, names, sharpness=t, key=SharedKey(k))[0]
        for k in range(trials)
    )
    assert 0.2 < exact < 0.9
    assert binomtest(alike, trials, exact).pvalue > FALSE_ALARM


@pytest.mark.parametrize("t", [1.0, 30.0, 300.0, 5000.0])
def test_candidates_that_are_left_out_could_not_have_won(t):
    rng = np.random.default_rng(2)
    errors = rng.random(500)
    key = SharedKey("all")
    hashes = key.child("selection").hashes(name_points(np.arange(500), 500))
    scores = np.sort(-t * errors + gumbel_from_hashes(hashes))
    index, margin = choose_by_errors(errors, np.arange(500), sharpness=t, key=key)
    assert index == int(np.argmax(-t * errors + gumbel_from_hashes(hashes)))
    if margin < np.inf:
        assert margin == pytest.approx(scores[-1] - scores[-2])


class Recording:
    """A candidate that remembers how many rows it saw at a time."""

    def __init__(self, cut):
        self.cut, self.most = cut, 0

    def predict(self, X):
        self.most = max(self.most, len(X))
        return (np.asarray(X)[:, 0] > self.cut).astype(int)


def _sample(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    return X, (X[:, 0] + 0.2 * rng.standard_normal(n) > 0.5).astype(int)


def test_all_kinds_of_candidates_give_the_same_errors_and_the_same_choice():
    X, y = _sample(CHUNK_ROWS + 500)
    cuts = (0.3, 0.5, 0.7)
    names = [f"{cut}" for cut in cuts]
    models = [Recording(cut) for cut in cuts]
    matrix = np.array([model.predict(X) for model in models])
    stream = [(X[:100], y[:100]), (X[100:], y[100:])]
    found = [
        select_hypothesis(dict(zip(names, models, strict=True)), X, y, shared_key=SharedKey(3)),
        select_hypothesis(
            [model.predict for model in models], X, y, names=names, shared_key=SharedKey(3)
        ),
        select_hypothesis(matrix, None, y, names=names, shared_key=SharedKey(3)),
        select_hypothesis(models, stream, names=names, shared_key=SharedKey(3)),
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.errors, found[0].errors)
        assert (other.name, other.margin) == (found[0].name, found[0].margin)
    assert found[0].agreement(found[1]) == pytest.approx(1)
    certificates = [choice.certificate for choice in found]
    assert certificates[0].comparable(certificates[0]).comparable == "yes"
    assert certificates[2].comparable(certificates[2]).comparable == "unknown"


def test_rows_are_streamed():
    X, y = _sample(3 * CHUNK_ROWS)
    model = Recording(0.5)
    select_hypothesis({"one": model}, X, y, shared_key=SharedKey(3))
    assert model.most == CHUNK_ROWS


def test_a_cover_counts_the_errors_of_its_rules():
    X, y = _sample(2000)
    cover = Stumps(2).cover(X[:50])
    chosen = select_hypothesis(
        cover.rules, X, y, names=cover.identity, shared_key=SharedKey(1), sharpness=400.0
    )
    np.testing.assert_array_equal(chosen.errors, cover.errors(X, y))
    assert chosen.candidate.error(X, y) == pytest.approx(chosen.error)
    assert chosen.error < cover.errors(X, y).min() + 0.02


def test_fitted_estimators_with_labels_of_any_kind():
    X, _ = _sample(300)
    y = np.array(["no"] * 100 + ["yes"] * 200)
    models = {
        str(label): DummyClassifier(strategy="constant", constant=label).fit(X, y)
        for label in ("no", "yes")
    }
    chosen = select_hypothesis(models, X, y, shared_key=SharedKey(0), sharpness=1e4)
    assert (chosen.name, chosen.error) == ("yes", pytest.approx(1 / 3))


def test_certified_from_the_planned_number_of_rows_on():
    m, _ = smallest_sample_selection(0.3, 0.3, 0.2, 3)
    rng = np.random.default_rng(0)
    certified = []
    for n in (m, m - 1):
        y = rng.integers(0, 2, n)
        matrix = np.array([y, 1 - y, np.zeros(n, dtype=int)])
        chosen = select_hypothesis(
            matrix, None, y, names="abc", shared_key=SharedKey(0), rho=0.3, alpha=0.3, beta=0.2
        )
        chosen.certificate.check()
        certified.append(chosen.certificate.certified)
    assert certified == [True, False]
    assert "requested rho=0.3" in chosen.certificate.reason


def test_the_scale_spends_the_budget_when_there_is_one():
    m, t = smallest_sample_selection(0.1, 0.1, 0.05, 20)
    assert choice_scale(20, m, 0.1, 0.1, 0.05) == pytest.approx(t, rel=1e-3)
    assert choice_scale(20, 4 * m, 0.1, 0.1, 0.05) == pytest.approx(2 * t, rel=0.01)
    assert choice_scale(20, 100, 0.1, 0.1, 0.05) == pytest.approx(np.log(20 / 0.05) / 0.1)
    assert choice_scale(1, 100, 0.1, 0.1, 0.05) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"candidates": [len, len]}, "names is missing"),
        ({"candidates": [len, len], "names": ["a", "a"]}, "predictions of shape"),
        ({"candidates": {}}, "at least one"),
        ({"candidates": {"a": 3}}, "neither callable"),
        ({"candidates": np.zeros((2, 3)), "names": "ab"}, "one column for each"),
        ({"candidates": np.zeros((2, 4)), "names": "abc"}, "3 entries for 2"),
        ({"candidates": np.zeros((2, 4)), "names": "aa"}, "names must differ"),
        ({"candidates": {"a": np.ravel}, "X": None}, "X is missing"),
        ({"candidates": {"a": np.ravel}, "y": [1]}, "shape"),
        ({"candidates": {"a": np.ravel}, "rho": 0}, "rho"),
        ({"candidates": {"a": np.ravel}, "X": np.zeros((0, 1)), "y": []}, "no rows"),
    ],
)
def test_errors_name_what_is_wrong(arguments, message):
    call = {"X": np.zeros((4, 1)), "y": np.zeros(4), "shared_key": SharedKey(0)} | arguments
    with pytest.raises((ValueError, TypeError), match=message):
        select_hypothesis(**call)


def test_agreement_needs_one_scale():
    y = np.zeros(4)
    one, two = (
        select_hypothesis(
            np.zeros((1, 4)), None, y, names=["a"], shared_key=SharedKey(0), sharpness=t
        )
        for t in (1.0, 2.0)
    )
    with pytest.raises(ValueError, match="must share"):
        one.agreement(two)
