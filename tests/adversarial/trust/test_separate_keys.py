"""Every purpose has random numbers of its own, and a run's numbers are those of the other run."""

import numpy as np
import pytest

from replearn.paper.finite_randomness import held_out
from replearn.paper.heavy_hitters import MembershipLaw, find_heavy_hitters
from replearn.paper.heavy_labels import label_heavy_hitters
from replearn.randomness.key import SharedKey
from tests.factories import voting, whole_models
from tests.populations import SeededRowLearner

pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning"),
    pytest.mark.filterwarnings("ignore::replearn.exceptions.ConstantBlocksWarning"),
]


def fitted(seed, key="k", learner=voting):
    rng = np.random.default_rng(seed)
    X, y = rng.random((24, 2)), rng.integers(0, 2, 24)
    model = learner(
        SeededRowLearner(),
        n_blocks=4,
        classes=[0, 1],
        shared_key=key,
        law="uniform",
        width=1,
        n_partitions=3,
    )
    return model.fit(X, y)


def seeds(model):
    return [getattr(block, "random_state", None) for block in model.estimators_]


def test_seeds_belong_to_block_and_partition_and_are_shared_by_runs():
    mine, yours, others = seeds(fitted(0)), seeds(fitted(1)), seeds(fitted(0, key="other"))
    pairs = [(a, b) for a, b in zip(mine, yours, strict=True) if None not in (a, b)]
    assert len(pairs) >= 4  # blocks of one label are not handed to the learner
    assert all(a == b for a, b in pairs)
    known = [seed for seed in mine if seed is not None]
    assert len(set(known)) == len(known)
    assert not set(known) & set(others)


def test_a_promise_about_whole_models_has_seeds_of_its_own_for_each_sample():
    mine, again, yours = (seeds(fitted(seed, learner=whole_models)) for seed in (0, 0, 1))
    assert mine == again
    assert not {seed for seed in mine if seed is not None} & set(yours)


def test_rows_that_choose_are_drawn_anew_for_each_sample():
    """A row of both samples must not be held out in both because it is the same row."""
    X, codes, key = np.arange(400.0)[:, None], np.zeros(400, dtype=np.intp), SharedKey("k")
    one = set(held_out(key, X, codes, 0.3)[1].tolist())
    moved = X.copy()
    moved[399] = -1.0  # one other row, and all are drawn anew
    two = set(held_out(key, moved, codes, 0.3)[1].tolist())
    assert one == set(held_out(key, X, codes, 0.3)[1].tolist())
    assert 10 < len(one & two) < 70  # 36 by chance, 120 if drawn alike


def test_labels_of_heavy_points_have_thresholds_of_their_own():
    X, y, key = [1] * 60 + [2] * 40, [0] * 58 + [1] * 42, SharedKey("a")
    heavy = find_heavy_hitters(X, 0.3, key=key, law=MembershipLaw("sqrt", 0.2, 0.3))
    labels = label_heavy_hitters(X, y, heavy, key=key)
    votes = key.child("vote").uniforms(heavy.points)
    drawn = [heavy.thresholds, labels.thresholds, votes]
    assert all(len(part) == 2 for part in drawn)
    assert len(np.unique(drawn)) == 6
