"""Ways to break a guarantee, each with the tests of the default suite that must notice."""

from tools.mutation_base import (
    ENUMERATED,
    FITTED,
    SEPARATE,
    SURPLUS,
    TWINS,
    Mutation,
    mutation as _m,
)
from tools.mutation_edits import body, change, condition
from tools.mutation_list_audit import AUDIT
from tools.mutation_list_binding import BINDING
from tools.mutation_list_bounds import BOUNDS, CERTIFICATES, PRIVACY
from tools.mutation_list_incumbent import INCUMBENT
from tools.mutation_list_update import UPDATE

# -- decision thresholds ---------------------------------------------------------------------------
THRESHOLDS = "tests/learners/test_decision_threshold.py"
DECISIONS = [
    _m(
        "votes against one half whatever the threshold",
        "replearn.execution.voting.ThresholdPredictor.add_votes",
        change("C >= self._thresholds", "C >= 0.5"),
        f"{THRESHOLDS}::test_each_block_votes_by_its_own_threshold",
    ),
    _m(
        "one threshold from all blocks",
        "replearn.learners.decision_threshold.block_thresholds",
        change("np.clip(S, A, B)", "np.full(len(S), np.mean(S))"),
        f"{THRESHOLDS}::test_prevalence_and_targets_are_chosen_in_each_block",
    ),
    _m(
        "soft votes that are not centred at the threshold",
        "replearn.execution.voting.centred",
        body("return np.clip(chances, 0.0, 1.0)"),
        f"{THRESHOLDS}::test_soft_votes_are_centred_at_the_threshold",
    ),
    _m(
        "the threshold of scikit-learn's wrapper dropped",
        "replearn.learners.decision_threshold._outer_threshold",
        change("(estimator.estimator, threshold)", "(estimator.estimator, None)"),
        f"{THRESHOLDS}::test_a_threshold_and_an_estimator_with_that_threshold_are_one_model",
    ),
    _m(
        "a certificate without the threshold",
        "replearn.learners.decision_threshold.with_threshold",
        body("return base"),
        f"{THRESHOLDS}::test_a_threshold_and_an_estimator_with_that_threshold_are_one_model",
    ),
    _m(
        "a chosen threshold without a standard error",
        "replearn.learners.score.score_threshold",
        change("ScoreThreshold(M, spread, E)", "ScoreThreshold(M, 0.0, E)"),
        f"{THRESHOLDS}::test_a_target_adds_the_standard_error_of_the_block_thresholds",
    ),
]

# -- votes that stop when the prediction is decided ------------------------------------------------
STOPPING = [
    _m(
        "votes stop although the missing ones could decide",
        "replearn.learners.vote.OpenVotes.__call__",
        change("votes + n_missing", "votes + n_missing // 2"),
        "tests/learners/test_vote_stops_when_decided.py::test_decided_is_what_no_completion_changes",
    ),
    _m(
        "votes of the last blocks forgotten",
        "replearn.execution.voting.BlockEnsemble._votes_on_open_rows",
        change("is_open(C, R, N)", "is_open(C, R, 0 * N)"),
        "tests/learners/test_vote_stops_when_decided.py::test_predictions_are_those_of_all_votes",
    ),
    _m(
        "a forest stops although the missing trees could decide",
        "replearn.fastpaths.trees.forest_predictions",
        change("n_missing + ROUNDING", "n_missing // 4 + ROUNDING"),
        "tests/fastpaths/test_forests.py::test_a_lead_that_missing_trees_can_make_up_is_not_decided",
    ),
    _m(
        "trees in any order are read as leaf sets",
        "replearn.fastpaths.bit_trees._are_in_order",
        body("return True"),
        "tests/fastpaths/test_boosting.py::test_trees_in_another_order_are_not_read",
    ),
    _m(
        "boosting with constraints is fitted without them",
        "replearn.fastpaths.boosting_fit._is_plain",
        change("all(A)", "True"),
        "tests/fastpaths/test_boosting_fit.py::test_other_models_are_left_to_scikit_learn",
    ),
    _m(
        "bins of boosting end elsewhere than those of scikit-learn",
        "replearn.fastpaths.boosting_fit.bin_thresholds",
        change("P % 1 == 0", "P % 1 != 0"),
        "tests/fastpaths/test_boosting_fit.py::test_bins_have_the_bits_of_scikit_learn",
    ),
]

