"""Ways to compute a bound wrongly, or to certify what is not true."""

from tools.mutation_base import mutation as _m

BOUNDS = [
    _m(
        "width halved",
        "bounds/laws.py",
        "    lower = (_lower_half(n_blocks) + scale) / (2.0 * scale)\n",
        "    lower = (_lower_half(n_blocks) + scale / 2.0) / scale\n",
        "tests/bounds/test_laws.py::test_the_uniform_law_is_rounded_to_the_nearest_value",
    ),
    _m(
        "f(T) of one block more",
        "bounds/flips.py",
        "math.comb(2 * n_blocks, n_blocks), 4**n_blocks)",
        "math.comb(2 * n_blocks + 2, n_blocks + 1), 4 ** (n_blocks + 1))",
        "tests/bounds/test_flips.py::test_central_binomial_is_rounded_up_and_tight",
    ),
    _m(
        "f(T) rounded down",
        "bounds/flips.py",
        "        return nearest if nearest >= exact else float(np.nextafter(nearest, 1.0))\n",
        "        return nearest if nearest <= exact else float(np.nextafter(nearest, 0.0))\n",
        "tests/bounds/test_flips.py::test_central_binomial_is_rounded_up_and_tight",
    ),
    _m(
        "one block too few",
        "bounds/widths.py",
        '        passes, f"rho={rho:g} needs more than {largest} blocks: raise it", limit=largest\n'
        "    )\n",
        '        passes, f"rho={rho:g} needs more than {largest} blocks: raise it", limit=largest\n'
        "    ) - 1\n",
        "tests/bounds/test_widths.py::test_blocks_of_the_uniform_law",
    ),
    _m(
        "supremum on a grid instead of cells",
        "bounds/suprema.py",
        "    return min(settled + runs * (FLOAT_SLACK + NEGLECTED), 1.0)\n",
        "    return min(best * (1.0 - 1e-6), 1.0)\n",
        "tests/bounds/test_flips.py::test_all_pairs_of_samples_and_all_thresholds_of_a_tiny_case",
    ),
    _m(
        "rounding the wrong way",
        "bounds/numeric.py",
        "    return float(value) * (1.0 + RELATIVE_SLACK)\n",
        "    return float(value) * (1.0 - RELATIVE_SLACK)\n",
        "tests/bounds/test_numeric.py",
    ),
    _m(
        "soft votes certified like hard ones",
        "bounds/flips.py",
        "        return flip_supremum(law)\n    return soft_flip_bound(law)\n",
        "        return flip_supremum(law)\n    return flip_supremum(law)\n",
        "tests/bounds/test_flips.py::test_soft_votes_need_a_continuous_law",
    ),
    _m(
        "many runs certified like two",
        "bounds/suprema.py",
        "    return 1.0 - x**runs - (1.0 - x) ** runs\n",
        "    return 2.0 * x * (1.0 - x)\n",
        "tests/bounds/test_runs.py::test_all_combinations_of_votes_of_a_tiny_case",
    ),
    _m(
        "training rows without their step",
        "bounds/flips.py",
        "        bound = runs_bound(law, runs, vote) + trained * law.largest_step\n",
        "        bound = runs_bound(law, runs, vote)\n",
        "tests/bounds/test_training_rows.py::test_a_memoriser_stays_within_the_bound",
    ),
    _m(
        "repeated training rows counted once",
        "bounds/flips.py",
        "        pair = 2.0 * runs_bound(law, 2, vote)",
        "        pair = runs_bound(law, 2, vote)",
        "tests/bounds/test_training_rows.py::test_the_parts_of_the_bound",
    ),
    _m(
        "sigma halved",
        "bounds/approximate.py",
        "    return flip_bound(law, vote), law.n_blocks * law.largest_step**2\n",
        "    return flip_bound(law, vote), law.n_blocks * law.largest_step**2 / 4.0\n",
        "tests/bounds/test_approximate.py::test_direct_bound_holds_when_points_share_every_vote",
    ),
    _m(
        "masses of points do not count",
        "bounds/approximate.py",
        'check_fraction("max_point_mass", max_point_mass, zero=True) / 2.0\n',
        'check_fraction("max_point_mass", max_point_mass, zero=True) * 0.0\n',
        "tests/bounds/test_approximate.py::test_formulas_of_the_uniform_law",
    ),
    _m(
        "several classes: half of the bound",
        "bounds/multiclass.py",
        "    return min(round_up(sharpness / 4.0 * mean_range(n_blocks, n_classes)), 1.0)\n",
        "    return min(round_up(sharpness / 8.0 * mean_range(n_blocks, n_classes)), 1.0)\n",
        "tests/bounds/test_multiclass.py::test_all_votes_of_a_small_case",
    ),
    _m(
        "membership: one side of the split only",
        "bounds/membership.py",
        "        pieces.append(2.0 * np.where(inside, terms, 0.0).sum(axis=1))\n",
        "        pieces.append(np.where(inside, terms, 0.0).sum(axis=1))\n",
        "tests/bounds/test_membership.py::test_bound_is_above_every_mass_and_close_to_the_worst",
    ),
    _m(
        "labels of heavy points: half of the bound",
        "bounds/signs.py",
        "    return upper_probability(central_binomial(k) / a + ROUNDING)\n",
        "    return upper_probability(central_binomial(k) / (2.0 * a) + ROUNDING)\n",
        "tests/bounds/test_heavy_labels.py::test_flips_stay_below_the_bound_and_come_close",
    ),
    _m(
        "membership costs nothing",
        "bounds/approximate_heavy.py",
        "    return upper_probability(membership + max(labels, votes))\n",
        "    return upper_probability(max(membership, labels, votes))\n",
        "tests/bounds/test_reuse.py::test_every_sample_of_a_tiny_world",
    ),
    _m(
        "whole set: half of the bound",
        "bounds/heavy_sets.py",
        "    bound = 3.0 * math.sqrt((1.0 + 1.0 / fewest) / (math.pi * n)) / spread\n",
        "    bound = 1.5 * math.sqrt((1.0 + 1.0 / fewest) / (math.pi * n)) / spread\n",
        "tests/trust/test_adversary.py::test_whole_sets_come_near_their_bound",
    ),
    _m(
        "selection: half of the deviation",
        "bounds/selection.py",
        "    return upper_probability(math.tanh(sharpness * deviation / 2.0))\n",
        "    return upper_probability(math.tanh(sharpness * deviation / 4.0))\n",
        "tests/bounds/test_selection.py::test_tanh_bounds_the_exact_disagreement",
    ),
    _m(
        "selection: samples of twice the size",
        "bounds/selection.py",
        "    scale = sharpness / (2.0 * m)\n",
        "    scale = sharpness / (4.0 * m)\n",
        "tests/bounds/test_selection.py::test_the_bound_without_ln_n_by_exact_sums",
    ),
    _m(
        "search by folds without drift",
        "guarantees/search.py",
        "    return selection_flip_bound_sampled(sharpness, n_hypotheses, n_test, drift=drift)\n",
        "    return selection_flip_bound_sampled(sharpness, n_hypotheses, n_test)\n",
        "tests/trust/test_adversary.py::test_a_search_by_folds_pays_for_drift",
    ),
    _m(
        "coins: half of the slope",
        "bounds/coins.py",
        "    slope = 0.5 / (math.sqrt(flattest) * (last - first))\n",
        "    slope = 0.25 / (math.sqrt(flattest) * (last - first))\n",
        "tests/primitives/test_coins.py::test_flip_bound_holds_for_every_bias",
    ),
    _m(
        "limits at twice the failure probability",
        "bounds/numeric.py",
        "    upper = _clopper_pearson_upper(k, n, delta / 2.0)\n",
        "    upper = _clopper_pearson_upper(k, n, 2.0 * delta)\n",
        "tests/bounds/test_numeric.py::test_binomial_limits_cover",
    ),
    _m(
        "flip rate: all pairs of blocks independent",
        "bounds/fresh.py",
        "    pairs = law.n_blocks // 2\n",
        "    pairs = law.n_blocks * (law.n_blocks - 1) // 2\n",
        "tests/bounds/test_fresh_rate.py::test_limit_covers_when_all_points_vote_alike",
    ),
    _m(
        "halves of a file certified like fresh samples",
        "bounds/halves.py",
        "    most = float(halves_curve(law).max())\n",
        "    most = float(halves_curve(law).max()) / 1.02\n",
        "tests/bounds/test_halves.py::test_all_splits_of_a_tiny_file",
    ),
    _m(
        "normal scores: half of the width",
        "bounds/score.py",
        "NORMAL_DIFFERENCE = 2.0 / math.sqrt(math.pi)\n",
        "NORMAL_DIFFERENCE = 1.0 / math.sqrt(math.pi)\n",
        "tests/bounds/test_score.py::test_normal_scores_attain_the_nominal_probability",
    ),
    _m(
        "regression: half of the range",
        "bounds/regression.py",
        "    return upper_probability(central_binomial(n_blocks) * y_span / resolution)\n",
        "    return upper_probability(central_binomial(n_blocks) * y_span / (2.0 * resolution))\n",
        "tests/bounds/test_regression.py::test_coins_at_the_ends_of_the_range_attain_the_bound",
    ),
    _m(
        "changes of an incumbent: half of the rate",
        "bounds/incumbent.py",
        "    return min(0.5, round_up((standard_error / band) ** 2 / 2.0))\n",
        "    return min(0.5, round_up((standard_error / band) ** 2 / 4.0))\n",
        "tests/bounds/test_incumbent.py::test_the_rate_is_attained",
    ),
    _m(
        "light points deviate half as much",
        "bounds/accuracy.py",
        "    return round_up(math.sqrt(max_point_mass * (-math.log(beta) + 1e-11) / 2.0))\n",
        "    return round_up(math.sqrt(max_point_mass * (-math.log(beta) + 1e-11) / 8.0))\n",
        "tests/bounds/test_light.py::test_tail_and_slack_are_inverse",
    ),
    _m(
        "order and margin without the logarithm",
        "bounds/finite_class.py",
        "    return upper_probability(2.0 * math.sqrt(log_n / m) * (1.0 + log_n) / width)\n",
        "    return upper_probability(2.0 * math.sqrt(1.0 / m) / width)\n",
        "tests/primitives/test_finite_class.py::test_which_method_needs_the_fewest_rows",
    ),
]

