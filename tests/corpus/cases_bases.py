"""The same votes with many base learners: each may have a fast way of its own to train and vote."""

from __future__ import annotations

from typing import Any

from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from replearn.tables.encoder import TableEncoder

from . import tables
from .calls import Facts, fit_pointwise, vote_facts
from .fingerprint import close, within

SHARED = ("labels", "answered by", "thresholds")  # no base learner decides them
SCALED = make_pipeline(StandardScaler(), LogisticRegression())
SOLVER_TOLERANCE = 1e-8
# The objective, a mean over the m rows of a block, is 1/m-strongly convex (C = 1). A solver that
# stops when no component of its gradient exceeds tol is therefore within m * sqrt(d + 1) * tol of
# the minimum, and a probability within a quarter of that times the norm of the row: 33 rows of 64
# pixels with norms up to 74 give 5e-5 on any machine. (Five machines were within 2e-9.)
SOLVED = 1e-4
# One less than the default, with the same trees on these tables: the default becomes 63 in small
# blocks, and where bins hold several values, their ends depend on the version of scikit-learn.
BINS = 254


def _votes(table: tables.Table, base: Any, n_blocks: int = 8, **settings: Any) -> Facts:
    model = fit_pointwise(table, base, n_blocks=n_blocks, n_partitions=1, **settings)
    facts = vote_facts(model, table.new)
    return {name: fact for name, fact in facts.items() if name not in SHARED}


def default_learner() -> Facts:
    return _votes(tables.digits(3, 8), None)


def logistic_regression() -> Facts:
    return _votes(tables.digits(3, 8), LogisticRegression(max_iter=500))


def logistic_regression_three_classes() -> Facts:
    return _votes(tables.digits(3, 5, 8), LogisticRegression(max_iter=500), 5)


def logistic_regression_soft() -> Facts:
    base = LogisticRegression(max_iter=5000, tol=SOLVER_TOLERANCE)
    return within(SOLVED, _votes(tables.digits(3, 8), base, vote="soft"))


def scaled_logistic_regression() -> Facts:
    return _votes(tables.answers(), SCALED)


def scaled_logistic_regression_soft() -> Facts:
    base = make_pipeline(StandardScaler(), LogisticRegression(tol=SOLVER_TOLERANCE))
    return within(SOLVED, _votes(tables.answers(), base, vote="soft"))


def scaled_logistic_regression_three_classes() -> Facts:
    return _votes(tables.wines(), SCALED, 5)


def decision_tree() -> Facts:
    return _votes(tables.answers(), DecisionTreeClassifier(max_depth=4))


def decision_tree_with_chance() -> Facts:
    return _votes(tables.answers(), DecisionTreeClassifier(max_features=2), n_blocks=9)


def decision_tree_of_whole_numbers() -> Facts:
    return _votes(tables.discrete(), DecisionTreeClassifier(), 12)


def decision_tree_soft() -> Facts:
    return _votes(tables.answers(), DecisionTreeClassifier(max_depth=3), vote="soft")


def random_forest() -> Facts:
    return _votes(tables.answers(), RandomForestClassifier(7, max_depth=4), 5)


def extra_trees() -> Facts:
    return _votes(tables.flowers(), ExtraTreesClassifier(5), 4)


def gaussian_bayes() -> Facts:
    return _votes(tables.answers(), GaussianNB())


def bernoulli_bayes() -> Facts:
    return _votes(tables.digits(3, 5, 8), BernoulliNB(binarize=7.5))


def bernoulli_bayes_two_classes() -> Facts:
    return _votes(tables.digits(3, 8), BernoulliNB(binarize=7.5), 12)


def gaussian_bayes_of_three_classes_soft() -> Facts:
    return _votes(tables.wines(), GaussianNB(), 5, vote="soft")


def bernoulli_bayes_soft() -> Facts:
    return _votes(tables.digits(3, 8), BernoulliNB(binarize=7.5), vote="soft")


def multinomial_bayes() -> Facts:
    return _votes(tables.digits(3, 8), MultinomialNB())


def histogram_boosting() -> Facts:
    base = HistGradientBoostingClassifier(
        max_iter=8, max_leaf_nodes=4, min_samples_leaf=5, max_bins=BINS
    )
    return _votes(tables.answers(), base, 6)


def histogram_boosting_three_classes() -> Facts:
    base = HistGradientBoostingClassifier(
        max_iter=4, max_leaf_nodes=4, min_samples_leaf=5, max_bins=BINS
    )
    return _votes(tables.wines(), base, 4)


