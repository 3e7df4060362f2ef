"""Every command, end to end, in this process."""

import csv
import dataclasses
import inspect
import io
import json
import re
import stat
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from replearn import SharedKey
from replearn.cli import COMMANDS
from replearn.cli.plan import PlanOptions
from replearn.exceptions import NotCertifiedWarning
from replearn.guarantees.certificate import Identity
from replearn.guarantees.plan import Plan
from replearn.guarantees.planner import plan
from replearn.paper.thresholds import ReplicableThresholdClassifier
from replearn.persistence.model_file import describe, load, save
from replearn.registry import TASKS as ALL_TASKS, entries_of

TASKS_BY_NAME = entries_of(ALL_TASKS)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_help_lists_every_command(call):
    code, out, _ = call("--help")
    assert code == 0
    for name in COMMANDS:
        assert f"    {name}" in out
        assert call(name, "--help")[0] == 0
    assert call("--version")[1].startswith("replearn ")


def test_plan_prints_and_saves(call, tmp_path):
    code, out, _ = call("plan", "--n", 50000, "--rho", 0.1)
    assert code == 0
    assert "certified" in out
    assert "paper, read literally" not in out
    code, out, _ = call("plan", "--n", 300, "--rho", 0.1, "--runs", 12, "--json")
    made = json.loads(out)
    assert code == 0
    assert made["inputs"]["runs"] == 12
    assert made["verdict"] == "not certified"
    code, out, err = call("plan", "--n", 900, "--json", "--save", tmp_path / "p.json")
    assert json.loads((tmp_path / "p.json").read_text()) == json.loads(out)
    assert "written to" in err


def test_plan_of_another_task(call, tmp_path):
    asked = ("--rho", 0.2, "--gamma", 0.3, "--alpha", 0.2, "--beta", 0.1)
    code, out, err = call("plan", "thresholds", *asked, "--save", tmp_path / "c.json")
    made = plan("thresholds", rho=0.2, gamma=0.3, alpha=0.2, beta=0.1)
    assert code == 0
    assert out.strip() == str(made)
    assert "written to" in err
    assert Plan.load(tmp_path / "c.json") == made
    options = ("--n-hypotheses", 5, "--n", 1000, "--json")
    found = json.loads(call("plan", "selection", *options)[1])
    assert (found["inputs"]["n_hypotheses"], found["inputs"]["n"]) == (5, 1000)
    assert found["needed_n"] > 1000


@pytest.mark.parametrize(
    ("words", "task"),
    [
        (("heavy-whole-set", "--nu", 0.2), "heavy, whole set"),
        (("approximate", "--n", 900, "--rho", 0.2), "approximate"),
    ],
)
def test_tasks_of_several_words(call, words, task):
    code, out, _ = call("plan", *words, "--json")
    assert code == 0
    assert json.loads(out)["task"] == task


def test_plan_of_finite_randomness_for_each_point(call):
    found = json.loads(call("plan", "finite-randomness", "--json")[1])
    assert found["inputs"]["gamma"] is None
    assert found["promises"][0].startswith("Two models predict one fixed point differently")
    assert found["inputs"]["n"] == plan("finite randomness").n


def test_every_target_of_a_task_has_an_option():
    solvers = [entry.solve for entry in TASKS_BY_NAME.values() if entry.solve]
    taken = {name for solve in solvers for name in inspect.signature(solve).parameters}
    assert taken <= {field.name for field in dataclasses.fields(PlanOptions)}


def test_key_new_and_show(call, tmp_path):
    code, out, err = call("key", "new")
    assert code == 0
    assert SharedKey(out.strip()).fingerprint in err
    code, out, err = call("key", "new", "--out", tmp_path / "k", "--json")
    made = json.loads(out)
    assert stat.S_IMODE((tmp_path / "k").stat().st_mode) == 0o600
    code, out, _ = call("key", "show", tmp_path / "k")
    assert out.strip() == made["fingerprint"]
    assert json.loads(call("key", "show", tmp_path / "k", "--json")[1]) == {
        "fingerprint": made["fingerprint"]
    }
    assert "rk1-" in json.loads(call("key", "new", "--json")[1])["key"]
    code, _, err = call("key", "new", "--out", tmp_path / "k")
    assert code == 2
    assert "not overwritten" in err


