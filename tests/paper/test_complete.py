"""The complete pointwise learner: bounds, plans, and simulations of what it promises."""

import json
from functools import cache

import numpy as np
import pytest
from scipy import stats
from sklearn.tree import DecisionTreeClassifier

from replearn import Plan, plan
from replearn.bounds.laws import uniform_law
from replearn.bounds.vc import mean_excess
from replearn.exceptions import CertificateError, NotCertifiedWarning
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.promise import derive
from replearn.paper.complete import (
    CompleteLearner,
    Tier,
    complete_excess,
    consistent_error,
    cost_rate,
    tier_flip_bound,
    wrong_label_bound,
)
from replearn.paper.hypotheses import Intervals, Thresholds
from replearn.persistence.model_file import load, save
from tests.factories import limit

LOOSE = {"rho": 0.3, "alpha": 0.4, "beta": 0.2, "d": 2}


@cache
def planned(**changed):
    return plan("complete", **{**LOOSE, **changed})


def tiers_of(made):
    return [Tier(*tier) for tier in made.inputs["tiers"]]


# -- bounds ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("k", "band"), [(1, 1.0), (20, 0.58), (133, 0.23), (3000, 0.05)])
def test_wrong_labels_are_the_sum_over_all_counts(k, band):
    means = np.linspace(0, 1, 101)
    counts = np.arange(k + 1)
    masses = stats.binom.pmf(counts, k, (1 + means[:, np.newaxis]) / 2)
    exact = masses @ (1 - uniform_law(k, band).probabilities)
    bound = wrong_label_bound(k, band, means)
    assert np.all(bound >= exact - 1e-13)
    assert np.all(bound <= exact * (1 + 1e-5) + 1e-8)


def test_tiers_differ_as_seldom_as_summed_over_all_counts():
    n = 400
    tiers = [Tier(0.03, 0.005, 0.02, 1, 1.0), Tier(0.1, 0.04, 0.08, 1, 1.0)]
    counts = np.arange(n + 1)
    levels = np.array([tier.law.probabilities(counts, n) for tier in tiers])
    gaps = sum(np.abs(level[:, np.newaxis] - level) for level in levels)
    bound = tier_flip_bound(n, (0.005, 0.04), (0.02, 0.08))
    exact = []
    for mass in np.geomspace(0.002, 0.2, 60):
        masses = stats.binom.pmf(counts, n, mass)
        exact.append(masses @ gaps @ masses)
    assert max(exact) <= bound
    assert max(exact) >= 0.45 * bound


def test_tiers_that_overlap_are_refused():
    with pytest.raises(ValueError, match="follow"):
        tier_flip_bound(400, (0.005, 0.01), (0.02, 0.08))


@pytest.mark.parametrize("mean", [0.0, 0.05, 0.1, 0.2, 0.4, 1.0])
def test_cost_of_labels_is_below_its_rate_at_every_mass(mean):
    tilt, masses, n_labels, bands = 60.0, (0.008, 0.04), (105, 1570), (0.38, 0.1)
    rate = cost_rate(tilt, masses, n_labels, bands)
    for k, band, largest in zip(n_labels, bands, (0.04, 1.0), strict=True):
        law = uniform_law(k, band)
        heads = stats.binom.pmf(np.arange(k + 1), k, (1 + mean) / 2)
        wrong = heads @ (1 - law.probabilities)
        for mass in np.geomspace(1e-3, largest, 20):
            assert np.log1p(wrong * np.expm1(tilt * mass * mean)) <= rate * mass * (1 + 1e-9)


def test_mean_of_the_blocks_needs_fewer_rows_than_every_block():
    few, many = (mean_excess(9056, blocks, 2, 0.05) for blocks in (1, 32))
    assert many < few
    assert mean_excess(3646, 32, 2, 0.05) <= 0.1  # every block: 9,056 rows each


