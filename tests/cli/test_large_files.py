"""Tables that are read in pieces, by choice of the command: what comes out as if read whole."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from replearn.cli import _inputs, _large, audit
from replearn.tables import files

GIB = 1 << 30


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(files, "_BLOCK_BYTES", 1 << 14)


@pytest.fixture
def large(monkeypatch):
    """Let every table be too large for the memory that there is."""
    monkeypatch.setattr(_inputs, "memory_needed", lambda path: 9 * GIB)
    monkeypatch.setattr(_inputs, "available_memory", lambda: 4 * GIB)


def fitted(call, shop, tmp_path, name, *more):
    common = ("--target", "churn", "--key-file", shop / "key.txt", "--max-fits", 20, "--json")
    kinds = ("--columns", shop / "a.replearn")
    out = tmp_path / f"{name}.replearn"
    code, told, err = call("fit", shop / "a.csv", *common, *kinds, "--out", out, *more)
    assert code == 0, err
    return out, json.loads(told), err


def predicted(call, shop, model, *more):
    out = model.with_suffix(".csv")
    options = ("--key-file", shop / "key.txt", "--out", out, "--explain", *more)
    code, _, err = call("predict", model, shop / "a.csv", *options)
    assert code == 0
    return out.read_text(), err


def test_same_model_and_predictions_as_in_memory(call, shop, tmp_path, request):
    here, expected, err = fitted(call, shop, tmp_path, "here")
    assert "in pieces" not in err
    whole, err = predicted(call, shop, here)
    assert "in pieces" not in err
    request.getfixturevalue("large")
    work = tmp_path / "work"
    there, found, err = fitted(call, shop, tmp_path, "there", "--resume", work)
    assert "would take about 9.0 GiB of memory, and this command takes at most 4.0 GiB" in err
    assert f"read in pieces, work in {work} (kept)" in err
    assert found["certificate"] == expected["certificate"]
    assert found["columns"] == expected["columns"]
    assert found["usefulness"] == expected["usefulness"]
    assert len(list((work / "cells").iterdir())) > 1
    again, _, _ = fitted(call, shop, tmp_path, "again", "--resume", work)
    for model in (there, again):
        pieces, err = predicted(call, shop, model)
        assert "read in pieces" in err
        assert pieces == whole
    code, out, _ = call(
        *("predict", there, shop / "a.csv", "--key-file", shop / "key.txt", "--explain")
    )
    assert code == 0
    assert out == whole


def test_the_temporary_folder_is_removed(call, shop, tmp_path, large):
    before = set(shop.iterdir())
    _, _, err = fitted(call, shop, tmp_path, "m", "--max-memory", "2GiB")
    assert "--max-memory allows 2.0 GiB" in err
    found = re.search(r"work in (\S+) \(removed afterwards\)", err)
    assert found[1].startswith(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"m.replearn"}
    assert set(shop.iterdir()) == before


def test_a_fit_that_was_begun_in_pieces_continues_so(call, shop, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(_inputs, "memory_needed", lambda path: 9 * GIB)
        patch.setattr(_inputs, "available_memory", lambda: 4 * GIB)
        fitted(call, shop, tmp_path, "one", "--resume", tmp_path / "work")
    _, _, err = fitted(call, shop, tmp_path, "two", "--resume", tmp_path / "work")
    assert "it is read in pieces" in err


def test_the_positive_label_is_known_in_pieces(call, shop, tmp_path, request):
    options = ("--threshold", "prevalence", "--pos-label", "no")
    _, expected, _ = fitted(call, shop, tmp_path, "here", *options)
    request.getfixturevalue("large")
    _, found, err = fitted(call, shop, tmp_path, "there", *options)
    assert "in pieces" in err
    assert found["certificate"] == expected["certificate"]


def test_what_needs_the_table_in_memory_is_refused(call, shop, tmp_path, large):
    common = ("--target", "churn", "--key-file", shop / "key.txt", "--out", tmp_path / "m.replearn")
    limit = ("--max-memory", "2GiB")
    for more, told in {
        ("--scheduler", "tcp://127.0.0.1:1"): "--scheduler requires --resume",
        (*limit, "--group-by", "town"): "--group-by requires the table in memory, but the table",
        (*limit, "--learner", "score"): "--learner score requires the table in memory",
        (*limit, "--id", "nobody"): "no column 'nobody'",
        ("--max-memory", "500MB"): "must be at least 1.0 GiB for this table",
    }.items():
        code, _, err = call("fit", shop / "a.csv", *common, *more)
        assert code == 2
        assert told in err
    code, _, err = call("fit", shop / "a.csv", *common, "--group-by", "town", "--max-fits", 20)
    assert code == 0
    assert "warning: the table would take about 9.0 GiB" in err
    key = ("--key-file", shop / "key.txt")
    code, _, err = call("predict", shop / "a.replearn", shop / "new.csv", *key, *limit, "--json")
    assert code == 2
    assert "--json requires the table in memory" in err


def test_amounts_of_memory_are_read_or_explained(call, shop):
    options = ("--target", "churn", "--out", "m", "--max-memory", "much")
    code, _, err = call("fit", shop / "a.csv", *options)
    assert code == 2
    assert "'much' is not an amount of memory: write it as 3GiB or 500MB." in err


def test_blocks_that_do_not_fit_are_refused():
    reading = _inputs.Reading(9 * GIB, 2 * GIB, True)
    reading.require_pieces(100_000, 20)
    with pytest.raises(ValueError, match="with blocks of 10,000,000 rows"):
        reading.require_pieces(10_000_000, 20)
    _inputs.Reading(9 * GIB, 2 * GIB, False).require_pieces(10_000_000, 20)  # nothing was set


def test_the_folder_of_other_options_is_refused(call, shop, tmp_path, large):
    fitted(call, shop, tmp_path, "one", "--resume", tmp_path / "work")
    common = ("--target", "town", "--key-file", shop / "key.txt", "--out", tmp_path / "m.replearn")
    code, _, err = call("fit", shop / "a.csv", *common, "--resume", tmp_path / "work")
    assert code == 2
    assert "holds another fit: not the same options" in err


# -- memory is measured ----------------------------------------------------------------------------
CHILD = """
import os, sys
pid = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, "-m", "replearn", *sys.argv[1:]])
_, status, usage = os.wait4(pid, 0)
scale = 1 if sys.platform == "darwin" else 1024
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * scale)
"""


def peak_memory(*words):
    """Run a command in a process of its own; return what it said, and the peak of its memory."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    code, peak = done.stdout.split()[-2:]
    assert code == "0", done.stderr
    return done.stderr, int(peak)


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="peak of a child's memory")
def test_memory_stays_below_the_limit(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000_000, 10))
    rows = pl.DataFrame(X, schema=[f"x{column}" for column in range(10)])
    rows = rows.with_columns(y=pl.Series(X[:, 0] + rng.normal(size=len(X)) > 0).cast(pl.Int64))
    rows.write_csv(tmp_path / "rows.csv")
    del X, rows
    (tmp_path / "key.txt").write_text("memory, test\n")
    common = ("--target", "y", "--max-memory", "1GiB", "--quiet")
    key = ("--key-file", tmp_path / "key.txt")
    model = tmp_path / "m.replearn"
    fit = ("fit", tmp_path / "rows.csv", *common, *key, "--max-fits", 88, "--out", model)
    assert peak_memory(*fit)[1] < GIB
    new = ("predict", model, tmp_path / "rows.csv", *key, "--max-memory", "1GiB")
    assert peak_memory(*new, "--out", tmp_path / "p.csv")[1] < GIB
    assert (tmp_path / "p.csv").read_bytes().count(b"\n") == 2_000_001
    audit = ("audit", tmp_path / "rows.csv", *common, "--quick", "--jobs", 1)
    assert peak_memory(*audit)[1] < GIB