def test_an_unprepared_file_gets_to_a_model_in_one_command(call, shop, tmp_path):
    code, out, err = call(
        *("fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt"),
        *("--max-fits", 18, "--out", tmp_path / "m.replearn", "--json"),
        *("--save-columns", tmp_path / "columns.json"),
    )
    assert code == 0
    made = json.loads(out)
    assert made["certified"]
    assert made["classes"] == ["no", "yes"]
    assert "customer_id" not in made["columns"]
    assert "customer_id" in err
    assert made["columns"]["postcode"] == "text"
    assert made["columns"]["since"] == "date"
    assert json.loads((tmp_path / "columns.json").read_text())["churn"] == "text"
    code, out, _ = call(
        *("fit", shop / "b.csv", "--target", "churn", "--key-file", shop / "key.txt"),
        *(
            "--max-fits",
            18,
            "--out",
            tmp_path / "n.replearn",
            "--columns",
            tmp_path / "columns.json",
        ),
        "--include-key",
    )
    assert code == 0
    assert "verdict          certified" in out
    assert call("certify", tmp_path / "m.replearn", tmp_path / "n.replearn")[0] == 0
    assert call("predict", tmp_path / "n.replearn", shop / "new.csv")[0] == 0


def test_predict_explains_and_abstains(call, shop, tmp_path):
    base = ("predict", shop / "a.replearn", shop / "new.csv", "--key-file", shop / "key.txt")
    code, out, _ = call(*base)
    answers = [row["prediction"] for row in rows_of(out)]
    assert code == 0
    assert len(answers) == 60
    assert set(answers) == {"no", "yes"}
    explained = rows_of(call(*base, "--explain")[1])
    assert [row["prediction"] for row in explained] == answers
    assert "threshold" in explained[0]["why"]
    flips = [float(row["flip_probability"]) for row in explained]
    code, out, err = call(*base, "--max-flip", 0.05, "--json")
    careful = [row["prediction"] for row in json.loads(out)["predictions"]]
    assert [answer is None for answer in careful] == [flip > 0.05 for flip in flips]
    assert f"{careful.count(None)} of 60 rows" in err
    silent = rows_of(call(*base, "--max-flip", 0.05, "--explain")[1])
    assert [row["prediction"] == "" for row in silent] == [answer is None for answer in careful]
    assert [row["why"].startswith("Abstained") for row in silent] == [flip > 0.05 for flip in flips]
    assert call(*base, "--out", tmp_path / "p.csv")[1] == ""
    assert [row["prediction"] for row in rows_of((tmp_path / "p.csv").read_text())] == answers


def test_certify_says_whether_runs_are_comparable(call, shop):
    code, out, _ = call("certify", shop / "a.json", shop / "b.replearn", "--explain")
    assert code == 0
    assert "the runs are comparable" in out
    assert "The promise holds if" in out
    code, out, _ = call("certify", shop / "a.json", shop / "b.json", "--json")
    assert json.loads(out)["comparable"]
    assert json.loads(out)["comparisons"][0]["comparable"] == "yes"
    assert call("certify", shop / "a.json")[0] == 0


