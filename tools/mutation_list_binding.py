"""Ways to make a certificate vouch for what it should not: docs/honesty.md, row by row."""

from tools.mutation_base import mutation as _m

BOUND = "tests/binding/test_binding.py"
MASSES = "tests/binding/test_point_masses.py"
KEPT = "tests/learners/test_incumbent.py"

BINDING = [
    _m(
        "binding: D1 equal rows refute no bound on masses",
        "binding/point_masses.py",
        "    if lower <= assumed:\n",
        "    if lower <= 1.0:\n",
        f"{MASSES}::test_discrete_data_are_not_certified_and_told_why",
    ),
    _m(
        "binding: D2 sketches of columns are not compared",
        "guarantees/points.py",
        "    found = [text for one, two in pairs for text in _column(one, two, width)]\n",
        "    found: list[str] = []\n",
        f"{BOUND}::test_points_that_differ_are_not_comparable[months]",
    ),
    _m(
        "binding: D2 names of columns are not compared",
        "guarantees/points.py",
        '    if here["columns"] != there["columns"]:\n',
        "    if False:\n",
        f"{BOUND}::test_points_that_differ_are_not_comparable[header]",
    ),
    _m(
        "binding: D3 fitted parts are taken",
        "binding/learner.py",
        "    if bound.fitted:\n",
        "    if False:\n",
        f"{BOUND}::test_fitted_parts_are_refused",
    ),
    _m(
        "binding: D3 what a function closes over is not bound",
        "binding/digests.py",
        "        cells = value.__closure__ or ()\n",
        "        cells: tuple[Any, ...] = ()\n",
        f"{BOUND}::test_what_a_function_closes_over_is_bound",
    ),
    _m(
        "binding: D4 marks of a transformer are not looked for",
        "binding/marks.py",
        "        return say_mark(_mark(X))\n",
        "        return say_mark(None)\n",
        f"{BOUND}::test_what_stands_in_front_is_a_failed_condition[scaler]",
    ),
    _m(
        "binding: D4 probes are not compared",
        "guarantees/probe.py",
        "    return tuple(found), unknowns\n",
        "    return (), unknowns\n",
        "tests/binding/test_probe.py::test_what_leaves_no_mark_in_a_table",
    ),
    _m(
        "binding: D5 the pool is not bound",
        "binding/choices.py",
        'pool="" if pool is None else pool_digest(pool)',
        'pool=""',
        f"{BOUND}::test_pools_are_bound_whatever_their_order",
    ),
    _m(
        "binding: D6 candidates are bound by name only",
        "binding/choices.py",
        "bind({name: bound.digest for name, bound in bounds.items()}).digest",
        "bind(sorted(map(str, bounds))).digest",
        f"{BOUND}::test_candidates_are_bound_by_what_they_are",
    ),
    _m(
        "binding: D7 no block is fitted again",
        "binding/learner.py",
        '    if os.environ.get(SWITCH, "").lower() == "off":\n',
        "    if True:\n",
        "tests/binding/test_learner.py::test_a_counter_in_the_class_is_a_failed_condition",
    ),
    _m(
        "binding: D7 no block is fitted in a fresh process",
        "binding/learner.py",
        "    if not places or here or bound.digest in _KNOWN or not may_have_state(bound):\n",
        "    if True:\n",
        "tests/binding/test_learner.py::test_what_a_process_sets_anew_is_a_failed_condition",
    ),
    _m(
        "binding: D8 weights are taken for groups",
        "learners/pointwise.py",
        "y: ArrayLike, *, groups: ArrayLike | None = None):",
        "y: ArrayLike, groups: ArrayLike | None = None):",
        "tests/learners/test_pointwise_refusals.py::"
        "test_weights_are_refused_and_not_taken_for_groups",
    ),
    _m(
        "binding: D8 versions are not compared",
        "guarantees/comparison.py",
        "    known = {name for name in mine.versions if name in yours.versions}\n",
        "    known: set[str] = set()\n",
        "tests/guarantees/test_identity.py::test_what_differs_decides_the_answer",
    ),
    _m(
        "binding: D8 a column that numbers the rows is not found",
        "binding/schema.py",
        "    if n < _FEWEST_NUMBERED or column.ndim != 1 or",
        "    if n > 0 or column.ndim != 1 or",
        f"{BOUND}::test_an_index_in_any_order_is_found",
    ),
    _m(
        "binding: D9 keys of heavy hitters are keys already",
        "heavy/heavy_hitters.py",
        "    key = SharedKey(key)\n",
        "",
        "tests/heavy/test_keys.py",
    ),
    _m(
        "binding: D9 secret keys are pickled in silence",
        "randomness/key.py",
        "        if not self._pickles:\n",
        "        if False:\n",
        "tests/randomness/test_key.py::test_a_secret_key_is_pickled_with_a_warning_unless_allowed",
    ),
    _m(
        "binding: D9 texts in another form are not counted",
        "binding/schema.py",
        'not unicodedata.is_normalized("NFC", text)',
        "False",
        f"{BOUND}::test_texts_in_another_form_are_other_points",
    ),
    _m(
        "binding: G1 both runs share seeds and blocks of whole models",
        "learners/planning.py",
        '    if plan.task == "pointwise":\n        return key\n',
        "    if plan.task:\n        return key\n",
        f"{MASSES}::test_seeds_of_two_whole_models_are_independent",
    ),
    _m(
        "binding: G2 rows are held out one by one",
        "learners/finite_randomness.py",
        'sample_order(key.child("hold out"), X, codes)',
        'key.child("hold out").order(X, codes)',
        f"{MASSES}::test_rows_held_out_by_two_runs_are_independent",
    ),
    _m(
        "binding: G3 windows are promised for any number of runs",
        "guarantees/votes.py",
        "and request.runs == 2 and design.heavy is None:\n        codes.append",
        "and design.heavy is None:\n        codes.append",
        "tests/statistical/test_rolling_windows.py::"
        "test_what_is_not_proved_is_not_on_the_certificate",
    ),
    _m(
        "binding: E1 the incumbent is not compared",
        "guarantees/comparison.py",
        "        **_incumbent_items(identity),\n",
        "",
        f"{KEPT}::test_other_incumbents_and_bands_are_not_comparable",
    ),
    _m(
        "binding: E1 the band is not on the certificate",
        "learners/incumbent.py",
        '            "band": float(self.band),\n',
        '            "band": 0.0,\n',
        f"{KEPT}::test_other_incumbents_and_bands_are_not_comparable",
    ),
    _m(
        "binding: E1 an incumbent that cannot be bound is taken for any other",
        "learners/incumbent.py",
        "for text in bound.unbound",
        "for text in ()",
        f"{KEPT}::test_a_model_that_cannot_be_bound_leaves_it_unknown",
    ),
    _m(
        "binding: E1 bytes of chance are bound",
        "binding/digests.py",
        "        if value.dtype.names is not None:\n",
        "        if False:\n",
        f"{BOUND}::test_bytes_between_the_fields_of_an_array_are_not_bound",
    ),
]
