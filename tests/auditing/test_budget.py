"""Time budgets, interruptions, the choice of contenders and of rows."""

import time

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB

from replearn import PointwiseReplicableClassifier
from replearn.auditing.audits import audit
from replearn.auditing.contenders import KINDS, Setting, SmallBagging, make_contenders
from replearn.execution import context
from replearn.execution.context import Progress


class Clock:
    """A clock that moves when somebody sleeps, and a little whenever it is read."""

    def __init__(self):
        self.seconds = 0.0

    def sleep(self, seconds):
        self.seconds += seconds

    def now(self):
        self.seconds += 1e-4
        return self.seconds


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """No test waits, and none depends on how fast the machine is."""
    clock = Clock()
    monkeypatch.setattr(context, "now", clock.now)
    monkeypatch.setattr(time, "sleep", clock.sleep)
    return clock


class Slow(GaussianNB):
    """Takes some seconds for each fit and for each row."""

    def __init__(self, each=0.0, row=0.0):
        super().__init__()
        self.each, self.row = each, row

    def fit(self, X, y):
        time.sleep(self.each + self.row * len(X))
        return super().fit(X, y)


@pytest.fixture(scope="module")
def data():
    return make_classification(1600, 6, n_informative=3, flip_y=0.2, random_state=0)


@pytest.fixture(scope="module")
def long():
    return make_classification(20_000, 4, n_informative=3, n_redundant=0, random_state=0)


def ours(base):
    return PointwiseReplicableClassifier(base, n_blocks=20, max_fits=20, verbose=-1)


def run(models, data, budget=None, n_pairs=50, **options):
    options = {"test_size": 200, "n_pairs": n_pairs, "subgroups": None, "verbose": -1} | options
    return audit(models, *data, time_budget=budget, **options)


def test_a_budget_keeps_whole_pairs_and_says_so(data, clock):
    contenders = {"a": Slow(0.05), "b": GaussianNB()}
    found = run(contenders, data, 2.0)
    assert clock.seconds <= 2.0
    assert 10 <= found.design.n_pairs < 20  # of about 0.1 seconds each
    assert [len(c.flips) for c in found.contenders] == 2 * [found.design.n_pairs]
    told = f"How far it got: {found.design.n_pairs} of 50 pairs were run: the time budget ended"
    assert told in " ".join(str(found).split())
    assert told in found.to_markdown()
    assert told in found.to_html(values=False)
    assert found.to_dict()["cut_short"] == list(found.cut_short)
    plain = ["baseline", "bagging"]
    whole = audit(GaussianNB(), *data, n_pairs=3, contenders=plain, time_budget=60.0, verbose=1)
    assert whole.cut_short == ()


def test_after_the_deadline_only_the_baseline_is_begun(long, clock):
    """A fit of a second has no blocks at which it could end."""
    found = run({"first": GaussianNB(), "b": Slow(1.0), "c": Slow(1.0)}, long, 1e-9, n_pairs=5)
    assert [c.name for c in found.contenders] == ["first"]
    assert clock.seconds < 1.0


def test_fits_end_between_blocks_and_between_models(data, clock):
    for slow in (ours(Slow(0.2)), SmallBagging(Slow(0.2), n_estimators=20)):
        clock.seconds = 0.0
        found = run({"quick": GaussianNB(), "slow": slow}, data, 1.5, n_pairs=4, train_size=300)
        assert clock.seconds <= 1.5 + 0.2 + 0.1  # the model that was being trained is finished
        assert [c.name for c in found.contenders] == ["quick"]
        assert "left out for lack of time: slow" in found.cut_short


def test_a_budget_that_is_too_small_is_refused_with_a_remedy(data):
    with pytest.raises(
        ValueError, match=r"limits need 2\. Set a larger time_budget, a smaller max_rows"
    ):
        run({"a": ours(Slow(0.01))}, data, 1e-9)
    least = run({"a": GaussianNB(), "b": ours(Slow(0.01))}, data, 1e-9)
    assert (least.design.n_pairs, [c.name for c in least.contenders]) == (2, ["a"])


def test_what_was_measured_before_an_interruption_is_reported(data, interrupt_after):
    contenders = {"a": GaussianNB(), "b": Slow()}
    whole = run(contenders, data, n_pairs=3)
    interrupt_after(7)
    part = run(contenders, data, n_pairs=9, on_interrupt="return")
    assert part.cut_short == ("3 of 9 pairs were run: it was interrupted",)
    assert part.flip_rate("b") == whole.flip_rate("b")
    interrupt_after(3)
    early = run(contenders, data, n_pairs=9, on_interrupt="return")
    assert [c.name for c in early.contenders] == ["a"]  # the baseline is the first
    interrupt_after(1)
    with pytest.raises(KeyboardInterrupt):
        run(contenders, data, n_pairs=9, on_interrupt="return")
    interrupt_after(7)
    with pytest.raises(KeyboardInterrupt):
        run(contenders, data, n_pairs=9)


