import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from replearn.bounds.flips import flip_bound, flip_curve, flip_supremum
from replearn.bounds.laws import arcsine_law, table_law, uniform_law
from replearn.bounds.pairs import central_binomial


def fine_grid(n_blocks, per_deviation=400):
    """Chances in [0, 1/2], dense enough to miss no peak by more than about 1e-6."""
    count = int(per_deviation * math.pi / 2 * math.sqrt(n_blocks)) + 1
    return np.sin(np.linspace(0.0, math.pi / 4.0, count)) ** 2


def exact_flips(law, q):
    """E|G(B1) - G(B2)| over all pairs of counts, in exact arithmetic."""
    q, n = Fraction(q), law.n_blocks
    mass = [math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]
    height = [Fraction(int(v), 2**30) for v in law.table]
    return sum(
        mass[i] * mass[j] * abs(height[i] - height[j]) for i in range(n + 1) for j in range(n + 1)
    )


@st.composite
def any_laws(draw, largest=30):
    steps = draw(st.lists(st.integers(0, 50), min_size=1, max_size=largest).filter(any))
    return table_law(np.concatenate([[0.0], np.cumsum(steps) / sum(steps)]))


named_laws = st.builds(
    lambda build, n_blocks, width: build(n_blocks, width),
    st.sampled_from([uniform_law, arcsine_law]),
    st.integers(1, 120),
    st.floats(0.01, 1.0),
)


@given(any_laws(largest=8), st.fractions(0, 1, max_denominator=50))
@settings(max_examples=50)
def test_the_curve_is_the_exact_double_sum(law, q):
    assert flip_curve(law, [float(q)])[0] == pytest.approx(float(exact_flips(law, q)), abs=1e-12)


def test_the_curve_keeps_the_shape_of_q():
    law = uniform_law(5)
    assert flip_curve(law, 0.5).shape == ()
    assert flip_curve(law, []).shape == (0,)
    assert flip_curve(law, [[0.1, 0.2], [0.3, 1.0]]).shape == (2, 2)
    with pytest.raises(ValueError, match="q must be"):
        flip_curve(law, [1.2])


def test_the_curve_of_very_many_blocks_agrees_with_the_normal_limit():
    n_blocks, q = 10**6, 0.3
    limit = 2 * math.sqrt(q * (1 - q) / (math.pi * n_blocks))
    assert flip_curve(uniform_law(n_blocks), [q])[0] == pytest.approx(limit, rel=1e-4)


def votes_of_all_samples(n_blocks, block_size, learner):
    """Probability of each number of votes, over all samples of fair bits."""
    chances = np.zeros(n_blocks + 1)
    for sample in itertools.product([0, 1], repeat=n_blocks * block_size):
        blocks = [sample[i * block_size : (i + 1) * block_size] for i in range(n_blocks)]
        chances[sum(learner(block) for block in blocks)] += 0.5 ** len(sample)
    return chances


@pytest.mark.parametrize(
    "law", [uniform_law(4), arcsine_law(4, 0.8), table_law([0, 0.1, 0.2, 1, 1])]
)
@pytest.mark.parametrize(
    "learner",
    [lambda rows: rows[0], lambda rows: int(sum(rows) > 0), lambda rows: rows[0] & rows[1]],
)
def test_all_pairs_of_samples_and_all_thresholds_of_a_tiny_case(law, learner):
    chances = votes_of_all_samples(4, 2, learner)
    # u < G_k for u = 0, 1/2^30, ...: the share of u on which the two answers differ
    differ = np.abs(law.table[:, None] - law.table[None, :]) / 2**30
    flips = float(chances @ differ @ chances)
    q = float(chances @ np.arange(5)) / 4
    assert flips == pytest.approx(float(flip_curve(law, q)), abs=1e-12)
    assert flips <= flip_supremum(law)


@pytest.mark.parametrize("n_blocks", [1, 2, 3, 7, 32, 100, 1000])
def test_the_uniform_law_attains_the_central_binomial_at_one_half(n_blocks):
    law = uniform_law(n_blocks)
    assert flip_curve(law, 0.5) == pytest.approx(central_binomial(n_blocks), abs=2e-9)
    assert central_binomial(n_blocks) <= flip_supremum(law) <= central_binomial(n_blocks) + 1e-9


