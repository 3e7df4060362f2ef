"""Retraining in time order: drift is told from noise, and noise is called drift once in twenty."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from replearn import SharedKey
from replearn.auditing import audit
from replearn.auditing._time import N_SHUFFLES, TimeResult, make_time_design

KEY = SharedKey("time")
N = 1200
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
OPTIONS = {"contenders": ["baseline"], "n_pairs": 2, "n_jobs": 1, "sources": False, "verbose": -1}


class MeanCut(ClassifierMixin, BaseEstimator):
    """Predicts 1 above the mean of the sample: what it learns moves with the population."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.cut_ = np.asarray(X)[:, 0].mean()
        return self

    def predict(self, X):
        return (np.asarray(X)[:, 0] > self.cut_).astype(int)


def design_of(time, window="sliding", max_rows=10**9):
    time = np.asarray(time)
    return make_time_design(time, np.arange(len(time)), len(time), window, KEY, max_rows)


def status(result, code):
    [finding] = [finding for finding in result.findings if finding.code == code]
    return finding.status


@pytest.mark.parametrize("window", ["sliding", "growing"])
def test_windows_move_in_time_and_are_tested_on_the_period_after(window):
    time = np.random.default_rng(1).integers(0, 100, N)
    design = design_of(time, window)
    assert len(design.ends) == 12
    assert design.n_retrainings == 5
    assert design.n_trainings == 6 * (1 + N_SHUFFLES)
    for retraining in range(design.n_retrainings):
        old, new = (design.training(design.rows, retraining + step) for step in (0, 1))
        test = design.test(design.rows, retraining)
        assert time[old].max() < time[new].max() < time[test].min()
        assert (time[new].min() > time[old].min()) == (window == "sliding")
        assert len(np.unique(test)) == len(test) > 50
    starts = np.concatenate([[0], design.ends[:-1]])
    periods = [set(time[design.rows[a:b]]) for a, b in zip(starts, design.ends, strict=True)]
    assert sum(map(len, periods)) == len(set(time))  # equal times are in one period
    shuffled = design.order(1, KEY)
    assert sorted(shuffled) == sorted(design.rows)
    assert (shuffled != design.rows).any()