PRIVACY = [
    _m(
        "half of the noise",
        "primitives/private_selection.py",
        "scale=2.0 / epsilon, threshold",
        "scale=1.0 / epsilon, threshold",
        "tests/primitives/test_private_selection.py::"
        "test_released_counts_have_the_noise_that_the_theorem_names",
    ),
    _m(
        "released one below the threshold",
        "primitives/private_selection.py",
        "threshold=int(threshold))",
        "threshold=int(threshold) - 1)",
        "tests/primitives/test_private_selection.py::"
        "test_released_counts_have_the_noise_that_the_theorem_names",
    ),
    _m(
        "noise of privacy from a seed that others know",
        "primitives/private_selection.py",
        "    return dict(measurement(dict(counts)))\n",
        "    import numpy as np\n\n"
        "    noise = np.random.default_rng(0).laplace(0.0, 2.0 / epsilon, len(counts)).round()\n"
        "    noisy = {k: int(c + z) for (k, c), z in zip(counts.items(), noise, strict=True)}\n"
        "    return {k: c for k, c in noisy.items() if c >= threshold}\n",
        "tests/primitives/test_private_selection.py::"
        "test_selection_tells_the_frequent_item_with_fresh_noise",
    ),
    _m(
        "private rows cut by a seed that others know",
        "learners/semi_private.py",
        "np.random.default_rng(secrets.randbits(128))",
        "np.random.default_rng(0)",
        "tests/learners/test_semi_private.py::test_one_row_is_in_one_part_only_wherever_it_is",
    ),
    _m(
        "a count of one is released more often than delta",
        "bounds/privacy.py",
        '    budget = min(delta, -math.expm1(-check_positive("epsilon", epsilon) / 2.0))\n',
        '    budget = 2.0 * min(delta, -math.expm1(-check_positive("epsilon", epsilon) / 2.0))\n',
        "tests/primitives/test_private_selection.py::"
        "test_threshold_is_the_smallest_that_keeps_delta",
    ),
]

