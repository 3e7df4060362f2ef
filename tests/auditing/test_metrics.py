"""Scores: the same numbers as scikit-learn's, limits that cover, and what integrates keys out."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from replearn.auditing.audits import audit
from replearn.auditing.metrics import Labels, Quantities
from replearn.auditing.runs import Runs
from tests.factories import limit, voting

OPTIONS = {"n_pairs": 3, "test_size": 300, "shared_key": "useful"}


def ours():
    return voting(GaussianNB(), n_blocks=20, shared_key="k", n_partitions=1)


@pytest.fixture(scope="module", params=[2, 3])
def found(request):
    """An audit of two and of three classes, one of them rare."""
    shares = {2: [0.85], 3: [0.5, 0.4]}[request.param]
    X, y = make_classification(
        1500, 6, n_informative=4, n_classes=request.param, weights=shares, random_state=0
    )
    contenders = {"nb": GaussianNB(), "ours": ours()}
    return audit(contenders, X, np.array(["c", "b", "a"])[y], **OPTIONS)


def over_runs(score, contender, predictions):
    """Mean of a score of scikit-learn over all runs."""
    runs = predictions.reshape(-1, *predictions.shape[2:])
    return np.mean([score(contender.truth, run) for run in runs])


def test_the_numbers_are_those_of_scikit_learn(found):
    nb = found["nb"]
    codes, chances = nb.predictions.codes, nb.predictions.probabilities

    def value(what):
        return found.table.get(what, "nb").value

    column = slice(None) if len(found.classes) > 2 else 1
    auc = over_runs(
        lambda t, p: metrics.roc_auc_score(t, p, multi_class="ovr", average="macro"),
        nb,
        chances[..., column],
    )
    assert value("AUC") == pytest.approx(auc)
    assert value("accuracy") == pytest.approx(over_runs(metrics.accuracy_score, nb, codes))
    balanced = over_runs(metrics.balanced_accuracy_score, nb, codes)
    assert value("balanced accuracy") == pytest.approx(balanced)
    assert value("log-loss") == pytest.approx(over_runs(metrics.log_loss, nb, chances))
    hot = np.eye(len(found.classes))[nb.truth]
    half = 0.5 * ((chances - hot) ** 2).sum(axis=-1).mean()
    assert value("Brier score") == pytest.approx(half)
    for place, name in enumerate(found.classes):
        recall = over_runs(lambda t, p, k=place: metrics.recall_score(t == k, p == k), nb, codes)
        assert value(f"recall of {name}") == pytest.approx(recall)
        assert found.table.get(f"recall of {name}", "nb").rows == (nb.truth == place).sum()
        said = codes == place
        precision = said[..., nb.truth == place].sum() / said.sum()
        assert value(f"precision of {name}") == pytest.approx(precision)


def test_thresholds_are_integrated_out_of_recall_as_well(found):
    right, truth = found["ours"].predictions.right, found["ours"].truth
    by_class = [right[..., truth == place].mean() for place in range(len(found.classes))]
    for what, value in (("accuracy", right.mean()), ("balanced accuracy", np.mean(by_class))):
        measured = found.table.get(what, "ours")
        assert measured.value == pytest.approx(value)
        assert measured.lower < measured.value < measured.upper


def table_of(labels):
    return {row.what: row for row in Runs("m", labels).scores(0.05)}


@pytest.mark.parametrize(("row", "precision"), [(0, 0.0), (39, 1.0)])
def test_one_prediction_of_a_class_does_not_settle_its_precision(row, precision):
    codes = np.zeros((2, 2, 40), dtype=int)
    codes[:, :, row] = 1
    found = table_of(Labels(("good", "bad"), codes, np.arange(40) // 30))["precision of bad"]
    assert found.value == precision
    assert found.upper - found.lower > 0.9


def simulated(rng, pairs=10, rows=400):
    """Runs with two random errors each: of the training sample, and of the rows."""
    truth = (rng.random(rows) < 0.3).astype(int)
    score = 1.1 * truth + rng.normal(size=rows)
    moved = score + 0.1 * rng.normal(size=(pairs, 2, 1))
    chances = stats.norm.cdf(moved - 0.5)
    chances = np.stack([1 - chances, chances], axis=-1)
    return table_of(Labels((0, 1), (moved > 0.5).astype(int), truth, probabilities=chances))


def test_limits_cover_what_is_known():
    """Scores are normal: AUC, recall and balanced accuracy have known values."""
    sd = np.sqrt(1 + 0.1**2)
    recall = stats.norm.cdf((1.1 - 0.5) / sd)
    other = stats.norm.cdf(0.5 / sd)
    truths = {
        "AUC": stats.norm.cdf(1.1 / np.sqrt(2)),
        "balanced accuracy": (recall + other) / 2,
        "recall of 1": recall,
        "precision of 1": 0.3 * recall / (0.3 * recall + 0.7 * (1 - other)),
    }
    rng, trials = np.random.default_rng(0), 80
    missed = dict.fromkeys(truths, 0)
    for _ in range(trials):
        told = simulated(rng)
        for name, truth in truths.items():
            missed[name] += not told[name].lower <= truth <= told[name].upper
    assert max(missed.values()) <= limit(trials, 0.07)


def test_a_constant_is_known_by_its_share_of_the_other_rows():
    truth = (np.arange(1000) < 30).astype(int)  # a rare class
    rarely = np.zeros((1, 1, 1000), dtype=int)
    assert Labels(("no", "yes"), rarely, truth).constant == "no"
    rarely[0, 0, :2] = 1  # 2 of 30
    assert Labels(("no", "yes"), rarely, truth).constant is None
    mean = Quantities(1.0, np.full((1, 1, 1000), 0.03), truth.astype(float))
    assert mean.constant == pytest.approx(0.03)
    assert Quantities(1.0, truth[np.newaxis, np.newaxis] * 0.9, truth * 1.0).constant is None


def test_many_classes_are_measured_by_the_most_frequent_ones():
    truth = np.repeat(np.arange(100), np.arange(1, 101))
    labels = Labels(tuple(range(100)), truth[np.newaxis, np.newaxis], truth)
    recalls = [name for name in table_of(labels) if name.startswith("recall")]
    assert len(recalls) == 30
    assert "recall of 99" in recalls
    assert "recall of 3" not in recalls