def test_certify_fails_when_it_is_not(call, shop, tmp_path):
    arguments = ["fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "other-key.txt"]
    plan = ("--plan", shop / "plan.json", "--model", "tree", "--quiet")
    assert call(*arguments, *plan, "--out", tmp_path / "c.replearn")[0] == 0
    code, out, _ = call("certify", shop / "a.json", tmp_path / "c.replearn", "--json")
    found = json.loads(out)
    assert code == 1
    assert not found["comparable"]
    assert found["comparisons"][0]["comparable"] == "no"
    assert "key fingerprint" in found["comparisons"][0]["reasons"][0]


def test_compare_tells_what_changes(call, shop):
    models = (shop / "a.replearn", shop / "b.replearn")
    base = ("compare", *models, shop / "new.csv", "--key-file", shop / "key.txt")
    code, out, _ = call(*base, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["n_rows"] == 60
    assert next(m["value"] for m in found["measured"] if m["what"] == "accuracy") > 0.5
    assert found["comparable"].startswith("comparable")
    assert "flips" in call(*base)[1]


def test_ids_key_the_thresholds(call, shop, tmp_path):
    code, _, _ = call(
        *("fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt"),
        *("--plan", shop / "plan.json", "--model", "tree", "--id", "customer_id", "--quiet"),
        *("--out", tmp_path / "m.replearn"),
    )
    assert code == 0
    assert describe(tmp_path / "m.replearn").notes["id"] == "customer_id"
    base = ("--key-file", shop / "key.txt", "--explain")
    one = rows_of(call("predict", tmp_path / "m.replearn", shop / "new.csv", *base)[1])
    assert one[0]["customer_id"] == "C3-00000"
    changed = (shop / "new.csv").read_text().replace("Ulm", "Rom")
    (tmp_path / "moved.csv").write_text(changed)
    two = rows_of(call("predict", tmp_path / "m.replearn", tmp_path / "moved.csv", *base)[1])
    assert [row["keyed_threshold"] for row in one] == [row["keyed_threshold"] for row in two]
    (tmp_path / "gap.csv").write_text(changed.replace("C3-00001", ""))
    code, _, err = call("predict", tmp_path / "m.replearn", tmp_path / "gap.csv", *base)
    assert code == 2
    assert "row 2 has no 'customer_id'" in err
    models = (tmp_path / "m.replearn", tmp_path / "m.replearn")
    found = call("compare", *models, shop / "new.csv", "--key-file", shop / "key.txt", "--json")[1]
    assert json.loads(found)["n_changed"] == 0


def test_groups_stay_together(call, shop, tmp_path):
    code, out, _ = call(
        *("fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt"),
        *("--group-by", "postcode", "--max-fits", 18, "--model", "tree", "--quiet", "--json"),
        *("--out", tmp_path / "m.replearn"),
    )
    assert code == 0
    assert json.loads(out)["certificate"]["inputs"]["unit"] == "groups"


@pytest.mark.parametrize("model", ["sklearn.naive_bayes:GaussianNB", "my_models:pipe"])
def test_own_models(call, shop, tmp_path, monkeypatch, model):
    (tmp_path / "my_models.py").write_text(
        "from sklearn.compose import make_column_transformer\n"
        "from sklearn.pipeline import make_pipeline\n"
        "from sklearn.preprocessing import OneHotEncoder\n"
        "from sklearn.naive_bayes import BernoulliNB\n"
        "towns = OneHotEncoder(handle_unknown='ignore')\n"
        "pipe = make_pipeline(make_column_transformer((towns, ['town'])), BernoulliNB())\n"
    )
    monkeypatch.chdir(tmp_path)
    code, _, err = call(
        *("fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt"),
        *("--plan", shop / "plan.json", "--model", model, "--out", "m.replearn", "--quiet"),
    )
    assert (code, err) == (0, "")
    code, out, _ = call("predict", "m.replearn", shop / "new.csv", "--key-file", shop / "key.txt")
    assert code == 0
    assert len(rows_of(out)) == 60


@pytest.mark.parametrize("model", ["logreg", "hgb", "forest"])
def test_named_models(call, shop, tmp_path, model):
    code, _, _ = call(
        *("fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt"),
        *("--max-fits", 2, "--rho", 0.9, "--model", model, "--quiet", "--drop", "comment"),
        *("--out", tmp_path / "m.replearn"),
    )
    assert code == 0
    key = ("--key-file", shop / "key.txt")
    assert call("predict", tmp_path / "m.replearn", shop / "new.csv", *key)[0] == 0


def test_three_classes_and_a_single_block(call, shop, tmp_path):
    lines = [f"{i % 11},{i % 7},{'abc'[i % 3]}" for i in range(200)]
    (tmp_path / "d.csv").write_text("\n".join(["x,z,y", *lines]))
    base = ("fit", tmp_path / "d.csv", "--target", "y", "--key-file", shop / "key.txt")
    more = ("--model", "tree", "--quiet", "--out", tmp_path / "m")
    assert call(*base, "--rho", 0.5, *more)[0] == 0
    ask = ("predict", tmp_path / "m", tmp_path / "d.csv", "--key-file", shop / "key.txt")
    code, out, _ = call(*ask)
    assert code == 0
    assert {row["prediction"] for row in rows_of(out)} == set("abc")
    code, out, _ = call(*ask, "--explain")
    assert code == 0
    assert {row["runner_up"] for row in rows_of(out)} == set("abc")
    (tmp_path / "d.csv").write_text("\n".join(["x,z,y", *lines]).replace("c", "a"))
    assert call(*base, "--max-fits", 1, *more)[0] == 0
    code, out, _ = call(*ask, "--explain", "--json")
    assert code == 0
    assert len(json.loads(out)["predictions"]) == 200


def test_certify_knows_the_other_learners_too(call, shop, tmp_path):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(600, 1)), 2)
    for name, key in (("a", "k"), ("b", "k"), ("c", "other")):
        model = ReplicableThresholdClassifier(rho=0.3, shared_key=key)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotCertifiedWarning)
            save(model.fit(X, X[:, 0] > 0), tmp_path / f"{name}.replearn")
        (tmp_path / f"{name}.json").write_text(model.certificate_.to_json())
    code, out, _ = call("certify", tmp_path / "a.replearn", tmp_path / "b.json", "--explain")
    assert code == 0
    assert re.search(r"thresholds, rho = \S+, NOT certified \(requested rho=0.3", out)
    code, out, _ = call(
        "certify", tmp_path / "a.json", tmp_path / "c.json", shop / "a.json", "--json"
    )
    assert code == 1
    first, second = json.loads(out)["comparisons"]
    assert [item.split(":")[0] for item in first["reasons"]] == ["key fingerprint"]
    assert second["reasons"] == ["task: thresholds here, pointwise there"]
    text = (tmp_path / "a.json").read_text().replace('"not certified"', '"certified"')
    (tmp_path / "a.json").write_text(text)
    code, _, err = call("certify", tmp_path / "a.json")
    assert code == 2
    assert "a.json: " in err


