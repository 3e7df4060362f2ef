"""Estimators that choose pass the conformance checks; their certificates survive JSON."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from replearn.paper.finite_randomness import FiniteRandomnessClassifier
from replearn.paper.hypotheses import make_box
from replearn.paper.realizable import RealizableReplicableClassifier
from replearn.paper.semi_replicable import SemiReplicableClassifier
from replearn.paper.thresholds import ReplicableThresholdClassifier
from replearn.testing import replicability_checks

pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning"),
    pytest.mark.filterwarnings("ignore:RealizableReplicableClassifier abstains"),
]


CUTS = [make_box([(0, cut, np.inf)]) for cut in np.linspace(-1, 1, 9)]
LEARNERS = [
    SemiReplicableClassifier(candidates=CUTS),
    ReplicableThresholdClassifier(feature=0),
    RealizableReplicableClassifier(DecisionTreeClassifier(max_depth=1), max_error_limit=0.9),
    FiniteRandomnessClassifier(GaussianNB(), n_blocks=5, n_candidates=3),
]


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(600) > 0).astype(int)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("check", list(replicability_checks()), ids=lambda check: check.__name__)
def test_learner_conforms(learner, check, sample):
    if check.__name__ == "check_jobs_do_not_matter" and "n_jobs" not in learner.get_params():
        pytest.skip("has no parameter n_jobs")
    with parallel_config(backend="threading"):  # starting processes takes longer than the check
        check(learner, sample)
