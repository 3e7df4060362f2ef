"""Flip rate from the disagreement of blocks: majorant and exact coverage."""

import numpy as np
import pytest
from scipy import stats

from replearn.bounds.flips import flip_curve, flip_supremum
from replearn.bounds.fresh import block_disagreement, flip_rate_limit, flip_rate_majorant
from replearn.bounds.laws import arcsine_law, table_law, uniform_law

LAWS = [uniform_law(1), uniform_law(32), arcsine_law(64, 0.65), table_law([0, 0.5, 0.6, 0.7, 1])]
IDS = ["single", "uniform", "arcsine", "lopsided"]


@pytest.mark.parametrize("law", LAWS, ids=IDS)
def test_majorant_is_above_the_curve_concave_and_increasing(law):
    rng = np.random.default_rng(1)
    q = np.concatenate([rng.random(400), rng.random(200) * 1e-3, 10.0 ** rng.uniform(-8, -1, 100)])
    heights = np.array([flip_rate_majorant(law, v) for v in q * (1 - q)])
    assert np.all(flip_curve(law, q) <= heights)
    grid = np.linspace(0, 0.25, 301)
    values = np.array([flip_rate_majorant(law, v) for v in grid])
    assert np.all(np.diff(values) >= -1e-15)
    assert np.all(values[1:-1] >= (values[2:] + values[:-2]) / 2 - 1e-9)


def test_majorant_is_close_where_the_curve_is_concave():
    law = uniform_law(32)
    for q in (0.01, 0.1, 0.3, 0.5):
        assert flip_rate_majorant(law, q * (1 - q)) <= 1.02 * flip_curve(law, [q])[0]


@pytest.mark.parametrize("law", LAWS, ids=IDS)
def test_never_above_the_worst_case(law):
    assert flip_rate_limit(law, 1.0) <= flip_supremum(law)
    assert flip_rate_limit(law, 0.0, delta=1.0) <= flip_supremum(law)


@pytest.mark.parametrize("law", LAWS[1:3], ids=IDS[1:3])
def test_limit_covers_when_all_points_vote_alike(law):
    """The worst case for the number of points: they all share every vote."""
    delta, n_blocks = 0.1, law.n_blocks
    counts = np.arange(n_blocks + 1)
    limits = np.array(
        [flip_rate_limit(law, block_disagreement([k], n_blocks), delta=delta) for k in counts]
    )
    for q in np.linspace(0, 0.5, 26):
        missed = flip_curve(law, [q])[0] > limits + 1e-11
        assert stats.binom.pmf(counts, n_blocks, q)[missed].sum() <= delta


def test_treating_points_as_independent_would_not_cover():
    """With T/2 replaced by (points x T/2) the limit fails: all points share the blocks."""
    law, delta, q, points = uniform_law(32), 0.1, 0.2, 1000
    from replearn.bounds.numeric import kl_upper

    counts = np.arange(33)
    disagreement = np.array([block_disagreement([k], 32) for k in counts])
    narrow = np.minimum(kl_upper(disagreement, 16 * points, delta), 0.5)
    limits = np.array([flip_rate_majorant(law, float(d) / 2) for d in narrow])
    missed = flip_curve(law, [q])[0] > limits
    assert stats.binom.pmf(counts, 32, q)[missed].sum() > 3 * delta


def test_block_disagreement_counts_pairs():
    votes = np.array([[1, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1]])
    pairs = [np.mean(votes[:, i] != votes[:, j]) for i in range(4) for j in range(i)]
    assert block_disagreement(votes.sum(axis=1), 4) == pytest.approx(np.mean(pairs))


def test_more_disagreement_more_flips():
    law = arcsine_law(64, 0.65)
    limits = [flip_rate_limit(law, d) for d in np.linspace(0, 0.5, 30)]
    assert np.all(np.diff(limits) >= 0)
    assert flip_rate_limit(law, 0.1, delta=0.01) >= flip_rate_limit(law, 0.1, delta=0.1)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: flip_rate_limit(uniform_law(4), 1.2), "disagreement"),
        (lambda: flip_rate_majorant(uniform_law(4), 0.3), "variance"),
        (lambda: block_disagreement([1], 1), "n_blocks"),
        (lambda: block_disagreement(np.zeros(0, int), 4), "votes"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()
