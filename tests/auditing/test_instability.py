"""Instability of estimated risks: against the definitions, written out as loops."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from replearn.auditing import InstabilityDisplay, Retrainings, audit
from replearn.auditing.instability_displays import INSTABILITY_KINDS

X, Y = make_classification(900, n_informative=4, flip_y=0.2, random_state=0)
LABELS = np.where(Y == 1, "sick", "well")  # the last class, "well", is the default event


@pytest.fixture(scope="module")
def models():
    """A model and three of its bootstrap versions."""
    rng = np.random.default_rng(1)
    samples = [np.arange(300), *(rng.integers(300, size=300) for _ in range(3))]
    return [LogisticRegression().fit(X[rows], LABELS[rows]) for rows in samples]


@pytest.fixture(scope="module")
def runs(models):
    return Retrainings.from_models(models[0], models[1:], X[300:], LABELS[300:], event="sick")


@pytest.fixture(scope="module")
def result():
    trees = {"tree": DecisionTreeClassifier(max_depth=4), "machine": LinearSVC()}
    return audit(trees, X, LABELS, n_pairs=3, test_size=200)


def test_row_by_row_as_defined(models, runs):
    risks = [m.predict_proba(X[300:])[:, 0] for m in models]
    answers = [m.predict(X[300:]) for m in models]
    for row in (0, 17, 400):
        gaps = [abs(risk[row] - risks[0][row]) for risk in risks[1:]]
        assert runs.mape()[row] == pytest.approx(sum(gaps) / 3)
        differs = [answer[row] != answers[0][row] for answer in answers[1:]]
        assert runs.classification_index()[row] == pytest.approx(sum(differs) / 3)
    np.testing.assert_allclose(runs.risk, risks[0], rtol=1e-12)
    assert runs.event == "sick"
    assert runs.n_originals == 1


def test_a_threshold_classifies_what_is_above_it(models):
    args = (models[0], models[1:], X[300:])
    half = Retrainings.from_models(*args, threshold=0.5, event="sick")
    np.testing.assert_array_equal(half.changed, Retrainings.from_models(*args).changed)
    low = Retrainings.from_models(*args, threshold=0.1, event="sick")
    before, after = (m.predict_proba(X[300:])[:, 0] > 0.1 for m in models[:2])
    np.testing.assert_array_equal(low.changed[0], before != after)
    assert low.changed.sum() != half.changed.sum()


def test_net_benefit_as_defined(runs):
    found = runs.net_benefit([0.2, 0.5])
    assert found.shape == (4, 2)
    treated = runs.original[0] >= 0.2
    true, false = (treated & runs.truth).sum(), (treated & ~runs.truth).sum()
    assert found[0, 0] == pytest.approx((true - false * 0.2 / 0.8) / 600)


def test_calibration_bins_hold_every_row_and_average_to_the_event_rate(runs):
    predicted, observed = runs.calibration()[0]
    assert len(predicted) == 10
    assert observed.mean() == pytest.approx(runs.truth.mean(), abs=1e-9)  # bins of 60 rows each
    assert predicted.mean() == pytest.approx(runs.original[0].mean(), abs=1e-9)
    assert (np.diff(predicted) > 0).all()


def test_the_interval_covers_95_percent_in_every_bin(runs):
    band = runs.interval(5)
    assert band.count.sum() == runs.original.size
    inside = []
    edges = np.quantile(runs.original, [0.2, 0.4, 0.6, 0.8])
    places = np.searchsorted(edges, runs.original)
    for place in range(5):
        after = runs.retrained[places == place]
        inside.append(((after >= band.lower[place]) & (after <= band.upper[place])).mean())
    assert np.allclose(inside, 0.95, atol=0.01)


def test_equal_risks_stay_in_one_bin():
    runs = Retrainings.from_risks(np.r_[np.zeros(50), np.ones(50)], np.full((2, 100), 0.5))
    assert runs.by_risk().rows.tolist() == [50, 50]
    assert runs.by_risk().mape.tolist() == [0.5, 0.5]


def test_an_audit_compares_the_runs_of_its_pairs(result):
    runs = Retrainings.from_result(result, event="sick")
    tree = result["tree"]
    np.testing.assert_array_equal(runs.changed, tree.key_flips > 0)
    gaps = np.abs(tree.probabilities[:, 0, :, 0] - tree.probabilities[:, 1, :, 0]).mean(axis=0)
    np.testing.assert_allclose(runs.mape(), gaps)
    told = next(c for c in result.to_dict()["contenders"] if c["name"] == "tree")
    assert runs.mape().mean() == pytest.approx(told["mape"]["mean"])
    assert runs.changed.mean() == pytest.approx(told["instability_index"])
    assert [item["contender"] for item in result.to_dict()["instability"]] == ["tree"]
    assert len(runs.calibration()) == 6  # both runs of every pair


def test_the_same_model_again_is_stable(models):
    runs = Retrainings.from_models(models[0], models[:1] * 2, X, LABELS)
    assert runs.mape().max() == 0
    assert runs.classification_index().max() == 0
    curves = runs.calibration()
    np.testing.assert_array_equal(curves[0][1], curves[2][1])


@pytest.mark.parametrize("kind", INSTABILITY_KINDS)
def test_displays_give_numbers_and_draw(kind, runs, result):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    of_pairs = InstabilityDisplay.from_result(result, "tree", kind=kind, threshold=0.3)
    for display in (InstabilityDisplay(runs, kind=kind), of_pairs):
        numbers = display.frame()
        assert len({len(numbers[name]) for name in numbers}) == 1
        display.plot()
        assert display.ax_.figure is display.figure_
        assert len(display.ax_.lines) >= 2
        pyplot.close(display.figure_)


def test_frames_hold_what_is_drawn(runs):
    assert len(InstabilityDisplay(runs).frame()) == 3 * 600
    frame = InstabilityDisplay(runs, kind="decision").frame()
    assert set(frame["run"]) == {"original", "retrained"}
    assert frame.query("run == 'retrained'")["number"].nunique() == 3
    assert InstabilityDisplay(runs, kind="mape").frame()["mape"].mean() == runs.mape().mean()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m, r: Retrainings.from_models(m[0], m[1:], X).calibration(), "pass y"),
        (lambda m, r: Retrainings.from_models(m[0], m[1:], X).net_benefit(), "pass y"),
        (lambda m, r: Retrainings.from_models(m[0], [], X), "retrained is empty"),
        (lambda m, r: InstabilityDisplay.from_models(m[0], m[1:], X, kind="risk"), "kind='risk'"),
        (lambda m, r: Retrainings.from_models(m[0], m[1:], X, event="dead"), "event='dead'"),
        (lambda m, r: Retrainings.from_models(m[0], m[1:], X, LABELS[1:]), "900 rows"),
        (lambda m, r: Retrainings.from_result(r, "machine"), "'machine' has no predict_proba"),
        (
            lambda m, r: Retrainings.from_models(LinearSVC().fit(X, LABELS), m, X),
            "LinearSVC has no predict_proba",
        ),
    ],
)
def test_refusals_say_what_is_missing(models, result, call, said):
    with pytest.raises(ValueError, match=said):
        call(models, result)