def test_mean_of_the_blocks_of_a_class_of_two():
    """Two constant hypotheses, fair labels but for a little: the excess has an exact law."""
    m, n_blocks, gap, runs = 40, 8, 0.2, 20_000
    rng = np.random.default_rng(0)
    wrong = rng.binomial(m, (1 + gap) / 2, (runs, n_blocks)) < m / 2
    excess = gap * wrong.mean(axis=1)
    for beta in (0.3, 0.05, 0.01):
        assert (excess > mean_excess(m, n_blocks, 1, beta)).sum() <= limit(runs, beta)


def test_consistent_error_of_thresholds_on_a_line():
    """One-sided thresholds: the error of a block is at most the first gap of m uniform numbers."""
    m, n_blocks, runs = 60, 6, 20_000
    rng = np.random.default_rng(1)
    errors = rng.beta(1, m, (runs, n_blocks)).mean(axis=1)
    for beta in (0.3, 0.05):
        bound = consistent_error(m, n_blocks, 1, 1e-6, 1.0, beta, 0.0)
        assert bound < 0.5
        assert (errors > bound).sum() <= limit(runs, beta)


def test_nothing_is_left_of_beta():
    assert complete_excess(0.1, 1.0, 50.0, 0.1, 0.09, 0.02) == 1.0
    assert consistent_error(500, 12, 2, 0.02, 1.0, 0.1, 0.2) == 1.0


# -- plans -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("targets", "most"),
    [
        ({"rho": 0.2, "alpha": 0.2, "beta": 0.1, "d": 2}, 62_000),
        ({"rho": 0.2, "alpha": 0.2, "beta": 0.1, "d": 2, "label_noise": False}, 5_000),
        ({"rho": 0.1, "gamma": 0.2, "alpha": 0.2, "beta": 0.1, "d": 2}, 5_000_000),
    ],
)
def test_plans_reach_their_targets(targets, most):
    made = plan("complete", **targets)
    assert made.certified
    assert made.n <= most
    for name in ("rho", "alpha", "beta"):
        assert getattr(made, name) <= targets[name]
    assert Plan.from_json(made.to_json()) == made
    made.check()


def test_fewer_rows_promise_less_and_say_so():
    made = planned(n=2000)
    assert not made.certified
    assert made.rho <= 0.3
    assert 0.4 < made.alpha < 1
    assert made.needed_n == planned().n
    tiny = planned(n=60)
    assert tiny.alpha is None
    assert len(tiny.promises) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"n_labels": 10_000},  # more labels than members surely have
        {"low": 0.09},  # tiers that overlap
        {"mass": 0.9},  # masses that fall
    ],
)
def test_tiers_that_contradict_themselves_are_refused(change):
    inputs = json.loads(json.dumps(planned().inputs))
    inputs["tiers"][0] = list(Tier(*inputs["tiers"][0])._replace(**change))
    with pytest.raises(CertificateError, match="complete"):
        derive("complete", inputs)


def test_a_changed_plan_is_refused():
    document = json.loads(planned().to_json())
    document["alpha"] = 0.01
    with pytest.raises(CertificateError):
        Plan.from_json(json.dumps(document))


# -- the learner -----------------------------------------------------------------------------------
ATOMS = (np.arange(8) + 0.5) / 8
"""Eight points of mass 1/16 each; the other half of the population is uniform on [0, 1]."""


def mixed_sample(rng, n, noise=0.15):
    """Atoms and a continuous part, each of mass 1/2; the middle is labelled 1."""
    x = np.where(rng.random(n) < 0.5, rng.choice(ATOMS, n), rng.random(n))
    middle = (x > 0.3) & (x < 0.7)
    return x[:, np.newaxis], middle ^ (rng.random(n) < noise)


def population_error(model, noise, points=2000):
    """Return the error on atoms and on a fine grid, and that of the best interval."""
    grid = (np.arange(points) + 0.5) / points
    x = np.concatenate([ATOMS, grid])
    mass = np.repeat([0.5 / len(ATOMS), 0.5 / points], [len(ATOMS), points])
    middle = (x > 0.3) & (x < 0.7)
    wrong = model.predict(x[:, np.newaxis]) != middle
    return float(noise + (1 - 2 * noise) * mass @ wrong)


