"""Several runs of each version: flips between, within, and what a version adds, with limits."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression

from replearn.auditing.comparison import compare
from replearn.auditing.gate import gates
from tests.factories import limit

ROOT = Path(__file__).parents[2]


def versions(rng, n, moved, n_old=3, n_new=3):
    """Runs that answer a row correctly with a chance of its own; the new version moves chances."""
    chance = rng.beta(2, 1, n)
    other = np.where(rng.random(n) < moved, 1 - chance, chance)
    draw = lambda p, runs: [np.where(rng.random(n) < p, "yes", "no") for _ in range(runs)]  # noqa: E731
    return draw(chance, n_old), draw(other, n_new)


def expected(moved):
    """Flips between and within of `versions`, over rows and runs (moments of a beta law)."""
    first = 2 / 3
    second = first * 3 / 4
    within = 2 * (first - second)
    return (1 - moved) * within + moved * (1 - within), within


def test_the_expected_rates_are_those_of_many_rows():
    rng = np.random.default_rng(0)
    found = compare(*versions(rng, 200_000, 0.2))
    between, within = expected(0.2)
    for what, value in (
        ("flips", between),
        ("flips within a version", within),
        ("added flips", between - within),
    ):
        assert found.table.get(what).value == pytest.approx(value, abs=0.004)


def test_pairs_are_all_pairs_and_not_equal_numbers():
    old = [np.array(list(word)) for word in ("aab", "aba", "aaa")]
    new = [np.array(list(word)) for word in ("bab", "aab")]
    found = compare(old, new)
    assert found.n_runs == (3, 2)
    between = np.mean([[one != two for two in new] for one in old])
    within_old = np.mean([old[i] != old[j] for i, j in ((0, 1), (0, 2), (1, 2))])
    within_new = np.mean(new[0] != new[1])
    assert found.flips.value == pytest.approx(between)
    assert found.table.get("flips within the old version").value == pytest.approx(within_old)
    assert found.table.get("flips within the new version").value == pytest.approx(within_new)
    floor = (within_old + within_new) / 2
    assert found.table.get("flips within a version").value == pytest.approx(floor)
    assert found.table.get("added flips").value == pytest.approx(between - floor)
    assert found.new.tolist() == ["b", "a", "b"], "the most frequent prediction, else the first"
    swapped = compare(old[::-1], new)
    assert swapped.flips.value == pytest.approx(found.flips.value), "numbers of runs mean nothing"


@pytest.mark.parametrize("moved", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("clustered", [False, True])
def test_limits_cover_what_is_known(moved, clustered):
    """Student's limits are approximate: 7 % are allowed for 5 %."""
    between, within = expected(moved)
    truths = {"flips": between, "flips within a version": within, "added flips": between - within}
    rng, runs, missed = np.random.default_rng(3), 200, dict.fromkeys(truths, 0)
    for _ in range(runs):
        if clustered:
            one, two = versions(rng, 60, moved)
            one, two = ([np.repeat(run, 3) for run in side] for side in (one, two))
            found = compare(one, two, groups=np.repeat(np.arange(60), 3))
        else:
            found = compare(*versions(rng, 150, moved, 3, 2))
        for what, truth in truths.items():
            row = found.table.get(what)
            missed[what] += not row.lower <= truth <= row.upper
    assert max(missed.values()) <= limit(runs, 0.07)


def test_a_gate_passes_noise_and_fails_a_change():
    rng = np.random.default_rng(1)
    noise = compare(*versions(rng, 2000, 0.0))
    (all_flips, added) = gates(noise, {"flips": 0.1, "added flips": 0.05})
    assert not all_flips.passed
    assert added.passed
    changed = compare(*versions(rng, 2000, 0.3))
    (added,) = gates(changed, {"added flips": 0.05})
    assert not added.passed
    assert "which noise alone may do" in " ".join(str(noise).split())
    assert "which noise alone may do" not in " ".join(str(changed).split())
    assert "the new version adds" in str(changed.to_html())


def test_negative_flips_and_probabilities_have_a_floor():
    rng = np.random.default_rng(2)
    old, new = versions(rng, 3000, 0.0)
    truth = np.where(np.arange(3000) < 5, "no", "yes")
    chances = tuple(rng.random((3, 3000)) for _ in range(2))
    found = compare(old, new, y=truth, scores=chances, pos_label="yes")
    for what in ("becomes wrong", "becomes right", "change of the probability"):
        between, added = found.table.get(what), found.table.get(f"added {what}")
        floor = found.table.get(f"{what} within a version")
        assert added.value == pytest.approx(between.value - floor.value)
        assert added.lower <= 0 <= added.upper
        assert between.value > 0.1
    assert len(found.table.select(what="accuracy")) == 2
    with pytest.raises(ValueError, match=r"scores\[0\] has shape \(1, 3000\)"):
        compare(old, new, scores=(chances[0][0], chances[1]))


def test_several_runs_of_one_version_only():
    rng = np.random.default_rng(4)
    old, new = versions(rng, 500, 0.0)
    found = compare(old, new[0])
    assert found.n_runs == (3, 1)
    assert found.table.get("flips within the new version") is None
    floor = found.table.get("flips within the old version").value
    assert found.table.get("flips within a version").value == floor
    assert compare(old[0], new[0]).table.get("added flips") is None


def test_versions_that_agree_add_nothing_that_is_certain():
    same = [np.array(["a", "b"] * 50)] * 2
    found = compare(same, same)
    added = found.table.get("added flips")
    assert added.value == 0
    assert added.lower < -0.01 < 0.01 < added.upper, "100 rows show only so much"


def test_fitted_models_and_quantities():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(900, 3))
    y = (X[:, 0] + rng.normal(size=900) > 0).astype(int)

    def forests(rows, seeds):
        return [
            RandomForestClassifier(5, random_state=seed).fit(X[rows], y[rows]) for seed in seeds
        ]

    found = compare(forests(np.s_[:300], (0, 1)), forests(np.s_[:300], (2, 3)), X[600:], y[600:])
    added = found.table.get("added flips")
    assert added.lower <= 0 <= added.upper
    assert found.table.get("flips within a version").value > 0.05
    lines = [
        LinearRegression().fit(X[s], X[s, 0] + rng.normal(size=200))
        for s in (np.s_[:200], np.s_[200:400], np.s_[400:600])
    ]
    moved = compare(lines[:2], lines[2:], X[600:], tolerance=0.1)
    assert moved.table.get("change of the value within the old version").value > 0


def test_the_example_tells_noise_from_change():
    """The numbers that the guide names, of the data of the example."""
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        from _language_models import load_grades
    finally:
        sys.path.pop(0)
    grades = load_grades()
    wide = grades.assign(run=grades["id"].str[-1])
    wide = wide.pivot(index="prompt", columns="run", values=["old", "new"])
    old, new = ([wide[side][run] for run in "012"] for side in ("old", "new"))
    found = compare(old, new)
    equal_numbers = compare(grades["old"], grades["new"], groups=grades["prompt"])
    assert round(100 * equal_numbers.flips.value, 1) == 35.8
    assert round(100 * found.flips.value, 1) == 33.6
    assert round(100 * found.table.get("flips within a version").value, 1) == 31.7