@given(any_laws())
@settings(max_examples=30, deadline=None)
def test_the_supremum_is_never_below_the_curve_and_tight(law):
    q = fine_grid(law.n_blocks)
    highest = max(flip_curve(law, q).max(), flip_curve(law, 1.0 - q).max())
    assert highest * (1 - 1e-11) <= flip_supremum(law) <= highest * (1.0 + 5e-6) + 2e-9


@given(named_laws)
@settings(max_examples=30, deadline=None)
def test_the_supremum_of_named_laws_is_never_below_the_curve_and_tight(law):
    highest = flip_curve(law, fine_grid(law.n_blocks)).max()
    assert highest * (1 - 1e-11) <= flip_supremum(law) <= highest * (1.0 + 5e-6) + 2e-9


@given(any_laws(), st.integers(3, 12))
@settings(max_examples=30, deadline=None)
def test_the_supremum_of_every_number_of_runs(law, runs):
    q = np.concatenate([fine_grid(law.n_blocks), 1.0 - fine_grid(law.n_blocks)])[:, None]
    level = stats.binom.cdf(np.arange(law.n_blocks), law.n_blocks, q)
    highest = ((1 - level**runs - (1 - level) ** runs) @ law.steps).max()
    assert highest * (1 - 1e-11) <= flip_supremum(law, runs=runs) <= highest * 1.0011 + 2e-8


@pytest.mark.parametrize("n_blocks", [10, 1000, 4000])
def test_a_peak_next_to_zero_is_found(n_blocks):
    # half of the law between 0 and 1 votes, half between T - 1 and T: H(q) = F_0 (1 - F_0) near
    # q = 0, which is 1/4 where (1 - q)^T = 1/2 and almost nothing elsewhere
    law = table_law(np.concatenate([[0.0], np.full(n_blocks - 1, 0.5), [1.0]]))
    assert 0.25 <= flip_supremum(law) <= 0.25 * (1 + 1e-5)


def test_a_grid_maximum_would_not_be_a_bound():
    law = arcsine_law(4000, 1.0)  # its peak is at q = 0.0003
    coarse = flip_curve(law, np.linspace(0.0, 0.5, 1001)).max()
    peak = flip_curve(law, np.linspace(1e-5, 1e-3, 400)).max()
    assert coarse < 0.999 * peak
    assert peak <= flip_supremum(law) <= peak * (1 + 1e-4)


def test_the_adversary_at_the_peak_comes_within_three_per_cent():
    # the supremum of the arcsine law is not at 1/2 but at .287, .370, .424
    for n_blocks, width, q in [(32, 0.847, 0.287), (64, 0.6511, 0.370), (128, 0.4794, 0.424)]:
        law = arcsine_law(n_blocks, width)
        assert flip_curve(law, q) > 0.9999 * flip_supremum(law)
        assert flip_curve(law, 0.5) < 0.99995 * flip_supremum(law)
        assert flip_supremum(law) <= 0.1


def test_asymmetric_laws_are_bounded_on_both_sides():
    law = table_law(np.concatenate([np.zeros(15), np.linspace(0.0, 1.0, 6)]))
    mirrored = table_law(1.0 - law.probabilities[::-1])
    assert flip_supremum(law) == pytest.approx(flip_supremum(mirrored), rel=1e-5)
    right = flip_curve(law, np.linspace(0.5, 1.0, 2001)).max()
    left = flip_curve(law, np.linspace(0.0, 0.5, 2001)).max()
    assert left < 0.9 * right <= right <= flip_supremum(law)


@given(st.integers(1, 2000))
def test_more_blocks_flip_less_under_the_uniform_law(n_blocks):
    assert central_binomial(n_blocks + 1) < central_binomial(n_blocks)
    assert flip_bound(uniform_law(n_blocks + 1)) <= flip_bound(uniform_law(n_blocks)) + 2e-9


@given(st.integers(1, 150), st.floats(0.05, 0.95), st.floats(1.0, 1.05))
@settings(max_examples=40, deadline=None)
def test_wider_uniform_laws_flip_less(n_blocks, width, factor):
    wider = flip_supremum(uniform_law(n_blocks, min(width * factor, 1.0)))
    assert wider <= flip_supremum(uniform_law(n_blocks, width)) * (1 + 2e-6) + 2e-9


@given(st.integers(1, 300), st.floats(0.02, 1.0))
@settings(max_examples=40, deadline=None)
def test_the_clipped_supremum_is_at_most_the_closed_form(n_blocks, width):
    law = uniform_law(n_blocks, width)
    assert flip_supremum(law) <= central_binomial(n_blocks) / width + 2e-9
    assert flip_bound(law, "soft") >= flip_supremum(law)


