"""Ways to compute a bound wrongly, or to certify what is not true."""

from tools.mutation_base import mutation as _m
from tools.mutation_edits import body, change, condition

BOUNDS = [
    _m(
        "width halved",
        "replearn.bounds.uniform_law",
        change("(H + S) / (2.0 * S)", "(H + S / 2.0) / S"),
        "tests/bounds/test_laws.py::test_the_uniform_law_is_rounded_to_the_nearest_value",
    ),
    _m(
        "f(T) of one block more",
        "replearn.bounds.central_binomial",
        change(
            "Fraction(math.comb(2 * T, T), 4**T)",
            "Fraction(math.comb(2 * T + 2, T + 1), 4 ** (T + 1))",
        ),
        "tests/bounds/test_flips.py::test_central_binomial_is_rounded_up_and_tight",
    ),
    _m(
        "f(T) rounded down",
        "replearn.bounds.central_binomial",
        change(
            "N if N >= E else float(np.nextafter(N, 1.0))",
            "N if N <= E else float(np.nextafter(N, 0.0))",
        ),
        "tests/bounds/test_flips.py::test_central_binomial_is_rounded_up_and_tight",
    ),
    _m(
        "mean difference of a normal law for all laws",
        "replearn.bounds.regression.mean_rounding_flips",
        change("np.sqrt(V / (3.0 * T))", "np.sqrt(V / (math.pi * T))"),
        "tests/bounds/test_regression.py::test_uniform_means_attain_the_mean_difference",
    ),
    _m(
        "the best error spreads like that of a normal law",
        "replearn.bounds.realizable.ceiling_flip_bound",
        change("math.sqrt(3.0 * n)", "math.sqrt(math.pi * n)"),
        "tests/bounds/test_choice_bounds.py::test_realizable_numbers",
    ),
    _m(
        "a one-sided sign test",
        "replearn.bounds.sign_test.sign_test",
        change("2.0 * T * (1.0 + 1e-12)", "T * (1.0 + 1e-12)"),
        "tests/adversarial/trust/test_adversary.py::test_a_short_search_breaks_nothing"
        "[votes alike (false alarm)]",
    ),
    _m(
        "the best error near the limit spreads like that of a normal law",
        "replearn.bounds.realizable._flip_bounds",
        change("(1.5 * N)", "(math.pi / 2.0 * N)"),
        "tests/bounds/test_before_and_after.py::test_rows_for_realizable_learners",
    ),
    _m(
        "the excess of one run instead of two",
        "replearn.bounds.whole_models._excesses",
        change("2.0 * E.sum(axis=1)", "E.sum(axis=1)"),
        "tests/bounds/test_whole_models.py::test_one_block_by_hand",
    ),
    _m(
        "a supremum on the ends of cells",
        "replearn.bounds.whole_models._curvature",
        body("return 0.0"),
        "tests/bounds/test_whole_models.py::test_the_supremum_is_above_a_fine_grid_and_near_it",
    ),
    _m(
        "points that carry mass forgotten by Jensen",
        "replearn.bounds.whole_models._point_mass_options",
        body("return [(0.0, 0.0)]"),
        "tests/bounds/test_whole_models.py::test_points_that_carry_mass_cost_something",
    ),
    _m(
        "one block too few",
        "replearn.bounds.smallest_blocks",
        change("require_integer(...)", "MATCH - 1"),
        "tests/bounds/test_widths.py::test_blocks_of_the_uniform_law",
    ),
    _m(
        "supremum on a grid instead of cells",
        "replearn.bounds.supremum_by_cells",
        change("S + R * (FLOAT_SLACK + NEGLECTED)", "best * (1.0 - 1e-6)"),
        "tests/bounds/test_flips.py::test_all_pairs_of_samples_and_all_thresholds_of_a_tiny_case",
    ),
    _m(
        "rounding the wrong way",
        "replearn.bounds.round_up",
        change("1.0 + S", "1.0 - S"),
        "tests/bounds/test_numeric.py",
    ),
    _m(
        "soft votes certified like hard ones",
        "replearn.bounds.flip_bound",
        change("soft_flip_bound(L)", "flip_supremum(L)"),
        "tests/bounds/test_flips.py::test_soft_votes_need_a_continuous_law",
    ),
    _m(
        "many runs certified like two",
        "replearn.bounds.not_all_equal",
        change("1.0 - P**R - (1.0 - P) ** R", "2.0 * P * (1.0 - P)"),
        "tests/bounds/test_flips_runs.py::test_all_combinations_of_votes_of_a_tiny_case",
    ),
    _m(
        "training rows without their step",
        "replearn.bounds.training_row_bound",
        change("runs_bound(L, R, V) + T * L.largest_step", "runs_bound(L, R, V)"),
        "tests/bounds/test_flips_training_rows.py::test_a_memoriser_stays_within_the_bound",
    ),
    _m(
        "repeated training rows counted once",
        "replearn.bounds.training_row_bound",
        change("2.0 * runs_bound(L, R, V)", "runs_bound(L, R, V)"),
        "tests/bounds/test_flips_training_rows.py::test_the_parts_of_the_bound",
    ),
    _m(
        "sigma halved",
        "replearn.bounds.vote_mean_and_spread",
        change("L.n_blocks * L.largest_step**2", "MATCH / 4.0"),
        "tests/bounds/test_approximate.py::test_direct_bound_holds_when_points_share_every_vote",
    ),
    _m(
        "masses of points do not count",
        "replearn.bounds.point_mass_spread",
        change("M / 2.0", "M * 0.0"),
        "tests/bounds/test_approximate.py::test_formulas_of_the_uniform_law",
    ),
    _m(
        "several classes: half of the bound",
        "replearn.bounds.multiclass_flip_bound",
        change("S / 4.0", "S / 8.0"),
        "tests/bounds/test_multiclass.py::test_all_votes_of_a_small_case",
    ),
    _m(
        "membership: one side of the split only",
        "replearn.bounds.split_differences",
        change("2.0 * S.sum(axis=1)", "S.sum(axis=1)"),
        "tests/bounds/test_membership.py::test_bound_is_above_every_mass_and_close_to_the_worst",
    ),
    _m(
        "labels of heavy points: half of the bound",
        "replearn.bounds.label_flip_bound",
        change("central_binomial(K) / A", "central_binomial(K) / (2.0 * A)"),
        "tests/bounds/test_heavy_labels.py::test_flips_stay_below_the_bound_and_come_close",
    ),
    _m(
        "membership costs nothing",
        "replearn.bounds.reuse_flip_bound",
        change("M + max(L, V)", "max(M, L, V)"),
        "tests/bounds/test_reuse.py::test_every_sample_of_a_tiny_world",
    ),
    _m(
        "whole set: half of the bound",
        "replearn.bounds.set_flip_bound",
        change("3.0 * math.sqrt(V)", "1.5 * math.sqrt(V)"),
        "tests/adversarial/trust/test_adversary.py::test_whole_sets_come_near_their_bound",
    ),
    _m(
        "selection: half of the deviation",
        "replearn.bounds.selection_flip_bound",
        change("math.tanh(S * D / 2.0)", "math.tanh(S * D / 4.0)"),
        "tests/bounds/test_selection.py::test_tanh_bounds_the_exact_disagreement",
    ),
    _m(
        "selection: samples of twice the size",
        "replearn.bounds.same_candidates_flip_bound",
        change("S / (2.0 * M)", "S / (4.0 * M)"),
        "tests/bounds/test_selection.py::test_the_bound_without_ln_n_by_exact_sums",
    ),
    _m(
        "search by folds without drift",
        "replearn.guarantees.folds_flip",
        change(
            "selection_flip_bound_sampled(S, H, N, drift=D)",
            "selection_flip_bound_sampled(S, H, N)",
        ),
        "tests/adversarial/trust/test_adversary.py::test_a_search_by_folds_pays_for_drift",
    ),
    _m(
        "coins: half of the slope",
        "replearn.bounds.coins._steepest",
        change("0.5 / S", "0.25 / S"),
        "tests/primitives/test_coins.py::test_flip_bound_holds_for_every_bias",
    ),
    _m(
        "limits at twice the failure probability",
        "replearn.bounds.binomial_limits",
        change(
            "_clopper_pearson_upper(K, N, D / 2.0)", "_clopper_pearson_upper(K, N, 2.0 * D)", nth=1
        ),
        "tests/bounds/test_numeric.py::test_binomial_limits_cover",
    ),
    _m(
        "flip rate: all pairs of blocks independent",
        "replearn.bounds.flip_rate_limit",
        change("L.n_blocks // 2", "L.n_blocks * (L.n_blocks - 1) // 2"),
        "tests/bounds/test_fresh_rate.py::test_limit_covers_when_all_points_vote_alike",
    ),
    _m(
        "halves of a file certified like fresh samples",
        "replearn.bounds.flips._hard_supremum",
        change("float(C.max())", "MATCH / 1.02"),
        "tests/bounds/test_flips_halves.py::test_all_splits_of_a_tiny_file",
    ),
    _m(
        "normal scores: half of the width",
        "replearn.bounds.flips.NORMAL_DIFFERENCE",
        change("2.0 / math.sqrt(math.pi)", "1.0 / math.sqrt(math.pi)"),
        "tests/bounds/test_flips_scores.py::test_normal_scores_attain_the_nominal_probability",
    ),
    _m(
        "regression: half of the range",
        "replearn.bounds.rounding_flip_bound",
        change("central_binomial(T) * Y / R", "central_binomial(T) * Y / (2.0 * R)"),
        "tests/bounds/test_regression.py::test_coins_at_the_ends_of_the_range_attain_the_bound",
    ),
    _m(
        "changes of an incumbent: half of the rate",
        "replearn.bounds.incumbent_change_rate",
        change("(S / B) ** 2 / 2.0", "(S / B) ** 2 / 4.0"),
        "tests/bounds/test_incumbent.py::test_the_rate_is_attained",
    ),
    _m(
        "light points deviate half as much",
        "replearn.bounds.light_point_slack",
        change("M * L / 2.0", "M * L / 8.0"),
        "tests/bounds/test_accuracy_light_points.py::test_tail_and_slack_are_inverse",
    ),
    _m(
        "order and margin without the logarithm",
        "replearn.bounds.order_flip_bound",
        change("2.0 * math.sqrt(L / M) * (1.0 + L) / W", "2.0 * math.sqrt(1.0 / M) / W"),
        "tests/primitives/test_finite_class.py::test_which_method_needs_the_fewest_rows",
    ),
]

