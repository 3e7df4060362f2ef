import inspect
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from replearn import PointwiseReplicableClassifier, plan
from replearn.auditing import pairs
from replearn.auditing.audits import audit
from replearn.auditing.comparison import compare
from replearn.auditing.contenders import SmallBagging
from replearn.bounds.flips import halves_supremum
from tests.factories import voting
from tests.populations import FirstRowLearner


@pytest.fixture(scope="module")
def data():
    return make_classification(1600, 6, n_informative=3, flip_y=0.2, random_state=0)


def ours(base=None, **params):
    params = {"n_blocks": 20, "n_partitions": 1, "shared_key": "audit tests"} | params
    return voting(GaussianNB() if base is None else base, **params)


OPTIONS = {"n_pairs": 3, "test_size": 200, "shared_key": "tests"}
SMALL = {"n_pairs": 2, "test_size": 100}


@pytest.fixture(scope="module")
def result(data):
    return audit({"tree": DecisionTreeClassifier(max_depth=3), "ours": ours()}, *data, **OPTIONS)


# -- what is measured ----------------------------------------------------------------------------


def test_one_estimator_gives_the_contenders_that_users_choose_between(data):
    found = audit(GaussianNB(), *data, **SMALL)
    assert [(c.name, c.needs) for c in found.contenders] == [
        ("baseline", "nothing"),
        ("bagging (5 models)", "nothing"),
        ("score thresholds", "a shared key"),
        ("incumbent", "the old model"),
        ("replicable", "a shared key"),
    ]
    assert found["replicable"].certificate.rho <= 0.1
    made = plan(n=found.design.train_size, rho=0.1)
    ours_here = found["replicable"].certificate.design
    assert ours_here.n_blocks == made.design.n_blocks
    assert ours_here.n_partitions == 64 // made.design.n_blocks < made.design.n_partitions
    assert f"{ours_here.n_partitions}" in found.to_text(details=True)
    again = audit(ours(), *data, **SMALL)
    assert again.contenders[0].description == "GaussianNB()"
    assert len(again.contenders) == 5


def test_default_contenders_fit_the_methods_of_the_classifier(data):
    found = audit(LinearSVC(), *data, **SMALL)
    assert [c.needs for c in found.contenders] == ["nothing", "nothing", "a shared key"]
    assert found.cut_short == ("no contender score and incumbent: predict_proba is required",)
    rare = np.zeros(len(data[1]), dtype=int)
    rare[:3] = 1  # some samples have one class only
    assert len(audit(GaussianNB(), data[0], rare, **SMALL).contenders) == 5


def test_flips_of_a_plain_contender_are_those_of_its_two_fits(data, result):
    from replearn.auditing.design import draw_rows, runs_of_pair
    from replearn.randomness.key import SharedKey

    X, y = data
    key = SharedKey("tests").child("audit")
    rows = draw_rows(len(y), 200, None, key)
    one, two = (run.rows for run in runs_of_pair(result.design, rows, key, 0))
    seed = int(key.child("seed", 0).seed_for("random_state"))
    fits = [
        DecisionTreeClassifier(max_depth=3, random_state=seed).fit(X[r], y[r]).predict(X[rows.test])
        for r in (one, two)
    ]
    np.testing.assert_array_equal(result["tree"].predictions.codes[0], fits)
    np.testing.assert_array_equal(result["tree"].flips[0], fits[0] != fits[1])
    right = np.mean([fits[0] == y[rows.test], fits[1] == y[rows.test]])
    assert result["tree"].predictions.right[0].mean() == pytest.approx(right)


def test_thresholds_are_integrated_out(data, result):
    found = result["ours"]
    law = found.predictions.chances[..., 1]
    np.testing.assert_allclose(found.flips, np.abs(law[:, 0] - law[:, 1]), atol=1e-12)
    # The same runs under many keys flip that often on average.
    u = np.random.default_rng(0).random((4000, 1))
    simulated = ((u < law[0, 0]) != (u < law[0, 1])).mean()
    assert simulated == pytest.approx(found.flips[0].mean(), abs=0.01)


def test_good_and_bad_flips_add_up(result):
    for name in ("tree", "ours"):
        flips, *sides = (
            result.table.get(what, name).value
            for what in ("flips", "becomes wrong", "becomes right")
        )
        assert sum(sides) == pytest.approx(flips)