def two_runs(made, noise, key, rng):
    fitted = []
    for _ in range(2):
        X, y = mixed_sample(rng, made.n, noise)
        fitted.append(CompleteLearner(Intervals(), plan=made, shared_key=key).fit(X, y))
    return fitted


def check_promise(made, noise, pairs):
    """Compare pairs of runs with the promise by exact binomial limits."""
    rng = np.random.default_rng(3)
    asked = np.concatenate([ATOMS, [0.29, 0.31, 0.5, 0.69, 0.71]])[:, np.newaxis]
    flips = np.zeros(len(asked), dtype=int)
    large = 0
    for key in range(pairs):
        one, two = two_runs(made, noise, f"pair {key}", rng)
        assert one.certificate_.certified
        assert one.certificate_.comparable(two.certificate_)
        assert len(one.heavy_points_) > 0
        flips += one.predict(asked) != two.predict(asked)
        large += sum(population_error(model, noise) > noise + made.alpha for model in (one, two))
    assert flips.max() <= limit(pairs, made.rho)
    assert large <= limit(2 * pairs, made.beta)
    return flips


def test_atoms_and_a_continuous_part_agnostic():
    check_promise(planned(), noise=0.15, pairs=40)


def test_atoms_and_a_continuous_part_realizable():
    check_promise(planned(label_noise=False), noise=0.0, pairs=60)


@pytest.mark.statistical
@pytest.mark.parametrize("label_noise", [True, False])
def test_atoms_and_a_continuous_part_many_pairs(label_noise):
    check_promise(planned(label_noise=label_noise), noise=0.15 if label_noise else 0.0, pairs=300)


@pytest.mark.statistical
def test_points_at_the_borders_of_tiers_through_the_learner():
    """Fair labels at atoms inside the ranges of the first two tiers: membership is open."""
    made, pairs = planned(), 300
    masses = np.concatenate([np.linspace(tier.low, tier.high, 5) for tier in tiers_of(made)[:2]])
    atoms = (np.arange(len(masses)) + 0.5) / len(masses)
    rng = np.random.default_rng(5)
    flips = np.zeros(len(atoms), dtype=int)
    for key in range(pairs):
        answers = []
        for _ in range(2):
            place = rng.choice(len(masses) + 1, made.n, p=[*masses, 1 - masses.sum()])
            x = np.where(place < len(atoms), np.append(atoms, 0)[place], rng.random(made.n))
            y = rng.random(made.n) < 0.5
            model = CompleteLearner(Intervals(), plan=made, shared_key=key).fit(x[:, None], y)
            answers.append(model.predict(atoms[:, None]))
        flips += answers[0] != answers[1]
    assert flips.max() <= limit(pairs, made.rho, len(atoms))
    assert flips.max() > 0.4 * made.rho * pairs  # the attack comes close


def test_two_models_differ_on_little_mass():
    made = planned(rho=0.5, gamma=0.6, alpha=0.6, beta=0.4)
    assert made.certified
    assert made.gamma == 0.6
    rng = np.random.default_rng(0)
    grid = np.linspace(0, 1, 500)[:, np.newaxis]
    for key in range(3):
        one, two = two_runs(made, 0.15, key, rng)
        assert (one.predict(grid) != two.predict(grid)).mean() <= 0.6


def test_a_classifier_with_a_dimension_takes_the_place_of_a_class(tmp_path):
    rng = np.random.default_rng(0)
    X, y = mixed_sample(rng, planned().n)
    tree = CompleteLearner(DecisionTreeClassifier(max_depth=2), **LOOSE, shared_key="k")
    tree.fit(X, y)
    assert tree.certificate_.certified
    assert "base-learner" in tree.certificate_.assumptions
    with pytest.raises(ValueError, match="d is missing"):
        CompleteLearner(DecisionTreeClassifier()).fit(X, y)


