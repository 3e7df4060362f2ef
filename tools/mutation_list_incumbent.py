"""Ways to remember, keep, drop or decide wrongly."""

from tools.mutation_base import mutation as _m
from tools.mutation_edits import body, change, condition

CHAIN = "tests/learners/test_incumbent_chain.py"
BUDGET = "tests/learners/test_incumbent_budget.py"
MEMORY = "tests/learners/test_incumbent_chain_memory.py"
KEPT = "tests/learners/test_incumbent.py"
RATES = "tests/bounds/test_incumbent.py"

INCUMBENT = [
    _m(
        "incumbent: old and new weights exchanged",
        "replearn.learners.incumbent_chain.mix",
        change("M * R + (1.0 - M) * N", "(1.0 - M) * R + M * N"),
        f"{CHAIN}::test_the_replay_is_the_rule_at_every_point",
    ),
    _m(
        "incumbent: an unknown label is kept",
        "replearn.learners.incumbent_chain.keep",
        change("K & ~C", "~C"),
        f"{CHAIN}::test_an_unknown_label_is_not_kept",
    ),
    _m(
        "incumbent: the start is dropped with the oldest",
        "replearn.learners.incumbent_chain.Chain.bounded",
        change("Chain(S, R)", "Chain(self.newest, R)"),
        f"{CHAIN}::test_what_dropping_changes_is_counted_and_bounded",
    ),
    _m(
        "incumbent: chains grow",
        "replearn.learners.incumbent_chain.Chain.bounded",
        change("R[-MAX_RETRAININGS:]", "R"),
        f"{CHAIN}::test_what_dropping_changes_is_counted_and_bounded",
    ),
    _m(
        "incumbent: nothing is forgotten after a reset",
        "replearn.learners.incumbent_chain.Chain.extended",
        condition("M == 0.0 and B == 0.0", "False"),
        f"{CHAIN}::test_a_retraining_without_memory_and_band_starts_again",
    ),
    _m(
        "incumbent: scores of other units are mixed",
        "replearn.learners.incumbent_chain.replay_scores",
        change("A if N == B else C", "A"),
        f"{CHAIN}::test_scores_in_other_units_are_not_mixed",
    ),
    _m(
        "incumbent: the weight of what is dropped is not counted",
        "replearn.learners.incumbent_chain.Chain.dropped_weight",
        condition("P >= MAX_RETRAININGS", "P > MAX_RETRAININGS"),
        f"{CHAIN}::test_what_dropping_changes_is_counted_and_bounded",
    ),
    _m(
        "incumbent: one change more than a batch may have",
        "replearn.learners.incumbent_retraining.choose_changes",
        condition("N + 1 > C", "N > C"),
        f"{BUDGET}::test_a_batch_never_exceeds_a_budget",
    ),
    _m(
        "incumbent: the rate moves by one more",
        "replearn.learners.incumbent_retraining._balanced",
        condition("abs(N + D) > R", "abs(N) > R"),
        f"{BUDGET}::test_a_batch_never_exceeds_a_budget",
    ),
    _m(
        "incumbent: ties at the band change",
        "replearn.learners.incumbent_retraining.budget_band",
        change("A > B", "A >= B"),
        f"{BUDGET}::test_the_band_is_the_smallest_that_keeps_the_budget",
    ),
    _m(
        "incumbent: after a change a loss must be shown for every setting",
        "replearn.learners.incumbent_chain.choose_setting",
        condition("F.value <= M", "True"),
        f"{MEMORY}::test_after_a_change_it_is_as_good_as_plain_retraining",
    ),
    _m(
        "incumbent: limits of a loss half as wide",
        "replearn.learners.incumbent_chain._jackknife",
        change("np.sqrt(A * B)", "np.sqrt(A * B) / 2.0"),
        f"{MEMORY}::test_limits_cover_the_loss",
    ),
    _m(
        "incumbent: few rows show as much as many",
        "replearn.learners.incumbent_chain.shows_loss",
        change("N < MIN_DIFFERENT_ROWS", "False"),
        f"{MEMORY}::test_few_rows_must_show_more",
    ),
    _m(
        "incumbent: expected losses are not looked at",
        "replearn.learners.incumbent_chain.choose_setting",
        condition("M is None and R.score is not None", "False"),
        f"{MEMORY}::test_expected_losses_of_several_classes",
    ),
    _m(
        "incumbent: all errors cost the same at every threshold",
        "replearn.learners.incumbent_chain.error_costs",
        change("np.array([2.0 * T, 2.0 * (1.0 - T)])", "np.ones(2)"),
        f"{MEMORY}::test_a_change_is_seen_at_a_low_threshold",
    ),
    _m(
        "incumbent: a certificate is lost without a word",
        "replearn.learners.IncumbentClassifier._warn_if_lost",
        condition('C.verdict == "not certified"', "True"),
        f"{MEMORY}::test_a_certificate_is_not_lost_without_a_warning",
    ),
    _m(
        "incumbent: after an alarm a loss must be shown again",
        "replearn.learners.incumbent_chain.choose_setting",
        change("cautious and L > M", "False"),
        f"{MEMORY}::test_after_an_alarm_the_longest_memory_must_not_lose",
    ),
    _m(
        "incumbent: new rows that do not fit are no alarm",
        "replearn.learners.incumbent_chain.Errors.grew_to",
        change("C < ALARM_RATE", "False"),
        f"{MEMORY}::test_new_rows_that_do_not_fit_are_an_alarm",
    ),
    _m(
        "incumbent: an incumbent that falls is trusted",
        "replearn.learners.incumbent_retraining._fell",
        body("return False"),
        f"{MEMORY}::test_an_incumbent_that_falls_is_not_trusted",
    ),
    _m(
        "incumbent: half of a window is remembered",
        "replearn.learners.incumbent_retraining._cross_fitted",
        change("options.since_drift + 1 < N", "False"),
        f"{MEMORY}::test_a_window_waits_until_a_change_has_passed",
    ),
    _m(
        "incumbent: folds of neighbouring rows",
        "replearn.learners.incumbent_retraining.interleaved_folds",
        change("A % n_folds", "A * n_folds // max(1, len(rows))"),
        f"{MEMORY}::test_folds_have_rows_of_every_month",
    ),
    _m(
        "incumbent: what the sample decides is certified",
        "replearn.learners.IncumbentClassifier._certify",
        condition("O.from_data", "False"),
        f"{MEMORY}::test_a_certificate_is_not_lost_without_a_warning",
    ),
    _m(
        "incumbent: the memory is not on the certificate",
        "replearn.learners.IncumbentClassifier._certify",
        change("N.memory", "0.0"),
        f"{KEPT}::test_other_incumbents_and_bands_are_not_comparable",
    ),
    _m(
        "incumbent: the threshold of the estimator is dropped",
        "replearn.learners.IncumbentClassifier._threshold_in_force",
        change("fitted_threshold(self.estimator_)", "None"),
        f"{KEPT}::test_thresholds_of_estimator_and_incumbent_are_taken_over",
    ),
    _m(
        "incumbent: a secret key is written to the file",
        "replearn.persistence.save",
        change('"certificate_" not in D and A is None', '"certificate_" not in D'),
        "tests/learners/test_incumbent_regressor.py::test_a_secret_key_stays_out_of_the_file",
    ),
    _m(
        "incumbent: a score travels half as far",
        "replearn.bounds.score_travel",
        change("(1.0 - M) * math.sqrt(V)", "0.5 * (1.0 - M) * math.sqrt(V)"),
        f"{RATES}::test_the_travel_of_independent_samples_is_the_closed_form",
    ),
    _m(
        "incumbent: a change travels four bands",
        "replearn.bounds.remembered_change_rate",
        change("T / (2.0 * B)", "T / (4.0 * B)"),
        f"{RATES}::test_remembered_scores_change_no_more_often_than_the_bound",
    ),
    _m(
        "incumbent: the lag of the memory is forgotten",
        "replearn.bounds.drift_lag",
        change("B / S + M / (1.0 - M)", "B / S"),
        f"{RATES}::test_lag_of_a_steady_change_by_recursion",
    ),
]