# -- what is shared, and what it is keyed by -------------------------------------------------------
KEYS = [
    _m(
        "threshold not shared",
        "replearn.learners.ThresholdRule.noise",
        change("K.uniforms(P)", "np.random.default_rng().random(len(P))"),
        FITTED,
    ),
    _m(
        "threshold keyed by position",
        "replearn.learners.ThresholdRule.noise",
        change("K.uniforms(P)", "K.uniforms(np.arange(len(P)))"),
        FITTED,
    ),
    _m(
        "one threshold for all points",
        "replearn.learners.ThresholdRule.noise",
        change("K.uniforms(P)", "np.repeat(K.uniforms([0]), len(P))"),
        FITTED,
    ),
    _m(
        "threshold from the estimator's own key",
        "replearn.learners.PointwiseReplicableClassifier._vote",
        change('K.child("vote")', "K"),
        FITTED,
    ),
    _m(
        "fresh key per run for the seeds",
        "replearn.learners.training.block_keys",
        change('K.child("seed", *P)', 'SharedKey.generate().child("seed", *P)'),
        f"{SEPARATE}::test_seeds_belong_to_block_and_partition_and_are_shared_by_runs",
    ),
    _m(
        "seed reused across partitions",
        "replearn.learners.training.block_keys",
        change('K.child("seed", *P)', 'K.child("seed", P[1])'),
        f"{SEPARATE}::test_seeds_belong_to_block_and_partition_and_are_shared_by_runs",
    ),
    _m(
        "one partition repeated",
        "replearn.execution.make_blocks",
        change('K.child("partition", N)', 'K.child("partition", 0)'),
        "tests/execution/test_fitting_partition.py::test_key_partition_number_and_labels_matter",
    ),
    _m(
        "rows cut by position",
        "replearn.execution.fitting._partition",
        change("K.order(P, Y)", "np.arange(len(P))"),
        "tests/execution/test_fitting_partition.py::test_blocks_are_disjoint_equal_and_drop_the_surplus",
    ),
    _m(
        "label left out of the hash",
        "replearn.execution.fitting._partition",
        change("K.order(P, Y)", "K.order(P)"),
        "tests/execution/test_fitting_partition.py::test_blocks_are_disjoint_equal_and_drop_the_surplus",
    ),
    _m(
        "occurrence number dropped",
        "replearn.randomness.SharedKey.ranks",
        change("hash_occurrences(S, H, N)", "H"),
        "tests/randomness/test_keyed_randomness.py::test_every_order_is_equally_likely",
    ),
    _m(
        "blocks overlap",
        "replearn.execution.fitting._partition",
        change("list(O[: N * S].reshape(N, S))", "[O[t : t + S] for t in range(N)]"),
        "tests/execution/test_fitting_partition.py::test_blocks_are_disjoint_equal_and_drop_the_surplus",
    ),
    _m(
        "surplus spread over blocks of unequal size",
        "replearn.execution.fitting._partition",
        change("list(O[: N * S].reshape(N, S))", "np.array_split(O, N)"),
        "tests/execution/test_fitting_partition.py::test_blocks_are_disjoint_equal_and_drop_the_surplus",
    ),
    _m(
        "surplus key does not know the number of rows",
        "replearn.learners.training.Sample.planned",
        change('K.child("surplus", N)', 'K.child("surplus")'),
        SURPLUS,
    ),
    _m(
        "surplus left out by position",
        "replearn.learners.training.Sample.planned",
        change("K.order(P, Y)[:N]", "np.arange(N)"),
        SURPLUS,
    ),
    _m(
        "whole models share the key of the blocks",
        "replearn.learners.key_of_blocks",
        condition('P.task == "pointwise"', "P.task"),
        "tests/adversarial/trust/test_separate_keys.py::"
        "test_a_promise_about_whole_models_has_seeds_of_its_own_for_each_sample",
    ),
    _m(
        "order of the file matters among rounded rows",
        "replearn.learners.training.Sample._without_file_order",
        condition("P.decimals is None and ...", "P.n"),
        "tests/learners/test_pointwise.py::"
        "test_row_order_does_not_matter_where_rows_only_look_alike",
    ),
    _m(
        "children of a key forget their number",
        "replearn.randomness.SharedKey.child",
        change('framed(P, "purpose")', 'framed(P[:1], "purpose")'),
        "tests/randomness/test_key.py::test_children_differ_unless_the_purpose_is_the_same",
    ),
    _m(
        "half of the bits of a threshold",
        "replearn.randomness.uniforms_in_place",
        change("H >> np.uint64(11)", "H >> np.uint64(12)"),
        "tests/randomness/test_keyed_randomness.py::test_uniforms_are_uniform",
    ),
    _m(
        "candidates keyed by their place",
        "replearn.primitives.choose_by_errors",
        change("K.hashes(P)", "K.hashes(np.arange(len(P)))"),
        "tests/primitives/test_selection.py::test_the_choice_belongs_to_the_name_not_to_the_place",
    ),
    _m(
        "noise of a selection not shared",
        "replearn.primitives.choose_by_errors",
        change("gumbel_from_hashes(H)", "np.random.default_rng().gumbel(size=len(H))"),
        "tests/primitives/test_selection.py::test_the_choice_belongs_to_the_name_not_to_the_place",
    ),
    _m(
        "draws keyed by place",
        "replearn.primitives.sample_correlated_stream",
        change("as_points(C)", "as_points(np.arange(len(C)))"),
        "tests/primitives/test_correlated.py::test_gumbels_by_place_break_the_agreement",
    ),
    _m(
        "limit of the best error not shared",
        "replearn.learners.RealizableReplicableClassifier.fit",
        change('K.child("limit").uniforms([0])[0]', "np.random.default_rng().random()"),
        f"{TWINS}::test_the_limit_of_the_best_error",
    ),
    _m(
        "levels of a line not shared",
        "replearn.primitives.quantiles._process",
        change('K.child("level").uniforms(N)', "np.random.default_rng().random(len(N))"),
        "tests/primitives/test_quantiles.py::test_similar_samples_draw_the_same_level",
    ),
    _m(
        "rows held out alike in both samples",
        "replearn.learners.held_out",
        change("sample_order(K, X, Y)", "K.order(X, Y)"),
        "tests/adversarial/trust/test_separate_keys.py::test_rows_that_choose_are_drawn_anew_for_each_sample",
    ),
    _m(
        "grid of a regression not keyed by the point",
        "replearn.learners.PointwiseReplicableRegressor._cells",
        change('K.child("grid").uniforms(P)', "np.zeros(len(P))"),
        f"{TWINS}::test_rounded_means",
    ),
]