def test_the_second_lab_takes_the_kinds_from_the_first_labs_model(call, shop, tmp_path):
    """In lab B's file the postcodes lack their zeros: alone, it would take them for numbers."""
    text = (shop / "b.csv").read_text()
    changed = re.sub(r",0(\d{4}),", r",\1,", text)
    assert changed != text
    (tmp_path / "b.csv").write_text(changed)
    base = ("fit", tmp_path / "b.csv", "--target", "churn", "--key-file", shop / "key.txt")
    more = ("--plan", shop / "plan.json", "--model", "tree", "--out", tmp_path / "b.replearn")
    code, out, err = call(*base, *more, "--json")
    assert code == 0
    assert json.loads(out)["columns"]["postcode"] == "number"
    assert "another lab adopts them with --columns" in err
    code, out, _ = call("certify", shop / "a.replearn", tmp_path / "b.replearn")
    assert code == 1
    assert "kinds of the columns: postcode: text here, number there" in out
    code, out, err = call(*base, *more, "--json", "--columns", shop / "a.replearn")
    assert code == 0
    assert json.loads(out)["columns"]["postcode"] == "text"
    assert "guessed" not in err
    assert call("certify", shop / "a.replearn", tmp_path / "b.replearn")[0] == 0
    grouped = ("--columns", shop / "a.replearn", "--group-by", "customer_id", "--rho", "0.5")
    assert call(*base, *more[2:], *grouped, "--max-fits", 5)[0] == 0


def shared_plan(shop, path, out, *more):
    names = ("--plan", shop / "plan.json", "--key-file", shop / "key.txt", "--model", "tree")
    return ("fit", path, *names, "--out", out, "--quiet", *more)


def test_certify_compares_what_thresholds_are_derived_from_and_the_target(call, shop, tmp_path):
    ids = tmp_path / "ids.replearn"
    more = ("--target", "churn", "--id", "customer_id")
    assert call(*shared_plan(shop, shop / "b.csv", ids, *more))[0] == 0
    code, out, _ = call("certify", shop / "a.replearn", ids)
    assert code == 1
    assert "(--id): the features here, column 'customer_id' there" in out.splitlines()[0]
    table = tmp_path / "other.csv"
    table.write_text((shop / "b.csv").read_text().replace("churn", "default", 1))
    other = tmp_path / "other.replearn"
    assert call(*shared_plan(shop, table, other, "--target", "default"))[0] == 0
    code, out, _ = call("certify", shop / "a.replearn", other)
    assert code == 3
    assert "target: column 'churn' here, column 'default' there" in out.splitlines()[0]