def test_a_class_of_a_larger_dimension_is_refused():
    X, y = mixed_sample(np.random.default_rng(0), planned(d=1).n)
    for settings in ({"plan": planned(d=1)}, {"d": 1}):
        with pytest.raises(ValueError, match="is 2"):
            CompleteLearner(Intervals(), **settings, shared_key="k").fit(X, y)


@pytest.mark.parametrize("estimator", [Intervals(), DecisionTreeClassifier(max_depth=2)])
def test_model_files_predict_the_same(tmp_path, estimator):
    X, y = mixed_sample(np.random.default_rng(0), planned().n)
    model = CompleteLearner(estimator, plan=planned(), shared_key="k").fit(X, y)
    save(model, tmp_path / "model.replearn")
    again = load(tmp_path / "model.replearn", shared_key="k")
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.certificate_ == model.certificate_
    assert Certificate.from_json(model.certificate_.to_json()) == model.certificate_


def test_the_order_of_the_rows_does_not_matter():
    rng = np.random.default_rng(0)
    X, y = mixed_sample(rng, planned().n)
    order = rng.permutation(len(y))
    one, two = (
        CompleteLearner(Intervals(), plan=planned(), shared_key="k").fit(X[rows], y[rows])
        for rows in (np.arange(len(y)), order)
    )
    new = rng.random((200, 1))
    assert np.array_equal(one.predict(new), two.predict(new))
    assert np.array_equal(one.predict(X), two.predict(X))


def test_heavy_points_are_labelled_by_their_own_labels():
    """The class cannot label them right; their own labels can."""
    made = planned()
    rng = np.random.default_rng(0)
    x = np.where(rng.random(made.n) < 0.9, rng.choice(ATOMS, made.n), rng.random(made.n))
    y = np.isin(x, ATOMS[::2])
    model = CompleteLearner(Thresholds(), plan=made, shared_key="k").fit(x[:, np.newaxis], y)
    assert np.array_equal(model.predict(ATOMS[:, np.newaxis]), np.arange(8) % 2 == 0)


def test_a_surplus_is_left_out_and_few_rows_are_refused():
    X, y = mixed_sample(np.random.default_rng(0), planned().n + 50)
    model = CompleteLearner(Intervals(), plan=planned(), shared_key="k").fit(X, y)
    assert model.certificate_.n == planned().n
    with pytest.raises(ValueError, match="needs n="):
        CompleteLearner(Intervals(), plan=planned(), shared_key="k").fit(X[:100], y[:100])
    with pytest.warns(NotCertifiedWarning, match="alpha"):
        CompleteLearner(Intervals(), shared_key="k").fit(X[:300], y[:300])


# -- the worst cases, each part of the rule by itself ----------------------------------------------
def tier_of(levels, uniforms):
    return (uniforms[:, np.newaxis] < levels).sum(axis=1)


def flips_at_a_point(made, mass, mean, runs, rng):
    """Count flips at one point: counts, labels and votes drawn directly, thresholds shared."""
    n, tiers = made.n, tiers_of(made)
    law = uniform_law(made.inputs["n_blocks"])
    u_member, u_label, u_vote = rng.random((3, runs))
    predictions, numbers = [], []
    for _ in range(2):
        counts = rng.binomial(n, mass, runs)
        levels = np.column_stack([tier.law.probabilities(counts, n) for tier in tiers])
        number = tier_of(levels, u_member)
        votes = rng.binomial(law.n_blocks, 0.5, runs)
        predicted = u_vote < law.probabilities[votes]
        for index, tier in enumerate(tiers):
            at = number == index + 1
            ones = rng.binomial(tier.n_labels, (1 + mean) / 2, at.sum())
            chance = uniform_law(tier.n_labels, tier.band).probabilities[ones]
            predicted[at] = u_label[at] < chance
        predictions.append(predicted)
        numbers.append(number)
    return (predictions[0] != predictions[1]).sum(), (numbers[0] != numbers[1]).sum()


