"""Rows of one person in a file: the column that names persons is no feature, but it is seen."""

import json

import numpy as np
import pytest

from replearn.cli import _inputs, _large
from replearn.tables import files
from tests.cli.conftest import newcomer_rows, write_csv

GIB = 1 << 30
IN_WORDS = "rows are not independent draws"


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Six hundred rows of about 250 customers, as a join with their visits leaves them."""
    customers = np.random.default_rng(0).integers(0, 250, 600)
    rows = [
        (f"C{c:05d}", *row[1:]) for c, row in zip(customers, newcomer_rows(600, 4), strict=True)
    ]
    return write_csv(tmp_path_factory.mktemp("visits") / "visits.csv", rows)


def fit(call, visits, shop, tmp_path, *more):
    options = ("--target", "churn", "--max-fits", 20, "--out", tmp_path / "m.replearn")
    return call("fit", visits, *options, "--key-file", shop / "key.txt", *more)


@pytest.mark.parametrize(
    "more",
    [(), ("--drop", "customer_id"), ("--id", "customer_id"), ("--learner", "score")],
    ids=["guessed", "dropped", "keyed", "score"],
)
def test_nothing_is_guaranteed_for_several_rows_of_one_person(call, visits, shop, tmp_path, more):
    code, _, err = fit(call, visits, shop, tmp_path, *more)
    assert code == 2
    assert IN_WORDS in err
    assert "column 'customer_id' names" in err
    assert "--group-by 'customer_id'" in err
    assert "The guarantee then counts them instead of rows" in err
    assert "--learner plain: the model as it is, without any guarantee" in err
    assert not (tmp_path / "m.replearn").exists()


def test_kinds_of_another_file_do_not_hide_persons(call, visits, shop, tmp_path):
    kinds = tmp_path / "kinds.json"
    others = {"age": "number", "town": "text", "churn": "text"}
    kinds.write_text(json.dumps(others))
    code, _, err = fit(call, visits, shop, tmp_path, "--columns", kinds)
    assert code == 2
    assert "column 'customer_id' names" in err
    code, _, err = fit(call, shop / "a.csv", shop, tmp_path, "--columns", kinds)
    assert code == 0, err


def test_persons_are_counted_where_rows_are_kept_together(call, visits, shop, tmp_path):
    more = ("--group-by", "customer_id", "--rho", 0.4, "--json")
    code, out, err = fit(call, visits, shop, tmp_path, *more)
    assert code == 0, err
    assert json.loads(out)["certificate"]["inputs"]["n"] < 250


def test_a_plain_model_promises_nothing_and_takes_groups(call, visits, tmp_path):
    first = tmp_path / "first.replearn"
    common = ("fit", visits, "--target", "churn", "--learner", "plain")
    code, _, err = call(*common, "--out", first)
    assert code == 0
    assert f"note: {IN_WORDS}" in err
    together = ("--group-by", "customer_id", "--incumbent", first, "--out", tmp_path / "next")
    code, _, err = call(*common, *together)
    assert code == 0, err
    assert IN_WORDS not in err


@pytest.fixture
def pieces(monkeypatch):
    """Read files in pieces, whatever their size."""
    monkeypatch.setattr(files, "_BLOCK_BYTES", 1 << 14)
    monkeypatch.setattr(_inputs, "memory_needed", lambda path, bytes_per_row=0: 9 * GIB)
    monkeypatch.setattr(_inputs, "available_memory", lambda: 4 * GIB)


@pytest.mark.parametrize("most", [1 << 16, 128])
def test_they_are_found_in_pieces(call, visits, shop, tmp_path, pieces, monkeypatch, most):
    monkeypatch.setattr(_large, "MAX_VALUES", most)
    code, _, err = fit(call, visits, shop, tmp_path)
    assert "read in pieces" in err
    assert code == 2
    assert f"{IN_WORDS}: column 'customer_id' names" in err
    code, _, err = fit(call, shop / "a.csv", shop, tmp_path)
    assert "read in pieces" in err
    assert code == 0, err


def test_an_audit_reports_groups_that_were_ignored(call, visits, tmp_path):
    options = ("--target", "churn", "--pairs", 2, "--contenders", "baseline", "--details")
    out = ("--out", tmp_path / "r.html")
    _, ignored, _ = call("audit", visits, *options, *out)
    assert "RPL008 groups ignored: Column 'customer_id' looks like an id" in ignored
    _, kept, _ = call("audit", visits, *options, *out, "--group-by", "customer_id")
    assert "RPL008 groups ignored: " not in kept
