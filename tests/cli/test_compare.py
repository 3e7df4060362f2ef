"""``replearn compare`` as a gate: model files, tables of predictions, and both, with exit codes."""

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

ROOT = Path(__file__).parents[2]


def write(path, labels, ids=None, **more):
    columns = {"id": ids or [f"p{i}" for i in range(len(labels))], "prediction": labels, **more}
    frame = pl.DataFrame(columns)
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)
    return path


@pytest.fixture
def tables(tmp_path):
    """100 rows, three of them changed."""
    old, new = [0] * 100, [1] * 3 + [0] * 97
    towns = ["Ulm"] * 20 + ["Rom"] * 80
    return write(tmp_path / "old.csv", old), write(tmp_path / "new.csv", new, town=towns)


@pytest.mark.parametrize(("allowed", "code"), [(0.03, 0), (0.02, 1)])
def test_two_tables(call, tables, allowed, code):
    found = call("compare", *tables, "--fail-above", allowed, "--json")
    assert found[0] == code
    told = json.loads(found[1])
    flips = told["measured"][0]
    assert (told["n_rows"], flips["value"]) == (100, 0.03)
    assert told["gates"][0]["passed"] is (code == 0)
    assert flips["lower"] < 0.03 < flips["upper"]
    assert f"gate {'passed' if code == 0 else 'FAILED'}: flips 3.00 % (" in found[2]


def test_the_upper_limit_can_be_judged(call, tables):
    assert call("compare", *tables, "--fail-above", "upper flips=5%")[0] == 1
    assert call("compare", *tables, "--fail-above", "upper flips=0.09")[0] == 0


def test_rows_are_matched_by_id_whatever_their_order_and_type(call, tables, tmp_path):
    ids = [f"p{i}" for i in range(100)][::-1]
    labels = [0.0] * 97 + [1.0] * 3
    other = write(tmp_path / "new.parquet", labels, ids)
    assert json.loads(call("compare", tables[0], other, "--json")[1])["n_changed"] == 3


def test_groups_and_truth_come_from_any_of_the_files(call, tables, tmp_path):
    write(tmp_path / "rows.csv", [9] * 100, truth=[1] * 3 + [0] * 97)
    more = ("--subgroups", "town", "--target", "truth", "--json")
    told = json.loads(call("compare", *tables, tmp_path / "rows.csv", *more)[1])
    flips = {m["group"]: m["value"] for m in told["measured"] if m["what"] == "flips"}
    assert flips == {"all": 0.03, "town = Ulm": 0.15, "town = Rom": 0}
    assert [m["value"] for m in told["measured"] if m["what"] == "accuracy"] == [0.97, 1.0]
    better = [m for m in told["measured"] if m["what"] == "becomes right"]
    assert better[0]["value"] == 0.03


def test_several_columns_of_subgroups(call, tables, tmp_path):
    write(tmp_path / "rows.csv", [9] * 100, sex=["f", "m"] * 50)
    rows = (*tables, tmp_path / "rows.csv")
    told = json.loads(call("compare", *rows, "--subgroups", "town, sex", "--json")[1])
    assert {m["group"].split(" =")[0] for m in told["measured"]} == {"all", "town", "sex"}


def test_summary_is_appended_also_where_the_runner_says(call, tables, tmp_path, monkeypatch):
    path = tmp_path / "summary.md"
    base = ("compare", *tables, "--subgroups", "town", "--fail-above", 0.01)
    assert call(*base, "--summary", path)[0] == 1
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    assert call(*base)[0] == 1
    heads = re.findall(r"^May it be deployed\? No: flips 3.00 %", path.read_text(), re.M)
    assert len(heads) == 2
    assert "| town = Ulm | 20 | 15.0 % (" in path.read_text()


def test_a_missing_prediction_is_an_answer_of_its_own(call, tables, tmp_path):
    abstains = write(tmp_path / "abstains.csv", [None, None] + [0] * 98)
    code, out, err = call("compare", tables[0], abstains, "--json")
    assert code == 0
    assert json.loads(out)["n_changed"] == 2
    assert "2 rows have no prediction" in err