def test_nothing_is_promised_where_a_condition_does_not_hold(call, shop, tmp_path):
    rows = pd.read_csv(shop / "a.csv", dtype=str).drop(columns="customer_id")
    table = tmp_path / "twice.csv"
    pd.concat([rows.head(350)] * 2).to_csv(table, index=False)
    files = [tmp_path / "one.replearn", tmp_path / "two.replearn"]
    for path in files:
        assert call(*shared_plan(shop, table, path, "--target", "churn"))[0] == 0
    code, out, _ = call("certify", *files, "--explain")
    assert code == 3
    assert out.startswith("unknown: ")
    assert "not certified here: rows are not independent draws" in out.splitlines()[0]
    assert "no rho, NOT certified (rows are not independent draws" in out
    assert "the promise is about this pair" not in out
    assert "Nothing is promised, because a condition does not hold. If it did: Two runs" in out
    assert "not what was requested" not in out
    certified = json.loads(call("certify", *files, "--json")[1])
    assert certified["comparable"] is False
    assert [one["rho"] for one in certified["certificates"]] == [None, None]
    again = (*shared_plan(shop, table, files[0], "--target", "churn"), "--json")
    assert json.loads(call(*again)[1])["rho"] is None


def test_certify_has_a_code_for_what_is_not_known(call, tmp_path):
    made = plan(n=900, rho=0.3, classes=[0, 1])
    one = Identity("0123456789abcdef", "Tree()", "d1", versions={"numpy": "2.0"})
    for name, identity in (
        ("a", one),
        ("b", replace(one, versions={"numpy": "2.1"})),
        ("c", replace(one, learner_digest="d2")),
        ("d", one),
    ):
        made.certificate(identity).save(tmp_path / f"{name}.json")
    a, b, c, d = (tmp_path / f"{name}.json" for name in "abcd")
    codes = {}
    for name, files in {"same": (a, d), "unknown": (a, b), "no": (a, c), "both": (a, b, c)}.items():
        codes[name], out, _ = call("certify", *files)
        assert out.splitlines()[0].startswith({0: "yes", 1: "no", 3: "unknown"}[codes[name]])
    assert codes == {"same": 0, "unknown": 3, "no": 1, "both": 1}
    assert "not comparable, the runs differ in" in out.splitlines()[0]


def test_a_column_that_was_left_out_before_may_be_dropped_again(call, shop, tmp_path):
    lines = (shop / "a.csv").read_text().splitlines()
    numbered = tmp_path / "numbered.csv"
    numbered.write_text(
        "\n".join(
            f"{name},{line}"
            for name, line in zip(["serial", *range(len(lines) - 1)], lines, strict=True)
        )
    )
    out = tmp_path / "plain.replearn"
    fit = ("fit", numbered, "--target", "churn", "--learner", "plain", "--drop", "serial")
    assert call(*fit, "--out", out, "--quiet")[0] == 0
    assert call(*fit, "--columns", out, "--out", tmp_path / "again.replearn", "--quiet")[0] == 0
    code, _, err = call(*fit, "--drop", "seral", "--out", out)
    assert code == 2
    assert "Did you mean 'serial'?" in err


def test_fit_with_an_incumbent_keeps_its_predictions(call, shop, tmp_path):
    out = tmp_path / "c.replearn"
    arguments = ("--target", "churn", "--key-file", shop / "key.txt")
    common = (*arguments, "--max-fits", 20, "--quiet", "--out", out)
    kept = ("--incumbent", shop / "a.replearn", "--max-changes", 0, "--memory", 0.8)
    assert call("fit", shop / "b.csv", *common, *kept)[0] == 0
    assert describe(out).estimator == "IncumbentClassifier"
    key = ("--key-file", shop / "key.txt", "--quiet")
    after = rows_of(call("predict", out, shop / "new.csv", *key, "--explain")[1])
    before = rows_of(call("predict", shop / "a.replearn", shop / "new.csv", *key)[1])
    assert [row["prediction"] for row in after] == [row["prediction"] for row in before]
    assert {row["incumbent_prediction"] for row in after} == {"no", "yes"}
    code, _, err = call("fit", shop / "b.csv", *common, "--memory", 0.2)
    assert code == 2
    assert "--incumbent" in err


def plain_arguments(shop, data, out, *more):
    table = (shop / data, "--target", "churn", "--model", "tree", "--columns", shop / "a.replearn")
    return ["fit", *table, "--learner", "plain", "--out", out, "--quiet", *more]


