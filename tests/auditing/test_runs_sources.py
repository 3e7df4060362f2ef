"""Where changes come from: sources whose truth is known are attributed, others are not."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replearn import SharedKey
from replearn.auditing import audit
from replearn.auditing._checks import MIN_RATE
from replearn.auditing._runs import SOURCES, n_repeats
from replearn.auditing._statistics import mean_limits

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 4))
Y = (X[:, 0] + RNG.normal(size=3000) > 0).astype(int)
SEED_SHARE = (1 - 0.9**0.5) / 2
"""Two runs that each turn so many predictions round differ in 5 %."""


class Signs(ClassifierMixin, BaseEstimator):
    """Predicts the sign of the first column; subclasses depend on one thing more."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.column_ = 0
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, self.column_] > 0).astype(int)]


class Seeded(Signs):
    def __init__(self, random_state=None):
        self.random_state = random_state

    def predict(self, X):
        turned = SharedKey(str(self.random_state)).uniforms(np.asarray(X)) < SEED_SHARE
        return np.where(turned, 1 - super().predict(X), super().predict(X))


class FirstRow(Signs):
    """The column that is largest in the first row."""

    def fit(self, X, y):
        super().fit(X, y)
        self.column_ = int(np.asarray(X)[0].argmax())
        return self


class FirstColumn(Signs):
    """Whatever column comes first."""


def rates(estimator, *, table=X, **options):
    options = {"contenders": ["baseline"], "n_pairs": 20, "sources": True, **options}
    result = audit(estimator, table, Y, n_jobs=1, **options)
    return result, {source.name: result.source_rate(source.name) for source in result.sources}


def test_a_seed_that_changes_five_percent():
    result, found = rates(Seeded(random_state=3))
    assert found["seed"].lower <= 0.05 <= found["seed"].upper
    assert found["seed"].upper < 0.1
    others = set(SOURCES) - {"seed", "column order"}  # points of other columns have other hashes
    assert all(found[name].value == 0 for name in others)
    [finding] = [f for f in result.findings if f.code == "RPL015"]
    assert finding.status == "found"
    assert "only the seed changes" in " ".join(finding.explanations)


def test_an_estimator_that_depends_on_the_order_of_the_rows():
    _, found = rates(FirstRow(), contenders=["baseline", "bagging"])
    assert found["row order"].value > 0.05
    assert found["seed"].value == found["number of threads"].value == 0


@pytest.mark.parametrize("as_frame", [False, True])
def test_an_estimator_that_depends_on_the_order_of_the_columns(as_frame):
    table = pd.DataFrame(X).add_prefix("x") if as_frame else X
    _, found = rates(FirstColumn(), table=table)
    assert found["column order"].value > 0.2
    assert found["row order"].value == found["seed"].value == 0


def test_nothing_is_attributed_where_only_the_data_matter():
    result, found = rates(LogisticRegression(tol=1e-10, max_iter=1000))
    assert set(found) == set(SOURCES)
    assert all(estimate.value == 0 for estimate in found.values())
    [finding] = [f for f in result.findings if f.code == "RPL015"]
    assert finding.status == "passed"


def test_columns_by_index_keep_their_order():
    scaled = ColumnTransformer([("scaled", StandardScaler(), [0, 1])], remainder="drop")
    _, found = rates(make_pipeline(scaled, LogisticRegression()), n_pairs=2)
    assert "column order" not in found
    boosting = HistGradientBoostingClassifier(categorical_features=[3], max_iter=2)
    table = np.column_stack([X[:, :3], RNG.integers(0, 4, len(X))])
    _, found = rates(boosting, table=table, n_pairs=2)
    assert "column order" not in found


def test_numbers_change_by_the_tolerance_or_more():
    values = X[:, 0] + RNG.normal(size=len(X))
    options = {"tolerance": 0.3, "n_pairs": 2, "contenders": ["baseline"], "n_jobs": 1}
    result = audit(RandomForestRegressor(3), X, values, sources=True, **options)
    assert result.source_rate("seed").value > 0.05
    assert result.source_rate("number of threads").value == 0


@pytest.mark.parametrize("n_pairs", [2, 3, 7, 20, 50])
@pytest.mark.parametrize("n_contenders", [1, 2, 5, 9])
def test_sources_take_a_fifth_of_the_trainings_at_most(n_pairs, n_contenders):
    repeats = n_repeats(n_pairs, n_contenders)
    assert repeats <= 5 or len(SOURCES) * repeats <= 0.2 * 2 * n_pairs * n_contenders
    assert min(5, n_pairs) <= repeats <= n_pairs


def test_when_sources_are_measured():
    options = {"contenders": ["baseline"], "n_pairs": 2, "n_jobs": 1}
    assert audit(Signs(), X, Y, **options).sources
    assert not audit(Signs(), X, Y, sources=False, **options).sources
    short = audit(Signs(), X, Y, time_budget=600, **options)
    assert not short.sources
    with pytest.raises(KeyError, match="no source 'seed'"):
        short.source_rate("seed")
    assert audit(Signs(), X, Y, time_budget=600, sources=True, **options).sources


