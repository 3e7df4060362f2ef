"""Votes of two labs on shared rows: records, and what the test of them sees."""

import json

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from replearn import CertificateError, PointwiseReplicableClassifier
from replearn.guarantees import BlockVotes, compare_votes

N_BLOCKS = 60
ROWS = np.random.default_rng(99).normal(size=(64, 3)) / 3


def draw(seed, *, inverted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2400, 3))
    score = X[:, 0] + 2 * rng.normal(size=len(X))
    return X, ((score < 0) if inverted else (score > 0)).astype(int)


def lab(sample, base=None, **params):
    settings = {"n_blocks": N_BLOCKS, "n_partitions": 2, "rho": 0.5, "shared_key": "votes"}
    model = PointwiseReplicableClassifier(base or GaussianNB(), **(settings | params))
    return model.fit(*sample)


@pytest.fixture(scope="module")
def first():
    return lab(draw(0))


def test_a_record_survives_json_and_the_order_of_rows(first):
    votes = first.block_votes(ROWS)
    assert BlockVotes.from_json(votes.to_json()) == votes
    assert (votes.n_blocks, len(votes.rows)) == (N_BLOCKS, 64)
    order = np.random.default_rng(1).permutation(64)
    assert compare_votes(votes, first.block_votes(ROWS[order])) == (
        (),
        ("votes on 64 rows show no difference at level 0.01",),
    )


def test_the_votes_are_those_of_the_first_partition(first):
    counts = first.block_votes(ROWS).matrix(list(first.block_votes(ROWS).rows)).sum(axis=1)
    np.testing.assert_array_equal(counts, first._ensemble.vote_counts(ROWS)[:, 0])


def test_labs_that_share_everything_are_comparable(first):
    second = lab(draw(1))
    votes = (first.block_votes(ROWS), second.block_votes(ROWS))
    found = first.certificate_.comparable(second.certificate_, votes=votes)
    assert found.comparable == "yes"
    assert "votes on 64 rows show no difference" in str(found)


@pytest.mark.parametrize(
    "other",
    [
        lambda: lab(draw(1, inverted=True)),
        lambda: lab(draw(1), threshold=0.65),
    ],
    ids=["another population", "another threshold"],
)
def test_what_moves_the_votes_is_seen(first, other):
    differences, remarks = compare_votes(first.block_votes(ROWS), other().block_votes(ROWS))
    assert "blocks vote with other probabilities" in differences[0]
    assert remarks == ()


def test_rows_of_a_panel_without_groups_are_seen(first):
    def panel(seed):
        rng = np.random.default_rng(seed)
        people = rng.normal(size=(60, 3))
        labels = rng.integers(0, 2, 60)
        noise = 0.01 * rng.normal(size=(2400, 3))
        return np.repeat(people, 40, axis=0) + noise, np.repeat(labels, 40)

    one, two = lab(panel(0)), lab(panel(1))
    differences, _ = compare_votes(one.block_votes(ROWS), two.block_votes(ROWS))
    assert differences


def test_rows_that_may_occur_in_both_samples_prove_nothing():
    """Equal rows are cut by one hash: blocks of two samples depend on each other."""

    def rounded(seed, **kwargs):
        X, y = draw(seed, **kwargs)
        return X.round(1), y

    one, two = lab(rounded(0)), lab(rounded(1, inverted=True))
    votes = (one.block_votes(ROWS), two.block_votes(ROWS))
    found = one.certificate_.comparable(two.certificate_, votes=votes)
    assert any("rows may occur in both samples" in text for text in found.unknowns)
    assert not any(text.startswith("votes") for text in found.differences)


def test_votes_of_another_run_or_other_rows_are_no_evidence(first):
    second = lab(draw(1))
    votes = (second.block_votes(ROWS), second.block_votes(ROWS))
    found = first.certificate_.comparable(second.certificate_, votes=votes)
    assert found.comparable == "no"
    assert "votes: those here belong to another certificate" in found.reasons
    differences, _ = compare_votes(first.block_votes(ROWS), second.block_votes(ROWS[:60]))
    assert "4 rows are voted on by one run only" in differences[0]


def test_soft_votes_have_no_block_votes():
    with pytest.raises(ValueError, match="block_votes requires hard votes"):
        lab(draw(0), vote="soft").block_votes(ROWS)


@pytest.mark.parametrize("change", [{"votes": ["2" * 3]}, {"rows": []}, {"votes": ["01"]}])
def test_a_damaged_record_raises(change):
    record = json.loads(BlockVotes("a", 3, ("r",), ("101",)).to_json()) | change
    with pytest.raises(CertificateError):
        BlockVotes.from_json(json.dumps(record))