def test_three_classes(data):
    X, y = make_classification(1500, 6, n_informative=4, n_classes=3, random_state=0)
    labels = np.array(["red", "green", "blue"])[y]
    contenders = {"nb": GaussianNB(), "ours": ours(n_blocks=10)}
    found = audit(contenders, X, labels, **OPTIONS)
    assert found.classes == ("blue", "green", "red")
    votes, flips = found["ours"].predictions.chances, found["ours"].flips
    rng = np.random.default_rng(0)
    gumbels = rng.gumbel(size=(1500, 1, 1, 3))
    with np.errstate(divide="ignore"):
        answers = (np.log(votes[0])[np.newaxis] + gumbels).argmax(axis=-1)
    simulated = (answers[:, 0] != answers[:, 1]).mean(axis=0)
    np.testing.assert_allclose(simulated, flips[0], atol=0.06)
    truth = found["ours"].truth
    both = ((answers[:, 0] == truth) & (answers[:, 1] == truth)).mean(axis=0)
    np.testing.assert_allclose(both, found["ours"].predictions.both_right[0], atol=0.06)


def test_the_promise_beside_a_measurement_on_halves(data, result):
    found = result["ours"]
    assert found.promise(result.design) == halves_supremum(found.certificate.design.law)
    assert found.promise(result.design) > found.certificate.rho
    sizes = {"test_size": 200, "train_size": 350}
    fresh = audit({"ours": ours()}, *data, n_pairs=2, **sizes)
    assert fresh.design.independent_pairs
    assert fresh["ours"].promise(fresh.design) == fresh["ours"].certificate.rho
    assert result["tree"].promise(result.design) is None


def test_groups_reach_the_learner_and_stay_together(data):
    X, y = data
    groups = np.repeat(np.arange(400), 4)
    found = audit({"ours": ours()}, X, y, groups=groups, **OPTIONS)
    assert found.design.unit == "groups"
    assert found["ours"].certificate.design.unit == "groups"
    assert found["ours"].certificate.design.n == found.design.train_size == 175
    assert len(np.unique(found.clusters)) == 50