PRIVACY = [
    _m(
        "half of the noise",
        "replearn.primitives.release_counts",
        change("2.0 / E", "1.0 / E"),
        "tests/primitives/test_private_selection.py::"
        "test_released_counts_have_the_noise_that_the_theorem_names",
    ),
    _m(
        "released one below the threshold",
        "replearn.primitives.release_counts",
        change("int(T)", "int(T) - 1"),
        "tests/primitives/test_private_selection.py::"
        "test_released_counts_have_the_noise_that_the_theorem_names",
    ),
    _m(
        "noise of privacy from a seed that others know",
        "replearn.primitives.release_counts",
        change(
            "dict(M(dict(C)))",
            "{k: int(c + z) for (k, c), z in zip(C.items(), __import__('numpy').random"
            ".default_rng(0).laplace(0.0, 2.0 / epsilon, len(C)).round(), strict=True) "
            "if int(c + z) >= threshold}",
        ),
        "tests/primitives/test_private_selection.py::"
        "test_selection_tells_the_frequent_item_with_fresh_noise",
    ),
    _m(
        "private rows cut by a seed that others know",
        "replearn.learners.cut_secretly",
        change("secrets.randbits(N)", "0"),
        "tests/learners/test_semi_private.py::test_one_row_is_in_one_part_only_wherever_it_is",
    ),
    _m(
        "a count of one is released more often than delta",
        "replearn.bounds.release_threshold",
        change("min(D, E)", "2.0 * MATCH"),
        "tests/primitives/test_private_selection.py::"
        "test_threshold_is_the_smallest_that_keeps_delta",
    ),
]