def test_a_model_is_retrained_every_month(call, shop, tmp_path):
    """The model in use implies learner, columns, model and threshold: nothing is repeated."""
    may = tmp_path / "may.replearn"
    june = tmp_path / "june.replearn"
    first = ("--threshold", "0.3", "--pos-label", "yes")
    assert call(*plain_arguments(shop, "a.csv", may, *first))[0] == 0  # without a key
    fit = ("fit", shop / "b.csv", "--target", "churn", "--incumbent", may, "--out", june)
    code, out, err = call(*fit, "--memory", "0.5", "--max-changes", "0.02", "--json", "--quiet")
    assert code == 0, err
    retraining = json.loads(out)["retraining"]
    assert retraining["changed"] <= 0.02
    assert retraining["threshold"] == 0.3
    model = load(june)
    assert model.estimator.steps[-1][1].min_samples_leaf == 5  # --model tree
    code, out, _ = call("show", june)
    assert code == 0
    assert len([line for line in out.splitlines() if retraining["date"] in line]) == 2
    assert "predictions that change" in out
    history = json.loads(call("show", june, "--json")[1])["history"]
    assert history[-1] == retraining
    rows = rows_of(call("predict", june, shop / "new.csv", "--explain", "--quiet")[1])
    before = rows_of(call("predict", may, shop / "new.csv", "--quiet")[1])
    assert [row["incumbent_prediction"] for row in rows] == [row["prediction"] for row in before]


def months(tmp_path):
    """Write two months whose labels are the same function of the features, and one reversed."""
    rng = np.random.default_rng(0)
    for name, turn in (("may", 1), ("june", 1), ("july", -1)):
        X = rng.normal(size=(1500, 3)).round(3)
        bad = turn * X[:, 0] + rng.logistic(size=1500) > 1
        table = pd.DataFrame(X, columns=["age", "income", "debt"])
        table.assign(y=np.where(bad, "bad", "good")).to_csv(tmp_path / f"{name}.csv", index=False)


def test_an_alarm_is_a_line_and_an_exit_code(call, tmp_path):
    months(tmp_path)
    files = {name: tmp_path / f"{name}.replearn" for name in ("may", "june", "july")}
    first = ("--learner", "plain", "--out", files["may"])
    assert call("fit", tmp_path / "may.csv", "--target", "y", *first)[0] == 0
    for new, old, expected in (("june", "may", 0), ("july", "june", 1)):
        fit = ("fit", tmp_path / f"{new}.csv", "--target", "y", "--incumbent", files[old])
        code, out, err = call(*fit, "--out", files[new], "--fail-on-alarm")
        assert code == expected
        assert ("alarm: nothing is remembered" in out) == (expected == 1)
        assert "share of 'good' where the models differ most" in out
        assert str(files[new]) in err
        assert len([*out.splitlines(), *err.splitlines()]) <= 10
    assert "alarm: nothing is remembered" in call("show", files["july"])[1]
    fit = ("fit", tmp_path / "july.csv", "--target", "y", "--incumbent", files["june"])
    code, out, err = call(*fit, "--out", files["july"], "--quiet")
    assert (code, out) == (0, "")
    assert "alarm: nothing is remembered" in err


def test_a_threshold_on_words_names_its_label(call, tmp_path):
    months(tmp_path)
    fit = ("fit", tmp_path / "may.csv", "--target", "y", "--out", tmp_path / "m.replearn")
    for learner in (("plain",), ("score", "--key-file", tmp_path / "key.txt")):
        (tmp_path / "key.txt").write_text("a key for a test")
        code, _, err = call(*fit, "--learner", *learner, "--threshold", "0.15")
        assert code == 2
        assert "--threshold 0.15 requires --pos-label" in err
        assert "--pos-label bad predicts 'bad' where" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--memory", "long", "--incumbent", "MAY"), "--memory long: must be a number"),
        (("--max-changes", "0.1"), "--max-changes 0.1 requires --incumbent"),
        (("--rho", "0.1"), "--rho is not supported with --learner plain"),
    ],
)
def test_options_of_a_retraining_that_do_not_fit(call, shop, tmp_path, options, words):
    may = tmp_path / "may.replearn"
    call(*plain_arguments(shop, "a.csv", may))
    given = [may if option == "MAY" else option for option in options]
    code, _, err = call(*plain_arguments(shop, "b.csv", tmp_path / "june.replearn", *given))
    assert code == 2
    assert words in err


