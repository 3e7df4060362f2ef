"""Under a time budget, a file that is read slowly is read in part, and the report says so."""

import time

import polars as pl
import pytest

from replearn.cli import audit
from replearn.cli.audit import Thinning
from replearn.randomness.key import SharedKey
from replearn.tables.files import read_table


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Reading takes a second; the test says how much of the budget is left."""
    seconds = iter(range(1000))
    monkeypatch.setattr(audit.time, "monotonic", lambda: float(next(seconds)))
    monkeypatch.setattr(audit, "MIN_READ", 300)


def frame(n=5000):
    return pl.DataFrame({"row": list(range(n)), "label": ["a", "b"] * (n // 2)})


def test_late_rows_are_drawn_by_the_key_all_over_the_file():
    late = Thinning(started=-100.0, budget=60.0, key=SharedKey("a"))
    rows = late(frame())["row"].to_list()
    assert len(rows) == 300
    assert rows == sorted(set(rows))
    assert 1000 < sum(rows) / 300 < 4000
    assert late.remarks == [
        "300 of 5,000 rows of the file were read, drawn by the key, to keep the time budget"
    ]
    again, other = (Thinning(-100.0, 60.0, SharedKey(key)) for key in "ab")
    assert again(frame())["row"].to_list() == rows
    assert other(frame())["row"].to_list() != rows


def test_the_order_of_the_file_does_not_matter():
    drawn, shuffled = (
        Thinning(-100.0, 60.0, SharedKey("a"))(rows)["row"].to_list()
        for rows in (frame(), frame().sample(fraction=1.0, shuffle=True, seed=1))
    )
    assert sorted(shuffled) == drawn
    copies = pl.concat([frame(400), frame(400)])  # equal rows are drawn one by one
    assert Thinning(-100.0, 60.0, SharedKey("a"))(copies).height == 300


@pytest.mark.parametrize(("budget", "n_rows"), [(400.0, 5000), (17.0, 2031), (1.0, 300)])
def test_as_many_rows_as_there_is_time_for(budget, n_rows):
    # One second for cutting lines, so eight for the cells of all rows: 5000 * (17 / 4 - 1) / 8.
    thin = Thinning(started=0.0, budget=budget, key=SharedKey("a"))
    assert thin(frame()).height == n_rows
    assert bool(thin.remarks) == (n_rows < 5000)


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_a_file_is_thinned_before_its_cells_are_read(tmp_path, name):
    path = tmp_path / name
    frame().write_csv(path) if name.endswith("csv") else frame().write_parquet(path)
    assert read_table(path, thin=Thinning(-100.0, 60.0, SharedKey("a"))).frame.height == 300
    assert read_table(path).frame.height == 5000


def options(**given):
    return audit.AuditOptions(data="rows.csv", target="y", **given)


def test_groups_and_audits_that_go_on_are_read_whole():
    assert audit._thinning(options(time_budget=60.0), None) is not None
    assert audit._thinning(options(), None) is None
    assert audit._thinning(options(time_budget=60.0, group_by="patient"), None) is None
    assert audit._thinning(options(time_budget=60.0, resume="folder"), None) is None


def test_the_report_says_that_rows_were_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.undo()
    monkeypatch.setattr(audit, "MIN_READ", 300)
    monkeypatch.setattr(audit, "STARTED", time.monotonic() - 100.0)
    monkeypatch.chdir(tmp_path)
    table = pl.DataFrame({"x": [i % 7 for i in range(600)], "y": [i % 2 for i in range(600)]})
    table.write_csv("rows.csv")
    sizes = {"time_budget": 100.0, "contenders": ("baseline",), "pairs": 2, "jobs": 1}
    options = audit.AuditOptions(data="rows.csv", target="y", model="tree", **sizes)
    monkeypatch.setattr(audit, "_time_left", lambda options: None)
    assert audit.run(options) == 0
    assert "300 of 600 rows of the file were read" in " ".join(capsys.readouterr().out.split())
