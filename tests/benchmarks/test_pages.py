"""Pages in docs/benchmarks: their tables are those of their data files."""

import importlib
import json
import re
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "benchmarks"
FOLDER = ROOT / "docs" / "benchmarks"
if not (SCRIPTS / "pages.py").exists():
    pytest.skip("benchmarks are not in a source distribution", allow_module_level=True)

SCORES = "score-thresholds"
PAGES = sorted(path.stem for path in (FOLDER / "data").glob("*.json"))


@pytest.fixture
def script(monkeypatch):
    """Return a function that imports a script."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module


@pytest.fixture
def pages(script):
    return script("pages")


def test_every_page_with_tables_has_a_data_file(pages):
    assert sorted(pages.PAGES) == PAGES
    without_data = {path.stem for path in FOLDER.glob("*.md")} - set(PAGES)
    for page in without_data:
        assert "\n|" not in (FOLDER / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_those_of_the_data(pages, page):
    content = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    for section, text in pages.tables_of(page).items():
        assert pages.parts_of(content, section)[1] == text, section


@pytest.mark.parametrize("page", PAGES)
def test_every_section_of_the_data_is_shown(pages, page):
    """A record that no table shows would be one that nobody checks."""
    data = json.loads((FOLDER / "data" / f"{page}.json").read_text(encoding="utf-8"))
    sections = [name for name in data if name != "note"]
    for section in sections:
        changed = {**data, section: {"made": ["x"], "records": data[section]["records"][:-1]}}
        shown = [show(data) for show in pages.PAGES[page].values()]
        assert shown != [_shown(show, changed) for show in pages.PAGES[page].values()], section


def _shown(show, data):
    """Return the text, or the error of data from which a record is missing."""
    try:
        return show(data)
    except ValueError as error:
        return str(error)


def test_the_summary_has_the_tables_of_the_data(pages):
    content = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for section, text in pages.tables_of_summary().items():
        assert pages.parts_of(content, section)[1] == text, section


def test_the_sentences_of_the_summary_have_the_numbers_of_the_data(pages):
    content = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    text = " ".join(content.split())
    for sentence in (*about_incumbents(), *about_others()):
        assert sentence in text, sentence


def records(page, section):
    data = json.loads((FOLDER / "data" / f"{page}.json").read_text(encoding="utf-8"))
    return data[section]["records"]


def about_incumbents():
    """Yield what the summary says about retraining every month."""
    cells = [
        one
        for one in records("retraining", "incumbent")
        if (one["samples"], one["threshold"]) == ("fresh", 0.5)
    ]
    assert len(cells) == 9 * 4 * 6  # files and questions, estimators, kinds of drift
    assert all(one["chains"] == 2 for one in cells)
    none = [one for one in cells if one["drift"] == "none"]
    others = [one["flips"] for one in none if one["model"] != "tree"]
    trees = [one["flips"] for one in none if one["model"] == "tree"]
    gains = [100 * np.mean(one["accuracy"][1:]) for one in none]
    yield f"left {min(others):.2f} to {max(others):.2f} of the flips of logistic regression"
    yield f"and {min(trees):.2f} to {max(trees):.2f} of those of single trees"
    yield f"gained {np.mean(gains):.1f} points of accuracy on average"
    share = sum(one["alarms"] for one in none) / (11 * 2 * len(none))
    yield f"raised an alarm in {100 * share:.1f} % of the retrainings without drift"
    for drift, words in (("concept", "it noticed {} of {} chains"), ("segment", "in {} of {}")):
        changed = [one for one in cells if one["drift"] == drift]
        yield words.format(sum(one["noticed"] for one in changed), 2 * len(changed))
        if drift == "concept":
            worst = -100 * min(one["accuracy"][6] for one in changed)
            yield f"up to {worst:.1f} points below plain retraining in that month"


def about_others():
    """Yield what the summary says about two labs and sources of change."""
    ours = [one for one in records("flips-and-accuracy", "real_data")
            if one["contender"] == "our defaults"]  # fmt: skip
    yield f"in at most {100 * max(one['flips_99'] for one in ours):.0f} % of the pairs"
    boosting = [one for one in records("sources", "new_rows") if "boosting" in one["model"]]
    share = {(one["data"], one["model"], one["new_rows"]): one["estimate"] for one in boosting}
    ratios = [share[d, m, 0.01] / share[d, m, 1.0] for d, m, new in share if new == 1.0]
    yield f"changes {100 * min(ratios):.0f} to {100 * max(ratios):.0f} % as many predictions"
    rare = min(
        one["flips"]
        for one in records("score-thresholds", "score_other")
        if one["contender"] == "single fit" and one["model"] == "tree"
    )
    yield f"({100 * rare:.1f} % of the rows), random thresholds change more"


def of_draws(draws):
    """Yield what the page on flips and accuracy says about many draws of the test rows."""
    last = draws[-1]
    ratio = f"{last['ratio']:.2f} ± {last['ratio_error']:.2f}"
    gains = [f"{100 * one['gain']:+.2f} ± {100 * one['gain_error']:.2f}" for one in draws]
    literal = f"{last['literal_ratio']:.2f} ± {last['literal_ratio_error']:.2f} of the flips"
    lost = f"{100 * last['literal_gain']:+.2f} ± {100 * last['literal_gain_error']:.2f} points"
    yield f"{ratio} (forty draws of the test rows"
    yield f"{gains[2]} (the same forty draws; {gains[0]} and {gains[1]} in two groups of twenty)"
    yield f"{literal}, {lost} (the same forty draws)"


def test_the_page_on_flips_has_the_means_of_its_draws():
    text = " ".join((FOLDER / "flips-and-accuracy.md").read_text(encoding="utf-8").split())
    for sentence in of_draws(records("flips-and-accuracy", "draw_means")):
        assert sentence in text, sentence


def of_score_thresholds():
    """Yield what the page on score thresholds says first."""
    large = {one["model"]: 100 * one["gain"] for one in records(SCORES, "score_data_means")}
    new = {
        one["model"]: 100 * one["gain"]
        for one in records(SCORES, "score_new_means")
        if one["contender"] == "score, rho 0.1"
    }
    yield f"{-large['logreg']:.2f} points on five large files, {-new['logreg']:.2f} on [ten files"
    yield (
        f"forests ({large['forest']:+.2f}), trees ({large['tree']:+.2f}) and boosting "
        f"({large['boosting']:+.2f})"
    )
    yield f"(trees {new['tree']:+.2f}, boosting {new['boosting']:+.2f})"
    ratios = {
        model: [
            one["to_bagging"]
            for one in records(SCORES, "score_data")
            if one["model"] == model and "to_bagging" in one and one["n"] >= 5000
        ]
        for model in ("forest", "tree")
    }
    forest, tree = ratios["forest"], ratios["tree"]
    yield f"Forests flip {min(forest):.2f} to {max(forest):.2f} times as often as bagged forests"
    yield f"trees {min(tree):.2f} to {max(tree):.2f} times"


def test_the_page_on_score_thresholds_starts_with_numbers_of_its_data():
    text = " ".join((FOLDER / f"{SCORES}.md").read_text(encoding="utf-8").split())
    for sentence in of_score_thresholds():
        assert sentence in text, sentence


# -- records ---------------------------------------------------------------------------------------
def test_a_later_run_replaces_what_it_measured_and_nothing_else(script):
    records = script("_records")
    data = {}
    first = [{"data": "a", "model": "m", "gain": 0.1}, {"data": "b", "model": "m", "gain": 0.2}]
    records.merge(data, "s", first, "monday")
    records.merge(data, "s", [{"data": "b", "model": "m", "gain": 0.3}], "tuesday")
    assert data["s"]["records"] == [
        {"data": "a", "model": "m", "gain": 0.1},
        {"data": "b", "model": "m", "gain": 0.3},
    ]
    assert data["s"]["made"] == ["monday", "tuesday"]
    records.merge(data, "s", first, "wednesday")
    assert data["s"] == {"made": ["wednesday"], "records": first}


def test_numbers_are_rounded_and_nothing_else_is_changed(script):
    rounded = script("_records").rounded
    found = rounded({"a": [0.123456789, 3, "x"], "b": {"c": None}, "n": np.int64(2)})
    assert found == {"a": [0.123457, 3, "x"], "b": {"c": None}, "n": 2}
    assert rounded(float("nan")) is None


def test_a_file_is_read_as_it_was_written(script, tmp_path):
    records = script("_records")
    data = {"note": "±", "s": {"made": ["monday"], "records": [{"data": "a"}, {"data": "b"}]}}
    records.write(tmp_path / "x.json", data)
    assert records.read(tmp_path / "x.json") == data


def test_a_run_writes_its_records_into_the_page_and_its_data(pages, tmp_path, capsys):
    (tmp_path / "data").mkdir()
    page = tmp_path / "abstaining.md"
    page.write_text("before\n\n<!-- selective -->\n\n<!-- end of selective -->\n\nafter\n")
    record = {"data": "a", "model": "tree", "contender": "c", "abstained": 0.1234}
    pages.write_report(Namespace(page=page, out=None), {"selective": [record]})
    assert "| a, tree         |         c |     12.34 |" in page.read_text()
    assert page.read_text().startswith("before\n")
    assert page.read_text().endswith("<!-- end of selective -->\n\nafter\n")
    kept = json.loads((tmp_path / "data" / "abstaining.json").read_text())
    assert kept["selective"]["records"] == [record]
    assert "12.34" in capsys.readouterr().out


# -- tables ----------------------------------------------------------------------------------------
def test_cells_of_unknown_fields_are_empty_and_empty_columns_are_left_out(script):
    table = script("_tables").table
    columns = {"name": "{name}", "gain": "{gain!p:+.2f} ± {error!p:.2f}", "none": "{x}"}
    text = table([{"name": "a", "gain": 0.0123, "error": 0.001}, {"name": "b"}], columns)
    assert [re.sub(" +", " ", line) for line in text.splitlines()] == [
        "| name | gain |",
        "| ---- | -----------: |",
        "| a | +1.23 ± 0.10 |",
        "| b | |",
    ]


def test_a_page_without_the_section_is_an_error(pages):
    with pytest.raises(ValueError, match="no section <!-- x -->"):
        pages.parts_of("text", "x")
