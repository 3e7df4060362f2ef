"""Private parts of other packages may go: everything still works, the plain way."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from replearn import compat
from replearn.execution.fitting import fit_blocks
from replearn.execution.voting import BlockEnsemble
from replearn.fastpaths import boosting_fit, linear
from replearn.fastpaths.boosting import BoostingPredictor
from replearn.fastpaths.rowwise import RowwisePredictor
from replearn.randomness.key import SharedKey

RNG = np.random.default_rng(8)
X = RNG.normal(size=(9000, 4))
Y = (X[:, 0] + RNG.normal(size=9000) > 0).astype(int)
BLOCKS = list(np.arange(900).reshape(6, 150))
KEYS = [SharedKey("doors").child(block) for block in range(6)]


def panel(estimator, n_jobs=None):
    return BlockEnsemble(fit_blocks(estimator, X, Y, BLOCKS, KEYS, n_jobs=n_jobs), [0, 1])


def test_without_the_loss_scikit_learn_fits(monkeypatch):
    expected = panel(LogisticRegression()).vote_counts(X)
    monkeypatch.setattr(compat, "HalfBinomialLoss", None)
    assert not linear.fit_plain_logistic(LogisticRegression(), X[:150], Y[:150])
    np.testing.assert_array_equal(panel(LogisticRegression()).vote_counts(X), expected)


def test_without_its_compiled_parts_scikit_learn_fits_boosting(monkeypatch):
    model = HistGradientBoostingClassifier(max_iter=3)
    expected = panel(model).vote_counts(X)
    monkeypatch.setattr(compat, "boosting_parts", lambda: None)
    boosting_fit._same_bits_here.cache_clear()
    try:
        assert not boosting_fit.fit_plain_boosting(model, X[:150], Y[:150])
        np.testing.assert_array_equal(panel(model).vote_counts(X), expected)
    finally:
        boosting_fit._same_bits_here.cache_clear()


@pytest.mark.parametrize(
    "names",
    [["get_active_backend"], ["ThreadingBackend"], ["LokyBackend"], ["reusable_executor"]],
    ids=str,
)
def test_without_joblibs_private_parts_it_runs_in_parallel_all_the_same(names, monkeypatch):
    expected = panel(LogisticRegression()).vote_counts(X)
    for name in names:
        monkeypatch.setattr(compat, name, None)
    monkeypatch.setattr("replearn.execution.voting.MIN_ROWS_PER_TASK", 768)
    np.testing.assert_array_equal(
        panel(LogisticRegression(), n_jobs=2).vote_counts(X, n_jobs=2), expected
    )
    with parallel_config("loky"):
        compat.workers_run("processes")


def test_without_joblibs_private_parts_nothing_is_taken_for_running(monkeypatch):
    monkeypatch.setattr(compat, "get_active_backend", None)
    assert not compat.workers_run("threads")
    assert not compat.threads_are_configured()


@pytest.mark.parametrize("part", compat.BOOSTING_INTERNALS)
def test_boosting_without_a_private_part_is_asked_itself(part, monkeypatch):
    boosting = panel(HistGradientBoostingClassifier(max_iter=3))
    expected = boosting.vote_counts(X)
    assert [type(predictor) for predictor in boosting._grouped(soft=False)] == [BoostingPredictor]
    names = tuple(name.replace(part, f"{part}_that_moved") for name in compat.BOOSTING_INTERNALS)
    monkeypatch.setattr(compat, "BOOSTING_INTERNALS", names)
    again = BlockEnsemble([block_model.model for block_model in boosting._block_models], [0, 1])
    assert [type(predictor) for predictor in again._grouped(soft=False)] == [RowwisePredictor]
    np.testing.assert_array_equal(again.vote_counts(X), expected)
