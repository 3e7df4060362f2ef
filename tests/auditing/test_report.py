"""Reports as text, Markdown, JSON, HTML, and in a real browser: one page for both kinds."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from replearn import PointwiseReplicableClassifier
from replearn.auditing.audits import audit
from replearn.auditing.comparison import compare
from replearn.auditing.displays import AccuracyFlipsDisplay, RowFlipsDisplay
from replearn.auditing.gate import gates
from replearn.auditing.report import MAX_CELL_BYTES, columns_that_fit

ROOT = Path(__file__).parents[2]
EVIL = "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=1'>"
OPEN_ALL = "for (const d of document.querySelectorAll('details')) d.open = true"


def people(n):
    rng = np.random.default_rng(0)
    return rng, pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            EVIL: rng.choice([EVIL, "harmless"], n),
            "income": rng.normal(size=n),
            "town": rng.choice(["Ulm", "Bonn"], n),
            "note": rng.choice(["a|b", "c*d"], n),
        }
    )


@pytest.fixture(scope="module")
def result():
    rng, X = people(700)
    noisy = X["age"] / 30 + X["income"] + rng.normal(0, 2, 700)
    y = np.where(noisy > 1.6, EVIL, "no")
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        remainder="passthrough",
        sparse_threshold=0,
    )
    base = make_pipeline(encode, LogisticRegression(max_iter=1000))
    ours = PointwiseReplicableClassifier(base, n_blocks=8, max_fits=8)
    contenders = {EVIL: base, "replicable": ours}
    options = {"n_pairs": 4, "test_size": 150, "subgroups": [EVIL, "town"]}
    found = audit(contenders, X, y, vary=["new rows", "seed"], **options)
    about = {"file": "people.csv", "target": "income", "model": "logreg"}
    return found.with_settings(about=about, reader="command")


@pytest.fixture(scope="module")
def comparison():
    rng, X = people(900)
    risk = 1 / (1 + np.exp(-X["income"].to_numpy()))
    other = np.clip(risk + rng.normal(0, 0.15, 900), 0, 1)
    label = np.array(["no", EVIL])
    truth = label[(rng.random(900) < risk).astype(int)]
    both = [label[(s > 0.5).astype(int)] for s in (risk, other)]
    found = compare(
        *both,
        X,
        truth,
        ids=np.array([f"{EVIL}{i}" for i in range(900)]),
        subgroups=["town", EVIL],
        scores=(1 - risk, 1 - other),
        pos_label="no",
        must_not_change=np.arange(900) < 60,
    )
    judged = gates(found, {"flips": 0.02, "worst group": 0.9, "change of the probability": 0.5})
    return found.with_settings(about={"old": "june.csv", "new": EVIL}, gates=judged)


@pytest.fixture(params=["result", "comparison"])
def both(request):
    return request.getfixturevalue(request.param)


# -- text, Markdown, JSON --------------------------------------------------------------------------
def names_in(value):
    """All names of items in a JSON value."""
    if isinstance(value, dict):
        return set(value) | {name for item in value.values() for name in names_in(item)}
    return {name for item in value for name in names_in(item)} if isinstance(value, list) else set()


def test_json_has_the_documented_items(both):
    told = json.loads(both.to_json())
    page = (ROOT / "docs/audit-schema.md").read_text()
    documented = set(re.findall(r"`(\w+)`", page))
    certificates = [c.pop("certificate") for c in told.get("contenders", ())]
    assert certificates or both.kind == "compare"
    for row in told["rows"]:
        row.pop("flips", None)  # by name of the contender
    told.get("timings", {}).pop("seconds_per_run", None)
    told.pop("about")
    told.pop("recommendations", None)
    assert names_in(told) <= documented
    assert told["version"] == 3
    assert {row["what"] for row in told["measured"]} >= {"flips", "becomes wrong", "accuracy"}
    assert "finished" not in both.to_json(timings=False)


def test_a_number_stands_once_in_the_json(both):
    table = json.loads(both.to_json())["measured"]
    keys = [tuple(row[n] for n in ("contender", "variant", "what", "group")) for row in table]
    assert len(set(keys)) == len(keys)


def test_markdown_is_escaped_and_complete(both):
    text = both.to_markdown()
    assert "<script" not in text
    assert "<img" not in text
    assert both.kind == "compare" or "RPL010" in text
    for table in re.findall(r"(?:^\| .*\n)+", text, re.M):
        counts = {line.replace("\\|", "").count("|") for line in table.splitlines()}
        assert len(counts) == 1


def test_words_for_terminal_and_notebook(result, comparison):
    assert "4 pairs of trainings on" in str(result)
    assert "predictions change" in str(comparison)
    assert repr(result).startswith("AuditResult(")
    for found in (result, comparison):
        assert "<script" not in found._repr_html_()
        assert len(found.frame()) == len(found.table)


def test_every_number_is_in_the_details(both):
    text = " ".join(both.to_text(details=True).split())
    for row in both.table:
        if not row.what.startswith("difference of") and row.what != "must not change":
            assert f"{row.value:.3f}" in text or f"{100 * row.value:.1f} %" in text, row


def test_groups_have_their_table_in_text_and_markdown(both):
    for text in (both.to_text(details=True), both.to_markdown()):
        for town in ("Ulm", "Bonn"):
            line = next(
                line for line in text.splitlines() if line.lstrip("| ").startswith(f"town = {town}")
            )
            expected = both.table.get("flips", both.judged, f"town = {town}")
            assert expected.percent(1) in line


def test_files_by_their_ending(both, tmp_path):
    for ending in ("html", "json", "md"):
        both.save(tmp_path / f"report.{ending}")
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    with pytest.raises(ValueError, match="must end in"):
        both.save(tmp_path / "report.pdf")


# -- HTML ------------------------------------------------------------------------------------------
class Outline(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.loads = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        names = ("src", "srcset", "href") if tag == "link" else ("src", "srcset")
        self.loads += [value for name, value in attrs if name in names]


def test_the_page_stands_alone_and_escapes_everything(both):
    page = both.to_html()
    outline = Outline()
    outline.feed(page)
    assert outline.tags.count("script") == 2
    assert "img" not in outline.tags
    assert outline.loads == []
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_features_can_be_left_out(both):
    assert "harmless" in both.to_html()
    assert "harmless" in both.to_json()
    assert "c*d" not in both.to_json(values=False)
    left_out = both.to_html(values=False)
    assert "c*d" not in left_out.split('id="row-table"')[1].split("</table>")[0]
    assert "Features are not shown" in left_out


def test_a_page_of_three_thousand_rows_stays_below_400_kilobytes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(3000, 40)), columns=[f"column {k}" for k in range(40)])
    X["town"] = rng.choice(list("abcdefgh"), 3000)
    old, new = rng.integers(0, 2, (2, 3000))
    found = compare(old, new, X, old, subgroups=["town"])
    assert len(found.to_html().encode()) < 400_000
    y = (X["column 0"] + rng.normal(size=3000) > 0).astype(int)
    numbers = X.drop(columns="town")
    audited = audit(LogisticRegression(), numbers, y, n_pairs=2, subgroups={"town": X["town"]})
    assert len(audited.to_html().encode()) < 400_000


def test_strange_cells_are_counted_as_they_are_written():
    names = ["<" * 200] * 100
    fitting = columns_that_fit(names, [('"&<' * 60,) * 100] * 200)
    assert 0 < fitting < 100
    assert 200 * fitting * 2 * 40 * 4 < 3 * MAX_CELL_BYTES


def test_models_that_agree():
    same = np.arange(40) % 2
    page = compare(same, same, y=same).to_html()
    assert "0 of 40 predictions change" in page
    assert "No prediction changes." in page


def test_shares_are_written_in_one_way(both):
    page = both.to_html()
    texts = re.sub(r"<(script|style)>.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert re.search(r"\d\u00a0%", texts)
    for text in (texts, both.to_text(details=True), both.to_markdown()):
        assert re.findall(r".{9}\d%.{9}", text) == []


# -- displays --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("display", "columns"),
    [
        (AccuracyFlipsDisplay, {"contender", "flip_value", "score_lower"}),
        (RowFlipsDisplay, {"contender", "row", "frequency"}),
    ],
)
def test_displays_draw_and_give_their_numbers_back(result, display, columns):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = display.from_result(result)
    assert columns <= set(shown.frame().columns)
    _, ax = plt.subplots()
    assert shown.plot(ax) is shown
    assert ax.has_data()
    assert ax.get_xlabel()
    assert (shown.ax_, shown.figure_) == (ax, ax.figure)
    assert shown.plot() is shown
    assert shown.figure_ is shown.ax_.figure is not ax.figure
    plt.close("all")


# -- in a browser ----------------------------------------------------------------------------------
@pytest.fixture
def visit(browser, both, tmp_path):
    """Open the page; fail on any error, console message of weight, or request beyond it."""
    path = tmp_path / "report.html"
    both.save(path)
    trouble = []
    page = browser.new_page()
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda m: trouble.append(m.text) if m.type == "error" else None)
    page.on("request", lambda r: trouble.append(r.url) if r.url != path.as_uri() else None)

    def open_page(width=1280, height=900, color_scheme="light"):
        page.emulate_media(color_scheme=color_scheme)
        page.set_viewport_size({"width": width, "height": height})
        page.goto(path.as_uri())
        return page

    yield open_page
    page.close()
    assert trouble == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_screen_answers(visit, both, scheme):
    page = visit(color_scheme=scheme)
    picture = "#plot-scatter svg" if both.kind == "audit" else "#plot-changes svg"
    for shown in (".lead", ".recommendation, .verdict", picture):
        box = page.locator(shown).bounding_box()
        assert box["y"] + box["height"] <= 900, shown
    assert "predictions change" in page.locator(".lead").inner_text()
    advice = page.locator(".recommendation, .verdict").inner_text()
    assert ("Recommendation: " if both.kind == "audit" else "May it be deployed? No") in advice
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(255, 255, 255)") == (scheme == "light")


def test_plots_draw_and_respond(visit, both):
    page = visit()
    page.evaluate(OPEN_ALL)
    names = ("scatter", "variants", "groups") if both.kind == "audit" else ("changes", "groups")
    for name in names:
        assert page.locator(f"#plot-{name} svg .point").count() > 0, name
    assert "Ulm" in page.locator("#plot-groups").inner_text()
    page.locator("#plot-groups .point").first.hover()
    assert "rows" in page.locator("#tip").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


def test_each_gate_is_drawn_beside_its_rows_alone(browser, comparison, tmp_path):
    comparison.save(tmp_path / "update.html")
    page = browser.new_page()
    page.goto((tmp_path / "update.html").as_uri())
    lines = "[...document.querySelectorAll('#plot-changes .ideal')]"
    drawn = page.evaluate(
        f"{lines}.map(line => [line.x1, line.y1, line.y2].map(at => at.baseVal.value))"
    )
    n_groups = len({row.group for row in comparison.table.groups()})
    assert len(drawn) == 1 + n_groups, "one for all rows, one for each group"
    assert len({x for x, _, _ in drawn}) == 2
    for (_, top, bottom), (_, following, _) in pairwise(drawn):
        assert top < bottom <= following + 1
    page.close()


def test_sorting_and_searching(visit):
    page = visit()
    page.evaluate(OPEN_ALL)
    total = page.locator("#row-table tbody tr").count()
    head = page.locator("#row-table thead th[data-kind=number]").last
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    numbers = page.evaluate(
        """() => [...document.querySelectorAll("#row-table tbody tr")].map((row) =>
          Number([...row.cells].filter((cell) => cell.dataset.sort).at(-1).dataset.sort))"""
    )
    assert numbers == sorted(numbers, reverse=True)
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    page.get_by_label("Search").fill("harmless")
    visible = page.locator("#row-table tbody tr:visible").count()
    assert 0 < visible < total
    assert page.locator("#count").inner_text() == f"{visible} of {total} rows"
    page.get_by_label("Search").fill("nothing like this")
    assert page.locator("#row-table tbody tr:visible").count() == 0


def test_nothing_from_the_data_runs(visit):
    page = visit()
    page.evaluate(OPEN_ALL)
    page.locator("#plot-groups .point").last.hover()
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_wider_than_the_screen(visit, width):
    page = visit(width)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    cut_off = page.evaluate(
        """() => [...document.querySelectorAll(".fold th, .fold td")].filter((cell) => {
          const at = cell.getBoundingClientRect();
          const box = cell.closest(".scroll").getBoundingClientRect();
          return at.width && (at.right > Math.min(box.right, window.innerWidth) + 1);
        }).map((cell) => cell.textContent.slice(0, 40))"""
    )
    assert cut_off == []


def test_one_page_to_print(visit):
    page = visit()
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == 1
    page.emulate_media(media="print")
    assert page.locator("#rows").is_hidden()
    assert page.locator(".lead").is_visible()
    assert page.locator("#overview").is_visible()


def test_keyboard_and_screen_reader(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for part in page.locator("details.part").all():
        part.locator("summary").first.focus()
        page.keyboard.press("Enter")
        assert part.evaluate("d => d.open")
    page.locator("#plot-groups .point").first.focus()
    assert page.locator("#tip").is_visible()
    unnamed = "[...document.querySelectorAll('svg, .point, [role=region]')]"
    unnamed += ".filter(node => !node.getAttribute('aria-label')).length"
    assert page.evaluate(unnamed) == 0
    heads = "[...document.querySelectorAll('th')].filter(node => !node.scope).length"
    assert page.evaluate(heads) == 0
    levels = [
        int(h[1])
        for h in page.evaluate(
            "[...document.querySelectorAll('h1,h2,h3')].map(node => node.tagName)"
        )
    ]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_it_can_be_read_without_scripts(browser, both, tmp_path):
    both.save(tmp_path / "report.html")
    page = browser.new_page(java_script_enabled=False)
    page.goto((tmp_path / "report.html").as_uri())
    assert page.locator("#row-table tbody tr").count() > 100
    assert page.locator("#search").is_hidden()
    page.close()
