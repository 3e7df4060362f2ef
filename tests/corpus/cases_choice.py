"""Learners that choose: a cut, a rule, a configuration, a model; and few shared bits."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from replearn import plan

from . import tables
from .calls import Facts, fit_pointwise, plan_choice
from .calls_choice import (
    few_bits_facts,
    fit_few_bits,
    fit_realizable,
    fit_search,
    fit_selector,
    fit_semi,
    fit_threshold,
    follow_choice_plan,
    planned_rows,
    realizable_facts,
    regressor_facts,
    search_facts,
    selector_facts,
    semi_facts,
    threshold_facts,
)
from .cases_rules import BOXES, CLASSES, pair_of_columns

DEPTHS = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 10]}


def threshold() -> Facts:
    table = tables.answers()
    return threshold_facts(fit_threshold(table, feature=5), table.new)


def threshold_of_one_direction() -> Facts:
    table = tables.answers()
    model = fit_threshold(table, feature=1, direction="<=", rho=0.3, gamma=0.3, alpha=0.3)
    return threshold_facts(model, table.new)


def threshold_with_ties_and_scale() -> Facts:
    table = tables.digits(3, 8)
    return threshold_facts(fit_threshold(table, feature=26, sharpness=80.0), table.new)


def threshold_of_planned_rows() -> Facts:
    table = tables.answers()
    made = plan("thresholds", n=300)
    return threshold_facts(fit_threshold(table, feature=-1, plan=made), table.new)


def threshold_certified() -> Facts:
    table = tables.many(360)
    model = fit_threshold(table, direction="<=", rho=0.3, gamma=0.3, alpha=0.3)
    return threshold_facts(model, table.new)


def semi_certified() -> Facts:
    table = tables.many(150)
    model = fit_semi(table, CLASSES["thresholds"], pool=table.X[:427], rho=0.3, alpha=0.3)
    return semi_facts(model, table.new)


def realizable_certified() -> Facts:
    table = tables.many(50)
    clear = tables.Table(table.X, table.X[:, 0] <= 25.0, table.new, None)
    return realizable_facts(fit_realizable(clear, CLASSES["thresholds downwards"]), table.new)


def plan_of_a_selector_followed() -> Facts:
    table = tables.many(5)
    rules = {"small": lambda X: (X[:, 0] < 25).astype(int), "none": lambda X: np.zeros(len(X), int)}
    made = plan_choice("selector", n_hypotheses=2, rho=0.3, alpha=0.3)
    return selector_facts(follow_choice_plan(table, "selector", made, rules), table.new)


def semi_stumps() -> Facts:
    table = tables.answers()
    return semi_facts(fit_semi(table, pool=table.new), table.new)


def semi_of_each_class() -> Facts:
    table = pair_of_columns()
    facts: Facts = {}
    for name in ("stumps", "boxes", "conjunctions"):
        model = fit_semi(table, CLASSES[name], pool=table.new[:9], rho=0.3, alpha=0.3)
        facts |= {f"{name}: {item}": value for item, value in semi_facts(model, table.new).items()}
    return facts


def semi_with_candidates() -> Facts:
    table = pair_of_columns()
    made = plan("semi", n=350, d=1)
    return semi_facts(fit_semi(table, candidates=BOXES, plan=made), table.new)


def realizable() -> Facts:
    table = tables.tumours()
    return realizable_facts(fit_realizable(table, rho=0.5, gamma=0.8), table.new)


def realizable_that_holds() -> Facts:
    table = tables.tumours()
    cut = tables.Table(table.X, table.X[:, 0] > 14, table.new, None)
    return realizable_facts(fit_realizable(cut, rho=0.5, gamma=0.8), table.new)


def realizable_with_a_classifier() -> Facts:
    table = tables.answers()
    model = fit_realizable(table, DecisionTreeClassifier(max_depth=9), max_error_limit=1.0)
    return realizable_facts(model, table.new)


def realizable_of_planned_rows() -> Facts:
    table = pair_of_columns()
    kept = planned_rows(table, 120)  # a plan has a limit of its own
    model = fit_realizable(kept, CLASSES["boxes"], max_error_limit=0.9)
    return realizable_facts(model, table.new)


def few_bits() -> Facts:
    table = tables.answers()
    model = fit_few_bits(table, GaussianNB(), n_blocks=8, n_candidates=5)
    return few_bits_facts(model, table.new)


def few_bits_for_each_point() -> Facts:
    table = tables.answers()
    model = fit_few_bits(
        # the sharpness of the choice is ln(n_candidates / beta) / alpha: here 9
        table,
        DecisionTreeClassifier(max_depth=3),
        n_blocks=6,
        gamma=None,
        alpha=np.log(160) / 9,
    )
    return few_bits_facts(model, table.new)


def few_bits_of_planned_rows() -> Facts:
    table = tables.answers()
    base = make_pipeline(StandardScaler(), LogisticRegression())
    kept = planned_rows(table, 200)  # no plan has so few blocks
    model = fit_few_bits(kept, base, n_blocks=4, n_candidates=3, test_share=0.5)
    return few_bits_facts(model, table.new)


def search_by_folds() -> Facts:
    table = tables.answers()
    return search_facts(fit_search(table, DecisionTreeClassifier(), DEPTHS, cv=3), table.new)


def search_then_votes() -> Facts:
    table = tables.answers()
    tree = DecisionTreeClassifier()
    blocks = fit_pointwise(table, tree, n_blocks=6, n_partitions=1)
    model = fit_search(table, tree, {"max_depth": [1, 3]}, cv=2, refit=blocks)
    return search_facts(model, table.new)


def selector() -> Facts:
    table = tables.tumours()
    models = {
        "radius": lambda X: (X[:, 0] < 15).astype(int),
        "texture": lambda X: (X[:, 1] < 20).astype(int),
        "all good": lambda X: np.ones(len(X), dtype=int),
        "trained": GaussianNB().fit(table.new, table.truth),
    }
    return selector_facts(fit_selector(table, models), table.new)


def selector_of_planned_rows() -> Facts:
    table = tables.answers()
    half = len(table.new) // 2
    models = {
        f"depth {depth}": DecisionTreeClassifier(max_depth=depth, random_state=0).fit(
            table.new[:half], table.truth[:half]
        )
        for depth in (1, 2, 5)
    }
    made = plan("selection", n=333, n_hypotheses=3, rho=0.4, alpha=0.4)
    return selector_facts(fit_selector(table, models, plan=made), table.new)


def regressor() -> Facts:
    settings = {"resolution": 20.0, "y_range": (10.0, 70.0), "n_blocks": 12}
    return regressor_facts(tables.tumours(), DecisionTreeRegressor(max_depth=3), **settings)