def test_a_model_against_what_it_predicted(call, shop, tmp_path):
    key = ("--key-file", shop / "key.txt")
    call("predict", shop / "a.replearn", shop / "new.csv", *key, "--out", tmp_path / "old.csv")
    base = ("compare", tmp_path / "old.csv")
    same = call(*base, shop / "a.replearn", shop / "new.csv", *key, "--json", "--fail-above", 0)
    assert same[0] == 0
    assert json.loads(same[1])["n_rows"] == 60
    models = call("compare", shop / "a.replearn", shop / "b.replearn", shop / "new.csv", *key)
    mixed = call(*base, shop / "b.replearn", shop / "new.csv", *key)
    flips = [re.search(r"flips +(.*)", out)[1] for _, out, _ in (models, mixed)]
    assert flips[0] == flips[1]


@pytest.mark.parametrize("label", ["no", "yes"])
def test_scores_of_a_model_are_about_the_positive_label(call, shop, tmp_path, label):
    key = ("--key-file", shop / "key.txt")
    options = ("--score", "score", "--pos-label", label, "--id", "customer_id", "--target", "churn")
    rows = (shop / "new.csv", *key, "--explain")
    call("predict", shop / "a.replearn", *rows, "--out", tmp_path / "old.csv")
    old = pl.read_csv(tmp_path / "old.csv")  # the scores of "yes"
    if label == "no":
        old.with_columns(score=1.0 - pl.col("score")).write_csv(tmp_path / "old.csv")
    sides = (tmp_path / "old.csv", shop / "a.replearn", shop / "new.csv")
    code, out, err = call("compare", *sides, *key, *options, "--json")
    assert code == 0, err
    found = json.loads(out)["measured"]
    assert next(m for m in found if m["what"] == "change of the probability")["value"] < 1e-5
    code, _, err = call("compare", *sides, *key, *options, "--pos-label", "maybe")
    assert code == 2
    assert "--pos-label maybe: the labels are no, yes" in err


def test_true_labels_that_are_not_used_are_told(call, shop, tmp_path):
    models = (shop / "a.replearn", shop / "b.replearn")
    rows = pl.read_csv(shop / "new.csv", infer_schema=False)
    known = pl.int_range(pl.len()) > 1
    rows.with_columns(churn=pl.when(known).then("churn")).write_csv(tmp_path / "new.csv")
    code, out, err = call("compare", *models, tmp_path / "new.csv", "--key-file", shop / "key.txt")
    assert code == 0
    assert "accuracy" not in out
    assert "2 of 60 rows have no 'churn' that can be read (text)" in err


def test_two_models_by_group(call, shop):
    key = ("--key-file", shop / "key.txt")
    models = (shop / "a.replearn", shop / "b.replearn", shop / "new.csv")
    told = json.loads(call("compare", *models, *key, "--subgroups", "town", "--json")[1])
    groups = {m["group"] for m in told["measured"]} - {"all"}
    assert groups == {f"town = {town}" for town in ("Ulm", "Rom", "Bern", "Oslo")}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ids": ["p0"] * 100}, "'p0' occurs 100 times"),
        ({"ids": ["q0", *[f"p{i}" for i in range(1, 100)]]}, "1 of 100 rows of"),
        ({"ids": [None, *[f"p{i}" for i in range(1, 100)]]}, "row 1 has no 'id'"),
    ],
)
def test_rows_that_do_not_match_are_refused(call, tables, tmp_path, change, said):
    bad = write(tmp_path / "bad.csv", [0] * 100, **change)
    code, out, err = call("compare", tables[0], bad, "--fail-above", 0.5)
    assert (code, out) == (2, "")
    assert said in err