def test_a_retraining_reads_the_columns_of_the_model_in_use(call, shop, tmp_path):
    may = tmp_path / "may.replearn"
    call(*plain_arguments(shop, "a.csv", may))
    fit = ("fit", tmp_path / "b.csv", "--target", "churn", "--incumbent", may)
    fit = (*fit, "--out", tmp_path / "june.replearn")
    table = pd.read_csv(shop / "b.csv", dtype=str)
    table.assign(postcode="1234", fee=table["income"]).to_csv(tmp_path / "b.csv", index=False)
    assert call(*fit)[0] == 0  # codes stay texts, and a new column is not read
    table.drop(columns="town").to_csv(tmp_path / "b.csv", index=False)
    code, _, err = call(*fit)
    assert code == 2
    assert "'town'" in err
    table.to_csv(tmp_path / "b.csv", index=False)
    code, _, err = call(*fit, "--drop", "town")
    assert code == 2
    assert "'town' is text there, missing here" in err


def test_models_without_an_incumbent_have_no_history(call, shop):
    code, out, _ = call("show", shop / "a.replearn", "--json")
    assert code == 0
    shown = json.loads(out)
    assert shown["history"] == []
    assert shown["estimator"] == "PointwiseReplicableClassifier"
    assert shown["certificate"] is not None


def score_arguments(shop, tmp_path, *more):
    table = (shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt")
    return ["fit", *table, "--model", "tree", "--out", tmp_path / "m.replearn", "--quiet", *more]


def test_thresholds_in_standard_errors(call, shop, tmp_path):
    asked = (
        "--learner",
        "score",
        "--threshold",
        "1:3",
        "--pos-label",
        "yes",
        "--rho",
        "0.2",
        "--json",
    )
    code, out, _ = call(*score_arguments(shop, tmp_path, *asked))
    assert code == 0
    told = json.loads(out)
    assert told["verdict"] == "estimated"
    assert told["certificate"]["inputs"]["threshold"] == 0.25
    model, key = tmp_path / "m.replearn", ("--key-file", shop / "key.txt")
    answers = rows_of(call("predict", model, shop / "new.csv", *key, "--explain")[1])
    assert {row["prediction"] for row in answers} <= {"no", "yes"}
    assert "this point's threshold" in answers[0]["why"]
    code, out, _ = call("certify", model)
    assert "estimated (the standard error" in out


def test_a_plan_of_thresholds_in_standard_errors(call, shop, tmp_path):
    saved = tmp_path / "plan.json"
    asked = ("--n", 300, "--rho", 0.2, "--standard-error", 0.05, "--n-blocks", 3)
    code, out, _ = call("plan", "score", *asked, "--save", saved, "--json")
    assert code == 0
    assert json.loads(out)["verdict"] == "estimated"
    assert Plan.load(saved).verdict == "estimated"
    code, out, _ = call(*score_arguments(shop, tmp_path, "--plan", saved, "--json"))
    assert code == 0
    inputs = json.loads(out)["certificate"]["inputs"]
    assert (inputs["n"], inputs["n_blocks"], inputs["n_partitions"]) == (300, 3, 8)
    assert inputs["fixed_error"] == 0.05
    call("plan", "--n", 300, "--rho", 0.3, "--save", saved)
    code, _, err = call(*score_arguments(shop, tmp_path, "--plan", saved, "--learner", "score"))
    assert code == 2
    assert "plan is for PointwiseReplicableClassifier, not for" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--threshold", "high"), "--threshold high: must be a number such as 0.1, prevalence"),
        (("--learner", "score", "--threshold", "recall=0.8"), "prevalence, or the costs"),
        (("--learner", "score", "--max-fits", "9"), "takes no --max-fits"),
    ],
)
def test_options_that_do_not_go_together(call, shop, tmp_path, options, words):
    code, _, errors = call(*score_arguments(shop, tmp_path, *options))
    assert code != 0
    assert words in errors


@pytest.mark.parametrize("threshold", ["0.2", "1:4", "prevalence"])
def test_a_decision_threshold_of_certified_votes(call, shop, tmp_path, threshold):
    options = ("--max-fits", 18, "--rho", 0.2, "--json")
    model = tmp_path / "m.replearn"
    named = ("--threshold", threshold, "--pos-label", "yes")
    code, out, _ = call(*score_arguments(shop, tmp_path, *options, *named))
    assert code == 0
    expected = {"0.2": "threshold 0.2", "1:4": "threshold (1.0, 4.0)"}
    learner = json.loads(out)["certificate"]["identity"]["learner"]
    assert expected.get(threshold, f"threshold {threshold}") in learner
    predictions = rows_of(
        call("predict", model, shop / "new.csv", "--key-file", shop / "key.txt")[1]
    )
    assert {row["prediction"] for row in predictions} == {"no", "yes"}