CERTIFICATES = [
    _m(
        "failed conditions are ignored",
        "replearn.guarantees.Certificate._of",
        change("C.certified and not I.failed_conditions", "C.certified"),
        "tests/guarantees/test_comparison.py::test_every_item_survives_json",
    ),
    _m(
        "everything is comparable",
        "replearn.guarantees.Comparison.comparable",
        body('return "yes"'),
        "tests/guarantees/test_comparison.py::test_what_differs_decides_the_answer",
    ),
    _m(
        "unknown counts as yes",
        "replearn.guarantees.Comparison.comparable",
        change('"unknown" if U else "yes"', '"yes"'),
        "tests/guarantees/test_comparison.py::test_what_differs_decides_the_answer",
    ),
    _m(
        "runs with other keys are comparable",
        "replearn.guarantees._promise_items",
        change("I.key_fingerprint", '""'),
        "tests/guarantees/test_certificate.py::test_another_input_or_key_is_named",
    ),
    _m(
        "numbers are not computed again",
        "replearn.guarantees.Certificate.check",
        change("refuse_differences(...)", "None"),
        "tests/guarantees/test_certificate.py::test_a_changed_number_fails_even_with_a_new_digest",
    ),
    _m(
        "a changed certificate passes",
        "replearn.guarantees.Certificate.check",
        condition("C.digest != digest_of(D)", "not C.digest"),
        "tests/guarantees/test_certificate.py::test_any_changed_leaf_fails_the_check",
    ),
    _m(
        "a certificate is read without a check",
        "replearn.guarantees.Certificate.from_json",
        change("C.check()", "None"),
        "tests/guarantees/test_certificate.py::test_any_changed_leaf_fails_the_check",
    ),
    _m(
        "a certificate may have another task than its request",
        "replearn.guarantees.Certificate._check_identity",
        condition("D.task != self.task", "False"),
        "tests/guarantees/test_certificate.py::test_the_task_of_a_vote_is_that_of_its_request",
    ),
    _m(
        "fewer rows than planned",
        "replearn.guarantees.Certificate._check_identity",
        condition("N is not None and N < D.n", "N is not None and N < 0"),
        "tests/guarantees/test_certificate.py::test_contradicting_runs_are_refused",
    ),
    _m(
        "equal rows refute nothing",
        "replearn.learners.certify_plan",
        condition("R is None", "True"),
        "tests/binding/test_point_masses.py::test_discrete_data_are_not_certified_and_told_why",
    ),
    _m(
        "blocks that come out differently are not noticed",
        "replearn.learners.training.TrainedBlocks.failed_conditions",
        change("block_condition(...)", "()"),
        "tests/binding/test_estimator.py::"
        "test_a_block_that_comes_out_differently_is_a_failed_condition",
    ),
    _m(
        "a missed target is no shortfall",
        "replearn.guarantees._shortfalls",
        condition("Q.rho is not None and R > Q.rho", "Q.rho is not None and R > 1.0"),
        "tests/guarantees/test_certificate.py::test_the_promise_is_the_bound_of_the_law",
    ),
    _m(
        "fewer labels than a member surely has are enough",
        "replearn.guarantees.votes.conclude",
        change("too_few_labels(L, D) + R", "R + []"),
        "tests/guarantees/test_planner.py::test_the_solved_n_passes_and_one_less_fails",
    ),
]