def test_wrong_input_is_no_failed_gate(call, tables, shop, tmp_path):
    assert call("compare", *tables, "--subgroups", "region")[0] == 2
    assert call("compare", *tables, "--target", "truth")[0] == 2
    assert call("compare", *tables, "--prediction", "score")[0] == 2
    assert call("compare", *tables, "--fail-above", 2)[0] == 2
    code, _, err = call("compare", tables[0], shop / "a.replearn", "--key-file", shop / "key.txt")
    assert code == 2
    assert "OLD NEW DATA" in err
    (tmp_path / "labels.csv").write_text("prediction\n1\n0\n")
    code, _, err = call("compare", tables[0], tmp_path / "labels.csv")
    assert code == 2
    assert "--id" in err


def script_of_the_action():
    """Return the script of the step that compares, and the names of its variables."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    step = text[text.index("- id: compare") :]
    body = step[step.index("run: |\n") + len("run: |\n") :]
    variables = dict(re.findall(r"^ {8}([A-Z_]+): \$\{\{ inputs\.([\w-]+) \}\}$", step, re.M))
    return re.sub(r"^ {8}", "", body, flags=re.M), variables, text


@pytest.mark.parametrize(("allowed", "code"), [("0.02", 1), ("two", 2)])
def test_the_action_runs_its_script(tables, tmp_path, allowed, code):
    script, variables, text = script_of_the_action()
    declared = set(re.findall(r"^ {2}([\w-]+):$", text[: text.index("outputs:")], re.M))
    assert set(variables.values()) == declared
    given = dict.fromkeys(variables, "") | {
        "OLD": str(tables[0]),
        "NEW": str(tables[1]),
        "FAIL_ABOVE": f"flips={allowed}\nworst group=0.1",
        "SUBGROUPS": "town",
        "OUT": str(tmp_path / "update.html"),
    }
    told = {"GITHUB_OUTPUT": tmp_path / "out", "GITHUB_STEP_SUMMARY": tmp_path / "summary.md"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    source = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    environment = os.environ | given | {k: str(v) for k, v in told.items()} | {"PATH": path}
    ran = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        env=environment | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == code, ran.stderr
    if code < 2:
        assert told["GITHUB_OUTPUT"].read_text() == "flip-rate=0.03\n"
        assert "town = Ulm" in told["GITHUB_STEP_SUMMARY"].read_text()
        assert "No, 2 of 2 gates failed" in (tmp_path / "update.html").read_text()


# -- scores, gates, the page -----------------------------------------------------------------------


@pytest.fixture
def scored(tmp_path):
    """200 rows with scores, truth, groups and features; twelve predictions change."""
    truth = [i % 2 for i in range(200)]
    score = [0.3 + 0.4 * t for t in truth]
    moved = [1 - s if i < 12 else s for i, s in enumerate(score)]
    labels = [[int(s > 0.5) for s in side] for side in (score, moved)]
    old = write(tmp_path / "old.csv", labels[0], score=score)
    new = write(tmp_path / "new.csv", labels[1], score=moved)
    rows = {
        "truth": truth,
        "case": [i // 4 for i in range(200)],
        "town": [["Ulm", "Rom"][i < 30] for i in range(200)],
        "sex": [["f", "m"][i % 2] for i in range(200)],
        "age": [20 + i % 50 for i in range(200)],
    }
    pl.DataFrame({"id": [f"p{i}" for i in range(200)], **rows}).write_csv(tmp_path / "rows.csv")
    return old, new, tmp_path / "rows.csv"


ALL = ("--target", "truth", "--score", "score", "--subgroups", "town,sex")


@pytest.mark.parametrize(
    ("gate", "passes", "fails"),
    [
        ("becomes wrong", 0.06, 0.05),
        ("worst group", 0.4, 0.39),
        ("upper flips", 0.11, 0.1),
        ("change of the probability", 0.03, 0.02),
    ],
)
def test_each_gate_passes_and_fails(call, scored, gate, passes, fails):
    assert call("compare", *scored, *ALL, "--fail-above", f"{gate}={passes}")[0] == 0
    code, _, err = call("compare", *scored, *ALL, "--fail-above", f"{gate}={fails}")
    assert code == 1
    assert "gate FAILED" in err


def test_gates_that_cannot_be_judged_are_bad_input(call, scored):
    for gate in ("becomes wrong", "worst group", "added flips"):
        code, _, err = call("compare", *scored[:2], "--fail-above", f"{gate}=0.1")
        assert code == 2
        assert "requires" in err.lower()
    assert call("compare", *scored, "--fail-above", "flips=2")[0] == 2
    assert call("compare", *scored, "--fail-above", "flips=-1")[0] == 2
    assert call("compare", *scored, "--fail-above", "flips")[0] == 2
    assert call("compare", *scored, "--out", "update.pdf")[0] == 2


def test_golden_set_by_id(call, scored, tmp_path):
    pl.DataFrame({"id": ["p3", "p50", "p60"]}).write_csv(tmp_path / "golden.csv")
    golden = ("--must-not-change", tmp_path / "golden.csv")
    code, out, err = call("compare", *scored, *golden, "--json")
    assert code == 1
    assert json.loads(out)["must_not_change"] == ["p3"]
    assert "1 of 3 predictions that must not change do" in err
    calm = pl.DataFrame({"id": ["p50"], "prediction": [0]})
    calm.write_csv(tmp_path / "golden.csv")
    assert call("compare", *scored, *golden)[0] == 0
    calm.with_columns(id=pl.lit("q")).write_csv(tmp_path / "golden.csv")
    code, _, err = call("compare", *scored, *golden)
    assert code == 2
    assert "1 of 1 rows are not among the compared rows (the first: 'q'" in err


def test_golden_set_of_models(call, shop, tmp_path):
    key = ("--key-file", shop / "key.txt")
    models = (shop / "a.replearn", shop / "b.replearn", shop / "new.csv")
    base = ("compare", *models, *key, "--must-not-change", shop / "a.csv", "--json")
    told = json.loads(call(*base)[1])
    kept = next(m for m in told["measured"] if m["what"] == "must not change")
    assert (kept["rows"], kept["value"]) == (700, len(told["must_not_change"]))
    assert {name[:2] for name in told["must_not_change"]} <= {"C1"}
    code, _, err = call("compare", models[0], models[0], models[2], *base[4:])
    assert code == 0, err


@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_the_report_is_written(call, scored, tmp_path, ending):
    path = tmp_path / f"update.{ending}"
    code, _, err = call("compare", *scored, *ALL, "--out", path, "--fail-above", 0.1)
    assert code == 0
    assert f"report written to {path}" in err
    text = path.read_text()
    assert "p3" in text or ending == "md"
    assert "12 of 200 predictions change" in text or json.loads(text)["n_changed"] == 12
    if ending == "html":
        assert "age" in text.split('id="row-table"')[1]
        call("compare", *scored, *ALL, "--out", path, "--hide-values")
        assert "Features are not shown" in path.read_text()


def test_the_report_of_two_models(call, shop, tmp_path):
    key = ("--key-file", shop / "key.txt")
    models = (shop / "a.replearn", shop / "b.replearn", shop / "new.csv")
    more = ("--subgroups", "town", "--out", tmp_path / "u.html")
    code, out, _ = call("compare", *models, *key, *more, "--json")
    assert code == 0
    told = json.loads(out)
    assert {"age", "income", "town"} <= set(told["columns"])
    assert {one["old"] for one in told["transitions"]} <= {"yes", "no"}
    assert {row["id"][:3] for row in told["rows"]} == {"C3-"}
    assert (tmp_path / "u.html").read_text().startswith("<!doctype html>")


def test_scores_and_groups_from_files(call, scored):
    told = json.loads(call("compare", *scored, *ALL, "--group-by", "case", "--json")[1])
    assert told["n_groups"] == 50
    assert {"accuracy", "AUC", "difference of AUC"} <= {m["what"] for m in told["measured"]}


def test_quantities_from_files(call, tmp_path):
    old = write(tmp_path / "old.csv", [1.0, 2.0, 3.0, 4.0], truth=[1.1, 2.1, 3.1, 4.1])
    new = write(tmp_path / "new.csv", [1.1, 2.0, 3.9, 4.0])
    told = json.loads(
        call("compare", old, new, "--tolerance", 0.5, "--target", "truth", "--json")[1]
    )
    assert told["n_changed"] == 1
    assert told["rows"][0]["moved"] == pytest.approx(0.9)
    words = write(tmp_path / "words.csv", ["a", "b", "c", "d"])
    code, _, err = call("compare", old, words, "--tolerance", 0.5)
    assert code == 2
    assert "--tolerance requires numbers" in err


def test_scores_must_be_probabilities(call, scored, tmp_path):
    ids = [f"p{i}" for i in range(200)]
    bad = write(tmp_path / "bad.csv", [0] * 200, ids, score=[1.5] * 200)
    code, _, err = call("compare", scored[0], bad, "--score", "score")
    assert code == 2
    assert "must lie in [0, 1]" in err
    gaps = write(tmp_path / "gaps.csv", [0] * 200, ids, score=[None] + [0.5] * 199)
    code, _, err = call("compare", scored[0], gaps, "--score", "score")
    assert code == 2
    assert "row 1 has no number in 'score'" in err


# -- several runs of one version -------------------------------------------------------------------
def log_line(sample, epoch, answer):
    return json.dumps(
        {"sample": {"id": sample}, "epoch": epoch, "score": {"value": answer}, "target": "C"}
    )


@pytest.fixture
def logs(tmp_path):
    """Two versions of 60 samples with three epochs each, in JSON Lines, one of them packed."""
    rng = np.random.default_rng(0)
    easy = rng.random(60)
    paths = []
    for name in ("old.jsonl", "new.jsonl.gz"):
        lines = [
            log_line(f"s{k}", epoch, "C" if rng.random() < easy[k] else "I")
            for epoch in (1, 2, 3)
            for k in rng.permutation(60)
        ]
        data = "\n".join(lines).encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        paths.append(path)
    return paths


def test_runs_are_a_column_of_a_log(call, logs):
    code, out, err = call("compare", *logs, "--json")
    assert code == 0, err
    assert "id is 'sample.id', run is 'epoch', prediction is 'score.value'" in err
    told = json.loads(out)
    assert (told["n_rows"], told["n_runs"]) == (60, [3, 3])
    whats = {m["what"] for m in told["measured"]}
    assert {"flips within a version", "added flips"} <= whats
    named = ("--id", "sample.id", "--run", "epoch", "--prediction", "score.value")
    code, again, err = call("compare", *logs, *named, "--target", "target", "--json")
    assert json.loads(again)["measured"][0] == told["measured"][0]
    assert "becomes wrong" in again
    assert "columns of" not in err


def test_a_gate_on_what_the_new_version_adds(call, logs):
    assert call("compare", *logs, "--fail-above", "flips=0.05")[0] == 1
    assert call("compare", *logs, "--fail-above", "added flips=0.2")[0] == 0


def test_runs_in_files_of_their_own(call, tables, tmp_path):
    again = write(tmp_path / "again.csv", [0] * 95 + [1] * 5)
    told = json.loads(call("compare", *tables, "--more-old", again, "--json")[1])
    assert told["n_runs"] == [2, 1]
    within = next(m for m in told["measured"] if m["what"] == "flips within the old version")
    assert within["value"] == 0.05


def test_runs_of_models(call, shop):
    key = ("--key-file", shop / "key.txt")
    base = ("compare", shop / "a.replearn", shop / "b.replearn", shop / "new.csv", *key)
    told = json.loads(call(*base, "--more-new", shop / "a.replearn", "--json")[1])
    assert told["n_runs"] == [1, 2]


def test_runs_that_do_not_match_are_refused(call, logs, tables, tmp_path):
    code, _, err = call("compare", *tables, "--run", "epoch")
    assert code == 2
    assert "has no column 'epoch'" in err
    lines = logs[0].read_text().splitlines()
    (tmp_path / "short.jsonl").write_text("\n".join(lines[:-1]))
    code, _, err = call("compare", tmp_path / "short.jsonl", logs[1])
    assert code == 2
    assert "1 of 60 rows of" in err
    assert "Compare the same rows" in err