def test_years_of_different_sizes_and_a_limit_of_rows():
    years = np.repeat([2019, 2020, 2021, 2022, 2023], [100, 400, 300, 50, 350])
    design = design_of(years)
    assert 4 <= len(design.ends) <= 5
    assert design.last_values[-1] == "2023"
    assert len(design_of(years, max_rows=600).rows) == 600
    dates = np.datetime64("2026-01-01") + np.arange(N) % 60 * np.timedelta64(1, "D")
    assert design_of(dates).last_values[-1].startswith("2026-03-01")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time": np.arange(N) // 400}, "3 different values in .* 4 periods of 10 rows"),
        ({"time": np.zeros(N)}, "1 different values"),
        ({"time": np.arange(5)}, "time has shape"),
        ({"time": np.where(np.arange(N) == 3, np.nan, 1.0 * np.arange(N))}, "missing values"),
        ({"time": np.array([1, "a"] * (N // 2), dtype=object)}, "different types"),
        ({"time": np.arange(N), "window": "round"}, "window='round'"),
        ({"time": np.arange(N), "groups": np.arange(N) // 2}, "not supported with groups"),
    ],
)
def test_times_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        audit(GaussianNB(), X, Y, **OPTIONS, **options)


def test_drift_is_told_from_noise():
    time = np.arange(N)
    moving = X + np.outer(time / N, [3.0, 0.0])
    drifting = audit(MeanCut(), moving, Y, time=time, **OPTIONS)
    found = drifting.in_time_order
    assert found.p_value == 1 / (1 + N_SHUFFLES)
    assert found.in_time(0.05).lower > found.shuffled(0.05).upper
    assert status(drifting, "RPL016") == "found"
    growing = audit(MeanCut(), moving, Y, time=time, window="growing", **OPTIONS).in_time_order
    assert growing.rates[0] < found.rates[0]  # old rows hold the mean back
    for text in (drifting.to_text(), drifting.to_markdown(), drifting.to_html()):
        assert "drift adds" in " ".join(text.split())
    record = drifting.to_dict()["in_time_order"]
    assert [step["test_rows"] for step in record["retrainings"]] == found.n_test.tolist()
    shuffled = np.random.default_rng(1).permutation(N)
    still = audit(MeanCut(), moving, Y, time=shuffled, **OPTIONS)
    assert still.in_time_order.p_value > 1 / (1 + N_SHUFFLES)
    assert status(still, "RPL016") == "passed"
    assert "no changes by drift are shown" in " ".join(still.to_text().split())
    assert status(audit(MeanCut(), X, Y, **OPTIONS), "RPL016") == "not applicable"


def test_limits_are_exact_for_the_models_that_were_trained():
    design = design_of(np.arange(N))
    n_test = np.array([100, 100, 200])
    changed = np.array([[5, 10, 30], [1, 2, 3]], dtype=float)
    found = TimeResult(design, n_test, changed, changed)
    limits = [stats.beta.ppf([0.01, 0.99], [k, k + 1], [n - k + 1, n - k]) for k, n in
              zip(changed[0], n_test, strict=True)]  # fmt: skip
    lower, upper = np.average(limits, axis=0, weights=n_test)
    estimate = found.in_time(0.06)
    assert estimate.value == 45 / 400
    assert estimate.lower == pytest.approx(lower)
    assert estimate.upper == pytest.approx(upper)


def test_quantities_change_by_the_tolerance_or_more():
    values = X[:, 0] * (1 + np.arange(N) / 100)
    result = audit(LinearRegression(), X, values, tolerance=0.5, time=np.arange(N), **OPTIONS)
    assert result.in_time_order.p_value == 1 / (1 + N_SHUFFLES)
    assert result.to_dict()["in_time_order"]["retrainings"][0]["accuracy"] is None
    assert "Shuffled accuracy" not in result.to_text(details=True)


def test_trainings_are_kept_in_the_folder(tmp_path, interrupt_after):
    options = {**OPTIONS, "time": np.arange(N), "resume": tmp_path}
    interrupt_after(30)
    part = audit(GaussianNB(), X, Y, on_interrupt="return", **options)
    assert part.interrupted
    assert part.in_time_order.n_shuffles == 3  # 28 trainings are four times six, and four
    done = interrupt_after(999)
    whole = audit(GaussianNB(), X, Y, **options)
    assert len(done) == 2 + 120 - 30
    assert whole.in_time_order.n_shuffles == N_SHUFFLES
    del options["resume"]
    again = audit(GaussianNB(), X, Y, **options)
    assert again.to_json(timings=False) == whole.to_json(timings=False)


def test_what_had_no_time_is_named(interrupt_after):
    interrupt_after(5)
    options = {**OPTIONS, "on_interrupt": "return"}
    result = audit(GaussianNB(), X, Y, time=np.arange(N), **options)
    assert result.in_time_order is None
    assert "retraining in time order was not measured: it was interrupted" in result.cut_short


@pytest.mark.long
def test_noise_is_called_drift_at_most_once_in_twenty():
    """Exact level, whatever the estimator: 1 / 20 (false-alarm rate of the test below 1e-8)."""
    n_files = 150
    alarms = 0
    for seed in range(n_files):
        rng = np.random.default_rng(seed)
        rows = rng.standard_cauchy(size=(240, 1))
        labels = rng.integers(0, 2, 240)
        result = audit(MeanCut(), rows, labels, time=np.arange(240), shared_key=seed, **OPTIONS)
        alarms += status(result, "RPL016") == "found"
    assert stats.binom.sf(alarms - 1, n_files, 1 / (1 + N_SHUFFLES)) > 1e-8
