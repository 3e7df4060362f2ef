"""Two samples that share rows: covered for two runs, pointwise, votes alone."""

import numpy as np
import pytest

from replearn.bounds.flips import flip_bound
from replearn.bounds.laws import arcsine_law, uniform_law
from tests.factories import limit, voting
from tests.populations import FirstRowLearner, SeededRowLearner

pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning"),
    pytest.mark.filterwarnings(
        "ignore::replearn.exceptions.ConstantBlocksWarning"
    ),  # blocks of three rows
]
LAWS = {"uniform": uniform_law(8), "arcsine": arcsine_law(8, 0.8)}


def count_flips(base, law, shared, n_pairs, *, kinds=None, one_key=True):
    """Count pairs of windows of 24 rows, ``shared`` of them common, that differ at a point."""
    rng, flips, point = np.random.default_rng(0), 0, np.array([[7.0]])
    for key in range(n_pairs):
        draw = rng.integers(0, kinds, (48 - shared, 1)) if kinds else rng.random((48 - shared, 1))
        rows, labels = draw.astype(float), rng.integers(0, 2, 48 - shared)
        answers = []
        for run, window in enumerate((slice(0, 24), slice(24 - shared, 48 - shared))):
            model = voting(
                base,
                classes=[0, 1],
                shared_key=key if one_key else 2 * key + run,
                law=law,
                n_partitions=1,
            ).fit(rows[window], labels[window])
            answers.append(model.predict(point)[0])
        flips += answers[0] != answers[1]
    return flips


@pytest.mark.statistical
def test_windows_with_common_rows():
    most = limit(150, flip_bound(LAWS["uniform"]))
    assert count_flips(FirstRowLearner(), LAWS["uniform"], 16, 150) <= most
    codes = set(windows_certificate().assumptions)
    assert {"no-drift", "rolling-windows"} <= codes


def windows_certificate(**design):
    X, y = np.sqrt(np.arange(240.0))[:, None], np.arange(240) % 2
    model = voting(FirstRowLearner(), n_blocks=8, classes=[0, 1], max_fits=8, **design)
    return model.fit(X, y).certificate_


@pytest.mark.statistical
@pytest.mark.parametrize("kinds", [None, 2], ids=["rows differ", "rows repeat"])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("base", [FirstRowLearner(), SeededRowLearner()], ids=["first", "seeded"])
@pytest.mark.parametrize("shared", [6, 18])
def test_windows_flip_no_more_than_fresh_samples(base, law, shared, kinds):
    flips = count_flips(base, law, shared, 400, kinds=kinds)
    assert flips <= limit(400, flip_bound(law))


@pytest.mark.statistical
def test_a_key_of_its_own_breaks_it():
    law = LAWS["uniform"]
    flips = count_flips(FirstRowLearner(), law, 12, 400, one_key=False)
    assert flips > limit(400, flip_bound(law))


def test_what_is_not_proved_is_not_on_the_certificate():
    codes = set(windows_certificate(runs=3).assumptions)
    assert "no-drift" in codes
    assert "rolling-windows" not in codes