# -- rules ----------------------------------------------------------------------------------------
RULES = [
    _m(
        "wrong side of the threshold",
        "replearn.learners.below_law",
        change("T < L", "T >= L"),
        FITTED,
    ),
    _m(
        "a threshold of 0 overrules unanimous votes",
        "replearn.learners.below_law",
        change("T < L", "T <= L"),
        "src/replearn/learners/vote.py",
    ),
    _m(
        "law table shifted by one vote",
        "replearn.learners.ThresholdRule._response_sums",
        change("L.table[V]", "L.table[np.minimum(V + 1, L.n_blocks)]"),
        FITTED,
    ),
    _m(
        "partitions summed, not averaged",
        "replearn.learners.below_law",
        change("T * N < L", "T < L"),
        f"{TWINS}::test_several_partitions_are_averaged_after_the_law",
    ),
    _m(
        "votes averaged before the law",
        "replearn.learners.ThresholdRule._response_sums",
        change(
            "T[V].sum(axis=1, dtype=np.int64)",
            "T[np.rint(V.mean(axis=1)).astype(int)] * V.shape[1]",
        ),
        "tests/learners/test_pointwise.py::test_the_rule_is_the_one_that_is_certified",
    ),
    _m(
        "clear majorities twice as clear",
        "replearn.bounds.class_weights",
        change("np.log(W) / 4.0", "np.log(W) / 2.0"),
        "tests/bounds/test_multiclass.py::"
        "test_two_runs_differ_by_at_most_a_quarter_of_the_sharpness_times_the_range",
    ),
    _m(
        "thresholds within half a width",
        "replearn.learners.ScoreRule.noise",
        change("W * (2.0 * U - 1.0)", "W * (U - 0.5)"),
        "tests/learners/test_score_rule.py::test_flips_of_normal_scores_are_nominal_for_two_classes",
    ),
    _m(
        "band of the incumbent halved",
        "replearn.learners.incumbent_chain.keep",
        change("E > 2.0 * B", "E > B"),
        "tests/learners/test_incumbent.py::test_the_old_prediction_stays_within_the_band",
    ),
    _m(
        "predictions beyond the range count",
        "replearn.learners.PointwiseReplicableRegressor._moments",
        change("np.clip(V, L, H) - F", "V - F"),
        f"{TWINS}::test_predictions_beyond_the_range_count_as_its_ends",
    ),
    _m(
        "heavy stage removed",
        "replearn.learners.heavy_points",
        condition("D.heavy is None", "D.n"),
        "tests/heavy/test_stage.py::test_on_exactly_when_alpha_is_given",
    ),
    _m(
        "all labels of a heavy point in use",
        "replearn.heavy.first_labels",
        change("K[P < N[M]]", "K"),
        "tests/heavy/test_labels.py::test_labels_flip_as_rarely_as_certified",
    ),
    _m(
        "labels and membership share a threshold",
        "replearn.heavy.label_points",
        change('K.child("heavy label")', 'K.child("membership")'),
        "tests/adversarial/trust/test_separate_keys.py::"
        "test_labels_of_heavy_points_have_thresholds_of_their_own",
    ),
    _m(
        "membership by one occurrence more",
        "replearn.heavy.draw_members",
        change("L.table(C, N)", "L.table(C + 1, N)"),
        f"{ENUMERATED}::test_membership_on_all_samples",
    ),
    _m(
        "a coin with a count of 0 may be called heads",
        "replearn.primitives.below_levels",
        change("U < L", "U <= L"),
        "src/replearn/primitives/coins.py",
    ),
]

