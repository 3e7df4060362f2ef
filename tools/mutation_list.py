"""Ways to break a guarantee, each with the tests of the default suite that must notice."""

from tools.mutation_base import ENUMERATED, FITTED, SEPARATE, SURPLUS, TWINS, Mutation
from tools.mutation_base import mutation as _m
from tools.mutation_list_binding import BINDING
from tools.mutation_list_bounds import BOUNDS, CERTIFICATES, PRIVACY

# -- what is shared, and what it is keyed by -------------------------------------------------------
KEYS = [
    _m(
        "threshold not shared",
        "learners/vote.py",
        "        return key.uniforms(points)\n",
        "        return np.random.default_rng().random(len(points))\n",
        FITTED,
    ),
    _m(
        "threshold keyed by position",
        "learners/vote.py",
        "        return key.uniforms(points)\n",
        "        return key.uniforms(np.arange(len(points)))\n",
        FITTED,
    ),
    _m(
        "one threshold for all points",
        "learners/vote.py",
        "        return key.uniforms(points)\n",
        "        return np.repeat(key.uniforms([0]), len(points))\n",
        FITTED,
    ),
    _m(
        "threshold from the learner's own key",
        "learners/pointwise.py",
        'key.child("vote"), *fitted',
        "key, *fitted",
        FITTED,
    ),
    _m(
        "fresh key per run for the seeds",
        "learners/pointwise.py",
        'own.child("seed", *place)',
        'SharedKey.generate().child("seed", *place)',
        f"{SEPARATE}::test_seeds_belong_to_block_and_partition_and_are_shared_by_runs",
    ),
    _m(
        "seed reused across partitions",
        "learners/pointwise.py",
        'own.child("seed", *place)',
        'own.child("seed", place[1])',
        f"{SEPARATE}::test_seeds_belong_to_block_and_partition_and_are_shared_by_runs",
    ),
    _m(
        "one partition repeated",
        "execution/partition.py",
        'key.child("partition", number)',
        'key.child("partition", 0)',
        "tests/execution/test_partition.py::test_key_partition_number_and_labels_matter",
    ),
    _m(
        "rows cut by position",
        "execution/partition.py",
        "    order = partition_key.order(points, y)\n",
        "    order = np.arange(len(points))\n",
        "tests/execution/test_partition.py::test_blocks_are_disjoint_equal_and_drop_the_surplus",
    ),
    _m(
        "label left out of the hash",
        "execution/partition.py",
        "    order = partition_key.order(points, y)\n",
        "    order = partition_key.order(points)\n",
        "tests/execution/test_partition.py::test_blocks_are_disjoint_equal_and_drop_the_surplus",
    ),
    _m(
        "occurrence number dropped",
        "randomness/key.py",
        "return hash_occurrences(derive(self._secret, Purpose.ORDER), row_hashes, counted)",
        "return row_hashes",
        "tests/randomness/test_keyed_randomness.py::test_every_order_is_equally_likely",
    ),
    _m(
        "blocks overlap",
        "execution/partition.py",
        "        return list(order[: n_blocks * block_size].reshape(n_blocks, block_size))\n",
        "        return [order[t : t + block_size] for t in range(n_blocks)]\n",
        "tests/execution/test_partition.py::test_blocks_are_disjoint_equal_and_drop_the_surplus",
    ),
    _m(
        "surplus spread over blocks of unequal size",
        "execution/partition.py",
        "        return list(order[: n_blocks * block_size].reshape(n_blocks, block_size))\n",
        "        return np.array_split(order, n_blocks)\n",
        "tests/execution/test_partition.py::test_blocks_are_disjoint_equal_and_drop_the_surplus",
    ),
    _m(
        "surplus key does not know the number of rows",
        "learners/planning.py",
        'key.child("surplus", available)',
        'key.child("surplus")',
        SURPLUS,
    ),
    _m(
        "surplus left out by position",
        "learners/planning.py",
        "surplus.order(points, sample.codes)[: plan.n]",
        "np.arange(plan.n)",
        SURPLUS,
    ),
    _m(
        "whole models share the key of the blocks",
        "learners/planning.py",
        '    if plan.task == "pointwise":\n        return key\n',
        "    if plan.task:\n        return key\n",
        "tests/trust/test_separate_keys.py::"
        "test_a_promise_about_whole_models_has_seeds_of_its_own_for_each_sample",
    ),
    _m(
        "order of the file matters among rounded rows",
        "learners/planning.py",
        "    if plan.decimals is None and sample.groups is None and not sample.params:\n",
        "    if plan.n:\n",
        "tests/learners/test_pointwise.py::"
        "test_row_order_does_not_matter_where_rows_only_look_alike",
    ),
    _m(
        "children of a key forget their number",
        "randomness/key.py",
        'framed(purpose, "purpose")',
        'framed(purpose[:1], "purpose")',
        "tests/randomness/test_key.py::test_children_differ_unless_the_purpose_is_the_same",
    ),
    _m(
        "half of the bits of a threshold",
        "randomness/hashing.py",
        "np.multiply(hashes[rows] >> np.uint64(11), 2.0**-53, out=uniforms[rows])",
        "np.multiply(hashes[rows] >> np.uint64(12), 2.0**-53, out=uniforms[rows])",
        "tests/randomness/test_keyed_randomness.py::test_uniforms_are_uniform",
    ),
    _m(
        "candidates keyed by their place",
        "primitives/selection.py",
        'SharedKey(key).child("selection").hashes(points)',
        'SharedKey(key).child("selection").hashes(np.arange(len(scores)))',
        "tests/primitives/test_selection.py::test_the_choice_belongs_to_the_name_not_to_the_place",
    ),
    _m(
        "noise of a selection not shared",
        "primitives/selection.py",
        "    scores += gumbel_from_hashes(hashes)\n",
        "    scores += np.random.default_rng().gumbel(size=len(scores))\n",
        "tests/primitives/test_selection.py::test_the_choice_belongs_to_the_name_not_to_the_place",
    ),
    _m(
        "draws keyed by place",
        "primitives/correlated.py",
        'child.gumbels(as_points(candidates), ["draw"])',
        'child.gumbels(as_points(np.arange(len(weights))), ["draw"])',
        "tests/primitives/test_correlated.py::test_gumbels_by_place_break_the_agreement",
    ),
    _m(
        "limit of the best error not shared",
        "learners/realizable.py",
        'float(key.child("limit").uniforms([0])[0])',
        "float(np.random.default_rng().random())",
        f"{TWINS}::test_the_limit_of_the_best_error",
    ),
    _m(
        "levels of a line not shared",
        "primitives/quantiles.py",
        '    levels = key.child("level").uniforms(numbers)\n',
        "    levels = np.random.default_rng().random(len(numbers))\n",
        "tests/primitives/test_quantiles.py::test_similar_samples_draw_the_same_level",
    ),
    _m(
        "rows held out alike in both samples",
        "learners/finite_randomness.py",
        'sample_order(key.child("hold out"), X, codes)',
        'key.child("hold out").order(as_points(X), codes)',
        "tests/trust/test_separate_keys.py::test_rows_that_choose_are_drawn_anew_for_each_sample",
    ),
    _m(
        "grid of a regression not keyed by the point",
        "learners/regressor.py",
        'key.child("grid").uniforms(as_points(X if points is None else points))',
        "np.zeros(len(means))",
        f"{TWINS}::test_rounded_means",
    ),
]

