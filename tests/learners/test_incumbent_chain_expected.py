"""Expected losses of an incumbent: probabilities instead of labels."""

import numpy as np
import pytest

from replearn.learners.incumbent_chain import MIN_ROWS, error_costs, expected_losses

N = 4000


def rows(seed, *, shift=0.0):
    """Draw rows whose label has the mean of both scores, moved by a shift, as its probability."""
    rng = np.random.default_rng(seed)
    old = rng.uniform(0.25, 0.75, N)
    new = np.clip(old + rng.normal(0, 0.1, N), 0.0, 1.0)
    eta = np.clip((old + new) / 2 + shift, 0.0, 1.0)
    return old, new, (rng.random(N) < eta).astype(np.intp), eta


def losses(old, new, codes, kept, *, weights=None, band=0.1, threshold=0.5):
    return expected_losses(
        old,
        new,
        codes,
        (new > threshold).astype(np.intp),
        kept,
        threshold=threshold,
        band=band,
        weights=weights,
        costs=error_costs(2, threshold),
        part_of_row=np.arange(len(codes)) % 20,
    )


@pytest.mark.parametrize("shift", [0.0, 0.1, -0.1])
def test_it_is_the_loss_by_the_true_probabilities(shift):
    errors = []
    for seed in range(12):
        old, new, codes, eta = rows(seed, shift=shift)
        plain = (new > 0.5).astype(np.intp)
        kept = (old > 0.5).astype(np.intp)
        values, left_out = losses(old, new, codes, [kept, plain])
        errors.append(values[0] - ((2 * eta - 1) * (plain - kept)).mean())
        assert values[1] == 0.0
        assert left_out.shape == (20, 2)
        assert np.abs(left_out[:, 0] - values[0]).max() < 0.006
    assert abs(np.mean(errors)) < 0.005
    assert np.std(errors) < 0.006


@pytest.mark.parametrize("threshold", [0.3, 0.6])
def test_errors_cost_what_the_threshold_says(threshold):
    """At threshold t a change to 1 gains 2 (eta - t): nothing at the threshold itself."""
    errors = []
    for seed in range(12):
        old, new, codes, eta = rows(seed)
        plain = (new > threshold).astype(np.intp)
        kept = (old > threshold).astype(np.intp)
        value = losses(old, new, codes, [kept], threshold=threshold)[0][0]
        errors.append(value - (2 * (eta - threshold) * (plain - kept)).mean())
    assert abs(np.mean(errors)) < 0.005


def test_weights_count_rows_several_times():
    old, new, codes, _ = rows(2)
    kept = (old > 0.5).astype(np.intp)
    weights = np.where(np.arange(N) % 2 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(N), weights.astype(int))
    weighted = losses(old, new, codes, [kept], weights=weights)[0]
    repeated = losses(old[twice], new[twice], codes[twice], [kept[twice]])[0]
    assert weighted == pytest.approx(repeated, rel=1e-9)


def test_rows_far_from_the_threshold_do_not_count_unless_there_are_few():
    """Labels far away are reversed, where both rules agree: near the threshold nobody knows."""
    old, new, codes, _ = rows(3)
    kept = (old > 0.5).astype(np.intp)
    is_near = np.minimum(np.abs(old - 0.5), np.abs(new - 0.5)) <= 0.15
    counts = is_near | (kept != (new > 0.5))
    assert MIN_ROWS < counts.sum() < N
    other = np.where(counts, codes, 1 - codes)
    near = losses(old, new, codes, [kept], band=0.05)[0]
    assert losses(old, new, other, [kept], band=0.05)[0] == pytest.approx(near, rel=1e-12)
    assert losses(old, new, other, [kept], band=0.3)[0] != pytest.approx(near, rel=1e-3)
    everywhere = losses(old, new, codes, [kept], band=10.0)[0]
    same = (new > 0.5).astype(np.intp)
    same[0] = 1 - same[0]
    few = losses(old, new, codes, [same], band=0.0)[0]
    assert few == pytest.approx(losses(old, new, codes, [same], band=10.0)[0], rel=1e-12)
    assert everywhere != pytest.approx(near, rel=1e-3)


def test_scores_of_trees_are_far_from_the_threshold():
    """Nothing is extrapolated from the rows between: those that differ count themselves."""
    rng = np.random.default_rng(5)
    old = rng.choice([0.0, 1.0, 0.4, 0.6], N, p=[0.45, 0.45, 0.05, 0.05])
    new = np.where(rng.random(N) < 0.2, 1.0 - old, old)
    both = np.where(old == new, old, 0.65)  # right with .65 where old and new differ
    codes = (rng.random(N) < both).astype(np.intp)
    kept = (old > 0.5).astype(np.intp)
    plain = (new > 0.5).astype(np.intp)
    value = losses(old, new, codes, [kept])[0][0]
    counted = ((codes == plain).astype(float) - (codes == kept)).mean()
    assert value == pytest.approx(counted, abs=0.01)


def test_scores_that_are_one_column():
    """A new score that is the remembered one has no weight of its own."""
    old, _, codes, _ = rows(4)
    kept = (old > 0.45).astype(np.intp)
    value = losses(old, old, codes, [kept])[0][0]
    assert np.isfinite(value)
