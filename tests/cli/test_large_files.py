"""``fit --folder`` and ``predict --in-pieces`` give what the commands give in memory."""

import json
import re

import pytest

from replearn.cli import _large
from replearn.tables import _text_files, files


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(_text_files, "_BLOCK_BYTES", 1 << 14)


def fitted(call, shop, tmp_path, name, *more):
    common = ("--target", "churn", "--key-file", shop / "key.txt", "--max-fits", 20, "--json")
    kinds = ("--columns", shop / "a.replearn")
    out = tmp_path / f"{name}.replearn"
    code, told, _ = call("fit", shop / "a.csv", *common, *kinds, "--out", out, *more)
    assert code == 0
    return out, json.loads(told)


def test_same_model_and_predictions_as_in_memory(call, shop, tmp_path):
    here, expected = fitted(call, shop, tmp_path, "here")
    there, found = fitted(call, shop, tmp_path, "there", "--folder", tmp_path / "work")
    assert found["certificate"] == expected["certificate"]
    assert found["columns"] == expected["columns"]
    assert len(list((tmp_path / "work" / "cells").iterdir())) > 1
    again, _ = fitted(call, shop, tmp_path, "again", "--folder", tmp_path / "work")
    answers = []
    for model, pieces in ((here, ()), (there, ("--in-pieces",)), (again, ("--in-pieces",))):
        out = tmp_path / f"{model.stem}.csv"
        code, *_ = call(
            *("predict", model, shop / "a.csv", "--key-file", shop / "key.txt"),
            *("--out", out, "--explain", *pieces),
        )
        assert code == 0
        answers.append(out.read_text())
    assert answers[0] == answers[1] == answers[2]


def test_what_needs_the_file_in_memory_is_refused(call, shop, tmp_path):
    common = ("--target", "churn", "--key-file", shop / "key.txt", "--out", tmp_path / "m.replearn")
    folder = ("--folder", tmp_path / "work")
    for more, told in {
        ("--scheduler", "tcp://127.0.0.1:1"): "--scheduler needs --folder",
        (*folder, "--group-by", "town"): "--group-by needs the file in memory",
        (*folder, "--learner", "score"): "--learner score needs the file in memory",
        (*folder, "--resume", tmp_path / "r"): "--resume needs the file in memory",
        (*folder, "--id", "nobody"): "no column 'nobody'",
    }.items():
        code, _, err = call("fit", shop / "a.csv", *common, *more)
        assert code == 2
        assert told in err
    code, _, err = call("predict", shop / "a.replearn", shop / "new.csv", "--in-pieces")
    assert code == 2
    assert "--out" in err or "--key-file" in err


def test_the_folder_of_other_options_is_refused(call, shop, tmp_path):
    fitted(call, shop, tmp_path, "one", "--folder", tmp_path / "work")
    common = ("--target", "town", "--key-file", shop / "key.txt", "--out", tmp_path / "m.replearn")
    code, _, err = call("fit", shop / "a.csv", *common, "--folder", tmp_path / "work")
    assert code == 2
    assert "holds another fit: not the same options" in err


def test_an_audit_draws_rows_of_a_large_file_whatever_their_order(
    call, shop, tmp_path, monkeypatch
):
    common = ("--target", "churn", "--model", "sklearn.naive_bayes:GaussianNB", "--pairs", "2")
    common += ("--contenders", "baseline", "--jobs", "1", "--json")
    header, *rows = (shop / "a.csv").read_text().splitlines()
    shuffled = tmp_path / "a.csv"
    shuffled.write_text("\n".join([header, *rows[::-1]]) + "\n")
    monkeypatch.setattr(files, "LARGE_BYTES", 1 << 10)
    monkeypatch.setattr(_large, "SAMPLE_CELLS", 400 * 8)
    answers = []
    for path in (shop / "a.csv", shuffled):
        code, out, err = call("audit", path, *common)
        assert code == 0
        assert "400 of 700 rows were drawn by the key, since the file is large" in err
        answers.append(json.loads(out))
    assert "400 of 700 rows" in str(answers[0]["cut_short"])
    assert answers[0]["contenders"] == answers[1]["contenders"]
    # more rows than there are: the audit of the whole file
    monkeypatch.setattr(_large, "SAMPLE_CELLS", 10**6)
    code, _, err = call("audit", shop / "a.csv", *common)
    assert code == 0
    assert "drawn" not in err


def test_a_large_table_gets_fewer_partitions_and_says_so_first(call, shop, tmp_path, monkeypatch):
    from replearn.cli import fit

    common = ("--target", "churn", "--key-file", shop / "key.txt", "--rho", 0.5, "--json")
    monkeypatch.setattr(fit, "MAX_CELLS", 700 * 6 * 2)  # two partitions of six columns
    out = tmp_path / "m.replearn"
    code, told, err = call("fit", shop / "a.csv", *common, "--out", out)
    design = json.loads(told)["certificate"]["inputs"]
    assert code == 0
    said = (
        r"2 x (\d+) blocks of \d+ rows are fitted, instead of (\d+) x \1, since the table is large"
    )
    found = re.search(said, err)
    assert found
    assert f"--max-fits {int(found[1]) * int(found[2])} fits them all" in err
    assert design["n_partitions"] == 2
