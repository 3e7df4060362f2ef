"""Ways to make a certificate vouch for what it should not: docs/honesty.md, row by row."""

from tools.mutation_base import mutation as _m
from tools.mutation_edits import body, change, condition, positional

BOUND = "tests/binding/test_binding.py"
MASSES = "tests/binding/test_point_masses.py"
COPIES = "tests/binding/test_sample_copies.py"
LEARNER = "tests/binding/test_estimator.py"
PACKAGES = "tests/binding/test_digests_packages.py"
SCORE = "tests/learners/test_score.py"
KEPT = "tests/learners/test_incumbent.py"

BINDING = [
    _m(
        "model files: formats of other packages are read without trust",
        "replearn.persistence._packing._Reader._read_built",
        condition("N in NATIVE_TYPES and N not in self._trusted_types", "False"),
        "tests/persistence/test_native_types.py::test_a_type_that_is_not_trusted_is_not_imported",
    ),
    _m(
        "the price: the single fit has seen the rows that it is judged on",
        "replearn.learners.usefulness.with_single_fit",
        change("np.setdiff1d(A, H)", "A"),
        "tests/learners/test_usefulness_small_data.py::test_the_single_fit_has_not_seen_the_rows_it_is_judged_on",
    ),
    _m(
        "the price: the single fit decides at another threshold",
        "replearn.learners.usefulness.with_single_fit",
        change("block_thresholds(M, T, S)", "block_thresholds(M, 0.5, S)"),
        "tests/learners/test_usefulness_small_data.py::test_the_single_fit_decides_at_the_same_threshold",
    ),
    _m(
        "small samples: the rarest class may have no rows",
        "replearn.learners.usefulness.rarest_class",
        change("np.where(C > 0, C, N)", "C"),
        "tests/learners/test_usefulness_small_data.py::test_a_class_of_the_plan_that_no_row_has_is_not_the_rarest",
    ),
    _m(
        "explanations: values of the person instead of the reference",
        "replearn.learners.reasons.reasons",
        change("exchange_column(R, C, O)", "exchange_column(R, C, R)"),
        "tests/learners/test_reasons.py::test_contributions_of_a_linear_score_are_coefficient_times_difference",
    ),
    _m(
        "leaf sizes and bins that a user set are overwritten",
        "replearn.binding.estimator._with_smaller",
        change("P[N] == D", "True"),
        "tests/learners/test_training_small_blocks.py::test_what_was_set_and_what_has_no_leaves_stays",
    ),
    _m(
        "the plan's choice to keep leaf sizes is ignored",
        "replearn.learners.base_for_blocks",
        condition('P.unit != "rows" or P.vote_design.small_blocks == "keep"', 'P.unit != "rows"'),
        "tests/learners/test_training_small_blocks.py::test_the_plan_carries_the_choice",
    ),
    _m(
        "votes compared without a union over the rows",
        "replearn.guarantees.block_votes.compare_votes",
        change("values * len(shared) <= delta", "values <= delta * len(shared)"),
        "tests/guarantees/test_block_votes.py::test_labs_that_share_everything_are_comparable",
    ),
    _m(
        "votes of samples that may share rows taken as evidence",
        "replearn.guarantees.comparison.has_unique_rows",
        body("return True"),
        "tests/guarantees/test_block_votes.py::test_rows_that_may_occur_in_both_samples_prove_nothing",
    ),
    _m(
        "votes on rows of one run only taken as evidence",
        "replearn.guarantees.block_votes.compare_votes",
        condition("len(A) < len(B)", "False"),
        "tests/guarantees/test_block_votes.py::test_votes_of_another_run_or_other_rows_are_no_evidence",
    ),
    _m(
        "votes of another run taken as evidence",
        "replearn.guarantees.comparison._compare_votes",
        condition("strange", "False"),
        "tests/guarantees/test_block_votes.py::test_votes_of_another_run_or_other_rows_are_no_evidence",
    ),
    _m(
        "binding: D1 equal rows refute no bound on masses",
        "replearn.binding.refuted_by_pairs",
        condition("L <= M", "L <= 1.0"),
        f"{MASSES}::test_discrete_data_are_not_certified_and_told_why",
    ),
    _m(
        "binding: D2 sketches of columns are not compared",
        "replearn.guarantees._compare_sketches",
        change("_column(...)", "()"),
        f"{BOUND}::test_points_that_differ_are_not_comparable[months]",
    ),
    _m(
        "binding: D2 names of columns are not compared",
        "replearn.guarantees.compare_points",
        condition('A["columns"] != B["columns"]', "False"),
        f"{BOUND}::test_points_that_differ_are_not_comparable[header]",
    ),
    _m(
        "binding: D3 fitted parts are taken",
        "replearn.binding.bind_estimator",
        condition("B.fitted", "False"),
        f"{BOUND}::test_fitted_parts_are_refused",
    ),
    _m(
        "binding: D3 what a function closes over is not bound",
        "replearn.binding._Walk._function",
        change("F.__closure__ or ()", "()"),
        f"{BOUND}::test_what_a_function_closes_over_is_bound",
    ),
    _m(
        "binding: D4 marks of a transformer are not looked for",
        "replearn.binding.preprocessing_mark",
        change("mark_of_columns(...)", "None"),
        f"{BOUND}::test_what_stands_in_front_is_a_failed_condition[scaler]",
    ),
    _m(
        "binding: D4 probes are not compared",
        "replearn.guarantees.compare_probes",
        change("(tuple(D), U)", "((), U)"),
        "tests/binding/test_probe.py::test_what_leaves_no_mark_in_a_table",
    ),
    _m(
        "binding: D5 the pool is not bound",
        "replearn.binding.certify_choice",
        change('"" if P is None else pool_digest(P)', '""'),
        f"{BOUND}::test_pools_are_bound_whatever_their_order",
    ),
    _m(
        "binding: D6 candidates are bound by name only",
        "replearn.binding.bind_candidates",
        change("bind({N: B.digest for N, B in C.items()})", "bind(sorted(map(str, C)))"),
        f"{BOUND}::test_candidates_are_bound_by_what_they_are",
    ),
    _m(
        "binding: D7 no block is fitted again",
        "replearn.binding.blocks_to_check",
        condition('S == "off"', "True"),
        "tests/binding/test_estimator.py::test_a_counter_in_the_class_is_a_failed_condition",
    ),
    _m(
        "binding: D7 no block is fitted in a fresh process",
        "replearn.binding.refit_condition",
        condition("A or B or C or not may_have_state(D)", "True"),
        "tests/binding/test_estimator.py::test_what_a_process_sets_anew_is_a_failed_condition",
    ),
    _m(
        "binding: D8 weights are taken for groups",
        "replearn.learners.PointwiseReplicableClassifier.fit",
        positional("groups"),
        "tests/learners/test_pointwise_refusals.py::"
        "test_weights_are_refused_and_not_taken_for_groups",
    ),
    _m(
        "binding: D8 versions are not compared",
        "replearn.guarantees._compare_estimators",
        change("{N for N in A.versions if N in B.versions}", "set()"),
        "tests/guarantees/test_comparison.py::test_what_differs_decides_the_answer",
    ),
    _m(
        "binding: D8 a column that numbers the rows is not found",
        "replearn.binding._numbers_rows",
        change("N < M", "N > 0"),
        f"{BOUND}::test_an_index_in_any_order_is_found",
    ),
    _m(
        "binding: D9 keys of heavy hitters are keys already",
        "replearn.heavy.find_heavy_hitters",
        change("SharedKey(K)", "K"),
        "tests/heavy/test_keys.py",
    ),
    _m(
        "binding: D9 secret keys are pickled in silence",
        "replearn.randomness.SharedKey.__reduce__",
        condition("not K._pickles", "False"),
        "tests/randomness/test_key.py::test_a_secret_key_is_pickled_with_a_warning_unless_allowed",
    ),
    _m(
        "binding: D9 texts in another form are not counted",
        "replearn.binding._text_counts",
        change('not unicodedata.is_normalized("NFC", T)', "False"),
        f"{BOUND}::test_texts_in_another_form_are_other_points",
    ),
    _m(
        "binding: G1 both runs share seeds and blocks of whole models",
        "replearn.learners.key_of_blocks",
        condition('P.task == "pointwise"', "P.task"),
        f"{MASSES}::test_seeds_of_two_whole_models_are_independent",
    ),
    _m(
        "binding: G2 rows are held out one by one",
        "replearn.learners.held_out",
        change("sample_order(K, X, Y)", "K.order(X, Y)"),
        f"{MASSES}::test_rows_held_out_by_two_runs_are_independent",
    ),
    _m(
        "binding: G3 windows are promised for any number of runs",
        "replearn.guarantees.votes._assumptions",
        condition("P and R.runs == 2 and H", "P and H"),
        "tests/adversarial/statistical/test_rolling_windows.py::"
        "test_what_is_not_proved_is_not_on_the_certificate",
    ),
    _m(
        "binding: E1 the incumbent is not compared",
        "replearn.guarantees.comparison._incumbent_items",
        body("return {}"),
        f"{KEPT}::test_other_incumbents_and_bands_are_not_comparable",
    ),
    _m(
        "binding: E1 the band is not on the certificate",
        "replearn.learners.IncumbentClassifier._certify",
        change("N.band", "0.0"),
        f"{KEPT}::test_other_incumbents_and_bands_are_not_comparable",
    ),
    _m(
        "binding: E1 an incumbent that cannot be bound is taken for any other",
        "replearn.learners.IncumbentClassifier._certify",
        change("(*A.unbound, *B)", "A.unbound"),
        f"{KEPT}::test_a_model_that_cannot_be_bound_leaves_it_unknown",
    ),
    _m(
        "binding: E1 bytes of chance are bound",
        "replearn.binding.digests._array_head",
        change("repack_fields(D)", "D"),
        f"{BOUND}::test_bytes_between_the_fields_of_an_array_are_not_bound",
    ),
    _m(
        "binding: E2 multiplicities refute nothing",
        "replearn.binding.sample._say_multiplicities",
        condition("A > B", "True"),
        f"{COPIES}::test_copies_are_found[frame-ten times]",
    ),
    _m(
        "binding: E2 equal rows as such are refuted",
        "replearn.binding.sample._say_multiplicities",
        condition("A > B", "A > 0.0"),
        f"{COPIES}::test_equal_rows_of_discrete_tables_refute_nothing",
    ),
    _m(
        "binding: E2 classes are not looked at one by one",
        "replearn.binding.sample.copied_rows",
        change('_say_multiplicities("rows of one class", ...)', "None"),
        f"{COPIES}::test_copies_are_found[frame-one class twice]",
    ),
    _m(
        "binding: E2 an oversampled class is not found",
        "replearn.binding.sample._copies_of_unique_cells",
        condition("not A or ...", "True"),
        f"{COPIES}::test_copies_are_found[frame-oversampled]",
    ),
    _m(
        "binding: E2 repeated points with two labels are copies",
        "replearn.binding.sample._has_unique_cells",
        condition("A and B", "A"),
        f"{COPIES}::test_equal_rows_of_discrete_tables_refute_nothing",
    ),
    _m(
        "binding: E2 jitter hides copies",
        "replearn.binding.sample.copy_conditions",
        change("jittered_rows(A, B)", "None"),
        f"{COPIES}::test_jittered_copies_are_found",
    ),
    _m(
        "binding: E2 panels are not found",
        "replearn.binding.sample.copy_conditions",
        change("repeated_column(A, B)", "None"),
        f"{COPIES}::test_a_panel_is_found_and_groups_are_proposed",
    ),
    _m(
        "binding: E2 names of persons are not read",
        "replearn.binding.sample.repeated_persons",
        condition("A or not B", "A or B"),
        f"{COPIES}::test_ids_of_persons_are_known_by_their_names",
    ),
    _m(
        "binding: E2 ids of a file are not looked at",
        "replearn.cli._inputs.check_dependence",
        condition("A is None", "True"),
        "tests/cli/test_inputs_dependent_rows.py::"
        "test_nothing_is_guaranteed_for_several_rows_of_one_person[dropped]",
    ),
    _m(
        "binding: E2 copies in large files are torn apart",
        "replearn.outofcore.look.Look._keep_part",
        change("self._part_hashes(A, B)", "np.arange(len(rows), dtype=np.uint64) << 61"),
        "tests/outofcore/test_look.py::test_copies_are_found_in_a_part_of_the_rows",
    ),
    _m(
        "binding: E2 rows of a person are torn apart in large files",
        "replearn.outofcore.look.Look._count_values",
        change("_value_hashes(C)", "_content_hashes(features)"),
        "tests/outofcore/test_look.py::test_persons_are_found_in_a_part_of_the_rows",
    ),
    _m(
        "binding: E2 small changes hide copies in large files",
        "replearn.outofcore.look.Look.failed_conditions",
        change("A or B or self._near_rows()", "A or B"),
        "tests/outofcore/test_look.py::"
        "test_copies_with_small_changes_are_found_in_a_part_of_the_rows",
    ),
    _m(
        "binding: E2 numbers of rows that stand together are not looked at",
        "replearn.binding.sample._repeated_numbers",
        condition("A or B < C", "True"),
        f"{COPIES}::test_an_index_of_persons_or_of_rows",
    ),
    _m(
        "binding: D4 bins of equal counts are no mark",
        "replearn.binding.sample.mark_of_bins",
        change("A <= math.log(_BINS_ALARM)", "False"),
        "tests/binding/test_sample_marks.py::test_bins_of_equal_counts_are_a_mark",
    ),
    _m(
        "binding: D4 bins of another lab need no proviso",
        "replearn.guarantees.comparison._are_codes",
        change("all(A)", "False"),
        "tests/binding/test_probe.py::test_bins_may_be_those_of_each_lab",
    ),
    _m(
        "binding: runs without a promise are comparable",
        "replearn.guarantees.comparison.compare",
        change("identity.failed_conditions", "()"),
        "tests/guarantees/test_comparison.py::"
        "test_without_a_promise_it_is_unknown_whether_runs_are_comparable",
    ),
    _m(
        "binding: E2 copies of varied numbers are not looked for",
        "replearn.binding.sample.jittered_rows",
        change("_say_near_rows(A, B, C, D)", "None"),
        f"{COPIES}::test_jittered_copies_are_found_whatever_their_numbers",
    ),
    _m(
        "binding: E2 near rows with two labels are copies",
        "replearn.binding.sample._say_near_rows",
        condition("A < B * N", "False"),
        f"{COPIES}::test_jittered_copies_are_found_whatever_their_numbers",
    ),
    _m(
        "binding: an error in a check certifies",
        "replearn.binding.choices.choice_conditions",
        change("sample_conditions(A) + B", "sample_conditions(A)"),
        "tests/binding/test_choices.py::test_an_error_in_a_check_certifies_nothing[search-TypeError]",
    ),
    _m(
        "binding: E2 groups are called copies",
        "replearn.binding.sample.copy_conditions",
        condition("A is not None or B", "B"),
        f"{COPIES}::test_a_panel_is_found_and_groups_are_proposed",
    ),
    _m(
        "binding: E2 ways back are not counted",
        "replearn.bounds.repeats.log_repeat_tail",
        change("gammaln(more + A + 1) - gammaln(more + 1)", "0.0"),
        "tests/bounds/test_repeats.py::test_draws_from_any_population_have_no_small_tail",
    ),
    _m(
        "binding: E3 rows are not scored alone",
        "replearn.binding.estimator.batch_condition",
        condition("A is None or not B", "True"),
        f"{LEARNER}::test_predictions_that_depend_on_the_batch_are_a_failed_condition",
    ),
    _m(
        "binding: E3 functions of scikit-learn are trusted with the batch",
        "replearn.binding.estimator",
        change("may_have_state(A) or takes_functions(B)", "may_have_state(A)"),
        f"{LEARNER}::test_predictions_that_depend_on_the_batch_are_a_failed_condition",
    ),
    _m(
        "binding: E3 files that are read are not named",
        "replearn.binding.estimator",
        condition("not A or B != 'open'", "True"),
        f"{LEARNER}::test_files_that_are_read_leave_it_unknown",
    ),
    _m(
        "binding: E3 a fresh process has the same hashes of texts",
        "replearn.binding.estimator.predictions_elsewhere",
        change("{**E, 'PYTHONPATH': P, 'PYTHONHASHSEED': H}", "{**E, 'PYTHONPATH': P}"),
        f"{LEARNER}::test_hashes_of_texts_are_other_ones_in_the_fresh_process",
    ),
    _m(
        "binding: E4 edited packages have the version of others",
        "replearn.binding.digests",
        change("A if edited else V", "V"),
        f"{PACKAGES}::test_an_edited_package_has_another_version",
    ),
    _m(
        "binding: E4 files of another size are as installed",
        "replearn.binding.digests",
        condition("A and B.st_mtime <= C", "B.st_mtime <= C"),
        f"{PACKAGES}::test_an_edited_package_has_another_version",
    ),
    _m(
        "binding: E4 every file that was touched is edited",
        "replearn.binding.digests",
        change("None if A == B.hash else C", "C"),
        f"{PACKAGES}::test_a_file_that_was_only_touched_is_as_installed",
    ),
    _m(
        "binding: E5 a rho that is not delivered is not mentioned",
        "replearn.learners.ScoreReplicableClassifier.fit",
        change("warn_if_above_budget(C)", "None"),
        f"{SCORE}::test_a_rho_that_is_not_delivered_is_warned_about",
    ),
    _m(
        "binding: E5 four blocks know as much as many",
        "replearn.learners.score_rule",
        change("stdtr(N - 1, D)", "stdtr(10**6 * N, D)"),
        f"{SCORE}::test_few_blocks_do_not_know_that_a_flip_is_very_unlikely",
        f"{SCORE}::test_a_fresh_mean_of_few_normal_blocks_crosses_as_often_as_told",
    ),
    _m(
        "binding: E6 rounded rows are scored in silence",
        "replearn.learners.inputs.keyed_points",
        change("_warn_if_rounded(A, B)", "None"),
        "tests/learners/test_inputs_rounded.py::test_rounded_rows_are_warned_about",
    ),
    _m(
        "binding: E6 rounded training rows are taken for unrounded ones",
        "replearn.learners.inputs",
        change("C['steps'].get(SHORT) == 0 and R", "R"),
        "tests/learners/test_inputs_rounded.py::test_rounded_training_rows_allow_rounded_ones",
    ),
    _m(
        "binding: E7 ids of probes are not compared",
        "replearn.guarantees.probe",
        condition("A.ids != B.ids", "False"),
        "tests/binding/test_probe.py::test_ids_that_differ_are_found",
    ),
]
