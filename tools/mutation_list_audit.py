"""Ways to break the judgement of an audit, each with the tests that must notice."""

from tools.mutation_base import mutation as _m
from tools.mutation_edits import body, change, condition

JUDGEMENT = "tests/auditing/test_judgement.py"
RECOMMENDED = f"{JUDGEMENT}::test_what_is_recommended_is_worth_it_or_the_baseline"
TIME = "tests/auditing/test_time.py"
EXPLANATION = "tests/auditing/test_contender_results_explanation.py"
REGRESSION = "tests/auditing/test_audit_regression.py"

AUDIT = [
    _m(
        "audit: a fixed seed is no seed",
        "replearn.auditing._runs._prepared",
        condition("job.seed_key is not None", "False"),
        "tests/auditing/test_runs_sources.py::test_a_seed_that_changes_five_percent",
    ),
    _m(
        "audit: columns change their order in one of two tables",
        "replearn.auditing._runs._changed",
        change("_take_columns(job.points, columns)", "job.points"),
        "tests/auditing/test_runs_sources.py::test_nothing_is_attributed_where_only_the_data_matter",
    ),
    _m(
        "audit: sources are looked at twice",
        "replearn.auditing._runs.n_repeats",
        change("max(MIN_REPEATS, A)", "max(2, A)"),
        "tests/auditing/test_runs_sources.py::test_sources_take_a_fifth_of_the_trainings_at_most",
    ),
    _m(
        "audit: shares of new rows are compared with the second run",
        "replearn.auditing._runs.PairOutcome.against_first",
        change("A[[0, run]]", "A[[1, run]]"),
        "tests/auditing/test_audit_new_rows.py::test_several_shares_are_those_of_single_audits",
    ),
    _m(
        "audit: rows in time order are shuffled",
        "replearn.auditing._time.TimeDesign.order",
        condition("shuffle == 0", "False"),
        f"{TIME}::test_drift_is_told_from_noise",
    ),
    _m(
        "audit: models are tested on a period that they have learned from",
        "replearn.auditing._time.TimeDesign.test",
        change("A + B + 1", "A + B"),
        f"{TIME}::test_windows_move_in_time_and_are_tested_on_the_period_after",
    ),
    _m(
        "audit: equal times are in two periods",
        "replearn.auditing._time.make_time_design",
        change("np.unique(A[B])", "np.unique(np.ceil(wanted).astype(np.intp))"),
        f"{TIME}::test_windows_move_in_time_and_are_tested_on_the_period_after",
    ),
    _m(
        "audit: limits of retrainings do not hold together",
        "replearn.auditing._time.TimeResult.in_time",
        change("delta / len(A)", "delta"),
        f"{TIME}::test_limits_are_exact_for_the_models_that_were_trained",
    ),
    _m(
        "audit: more accuracy than shuffled is drift",
        "replearn.auditing._time.TimeResult.accuracy_p_value",
        change("accuracies <= accuracies[0]", "accuracies >= accuracies[0]"),
        "tests/auditing/test_checks.py::test_rpl018_less_accurate_in_time_order",
    ),
    _m(
        "audit: fewer changes than shuffled are drift",
        "replearn.auditing._time.TimeResult.p_value",
        change("A >= B", "A <= B"),
        f"{TIME}::test_drift_is_told_from_noise",
    ),
    _m(
        "audit: columns of either run count as shared",
        "replearn.auditing._contender_results.ExplanationRuns.summary",
        change("A[:, 0] & A[:, 1]", "A[:, 0] | A[:, 1]"),
        f"{EXPLANATION}::test_overlap_and_ranks_by_hand",
    ),
    _m(
        "audit: limits of a grid hold for each setting alone",
        "replearn.auditing._audit.Measurement.delta_of",
        body("return self.delta"),
        "tests/auditing/test_audit_grid.py::test_limits_of_settings_hold_at_once",
    ),
    _m(
        "audit: the representative is the model farthest from the mean",
        "replearn.auditing._contenders.RepresentativeClassifier.fit",
        change("A.argmin()", "A.argmax()"),
        "tests/auditing/test_audit_grid.py::test_the_representative_is_the_model_nearest_to_the_mean",
    ),
    _m(
        "audit: any price is worth it",
        "replearn.auditing._judgement._outcome",
        change("WORTH_IT if C else COSTLY", "WORTH_IT"),
        RECOMMENDED,
    ),
    _m(
        "audit: fewer changes need not be shown",
        "replearn.auditing._judgement._outcome",
        condition("difference.upper >= 0", "False"),
        RECOMMENDED,
    ),
    _m(
        "audit: a constant prediction is compared",
        "replearn.auditing._statistics.Usefulness.undecided",
        body("return False"),
        "tests/auditing/test_statistics_usefulness.py::test_a_constant_is_never_recommended",
    ),
    _m(
        "audit: a model that ranks rows is called useless",
        "replearn.auditing._statistics.Usefulness.ranks",
        body("return False"),
        f"{JUDGEMENT}::test_no_model_at_all_is_said_only_if_ranking_is_no_better_than_chance",
    ),
    _m(
        "audit: accuracy leads where a class is rare",
        "replearn.auditing._contender_results.ClassifierResult.has_rare_class",
        body("return False"),
        f"{JUDGEMENT}::test_risk_leads_where_a_class_is_rare",
    ),
    _m(
        "audit: events are never too few",
        "replearn.auditing._judgement.Risk.too_few_events",
        body("return False"),
        f"{JUDGEMENT}::test_risk_leads_where_a_class_is_rare",
    ),
    _m(
        "audit: many columns and contenders hide a subgroup",
        "replearn.auditing._checks._subgroup_flips_more",
        change("A / (B * len(C))", "A / (400 * B * len(C))"),
        f"{JUDGEMENT}::test_a_subgroup_is_found_however_many_columns_and_contenders",
    ),
    _m(
        "audit: contenders that were left out are not named",
        "replearn.auditing._audit._not_measured",
        body("return ()"),
        "tests/auditing/test_budget.py::test_the_dearest_contender_is_left_out",
    ),
    _m(
        "audit: every difference of a rounded value counts as a change",
        "replearn.auditing._contender_results.RegressorResult.flips",
        change("max(1, A)", "1"),
        f"{REGRESSION}::test_a_coarse_tolerance_counts_steps_of_a_fine_grid",
    ),
    _m(
        "audit: bagging without the thresholds of its models",
        "replearn.auditing._contenders.SmallBagging.predict",
        condition("len(A) < len(B)", "True"),
        "tests/auditing/test_audit_threshold.py::test_bagging_takes_the_thresholds_of_its_models",
    ),
    _m(
        "audit: rows are drawn by their position",
        "replearn.cli.audit._drawn",
        body("return list(range(n_rows))"),
        "tests/cli/test_audit_time_budget.py::test_the_order_of_the_file_does_not_matter",
    ),
]