def test_an_audit_draws_rows_of_a_large_file_whatever_their_order(
    call, shop, tmp_path, monkeypatch
):
    common = ("--target", "churn", "--model", "sklearn.naive_bayes:GaussianNB", "--pairs", "2")
    common += ("--contenders", "baseline", "--jobs", "1", "--json")
    header, *rows = (shop / "a.csv").read_text().splitlines()
    shuffled = tmp_path / "a.csv"
    shuffled.write_text("\n".join([header, *rows[::-1]]) + "\n")
    monkeypatch.setattr(audit, "LARGE_TABLE", 1 << 10)
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
    from replearn.learners import training

    common = ("--target", "churn", "--key-file", shop / "key.txt", "--rho", 0.5, "--json")
    monkeypatch.setattr(training, "MAX_CELLS", 700 * 6 * 2)  # two partitions of six columns
    out = tmp_path / "m.replearn"
    code, told, err = call("fit", shop / "a.csv", *common, "--out", out)
    design = json.loads(told)["certificate"]["inputs"]
    assert code == 0
    said = (
        r"2 x (\d+) blocks of \d+ rows are fitted instead of (\d+) x \1, because the table is large"
    )
    found = re.search(said, err)
    assert found
    assert f"--max-fits {int(found[1]) * int(found[2])} fits them all" in err
    assert design["n_partitions"] == 2
