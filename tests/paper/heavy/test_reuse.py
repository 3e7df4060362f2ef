"""One sample for three stages, by enumeration of all samples of a tiny world."""

import itertools

import numpy as np
import pytest

from replearn.bounds.flips import flip_bound
from replearn.bounds.laws import uniform_law
from replearn.paper.heavy_hitters import reuse_flip_bound
from replearn.paper.signs import label_flip_bound

N_ROWS, N_BLOCKS, N_LABELS = 6, 2, 2
ROWS = ["x1", "x0", "other"]
# Membership by count: 0 below the k labels that a member needs.
MEMBERSHIP = np.array([0.0, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0])


def block_vote(rows):
    """Any function of the block will do: majority label of x, 1 if there is none."""
    return int(rows.count("x1") >= rows.count("x0"))


def stages(sample):
    """Probability of membership, of label 1, of vote 1, for one sample."""
    labels = [int(row == "x1") for row in sample if row != "other"]
    size = N_ROWS // N_BLOCKS
    votes = sum(block_vote(sample[i * size : (i + 1) * size]) for i in range(N_BLOCKS))
    first = sum(labels[:N_LABELS])
    return (
        MEMBERSHIP[len(labels)],
        uniform_law(N_LABELS, 1.0).probabilities[first],
        uniform_law(N_BLOCKS).probabilities[votes],
    )


@pytest.fixture(scope="module")
def world():
    samples = list(itertools.product(ROWS, repeat=N_ROWS))
    counts = np.array([[sample.count(row) for row in ROWS] for sample in samples])
    return counts, np.array([stages(list(sample)) for sample in samples])


def collapse(counts, values, rates):
    """Equal triples of stages with their total probability."""
    masses = np.prod(np.array(rates) ** counts, axis=1)
    triples, place = np.unique(values, axis=0, return_inverse=True)
    return triples, np.bincount(place.ravel(), weights=masses)


def differ(triples, masses):
    """Exact P(differ), P(membership differs), separate thresholds for the three stages."""
    member, label, vote = (triples[:, i] for i in range(3))
    both = np.minimum(member[:, None], member)
    neither = 1 - np.maximum(member[:, None], member)
    between = np.abs(member[:, None] - member)
    heavier = member[:, None] >= member
    inside = np.where(heavier, label[:, None], label)
    outside = np.where(heavier, vote, vote[:, None])
    mixed = inside * (1 - outside) + outside * (1 - inside)
    total = (
        both * np.abs(label[:, None] - label)
        + neither * np.abs(vote[:, None] - vote)
        + between * mixed
    )
    return masses @ total @ masses, masses @ between @ masses


@pytest.mark.parametrize("mass", [0.05, 0.3, 0.5, 0.7, 0.95])
@pytest.mark.parametrize("bias", [0.0, 0.2, 0.5, 0.9])
def test_every_sample_of_a_tiny_world(world, mass, bias):
    triples, masses = collapse(*world, (mass * bias, mass * (1 - bias), 1 - mass))
    exact, membership = differ(triples, masses)
    labels, votes = label_flip_bound(N_LABELS, 1.0), flip_bound(uniform_law(N_BLOCKS))
    assert exact <= reuse_flip_bound(membership, labels, votes)


def test_the_bound_is_below_the_sum_of_the_parts():
    assert reuse_flip_bound(0.02, 0.05, 0.08) == pytest.approx(0.10)
    assert reuse_flip_bound(0.5, 0.7, 0.1) == 1.0
    assert reuse_flip_bound(0.0, 0.0, 0.0) == 0.0


def test_bad_arguments_are_named():
    for name in ("membership", "labels", "votes"):
        values = {"membership": 0.1, "labels": 0.1, "votes": 0.1, name: -0.1}
        with pytest.raises(ValueError, match=name):
            reuse_flip_bound(**values)