CERTIFICATES = [
    _m(
        "failed conditions are ignored",
        "guarantees/certificate.py",
        "certified=conclusion.certified and not identity.failed_conditions,",
        "certified=conclusion.certified,",
        "tests/guarantees/test_identity.py::test_every_item_survives_json",
    ),
    _m(
        "everything is comparable",
        "guarantees/comparison.py",
        '        if self.differences:\n            return "no"\n'
        '        return "unknown" if self.unknowns else "yes"\n',
        '        return "yes"\n',
        "tests/guarantees/test_identity.py::test_what_differs_decides_the_answer",
    ),
    _m(
        "unknown counts as yes",
        "guarantees/comparison.py",
        '        return "unknown" if self.unknowns else "yes"\n',
        '        return "yes"\n',
        "tests/guarantees/test_identity.py::test_what_differs_decides_the_answer",
    ),
    _m(
        "runs with other keys are comparable",
        "guarantees/comparison.py",
        '        "key fingerprint": identity.key_fingerprint,\n',
        "",
        "tests/guarantees/test_certificate.py::test_another_input_or_key_is_named",
    ),
    _m(
        "numbers are not computed again",
        "guarantees/certificate.py",
        '        refuse_differences("certificate", self._content(), fresh._content())\n',
        "",
        "tests/guarantees/test_certificate.py::test_a_changed_number_fails_even_with_a_new_digest",
    ),
    _m(
        "a changed certificate passes",
        "guarantees/certificate.py",
        "        if self.digest != digest_of(self._content()):\n",
        "        if not self.digest:\n",
        "tests/guarantees/test_certificate.py::test_any_changed_leaf_fails_the_check",
    ),
    _m(
        "fewer rows than planned",
        "guarantees/certificate.py",
        "        if available is not None and available < design.n:\n",
        "        if available is not None and available < 0:\n",
        "tests/guarantees/test_certificate.py::test_contradicting_runs_are_refused",
    ),
    _m(
        "equal rows refute nothing",
        "learners/planning.py",
        "    if refuted is None:\n        return plan.certificate(run, unit=sample.unit)\n",
        "    if plan.n:\n        return plan.certificate(run, unit=sample.unit)\n",
        "tests/binding/test_point_masses.py::test_discrete_data_are_not_certified_and_told_why",
    ),
    _m(
        "blocks that come out differently are not noticed",
        "learners/pointwise.py",
        "                failed += block_condition(base, *work, models, names, bound)\n",
        "                pass\n",
        "tests/binding/test_learner.py::"
        "test_a_block_that_comes_out_differently_is_a_failed_condition",
    ),
    _m(
        "a missed target is no shortfall",
        "guarantees/votes.py",
        "    if request.rho is not None and rho > request.rho:\n",
        "    if request.rho is not None and rho > 1.0:\n",
        "tests/guarantees/test_certificate.py::test_the_promise_is_the_bound_of_the_law",
    ),
    _m(
        "fewer labels than a member surely has are enough",
        "guarantees/votes.py",
        "        reasons = too_few_labels(ledger, design) + reasons\n",
        "        reasons = reasons + []\n",
        "tests/guarantees/test_planner.py::test_the_solved_n_passes_and_one_less_fails",
    ),
]
