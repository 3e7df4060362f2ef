"""Offsets of classes on the sphere: uniform differences, far classes never win."""

import numpy as np
import pytest

from replearn.bounds.scores import score_half_width
from replearn.learners.score_rule import (
    ErrorCurve,
    ScoreRule,
    SphereRule,
    _sphere_peak,
    mean_score,
    simplex,
)
from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points

POINTS = as_points(np.arange(40_000.0)[:, np.newaxis])
WIDTH = score_half_width(0.1)


def sphere(n_classes, level=0.02):
    return SphereRule(ErrorCurve(level, 0.5), WIDTH, 1, n_classes)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_differences_of_offsets_are_uniform(n_classes):
    rule = sphere(n_classes)
    offsets = rule.noise(SharedKey("k"), POINTS)
    assert rule.reach == pytest.approx(WIDTH * 0.04)
    for first in range(n_classes):
        for second in range(first):
            ranks = np.sort((offsets[:, first] - offsets[:, second]) / rule.reach)
            expected = 2 * (np.arange(len(ranks)) + 0.5) / len(ranks) - 1
            assert np.abs(ranks - expected).max() < 0.03


@pytest.mark.parametrize("n_classes", [5, 9])
def test_more_classes_have_the_same_peak_and_a_limit(n_classes):
    rule = sphere(n_classes)
    offsets = rule.noise(SharedKey("k"), POINTS)
    differences = offsets[:, 0] - offsets[:, 3]
    assert np.abs(differences).max() <= rule.reach * (1 + 1e-12)
    density = (np.abs(differences) < 0.02).mean() / 0.04
    assert density == pytest.approx(1 / (2 * WIDTH * 0.04), rel=0.05)


def test_two_classes_are_the_same_rule():
    level = 0.02
    offsets = sphere(3, level).noise(SharedKey("k"), POINTS)
    scores = np.tile([0.56, 0.44, 0.0], (len(POINTS), 1))
    wins = (scores[:, 0] + offsets[:, 0] > scores[:, 1] + offsets[:, 1]).mean()
    rule = ScoreRule(ErrorCurve(level, 0.5), WIDTH, 1, 2)
    assert wins == pytest.approx(rule.chance(np.array([[0.56]]))[0], abs=0.01)


def test_flips_of_normal_scores_are_nominal_for_two_classes():
    rule, rng = ScoreRule(ErrorCurve(0.02, 0.5), WIDTH, 1, 2), np.random.default_rng(0)
    noise = rule.noise(SharedKey("k"), POINTS)
    one, two = (
        rule.predictions(0.5 + 0.02 * rng.normal(size=(len(POINTS), 1)), noise) for _ in range(2)
    )
    assert np.mean(one != two) == pytest.approx(0.1, abs=0.007)


def test_flips_of_normal_scores_are_nominal_per_pair():
    rule, rng = sphere(3), np.random.default_rng(0)
    offsets = rule.noise(SharedKey("k"), POINTS)
    answers = []
    for _ in range(2):
        # p_0 - p_1 has standard error 2 * 0.02; the third class is out of reach.
        difference = 0.04 * rng.normal(size=len(POINTS))
        scores = np.column_stack(
            [0.45 + difference / 2, 0.45 - difference / 2, np.full(40_000, 0.1)]
        )
        answers.append(rule.predictions(scores[:, np.newaxis], offsets))
    assert np.mean(answers[0] != answers[1]) == pytest.approx(0.1, abs=0.007)
    assert (answers[0] < 2).all()


@pytest.mark.parametrize("n_corners", [2, 3, 4, 7])
def test_simplex(n_corners):
    corners = simplex(n_corners, max(3, n_corners - 1))
    distances = np.linalg.norm(corners[:, np.newaxis] - corners, axis=2)
    assert distances == pytest.approx(1.0 - np.eye(n_corners))


def test_means_do_not_depend_on_the_batch():
    scores = np.random.default_rng(0).random((1000, 24))
    alone = np.concatenate([mean_score(row[np.newaxis]) for row in scores])
    assert (mean_score(scores) == alone).all()


def test_heights_on_the_sphere():
    rng = np.random.default_rng(0)
    for dimension in (3, 4, 9):
        points = rng.normal(size=(400_000, dimension))
        heights = points[:, 0] / np.linalg.norm(points, axis=1)
        density = (np.abs(heights) < 0.05).mean() / 0.1
        assert density == pytest.approx(_sphere_peak(dimension), rel=0.02)