def test_a_first_estimate_is_said_after_the_first_pairs(data, monkeypatch, capsys):
    said = []
    advance = Progress.advance

    def noted(self, steps=1):
        said.append(self.note)
        advance(self, steps)

    monkeypatch.setattr(Progress, "advance", noted)
    models = {"a": GaussianNB(), "b": GaussianNB()}
    found = run(models, data, n_pairs=4, verbose=1)
    assert said[0] == ""
    assert said[1].startswith("so far a changes ")  # before the other contender
    assert said[-1] == f"so far a changes {found.flip_rate('a').percent()}"
    assert len(set(said[1:])) == 3  # refined with every pair of the baseline
    assert said[-1] in capsys.readouterr().err


def test_contenders_are_chosen_by_name(data):
    found = run(GaussianNB(), data, n_pairs=2, contenders=["replicable", "baseline"])
    assert [c.name for c in found.contenders] == ["baseline", "replicable"]
    assert "of 16 partitions; with all of them fewer change" in found["replicable"].measured_as
    assert found["replicable"].measured_as in " ".join(found.to_text(details=True).split())
    of_dict = run({"a": GaussianNB(), "b": GaussianNB()}, data, n_pairs=2, contenders=["b"])
    assert [c.name for c in of_dict.contenders] == ["b"]
    for names in (["bagging", "boosting"], [], "baseline"):
        with pytest.raises(ValueError, match="contenders="):
            run(GaussianNB(), data, n_pairs=2, contenders=names)


def test_every_kind_of_contender_learns_and_predicts(data):
    X, y = data
    setting = Setting(rho=0.5, shared_key="k", n=600)
    for name, kind in KINDS.items():
        model = kind(GaussianNB(), setting).estimator.fit(X[:600], y[:600])
        assert np.mean(model.predict(X[600:]) == y[600:]) > 0.6, name
    usual = PointwiseReplicableClassifier(GaussianNB(), rho=0.5, shared_key="k")
    mine = make_contenders(usual, setting, ["baseline", "replicable"])
    assert mine[1].estimator is usual


def test_fewer_rows_of_the_file(data):
    X, y = data
    found = run({"nb": GaussianNB()}, data, n_pairs=2, max_rows=500)
    assert (found.design.n_rows, found.design.train_size) == (1600, 150)
    assert found.cut_short == ("500 of 1,600 rows of the file were used, as requested",)
    assert found.test.max() > 500  # drawn from the whole file
    groups = np.repeat(np.arange(400), 4)
    options = {"groups": groups, "n_pairs": 2, "subgroups": None}
    together = audit({"nb": GaussianNB()}, X, y, max_rows=500, test_size=100, **options)
    assert together.design.train_size == 50
    with pytest.raises(ValueError, match="max_rows=3"):
        run({"nb": GaussianNB()}, data, max_rows=3)


@pytest.fixture(scope="module")
def every(data):
    kinds = ["baseline", "bagging", "score", "incumbent"]
    return run(GaussianNB(), data, n_pairs=3, contenders=kinds)


def test_score_thresholds_are_a_contender(every):
    found = every
    score = found["score thresholds"]
    law = score.predictions.chances[..., 1]  # thresholds are integrated out
    assert "estimated" in found.to_text(details=True)
    assert 0.0 < law.mean() < 1.0


def test_the_recommendation_follows_the_price_that_is_acceptable(every):
    judged = every.judgement
    free = every.with_settings(max_price=0.0).judgement
    for judgement, price in ((judged, 0.01), (free, 0.0)):
        assert judgement[judgement.recommended].price <= price
    assert every.with_settings(max_price=1.0).judgement.max_price == 1.0
    with pytest.raises(ValueError, match="max_price=2"):
        every.with_settings(max_price=2)


def test_the_incumbent_keeps_answers_of_the_first_training(every):
    found = every
    names = [c.name for c in found.contenders]
    assert names[2:] == ["score thresholds", "incumbent"]
    alone, kept = found["baseline"], found["incumbent"]
    # the first training has no incumbent, the second changes fewer answers than it would alone
    assert (kept.predictions.codes[:, 0] == alone.predictions.codes[:, 0]).all()
    assert kept.flips.sum() < alone.flips.sum()
    assert (kept.flips <= alone.flips).all()


def test_one_contender_alone_gets_no_recommendation(data):
    found = run({"a": GaussianNB()}, data, n_pairs=2)
    assert found.judgement.recommended == "a"
    assert "Recommendation" not in str(found)


def test_boosting_finds_a_leaked_column_in_small_blocks_too():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    X = np.column_stack([rng.normal(size=(3000, 3)), y])
    boosting = HistGradientBoostingClassifier(max_iter=5)
    options = {"contenders": ["baseline", "replicable"], "shared_key": "k"}
    found = audit(boosting, X, y, n_pairs=2, **options)
    assert [found.table.get("accuracy", c.name).value for c in found.contenders] == [1.0, 1.0]