def test_one_block_and_a_plain_majority():
    assert flip_supremum(uniform_law(1)) == 0.5
    assert flip_supremum(arcsine_law(1, 0.3)) == 0.5
    assert flip_supremum(uniform_law(3, 0.01)) == 0.5  # a coin that lands on the majority's edge


def test_the_value_does_not_depend_on_which_equal_law_was_asked_first():
    narrow, wide = uniform_law(2, 0.3), uniform_law(2, 1.0)  # equal tables
    first = (flip_supremum(narrow), flip_supremum(wide))
    assert (flip_supremum(narrow), flip_supremum(wide)) == first
    assert flip_supremum(wide) == 0.375


@pytest.mark.parametrize(
    ("build", "width", "gap"), [(uniform_law, 0.3, 1e-4), (arcsine_law, 0.2, 0.025)]
)
def test_very_many_blocks(build, width, gap):
    law = build(40_000, width)
    highest = flip_curve(law, np.linspace(0.5 - width / 2, 0.5, 101)).max()
    assert highest <= flip_supremum(law) <= (1 + gap) * highest


def test_ten_million_blocks_have_a_closed_form():
    law = uniform_law(10_000_000, 0.5)
    assert law.table[5_000_000] == 2**29
    assert flip_supremum(law) == pytest.approx(2 * central_binomial(10_000_000), rel=1e-4)
    assert flip_bound(law, "soft") == flip_supremum(law)


# --- soft votes -----------------------------------------------------------------------------------


def law_of_the_mean_score(scores, chances, n_blocks):
    """Distribution of the sum of n_blocks independent scores, over all combinations."""
    sums = np.zeros(1)
    mass = np.ones(1)
    for _ in range(n_blocks):
        sums = (sums[:, None] + np.asarray(scores)).ravel()
        mass = (mass[:, None] * np.asarray(chances)).ravel()
    return sums / n_blocks, mass


def soft_flips(answer, scores, chances, n_blocks):
    p, mass = law_of_the_mean_score(scores, chances, n_blocks)
    height = answer(p)
    return float(mass @ np.abs(height[:, None] - height[None, :]) @ mass)


def test_soft_votes_can_flip_more_often_than_the_hard_supremum():
    width = 0.3

    def threshold_law(p):
        return np.clip((p + width) / (2 * width), 0.0, 1.0)

    soft = soft_flips(threshold_law, [-1.0, 0.74], [0.435, 0.565], n_blocks=4)
    hard = flip_supremum(uniform_law(4, width))
    assert hard == pytest.approx(0.430, abs=5e-4)
    assert soft == pytest.approx(0.446, abs=5e-4)
    assert soft > 1.03 * hard
    assert soft <= central_binomial(4) / width


@given(
    st.integers(1, 4),
    st.floats(0.05, 1.0),
    st.sampled_from([uniform_law, arcsine_law]),
    st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3),
    st.lists(st.integers(1, 10), min_size=3, max_size=3),
)
@settings(max_examples=40, deadline=None)
def test_soft_votes_stay_within_their_bound(n_blocks, width, build, scores, weights):
    law = build(n_blocks, width)
    chances = np.array(weights) / sum(weights)
    flips = soft_flips(
        lambda p: law.at(np.clip((p + 1.0) / 2.0, 0.0, 1.0)), scores, chances, n_blocks
    )
    assert flips <= flip_bound(law, "soft") + 1e-12


def test_soft_votes_attain_their_bound_with_coins_and_width_one():
    law = uniform_law(5)
    flips = soft_flips(lambda p: law.at((p + 1) / 2), [-1.0, 1.0], [0.5, 0.5], 5)
    assert flips == pytest.approx(flip_bound(law, "soft"), rel=1e-7)


def test_soft_votes_of_the_uniform_law_cost_f_over_w():
    for n_blocks, width in [(32, 1.0), (64, 0.7039), (128, 0.4982)]:
        bound = flip_bound(uniform_law(n_blocks, width), "soft")
        assert bound <= central_binomial(n_blocks) / width + 1.1e-9
        assert bound >= 0.98 * central_binomial(n_blocks) / width


def test_soft_votes_need_a_continuous_law():
    with pytest.raises(ValueError, match="soft votes need a continuous law"):
        flip_bound(table_law([0, 0.5, 1]), "soft")
    with pytest.raises(ValueError, match=r"vote=.* must be"):
        flip_bound(uniform_law(4), "loud")