def test_subgroups_are_told(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["town"] = np.where(X[:, 0] > 0, "Ulm", "Bonn")
    frame["vip"] = X[:, 1] > 0
    base = make_pipeline(OneHotEncoder(handle_unknown="ignore", max_categories=5), GaussianNB())
    base.steps.insert(1, ("dense", _dense()))
    found = audit({"nb": base}, frame, y, **OPTIONS)
    lines = [row for row in found.table.groups() if not row.group.startswith("class")]
    names = {"town = Ulm", "town = Bonn", "vip = True", "vip = False"}
    assert {line.group for line in lines} == names
    assert sum(line.rows for line in lines) == 400
    with pytest.raises(ValueError, match="no columns"):
        audit({"nb": base}, frame, y, subgroups=["age"])


def _dense():
    from sklearn.preprocessing import FunctionTransformer

    return FunctionTransformer(lambda rows: rows.toarray() if sparse.issparse(rows) else rows)


def test_bagging_takes_frames_as_they_are(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    bagged = SmallBagging(GaussianNB(), random_state=0).fit(frame, y)
    assert bagged.estimators_[0].feature_names_in_.tolist() == list("abcdef")
    assert np.mean(bagged.predict(frame) == y) > 0.6
    np.testing.assert_allclose(bagged.predict_proba(frame).sum(axis=1), 1)


def test_sparse_rows_and_texts():
    rng = np.random.default_rng(0)
    words = np.array(["good", "fine", "bad", "poor"])
    picks = rng.integers(0, 4, (400, 3))
    texts = [" ".join(words[row]) for row in picks]
    y = (picks < 2).sum(axis=1) >= 2
    from sklearn.feature_extraction.text import CountVectorizer

    base = make_pipeline(CountVectorizer(), LogisticRegression())
    found = audit({"text": base}, texts, y, **SMALL)
    assert found.columns == ("text",)
    rows = sparse.csr_matrix(picks.astype(float))
    found = audit({"lr": LogisticRegression()}, rows, y, **SMALL)
    assert found.columns == ()


def test_certificates_of_other_kinds_are_told(data):
    from replearn.paper.hypotheses import Thresholds
    from replearn.paper.realizable import RealizableReplicableClassifier

    X, _ = data
    contenders = {
        "approximate": PointwiseReplicableClassifier(
            GaussianNB(),
            plan=plan("approximate", n=325, rho=0.1, gamma=0.4, n_blocks=30, n_partitions=1),
        ),
        "rule": RealizableReplicableClassifier(Thresholds(">")),
    }
    found = audit(contenders, X[:700, :1], X[:700, 0] > 0, n_pairs=2, test_size=50)
    approximate, rule = found.to_dict()["contenders"]
    assert approximate["certificate"]["task"] == "approximate"
    assert approximate["limit_for_these_pairs"] is None
    assert rule["certificate"] is None
    assert rule["promised_as"] == "not certified"
    assert f"not certified: {rule['promises'][0][:20]}" in found.to_text(details=True)


def test_a_sample_without_a_second_class(data):
    X, y = data
    rare = np.zeros_like(y)
    rare[:2] = 1
    found = audit({"nb": GaussianNB(), "ours": ours()}, X, rare, **OPTIONS)
    assert found["nb"].flips.mean() < 0.1
    assert found["ours"].flips.mean() < 0.1


def test_warnings_of_learners_are_counted_not_shown(data):
    slow = LogisticRegression(max_iter=1)
    found = audit({"slow": slow}, *data, **OPTIONS)
    ((text, pairs),) = found["slow"].notes
    assert text.startswith("ConvergenceWarning")
    assert pairs == 3


# -- repeat, budget, resume ----------------------------------------------------------------------


def test_jobs_do_not_change_a_byte(data, result):
    contenders = {"tree": DecisionTreeClassifier(max_depth=3), "ours": ours()}
    two = audit(contenders, *data, n_jobs=2, **OPTIONS)
    assert result.to_json(timings=False) == two.to_json(timings=False)


def test_an_interrupted_audit_continues(data, tmp_path, monkeypatch):
    contenders = {"tree": DecisionTreeClassifier(), "ours": ours()}
    whole = audit(contenders, *data, **OPTIONS)
    real, calls = pairs.run_pair, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(pairs, "run_pair", interrupted)
    with pytest.raises(KeyboardInterrupt):
        audit(contenders, *data, resume=tmp_path / "a", **OPTIONS)
    continued = audit(contenders, *data, resume=tmp_path / "a", **OPTIONS)
    assert len(calls) == 4 + 3
    assert continued.to_json(timings=False) == whole.to_json(timings=False)
    audit(contenders, *data, resume=tmp_path / "a", **OPTIONS)
    assert len(calls) == 7


def test_the_folder_of_another_audit_is_refused(data, tmp_path):
    X, y = data
    audit({"nb": GaussianNB()}, X, y, resume=tmp_path, **OPTIONS)
    with pytest.raises(ValueError, match="not the same contenders"):
        audit({"nb": GaussianNB(var_smoothing=1)}, X, y, resume=tmp_path, **OPTIONS)
    with pytest.raises(ValueError, match="not the same data"):
        audit({"nb": GaussianNB()}, X + 1, y, resume=tmp_path, **OPTIONS)
    more = audit({"nb": GaussianNB()}, X, y, resume=tmp_path, **OPTIONS | {"n_pairs": 4})
    assert more.design.n_pairs == 4
    manifest = tmp_path / "manifest.json"
    old = json.loads(manifest.read_text("utf-8")) | {"version": 1}
    manifest.write_text(json.dumps(old), "utf-8")
    with pytest.raises(ValueError, match="not the same version"):
        audit({"nb": GaussianNB()}, X, y, resume=tmp_path, **OPTIONS)


class Slow(GaussianNB):
    """Takes its time where the environment says so."""

    def fit(self, X, y):
        time.sleep(float(os.environ.get("SLOW_SECONDS", "0")))
        return super().fit(X, y)


def slow_audit(folder):
    X, y = make_classification(400, random_state=0)
    return audit({"slow": Slow()}, X, y, n_pairs=12, shared_key="k", resume=folder)


def finished(folder):
    return len(list(folder.glob("*.pair")))


@pytest.mark.long
def test_kill_minus_nine_then_resume(tmp_path):
    path = [str(Path(__file__).parents[2]), *sys.path]
    script = f"import sys; sys.path[:] = {path!r}; from tests.auditing import test_audit; "
    script += f"test_audit.slow_audit({str(tmp_path / 'killed')!r})"
    victim = subprocess.Popen(
        [sys.executable, "-c", script], env=os.environ | {"SLOW_SECONDS": "0.3"}
    )
    deadline = time.monotonic() + 120
    while finished(tmp_path / "killed") < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert 2 <= finished(tmp_path / "killed") < 12
    continued = slow_audit(tmp_path / "killed")
    undisturbed = slow_audit(tmp_path / "undisturbed")
    assert finished(tmp_path / "killed") == finished(tmp_path / "undisturbed") == 12
    assert continued.to_json(timings=False) == undisturbed.to_json(timings=False)


def test_an_error_names_contender_and_pair(data):
    class Breaks(FirstRowLearner):
        def fit(self, X, y):
            raise RuntimeError("no convergence")

    with pytest.raises(RuntimeError, match="no convergence") as caught:
        audit({"fragile": Breaks()}, *data, **OPTIONS)
    assert "contender 'fragile', pair 0" in caught.value.__notes__


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rho": 0}, "rho=0"),
        ({"subgroups": 3}, "subgroups=3"),
        ({"groups": [1, 2]}, "groups"),
        ({"on_interrupt": "report"}, "on_interrupt='report'"),
        ({"time_budget": 0}, "time_budget=0"),
        ({"time_budget": float("nan")}, "time_budget=nan"),
        ({"sample": "jackknife"}, "sample='jackknife'"),
    ],
)
def test_bad_arguments_are_named(data, arguments, message):
    with pytest.raises(ValueError, match=message):
        audit({"nb": GaussianNB()}, *data, **arguments)