def test_reports_show_the_sources():
    result, found = rates(FirstColumn(), n_pairs=2)
    assert [item["name"] for item in result.to_dict()["sources"]] == list(found)
    for text in (result.to_text(details=True), result.to_markdown(), result.to_html()):
        assert "column order" in text
        assert "all rows are new" in text
    assert "Only this changes" not in result.to_text()
    plain, _ = rates(Signs(), n_pairs=2, sources=False)
    assert 'id="sources"' not in plain.to_html()


def test_the_number_of_workers_changes_nothing():
    one, two = (
        audit(Seeded(), X, Y, contenders=["baseline"], n_pairs=2, n_jobs=n).to_dict(timings=False)
        for n in (1, 2)
    )
    assert one["sources"] == two["sources"]


class Bare:
    """No parameters, and a copy of its own: all that `clone` requires."""

    def __sklearn_clone__(self):
        return Bare()

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


def test_an_estimator_without_parameters_is_audited_without_sources():
    result, found = rates({"bare": Bare()}, n_pairs=2, contenders=None)
    assert result.flip_rate("bare").value == 0
    assert not found


def test_pairs_are_kept_when_sources_are_interrupted(interrupt_after):
    options = {"contenders": ["baseline"], "n_pairs": 2, "n_jobs": 1, "on_interrupt": "return"}
    interrupt_after(3)
    result = audit(Signs(), X, Y, **options)
    assert result.interrupted
    assert result.design.n_pairs == 2
    assert [source.name for source in result.sources] == ["seed"]  # there is none to change
    assert "not everything besides the pairs was run: it was interrupted" in result.cut_short
    interrupt_after(3)
    with pytest.raises(KeyboardInterrupt):
        audit(Signs(), X, Y, **{**options, "on_interrupt": "raise"})


def test_repetitions_are_kept_in_the_folder(interrupt_after, tmp_path):
    options = {"contenders": ["baseline"], "n_pairs": 2, "n_jobs": 1}
    whole = audit(Seeded(), X, Y, **options)
    interrupt_after(5)
    with pytest.raises(KeyboardInterrupt):
        audit(Seeded(), X, Y, resume=tmp_path, **options)
    done = interrupt_after(99)
    again = audit(Seeded(), X, Y, resume=tmp_path, **options)
    assert len(done) == 2 + 4 * 2 - 5
    assert again.to_json(timings=False) == whole.to_json(timings=False)


def test_repetitions_that_were_finished_are_reported(interrupt_after):
    options = {"contenders": ["baseline", "bagging"], "n_pairs": 20, "n_jobs": 1}
    interrupt_after(40 + 5 + 5 + 5 + 3)  # threads are the last source
    result = audit(Seeded(), X, Y, on_interrupt="return", **options)
    assert [len(source.flips) for source in result.sources] == [5, 5, 5, 3]


class LastRows(Signs):
    """Stochastic gradient descent on a mean: the last rows count most."""

    RATE = 0.2

    def fit(self, X, y):
        super().fit(X, y)
        self.cut_ = 0.0
        for value in np.asarray(X)[-60:, 0]:
            self.cut_ += self.RATE * (value - self.cut_)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > self.cut_).astype(int)]


def order_truth():
    """Share of predictions that differ if the rows are in another order.

    The cut is a mean with weights that fall by a fifth from row to row: its variance is RATE /
    (2 - RATE), and the last rows of two orders of a long sample hardly overlap.
    """
    spread = (LastRows.RATE / (2 - LastRows.RATE)) ** 0.5
    cuts = stats.norm.ppf((np.arange(400) + 0.5) / 400) * spread
    return np.abs(stats.norm.cdf(cuts)[:, None] - stats.norm.cdf(cuts)).mean()


@pytest.mark.long
@pytest.mark.parametrize(
    ("estimator", "name", "truth"),
    [(Seeded(), "seed", 0.05), (LastRows(), "row order", order_truth())],
)
def test_limits_of_sources_cover_the_truth(estimator, name, truth):
    """At the stated rate of 95 %, with five repetitions; false-alarm rate of the test 1e-8."""
    n_files = 120
    covered = 0
    for file in range(n_files):
        rng = np.random.default_rng(file)
        table = rng.normal(size=(2500, 1))
        options = {"contenders": ["baseline"], "n_pairs": 5, "n_jobs": 1, "shared_key": file}
        options |= {"test_size": 400, "verbose": -1, "subgroups": None}
        result = audit(estimator, table, rng.integers(0, 2, 2500), **options)
        rate = result.source_rate(name)
        covered += rate.lower <= truth <= rate.upper
        others = [s.flips.any() for s in result.sources if s.name not in (name, "column order")]
        assert not any(others)  # nothing is attributed to what does not matter
    assert stats.binom.cdf(covered, n_files, 0.95) > 1e-8


@pytest.mark.long
def test_rare_changes_are_attributed_at_most_at_the_stated_rate():
    """A seed at the border of what is worth a finding: it is found in at most 5 % of the files."""
    n_files = 300
    found = 0
    for file in range(n_files):
        rng = np.random.default_rng(file)
        # Changes come in bursts: one repetition in ten changes 1 % of the rows.
        flips = (rng.random((5, 2000)) < 0.01) * (rng.random((5, 1)) < 0.1)
        rate = mean_limits(flips.astype(float), 0.05 / len(SOURCES))
        found += rate.lower > MIN_RATE
    assert stats.binom.sf(found - 1, n_files, 0.05) > 1e-8
