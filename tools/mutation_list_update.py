"""Ways to break the comparison of two models, each with the tests that must notice."""

from tools.mutation_base import mutation as _m
from tools.mutation_edits import body, change, condition

LIMITS = "tests/auditing/test_row_limits.py"
GROUPS = "tests/auditing/test_group_flips.py"
COMPARISON = "tests/auditing/test_comparison.py"

UPDATE = [
    _m(
        "compare: groups of rows are ignored by limits",
        "replearn.auditing._row_limits.RowLimits.share",
        condition("self.groups is None", "True"),
        f"{LIMITS}::test_one_group_shows_nearly_nothing",
    ),
    _m(
        "compare: few groups with an event need no wider limits",
        "replearn.auditing._row_limits._strict_upper",
        body("return value"),
        f"{LIMITS}::test_limits_over_groups_miss_at_most_as_often_as_they_say",
    ),
    _m(
        "compare: p-values of groups are not corrected",
        "replearn.auditing._group_flips.holm",
        body("return list(p_values)"),
        f"{GROUPS}::test_tests_of_groups_are_fishers_twice_the_smaller_tail",
    ),
    _m(
        "compare: joint limits are those of one group",
        "replearn.auditing._group_flips.subgroup_flips",
        change("A.delta / len(B)", "A.delta"),
        f"{GROUPS}::test_counts_of_groups_and_intersections",
    ),
    _m(
        "compare: subgroups with few groups of rows are tested",
        "replearn.auditing._group_flips._clustered_p_value",
        condition("min(A, B) < MIN_CLUSTERS", "False"),
        f"{GROUPS}::test_few_groups_of_rows_are_not_tested",
    ),
    _m(
        "compare: the number of changed rows is taken as known",
        "replearn.auditing._paired_tests.exact_difference",
        change("map(float, A)", "[n_changed / n_rows] * 2"),
        f"{COMPARISON}::test_few_changed_rows_have_exact_limits",
    ),
    _m(
        "compare: both sides of the threshold are approved above",
        "replearn.auditing._swap_sets._passes",
        body("return scores >= threshold"),
        f"{COMPARISON}::test_swap_sets",
    ),
    _m(
        "compare: scores outside [0, 1] pass",
        "replearn.auditing._model_outputs._checked_scores",
        condition("len(B)", "False"),
        f"{COMPARISON}::test_bad_input_is_named",
    ),
    _m(
        "compare: rows that must not change may change",
        "replearn.auditing.gate._golden_set",
        change("len(A)", "0"),
        f"{COMPARISON}::test_every_gate",
    ),
    _m(
        "compare: the worst subgroup is not the judged one",
        "replearn.auditing.gate._worst_subgroup",
        change("max(A, key=B)", "min(A, key=B)"),
        f"{COMPARISON}::test_every_gate",
    ),
]