def test_a_quiet_fit_prints_nothing(call, shop, tmp_path):
    code, out, err = call(*score_arguments(shop, tmp_path, "--max-fits", 18, "--rho", 0.2))
    assert (code, out, err) == (0, "", "")


@pytest.mark.parametrize("said", [True, False], ids=["short", "generated"])
def test_fit_says_that_a_key_can_be_guessed(call, shop, tmp_path, said):
    key = tmp_path / "key.txt"
    key.write_text("trial" if said else SharedKey.generate().export())
    arguments = ("--target", "churn", "--key-file", key, "--out", tmp_path / "m.replearn")
    code, _, err = call("fit", shop / "a.csv", *arguments, "--max-fits", 20)
    assert code == 0
    assert err.count("replearn key new") == said


def test_the_positive_label_of_a_threshold(call, shop, tmp_path):
    options = ("--learner", "score", "--rho", 0.2, "--threshold", 0.2, "--json")
    code, out, err = call(*score_arguments(shop, tmp_path, *options, "--pos-label", "no"))
    assert code == 0, err
    assert json.loads(out)["certificate"]["inputs"]["threshold"] == 0.8
    code, _, err = call(*score_arguments(shop, tmp_path, *options, "--pos-label", "maybe"))
    assert code == 2
    assert "--pos-label maybe: the labels are no, yes" in err


def test_a_threshold_about_the_first_label_is_told(call, shop, tmp_path):
    base = ("fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt")
    votes = ("--model", "tree", "--max-fits", 18, "--out", tmp_path / "m", "--threshold", 0.2)
    err = call(*base, *votes, "--pos-label", "no")[2]
    assert err.count("in terms of 'yes', the last label in sorted order") == 1


def test_a_missed_first_label_needs_a_larger_threshold(call, shop, tmp_path):
    table = pd.read_csv(shop / "a.csv", dtype=str)
    n_rows = len(table)
    labels = np.where(np.arange(n_rows) % 20 == 0, "gone", "stays")
    pd.DataFrame({"age": table["age"], "churn": labels}).to_csv(tmp_path / "rare.csv", index=False)
    model = ("--learner", "score", "--rho", 0.3, "--out", tmp_path / "m", "--threshold", 0.2)
    model = (*model, "--pos-label", "stays")
    base = ("fit", tmp_path / "rare.csv", "--target", "churn", "--key-file", shop / "key.txt")
    code, _, err = call(*base, *model)
    assert code == 0, err
    assert "predicts 'stays' for all" in err
    assert "raise the decision threshold, which is about 'stays' (--threshold 0.9," in err
    assert "lower the decision threshold" not in err


def test_predictions_without_formulas_for_spreadsheets(call, shop, tmp_path):
    base = ("predict", shop / "a.replearn", "--key-file", shop / "key.txt")
    rows = (shop / "new.csv").read_text().replace("C3-00000", "=HYPERLINK(0)", 1)
    (tmp_path / "new.csv").write_text(rows)
    plain = rows_of(call(*base, tmp_path / "new.csv")[1])
    escaped = rows_of(call(*base, tmp_path / "new.csv", "--escape-formulas")[1])
    assert plain[0]["customer_id"] == "=HYPERLINK(0)"
    assert escaped[0]["customer_id"] == "'=HYPERLINK(0)"
    assert plain[1:] == escaped[1:]


def test_a_file_that_needs_names_says_so_when_it_is_written(call, shop, tmp_path):
    out = tmp_path / "m.replearn"
    key = ("--key-file", shop / "key.txt")
    options = ("--target", "churn", "--plan", shop / "plan.json", "--model", "sklearn.svm:SVC")
    code, _, err = call("fit", shop / "a.csv", *options, *key, "--out", out)
    types = describe(out).untrusted_types
    assert "sklearn.svm._classes.SVC" in types
    trust = [word for name in types for word in ("--trust", name)]
    assert code == 0
    assert f"it opens only with {' '.join(trust)}" in " ".join(err.split())
    code, _, err = call("predict", out, shop / "new.csv", *key)
    assert code == 2
    assert " ".join(trust) in " ".join(err.split())
    assert call("predict", out, shop / "new.csv", *key, *trust)[0] == 0
