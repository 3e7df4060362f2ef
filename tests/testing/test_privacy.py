"""The auditor of privacy: it passes what is private and catches what is not.

Quick versions here; the long ones, with 10^5 runs on each sample, are marked statistical.
"""

from collections import Counter

import numpy as np
import pytest

from replearn.bounds.privacy import release_threshold, single_release
from replearn.guarantees.privacy import PrivateDesign
from replearn.learners.semi_private import cut_secretly
from replearn.primitives.private_selection import release_counts
from replearn.randomness import SharedKey
from replearn.testing import audit_privacy

RUNS = [pytest.param(2_000, id="quick"), pytest.param(100_000, marks=pytest.mark.statistical)]


def released(per_run, epsilon, threshold):
    """Select for many runs at once: the noise of OpenDP is independent for each key of a map."""
    counts = {f"{run} {item}": c for run, items in enumerate(per_run) for item, c in items.items()}
    best = [("", 0)] * len(per_run)
    for name, noisy in release_counts(counts, epsilon, threshold).items():
        run, item = name.split(" ")
        best[int(run)] = max(best[int(run)], (item, noisy), key=lambda pair: pair[::-1])
    return [item for item, _ in best]


def selecting(epsilon, threshold):
    """`select_privately` on a list of items, many times."""
    return lambda items, runs: released([Counter(items)] * runs, epsilon, threshold)


def neighbours(epsilon, delta):
    """Pairs of lists that are hard: at the threshold, a tie that is broken, a new item."""
    level = release_threshold(epsilon, delta)
    tie = ["a"] * level + ["b"] * level
    return {
        "at the threshold": (["a"] * level, ["a"] * (level - 1) + ["b"]),
        "a tie": (tie, ["b", *tie[1:]]),
        "a new item": (["a"] * (level // 2), ["a"] * (level // 2 - 1) + ["c"]),
    }


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.02), (1.0, 1e-6), (4.0, 1e-3)])
def test_shipped_settings_stay_below_their_claim(epsilon, delta, runs):
    mechanism = selecting(epsilon, release_threshold(epsilon, delta))
    for name, (one, two) in neighbours(epsilon, delta).items():
        found = audit_privacy(mechanism, one, two, delta=delta, runs=runs)
        assert not found.refutes(epsilon), name


@pytest.mark.statistical
def test_the_auditor_comes_close_to_the_true_loss():
    # Both counts move, so the loss is nearly epsilon: the claim has little to spare.
    one, two = neighbours(2.0, 1e-6)["a tie"]
    mechanism = selecting(2.0, release_threshold(2.0, 1e-6))
    found = audit_privacy(mechanism, one, two, delta=1e-6, runs=100_000)
    assert 0.7 < found.epsilon < 2.0


@pytest.mark.parametrize("runs", RUNS)
def test_no_noise_is_caught(runs):
    level = release_threshold(1.0, 1e-6)

    def without_noise(items, runs):
        counts = Counter(items)
        return [max([item for item in counts if counts[item] >= level], default="")] * runs

    one, two = neighbours(1.0, 1e-6)["at the threshold"]
    assert audit_privacy(without_noise, one, two, delta=1e-6, runs=runs).refutes(1.0)


@pytest.mark.parametrize("runs", RUNS)
def test_a_threshold_too_low_is_caught(runs):
    # One lower is what OpenDP's own privacy map calls enough for this delta.
    lower = 1 if runs == 100_000 else 3
    epsilon, delta = 1.0, 0.06
    level = release_threshold(epsilon, delta)
    one, two = ["a"] * 2, ["a", "c"]
    fine = audit_privacy(selecting(epsilon, level), one, two, delta=delta, runs=runs)
    assert not fine.refutes(epsilon)
    assert single_release(epsilon, level - lower) > delta
    low = audit_privacy(selecting(epsilon, level - lower), one, two, delta=delta, runs=runs)
    assert low.refutes(epsilon)


DESIGN = PrivateDesign(1, 40, 2)


def _answers(labels, parts):
    """The replicable run of a part of two rows: do both have the label one?"""
    return Counter(np.where(labels[parts].all(axis=1), "yes", "no").tolist())


def _secret_cut(labels, runs):
    per_run = [_answers(labels, cut_secretly(len(labels), DESIGN)) for _ in range(runs)]
    return released(per_run, 1.0, 20)


def _cut_by_content(labels, runs):
    # Rows in the keyed order of their content: equal labels come together, and one changed row
    # moves all rows behind it into other parts.
    rows = np.arange(len(labels)) * 2 + labels
    order = SharedKey("k").child("sample", int(labels.sum())).order(rows, labels)
    parts = order[: DESIGN.rows].reshape(DESIGN.n_parts, DESIGN.part_size)
    return released([_answers(labels, parts)] * runs, 1.0, 20)


def _worst_neighbour(labels):
    """The changed row after which a cut by content answers most differently."""

    def changed(row):
        return np.where(np.arange(len(labels)) == row, 1 - labels, labels)

    def yes(sample):
        rows = np.arange(len(sample)) * 2 + sample
        order = SharedKey("k").child("sample", int(sample.sum())).order(rows, sample)
        return _answers(sample, order[: DESIGN.rows].reshape(DESIGN.n_parts, 2))["yes"]

    return max(map(changed, range(len(labels))), key=lambda other: abs(yes(other) - yes(labels)))


@pytest.mark.parametrize("runs", RUNS)
def test_a_cut_by_content_is_caught_and_a_secret_cut_is_not(runs):
    labels = (np.random.default_rng(0).random(DESIGN.rows) < 0.7).astype(int)
    other = _worst_neighbour(labels)
    assert abs(labels - other).sum() == 1
    assert audit_privacy(_cut_by_content, labels, other, delta=1e-3, runs=runs).refutes(1.0)
    assert not audit_privacy(_secret_cut, labels, other, delta=1e-3, runs=runs).refutes(1.0)