# -- rules ----------------------------------------------------------------------------------------
RULES = [
    _m(
        "wrong side of the threshold",
        "learners/vote.py",
        "    return scaled * n_partitions < law_sums <<",
        "    return scaled * n_partitions >= law_sums <<",
        FITTED,
    ),
    _m(
        "a threshold of 0 overrules unanimous votes",
        "learners/vote.py",
        "    return scaled * n_partitions < law_sums <<",
        "    return scaled * n_partitions <= law_sums <<",
        "src:learners/vote.py",
    ),
    _m(
        "law table shifted by one vote",
        "learners/vote.py",
        "self.law.table[votes].sum",
        "self.law.table[np.minimum(votes + 1, self.law.n_blocks)].sum",
        FITTED,
    ),
    _m(
        "partitions summed, not averaged",
        "learners/vote.py",
        "    return scaled * n_partitions < law_sums <<",
        "    return scaled < law_sums <<",
        f"{TWINS}::test_several_partitions_are_averaged_after_the_law",
    ),
    _m(
        "votes averaged before the law",
        "learners/vote.py",
        "        return self.law.table[votes].sum(axis=1, dtype=np.int64)\n",
        "        mean = np.rint(votes.mean(axis=1)).astype(int)\n"
        "        return self.law.table[mean] * votes.shape[1]\n",
        "tests/learners/test_pointwise.py::test_the_rule_is_the_one_that_is_certified",
    ),
    _m(
        "clear majorities twice as clear",
        "bounds/multiclass.py",
        "np.minimum(0.5 - np.log(others) / 4.0, 1.0)",
        "np.minimum(0.5 - np.log(others) / 2.0, 1.0)",
        "tests/bounds/test_multiclass.py::"
        "test_two_runs_differ_by_at_most_a_quarter_of_the_sharpness_times_the_range",
    ),
    _m(
        "thresholds within half a width",
        "learners/score_rule.py",
        "self.half_width * (2.0 * key.uniforms(points) - 1.0)",
        "self.half_width * (key.uniforms(points) - 0.5)",
        "tests/learners/test_score_rule.py::test_flips_of_normal_scores_are_nominal_for_two_classes",
    ),
    _m(
        "band of the incumbent halved",
        "learners/incumbent.py",
        "evidence[every, place] > 2.0 * self.band",
        "evidence[every, place] > self.band",
        "tests/learners/test_incumbent.py::test_the_old_answer_stays_within_the_band",
    ),
    _m(
        "predictions beyond the range count",
        "learners/regressor.py",
        "            moved = np.clip(others, low, high) - first\n",
        "            moved = others - first\n",
        f"{TWINS}::test_predictions_beyond_the_range_count_as_its_ends",
    ),
    _m(
        "heavy stage removed",
        "learners/vote.py",
        "    if design.heavy is None:\n        return None\n    return fit_heavy",
        "    if design.n:\n        return None\n    return fit_heavy",
        "tests/heavy/test_heavy_stage.py::test_on_exactly_when_alpha_is_given",
    ),
    _m(
        "all labels of a heavy point in use",
        "heavy/label_rule.py",
        "        kept = keyed[place < n_labels[member]]\n",
        "        kept = keyed\n",
        "tests/heavy/test_labels.py::test_labels_flip_as_rarely_as_certified",
    ),
    _m(
        "labels and membership share a threshold",
        "heavy/label_rule.py",
        'key.child("heavy label")\n',
        'key.child("membership")\n',
        "tests/trust/test_separate_keys.py::"
        "test_labels_of_heavy_points_have_thresholds_of_their_own",
    ),
    _m(
        "membership by one occurrence more",
        "heavy/heavy_hitters.py",
        "below_levels(uniforms, law.table(counts, n)), uniforms",
        "below_levels(uniforms, law.table(counts + 1, n)), uniforms",
        f"{ENUMERATED}::test_membership_on_all_samples",
    ),
    _m(
        "a coin with a count of 0 may be called heads",
        "primitives/coins.py",
        "    return scaled < levels <<",
        "    return scaled <= levels <<",
        "src:primitives/coins.py",
    ),
]

MUTATIONS: list[Mutation] = [*KEYS, *RULES, *BOUNDS, *PRIVACY, *CERTIFICATES, *BINDING]
