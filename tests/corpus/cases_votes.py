"""Learners whose blocks vote: pointwise and approximate, with all their settings."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from . import tables
from .calls import (
    Facts,
    fit_approximate,
    fit_pointwise,
    follow_plan,
    plan,
    promised_vote_facts,
)

SMALL = {"n_blocks": 12, "n_partitions": 1}


def _pointwise(table: tables.Table, base: object = None, **settings: object) -> Facts:
    model = fit_pointwise(table, base or GaussianNB(), **{**SMALL, **settings})
    return promised_vote_facts(model, table.new)


def two_classes_hard() -> Facts:
    return _pointwise(tables.tumours())


def labels_in_words() -> Facts:
    return _pointwise(tables.answers())


def blocks_from_rho() -> Facts:
    return _pointwise(tables.answers(), n_blocks=None, rho=0.2, max_fits=60)


def soft_votes() -> Facts:
    return _pointwise(tables.answers(), vote="soft")


def soft_votes_of_several_partitions() -> Facts:
    return _pointwise(tables.answers(), vote="soft", n_partitions=3)


def decision_threshold() -> Facts:
    return _pointwise(tables.answers(), threshold=0.2, pos_label="yes")


def decision_threshold_of_each_block() -> Facts:
    return _pointwise(tables.answers(), threshold="prevalence", n_partitions=2)


def decision_threshold_soft() -> Facts:
    return _pointwise(tables.answers(), threshold=(1, 4), pos_label="yes", vote="soft")


def several_partitions() -> Facts:
    return _pointwise(tables.answers(), n_partitions=4)


def three_classes() -> Facts:
    return _pointwise(tables.flowers(), n_blocks=6)


def three_classes_soft() -> Facts:
    return _pointwise(tables.wines(), n_blocks=6, vote="soft")


def three_classes_several_partitions() -> Facts:
    return _pointwise(tables.wines(), n_blocks=6, n_partitions=3)


def ten_classes() -> Facts:
    tree = DecisionTreeClassifier(max_depth=6)
    return _pointwise(tables.digits(*range(10)), tree, n_blocks=5)


def one_class_only() -> Facts:
    table = tables.flowers()
    first = table.y == table.y[0]
    only = tables.Table(table.X[first], table.y[first], table.new, table.truth)
    named = {"n_blocks": 4, "classes": sorted(set(table.y))}  # a sample that lacks the others
    return {"answers": fit_pointwise(only, GaussianNB(), **named).predict(only.new)}


def classes_given() -> Facts:
    return _pointwise(tables.answers(), classes=["yes", "no", "unknown"])


def law_uniform() -> Facts:
    return _pointwise(tables.answers(), law="uniform")


def law_uniform_of_width_one() -> Facts:
    return _pointwise(tables.answers(), law="uniform", width=1.0)


def law_arcsine_of_given_width() -> Facts:
    return _pointwise(tables.answers(), law="arcsine", width=0.5)


def law_of_a_table() -> Facts:
    given = plan(n=427, n_blocks=12, width=0.7).design.law
    return _pointwise(tables.answers(), law=given, n_blocks=12)


def another_key() -> Facts:
    return _pointwise(tables.answers(), shared_key=20260101)


def rounded_points() -> Facts:
    return _pointwise(tables.answers(), decimals=1)


def ids_as_points() -> Facts:
    table = tables.answers()
    ids = 100 + np.arange(len(table.new)) * 3
    return promised_vote_facts(fit_pointwise(table, GaussianNB(), **SMALL), table.new, points=ids)


def groups() -> Facts:
    table = tables.answers()
    together = np.arange(len(table.y)) * 7 % 150
    model = fit_pointwise(table, GaussianNB(), groups=together, **SMALL)
    return promised_vote_facts(model, table.new)


def order_of_the_file() -> Facts:
    table = tables.answers()
    turned = tables.Table(table.X[::-1], table.y[::-1], table.new, table.truth)
    return promised_vote_facts(fit_pointwise(turned, GaussianNB(), **SMALL), table.new)


def sparse_rows() -> Facts:
    table = tables.digits(3, 8)
    rows = tables.Table(sparse.csr_array(table.X), table.y, sparse.csr_array(table.new), None)
    return _pointwise(rows, DecisionTreeClassifier(max_depth=3), n_blocks=5)


def plan_with_surplus_rows() -> Facts:
    table = tables.answers()
    made = plan(n=400, rho=0.2, classes=["no", "yes"], max_fits=40)
    return promised_vote_facts(follow_plan(table, made, GaussianNB()), table.new)


def repeated_rows_without_a_stage() -> Facts:
    return _pointwise(tables.discrete(), DecisionTreeClassifier(max_depth=3))


def approximate() -> Facts:
    table = tables.answers()
    settings = {"rho": 0.5, "gamma": 0.6, "n_partitions": 1}
    return promised_vote_facts(fit_approximate(table, GaussianNB(), **settings), table.new)


def approximate_by_the_direct_route() -> Facts:
    table = tables.answers()
    settings = {"rho": 0.4, "gamma": 0.5, "n_blocks": 14, "n_partitions": 2}
    return promised_vote_facts(fit_approximate(table, GaussianNB(), **settings), table.new)


def approximate_by_the_pointwise_route() -> Facts:
    table = tables.answers()
    settings = {"rho": 0.4, "gamma": 0.5, "n_partitions": 1, "max_fits": 20}
    return promised_vote_facts(fit_approximate(table, GaussianNB(), **settings), table.new)


def approximate_with_atoms() -> Facts:
    table = tables.discrete()
    settings = {"rho": 0.5, "gamma": 0.9, "max_point_mass": 0.1, "n_blocks": 12, "n_partitions": 1}
    tree = DecisionTreeClassifier(max_depth=3)
    return promised_vote_facts(fit_approximate(table, tree, **settings), table.new)


def approximate_soft() -> Facts:
    table = tables.answers()
    settings = {"rho": 0.5, "gamma": 0.6, "n_blocks": 10, "n_partitions": 1, "vote": "soft"}
    return promised_vote_facts(fit_approximate(table, GaussianNB(), **settings), table.new)


def approximate_of_three_classes() -> Facts:
    table = tables.wines()
    settings = {"rho": 0.5, "gamma": 0.9, "n_blocks": 5, "n_partitions": 1}
    return promised_vote_facts(fit_approximate(table, GaussianNB(), **settings), table.new)


def approximate_plan_followed() -> Facts:
    table = tables.answers()
    made = plan("approximate", n=420, rho=0.5, gamma=0.7, n_partitions=1)
    model = follow_plan(table, made, GaussianNB())
    return promised_vote_facts(model, table.new)
