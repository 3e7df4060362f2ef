"""``replearn lab``: list and run experiments."""

import json
import sys

from replearn_lab import all_experiments


def test_list_names_every_experiment_and_its_theorem(call):
    code, out, _ = call("lab", "list", "--json")
    listed = json.loads(out)
    assert code == 0
    assert [line["name"] for line in listed] == list(all_experiments())
    assert all(line["theorem"] and line["summary"] for line in listed)
    text = call("lab", "list")[1]
    for line in listed:
        assert line["name"] in text
        assert line["theorem"][0] in text


def test_run_writes_data_and_figure(call, tmp_path):
    out_dir = tmp_path / "new" / "folder"
    code, out, err = call("lab", "run", "one-coin", "--small", "--out", out_dir)
    assert code == 0
    assert "two runs are two fair coins" in out
    assert {path.name for path in out_dir.iterdir()} == {"one-coin.json", "one-coin.png"}
    assert "written: " in err
    code, out, _ = call("lab", "run", "one-coin", "--small", "--json", "--quiet")
    assert json.loads(out)["data"] == json.loads((out_dir / "one-coin.json").read_text())["data"]


def test_without_matplotlib_numbers_are_written(call, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = call("lab", "run", "one-coin", "--small", "--out", tmp_path)
    assert code == 0
    assert {path.suffix for path in tmp_path.iterdir()} == {".json"}
    assert "replicable-learn[plot]" in err


def test_bad_input_is_explained(call):
    code, _, err = call("lab", "run", "no-such-thing")
    assert code == 2
    assert "coin-limit" in err