@pytest.mark.parametrize("at", [0, 1, 2])
def test_flips_at_the_border_of_a_tier(at):
    made, runs = planned(), 20_000
    tier = tiers_of(made)[at]
    largest = 0.0
    for mass in np.linspace(tier.low, tier.high, 5):
        flips, moves = flips_at_a_point(made, mass, 0.0, runs, np.random.default_rng(at))
        assert flips <= limit(runs, made.rho)
        largest = max(largest, moves)
    assert largest <= limit(runs, made.value("tier_flip_bound"))
    assert largest > 0.3 * made.value("tier_flip_bound") * runs


@pytest.mark.statistical
@pytest.mark.parametrize("mean", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("targets", [{}, {"rho": 0.2, "alpha": 0.2, "beta": 0.1}])
def test_flips_at_every_border_and_mean_label(targets, mean):
    made, runs = planned(**targets), 200_000
    rng = np.random.default_rng(5)
    largest = 0
    for tier in tiers_of(made):
        for mass in np.linspace(0.8 * tier.low, min(1.0, 1.1 * tier.high), 9):
            flips, _ = flips_at_a_point(made, mass, mean, runs, rng)
            assert flips <= limit(runs, made.rho)
            largest = max(largest, flips)
    if mean == 0.0:
        assert largest >= 0.6 * made.rho * runs  # the attack comes close


def cost_of_points(made, mass, mean, runs, rng, tier=None):
    """Draw what labels (of a tier) or thresholds cost beyond the blocks' mean error."""
    count = int(1.0 / mass)
    if tier is None:  # light points, half of the blocks are wrong
        right = rng.binomial(count, 0.5, runs)
        return mass * (count / 2 - right)
    wrong = wrong_label_bound(tier.n_labels, tier.band, np.array([mean]))[0]
    return mass * mean * rng.binomial(count, min(1.0, wrong), runs)


@pytest.mark.statistical
@pytest.mark.parametrize("targets", [{}, {"rho": 0.2, "alpha": 0.2, "beta": 0.1}])
def test_costs_of_labels_and_thresholds_stay_within_what_is_left_of_alpha(targets):
    made, runs = planned(**targets), 100_000
    rng = np.random.default_rng(7)
    spare = made.alpha - made.value("mean_excess")
    allowed = made.beta - made.inputs["beta_blocks"]
    tiers = tiers_of(made)
    light = cost_of_points(made, 0.999 * tiers[0].mass, 1.0, runs, rng)
    assert (light > spare).sum() <= limit(runs, allowed)
    tops = [*(tier.mass for tier in tiers[1:]), 1.0]
    shares = []
    for tier, top in zip(tiers, tops, strict=True):
        for mean in np.linspace(0.2 * tier.band, min(1.0, 2 * tier.band), 10):
            costs = cost_of_points(made, 0.999 * top, mean, runs, rng, tier)
            assert (costs > spare).sum() <= limit(runs, allowed)
            shares.append((costs > spare).mean())
    assert max(shares) > 0.05 * allowed  # the attack comes close


def test_one_band_for_all_masses_costs_too_much():
    """Control: the band of the first tier on a point of mass 0.9 errs by more than alpha."""
    made, runs = planned(), 20_000
    tier = tiers_of(made)[0]
    rng = np.random.default_rng(0)
    costs = cost_of_points(made, 0.9, 0.9 * tier.band, runs, rng, tier)
    assert (costs > made.alpha - made.value("mean_excess")).mean() > 0.02


def test_without_tiers_ten_atoms_cost_too_much():
    """Control: without a heavy stage the thresholds of ten points decide."""
    made, runs = planned(), 20_000
    costs = cost_of_points(made, 0.1, 1.0, runs, np.random.default_rng(0))
    spare = made.alpha - made.value("mean_excess")
    assert (costs > spare).mean() > 0.05