def histogram_boosting_constant() -> Facts:
    base = HistGradientBoostingClassifier(max_iter=3, max_bins=BINS)
    return _votes(tables.answers(), base, 16, small_blocks="keep")


def histogram_boosting_soft() -> Facts:
    return _votes(tables.answers(), BOOSTED, 6, vote="soft")


def gradient_boosting() -> Facts:
    return _votes(tables.answers(), GradientBoostingClassifier(n_estimators=5), 4)


def ridge() -> Facts:
    return _votes(tables.answers(), make_pipeline(StandardScaler(), RidgeClassifier()))


def linear_support_vectors() -> Facts:
    return _votes(tables.answers(), make_pipeline(StandardScaler(), LinearSVC()), 6)


def stochastic_gradient() -> Facts:
    return _votes(tables.answers(), make_pipeline(StandardScaler(), SGDClassifier(tol=None)), 5)


def nearest_neighbours() -> Facts:
    return _votes(tables.answers(), KNeighborsClassifier(3), 6)


def mean_of_two_learners() -> Facts:
    base = VotingClassifier([("a", SCALED), ("b", GaussianNB())], voting="soft")
    return _votes(tables.answers(), base, 4)


def most_frequent_label() -> Facts:
    return _votes(tables.answers(), DummyClassifier())


def mixed_columns() -> Facts:
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer(
        (numbers, ["radius", "visits"]),
        (OneHotEncoder(handle_unknown="ignore"), ["town", "grade", "smoker"]),
    )
    return _votes(tables.mixed(), make_pipeline(columns, LogisticRegression()), 6)


def mixed_columns_with_a_tree() -> Facts:
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["town", "grade"]),
        ("passthrough", ["visits", "radius"]),
    )
    return _votes(tables.mixed(), make_pipeline(columns, DecisionTreeClassifier(max_depth=5)), 6)


LEVELS = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
CODES = OrdinalEncoder(
    handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
)
BOOSTED = HistGradientBoostingClassifier(
    max_iter=5, max_leaf_nodes=4, min_samples_leaf=5, max_bins=BINS
)


def mixed_codes_with_trees() -> Facts:
    columns = make_column_transformer((CODES, ["town", "grade"]), ("passthrough", ["visits"]))
    return _votes(tables.mixed(), make_pipeline(columns, DecisionTreeClassifier(max_depth=5)), 6)


def mixed_levels_with_boosting() -> Facts:
    columns = make_column_transformer((LEVELS, ["town", "grade"]), ("passthrough", ["radius"]))
    return _votes(tables.mixed(), make_pipeline(columns, BOOSTED), 5)


def mixed_levels_with_boosting_soft() -> Facts:
    columns = make_column_transformer((LEVELS, ["town", "grade"]), ("passthrough", ["radius"]))
    return _votes(tables.mixed(), make_pipeline(columns, BOOSTED), 5, vote="soft")


def mixed_codes_linear() -> Facts:
    columns = make_column_transformer(
        (MinMaxScaler(), ["visits"]),
        (make_pipeline(SimpleImputer(strategy="median"), MaxAbsScaler()), ["radius"]),
        (CODES, ["town"]),
    )
    return _votes(tables.mixed(), make_pipeline(columns, LogisticRegression()), 6)


def best_columns() -> Facts:
    base = make_pipeline(MinMaxScaler(), SelectKBest(k=3), LogisticRegression())
    return _votes(tables.answers(), base, 6)


def encoded_table_linear() -> Facts:
    return _votes(tables.mixed(), make_pipeline(TableEncoder(), LogisticRegression()), 6)


def encoded_table_trees() -> Facts:
    tree = HistGradientBoostingClassifier(
        max_iter=5, max_leaf_nodes=4, min_samples_leaf=5, max_bins=BINS
    )
    return _votes(tables.mixed(), make_pipeline(TableEncoder(for_trees=True), tree), 5)


def encoded_table_by_itself() -> Facts:
    table = tables.mixed()
    return {
        "for linear models": close(TableEncoder().fit(table.X).transform(table.new)),
        "for trees": TableEncoder(for_trees=True).fit(table.X).transform(table.new),
        "few levels": close(TableEncoder(most_levels=2).fit(table.X).transform(table.new)),
    }


def counted_words() -> Facts:
    return _votes(tables.texts(), make_pipeline(CountVectorizer(), MultinomialNB()), 6)