def test_one_class_is_named(data):
    with pytest.raises(ValueError, match=r"y has one class only \(0\)"):
        audit(GaussianNB(), data[0], np.zeros(len(data[1]), dtype=int), n_pairs=2)


def test_a_time_budget_is_a_number(data):
    with pytest.raises(TypeError, match="time_budget must be a number, got '60'"):
        audit({"nb": GaussianNB()}, *data, time_budget="60")


def test_settings_of_the_report_need_no_second_run(data, result):
    wider = result.with_settings(delta=0.001)
    usual, rate = result.flip_rate("tree"), wider.flip_rate("tree")
    assert usual.value == rate.value < usual.upper < rate.upper
    assert wider.to_dict()["design"]["delta"] == 0.001
    assert result.delta == 0.05
    with pytest.raises(ValueError, match="delta=1"):
        result.with_settings(delta=1)
    with pytest.raises(ValueError, match="ignore='RPL001'"):
        result.with_settings(ignore="RPL001")


def test_plain_parameters_and_a_package_that_is_not_shadowed():
    import replearn

    annotations = [str(p.annotation) for p in inspect.signature(replearn.audit).parameters.values()]
    assert not any("Mapping" in text or "dict" in text for text in annotations)
    assert replearn.auditing.contenders.KINDS
    assert replearn.auditing.audits.audit is replearn.audit


def test_contenders_must_be_classifiers(data):
    with pytest.raises(TypeError, match="'three'"):
        audit({"three": 3}, *data)
    with pytest.raises(ValueError, match="empty"):
        audit({}, *data)


# -- two models, another sample size -------------------------------------------------------------


def test_champion_and_challenger(data):
    X, y = data
    one, two = GaussianNB().fit(X[:300], y[:300]), GaussianNB().fit(X[300:600], y[300:600])
    found = compare(one, two, X[600:], y[600:], subgroups={"sign": X[600:, 0] > 0})
    a, b, truth = one.predict(X[600:]), two.predict(X[600:]), y[600:]
    assert found.flips.value == np.mean(a != b)
    assert found.table.get("becomes wrong").value == np.mean((a == truth) & (b != truth))
    np.testing.assert_array_equal(found.flipped, np.flatnonzero(a != b))
    assert sum(group.rows for group in found.table.groups()) == 1000
    assert found.table.get("flips over all keys") is None
    assert compare(one, two, X).table.get("accuracy") is None
    assert compare(one, one, X, y).flips.value == 0


def test_two_comparable_runs(data):
    X, y = data
    one, two = ours().fit(X[:600], y[:600]), ours().fit(X[600:1200], y[600:1200])
    found = compare(one, two, X[1200:], y[1200:])
    assert found.comparable.startswith("comparable")
    gaps = np.abs(one.explain(X[1200:]).response - two.explain(X[1200:]).response)
    assert found.table.get("flips over all keys").value == pytest.approx(gaps.mean())
    other = ours(shared_key="another").fit(X[600:1200], y[600:1200])
    found = compare(one, other, X[1200:])
    assert "not comparable" in found.comparable
    assert found.table.get("flips over all keys") is None
