"""``replearn probe`` and ``certify --probe``: two labs and one file of raw rows."""

import csv
import json


def write_csv(path, rows, header):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


def encoded(shop, tmp_path, lab, change=lambda row: row):
    """Write what a lab's own program makes of the probe rows."""
    with open(tmp_path / "probe.csv", encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    return write_csv(tmp_path / f"{lab}.csv", [change(row) for row in rows], header)


def test_two_labs_compare_their_pipelines(call, shop, tmp_path):
    code, out, err = call("probe", "make", shop / "a.csv", "--out", tmp_path / "probe.csv")
    assert (code, out) == (0, "")
    assert "64 rows" in err
    assert "column 'customer_id' names rows or persons" in err
    one = encoded(shop, tmp_path, "one")
    shifted = encoded(shop, tmp_path, "two", lambda row: [row[0], row[1] + "0", *row[2:]])
    runs = (shop / "a.replearn", shop / "b.replearn")

    code, out, _ = call("certify", *runs, "--probe", one, one)
    assert code == 0
    assert out.startswith("yes: the runs are comparable, provided labels mean the same")
    code, out, _ = call("certify", *runs, "--probe", one, shifted)
    assert code == 1
    assert "probe: column 'age' is encoded differently here and there" in out.splitlines()[0]

    code, out, _ = call("probe", "digest", one, shop / "a.json", "--out", tmp_path / "p.json")
    assert code == 0
    assert out.endswith("64 rows\n")
    code, out, _ = call("probe", "digest", one, shop / "a.json", "--json")
    assert json.loads(out) == json.loads((tmp_path / "p.json").read_text())
    assert (
        call("certify", shop / "a.json", shop / "b.json", "--probe", tmp_path / "p.json", one)[0]
        == 0
    )


def test_bad_probes_are_refused_with_what_to_do(call, shop, tmp_path):
    code, _, err = call("certify", shop / "a.json", shop / "b.json", "--probe", shop / "a.csv")
    assert code == 2
    assert "--probe has 1 files for 2 runs" in err
    code, _, err = call("probe", "make", shop / "a.csv", "--out", tmp_path / "p.csv", "--rows", "2")
    assert code == 2
    assert "--rows 2 is too small" in err
    write_csv(tmp_path / "short.csv", [(1, 2)], ("age", "town"))
    code, _, err = call("probe", "digest", tmp_path / "short.csv", shop / "a.replearn")
    assert code == 2
    assert "no column 'income'" in err