# -- plans that are followed, keys that can be guessed ---------------------------------------------
CONFORMANCE = "tests/learners/test_conformance.py"
PLANS = [
    _m(
        "parameters beside a plan are ignored",
        "replearn.learners.training.FollowsPlan._in_force",
        change("refuse_planned(N)", "None"),
        f"{CONFORMANCE}::test_what_a_plan_sets_is_not_set_again",
    ),
    _m(
        "the parameters of a plan are not in force",
        "replearn.learners.training.FollowsPlan._in_force",
        change("P | S", "P"),
        f"{CONFORMANCE}::test_a_plan_is_followed",
    ),
    _m(
        "the plan of another estimator is followed",
        "replearn.learners.training.FollowsPlan._in_force",
        condition("not S.intersection(L)", "False"),
        f"{CONFORMANCE}::test_a_plan_of_another_task_is_an_error",
    ),
    _m(
        "a surplus beyond the plan is used",
        "replearn.learners.training.FollowsPlan._n_planned",
        body("return available"),
        f"{CONFORMANCE}::test_a_plan_is_followed",
    ),
    _m(
        "no key can be guessed",
        "replearn.randomness.hashing.is_weak",
        body("return False"),
        "tests/persistence/test_model_file.py::"
        "test_a_key_that_can_be_guessed_is_named_when_the_model_is_saved",
    ),
]

MUTATIONS: list[Mutation] = [
    *DECISIONS,
    *STOPPING,
    *KEYS,
    *RULES,
    *BOUNDS,
    *PRIVACY,
    *CERTIFICATES,
    *BINDING,
    *PLANS,
    *INCUMBENT,
    *AUDIT,
    *UPDATE,
]
