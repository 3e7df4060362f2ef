"""``replearn compare`` as a gate: model files, tables of predictions, and both, with exit codes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

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
    assert (told["rows"], told["flips"]["estimate"]) == (100, 0.03)
    assert told["gates"][0]["passed"] is (code == 0)
    assert told["flips"]["lower"] < 0.03 < told["flips"]["upper"]
    assert f"gate {'passed' if code == 0 else 'FAILED'}: flip rate 3.00% (" in found[2]


def test_the_upper_limit_can_be_judged(call, tables):
    assert call("compare", *tables, "--fail-above-limit", 0.05)[0] == 1
    assert call("compare", *tables, "--fail-above-limit", 0.09)[0] == 0


def test_rows_are_matched_by_id_whatever_their_order_and_type(call, tables, tmp_path):
    ids = [f"p{i}" for i in range(100)][::-1]
    labels = [0.0] * 97 + [1.0] * 3
    other = write(tmp_path / "new.parquet", labels, ids)
    assert json.loads(call("compare", tables[0], other, "--json")[1])["flips"]["estimate"] == 0.03


def test_groups_and_truth_come_from_any_of_the_files(call, tables, tmp_path):
    write(tmp_path / "rows.csv", [9] * 100, truth=[1] * 3 + [0] * 97)
    more = ("--subgroups", "town", "--target", "truth", "--json")
    told = json.loads(call("compare", *tables, tmp_path / "rows.csv", *more)[1])
    assert {g["level"]: g["estimate"] for g in told["by_subgroup"]} == {"Ulm": 0.15, "Rom": 0}
    assert (told["accuracy_a"], told["accuracy_b"]) == (0.97, 1.0)
    assert told["wrong_to_right"]["estimate"] == 0.03


def test_several_columns_of_subgroups(call, tables, tmp_path):
    write(tmp_path / "rows.csv", [9] * 100, sex=["f", "m"] * 50)
    rows = (*tables, tmp_path / "rows.csv")
    told = json.loads(call("compare", *rows, "--subgroups", "town, sex", "--json")[1])
    assert {g["subgroup"] for g in told["by_subgroup"]} == {"town", "sex"}


def test_summary_is_appended_also_where_the_runner_says(call, tables, tmp_path, monkeypatch):
    path = tmp_path / "summary.md"
    base = ("compare", *tables, "--subgroups", "town", "--fail-above", 0.01)
    assert call(*base, "--summary", path)[0] == 1
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    assert call(*base)[0] == 1
    heads = re.findall("^### Gate FAILED: 3 of 100 predictions change$", path.read_text(), re.M)
    assert len(heads) == 2
    assert "| town = Ulm | 20 | 15.0 % (" in path.read_text()


def test_a_missing_prediction_is_an_answer_of_its_own(call, tables, tmp_path):
    abstains = write(tmp_path / "abstains.csv", [None, None] + [0] * 98)
    code, out, err = call("compare", tables[0], abstains, "--json")
    assert code == 0
    assert json.loads(out)["flips"]["estimate"] == 0.02
    assert "2 rows have no prediction" in err


def test_a_model_against_what_it_predicted(call, shop, tmp_path):
    key = ("--key-file", shop / "key.txt")
    call("predict", shop / "a.replearn", shop / "new.csv", *key, "--out", tmp_path / "old.csv")
    base = ("compare", tmp_path / "old.csv")
    same = call(*base, shop / "a.replearn", shop / "new.csv", *key, "--json", "--fail-above", 0)
    assert same[0] == 0
    assert json.loads(same[1])["rows"] == 60
    models = call("compare", shop / "a.replearn", shop / "b.replearn", shop / "new.csv", *key)
    mixed = call(*base, shop / "b.replearn", shop / "new.csv", *key)
    flips = [re.search(r"flips +(.*)", out)[1] for _, out, _ in (models, mixed)]
    assert flips[0] == flips[1]


def test_two_models_by_group(call, shop):
    key = ("--key-file", shop / "key.txt")
    models = (shop / "a.replearn", shop / "b.replearn", shop / "new.csv")
    told = json.loads(call("compare", *models, *key, "--subgroups", "town", "--json")[1])
    assert {g["level"] for g in told["by_subgroup"]} == {"Ulm", "Rom", "Bern", "Oslo"}


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
        "FAIL_ABOVE": allowed,
        "SUBGROUPS": "town",
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
