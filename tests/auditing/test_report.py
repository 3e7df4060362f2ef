"""The report as text, Markdown, JSON, HTML, and in a real browser."""

import dataclasses
import json
import re
import sys
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
from replearn.auditing import AccuracyFlipsDisplay, RowFlipsDisplay, audit
from replearn.auditing._report import to_html, to_markdown

ROOT = Path(__file__).parents[2]
EVIL = "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=1'>"


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    n = 700
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            EVIL: rng.choice([EVIL, "harmless"], n),
            "income": rng.normal(size=n),
            "town": rng.choice(["Ulm", "Bonn"], n),
            "note": rng.choice(["a|b", "c*d"], n),
        }
    )
    noisy = X["age"] / 30 + X["income"] + rng.normal(0, 2, n)
    y = np.where(noisy > 1.6, EVIL, "no")
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        remainder="passthrough",
        sparse_threshold=0,
    )
    base = make_pipeline(encode, LogisticRegression(max_iter=1000))
    ours = PointwiseReplicableClassifier(base, n_blocks=8, max_fits=8)
    contenders = {EVIL: base, "replicable": ours}
    found = audit(contenders, X, y, n_pairs=4, test_size=150, subgroups=[EVIL, "town"])
    about = {"file": "people.csv", "target": "income", "model": "logreg"}
    return found.with_settings(about=about, reader="command")


# -- text, Markdown, JSON ------------------------------------------------------------------------


def test_json_has_the_documented_items(result):
    told = json.loads(result.to_json())
    judgement = told["judgement"]
    page = (ROOT / "docs/audit-schema.md").read_text()
    documented = set(re.findall(r"`(\w+)`", page))
    assert set(told) <= documented
    for part in (told["design"], *told["contenders"], *told["findings"], told["timings"]):
        assert set(part) <= documented
    for c in told["contenders"]:
        for name in ("flip_rate", "row_flips", "accuracy", "flips_against_truth"):
            assert set(c[name]) <= documented, name
    assert set(told["contenders"][1]["certificate"]) <= documented
    assert set(judgement) | set(judgement["contenders"][0]) <= documented
    assert set(judgement["contenders"][0]["scores"][0]) <= documented
    assert set(told["contenders"][1]["fixed_key"]) <= documented
    assert "timings" not in json.loads(result.to_json(timings=False))
    assert "seconds" not in result.to_json(timings=False)


def test_markdown_is_escaped_and_complete(result):
    text = to_markdown(result.report)
    assert "<script" not in text
    assert "<img" not in text
    assert "RPL010" in text
    table = [line for line in text.splitlines() if line.startswith("| ")]
    assert len({line.replace("\\|", "").count("|") for line in table[:3]}) == 1


def test_words_for_terminal_and_notebook(result):
    assert "4 pairs of samples of" in str(result)
    assert "<script" not in result._repr_html_()
    assert result.frame()["contender"].tolist() == [EVIL, "replicable"]
    assert repr(result).startswith("AuditResult(")


def test_subgroups_have_their_table_in_text_and_markdown(result):
    expected = {group.level: group.percent() for group in result.report.contenders[0].by_subgroup}
    assert {"Ulm", "Bonn"} < set(expected)
    for text in (result.to_text(details=True), result.to_markdown()):
        for town in ("Ulm", "Bonn"):
            line = next(line for line in text.splitlines() if f"town = {town}" in line)
            assert expected[town] in line
    assert "town = Ulm" not in result.to_text()


def test_rows_are_counted_under_the_share_that_they_have(result):
    page = to_html(result.report)
    histogram = result.report.contenders[0].row_flips.histogram
    half = list(histogram.edges).index(0.5)
    assert histogram.counts[half] > 0, "two of four pairs"
    line = re.search(r'<th scope="row">50 to 55\s% of the pairs</th><td[^>]*>(\d+)<', page)
    assert int(line[1]) == histogram.counts[half]


def test_files_by_their_ending(result, tmp_path):
    for ending in ("html", "json", "md"):
        result.save(tmp_path / f"report.{ending}")
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    with pytest.raises(ValueError, match="must end in"):
        result.save(tmp_path / "report.pdf")


def test_without_jinja_a_helpful_word(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"replicable-learn\[report\]"):
        result.to_html()


# -- HTML ----------------------------------------------------------------------------------------


class Outline(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.loads = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        names = ("src", "srcset", "href") if tag == "link" else ("src", "srcset")
        self.loads += [value for name, value in attrs if name in names]


def test_the_page_stands_alone_and_escapes_everything(result):
    page = result.to_html()
    outline = Outline()
    outline.feed(page)
    assert outline.tags.count("script") == 2
    assert "img" not in outline.tags
    assert outline.loads == []
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_features_can_be_left_out(result):
    assert "harmless" in result.to_html()
    assert "harmless" in result.to_json()
    told = result.to_json(values=False)
    assert "income" not in told.split('"least_stable_rows"')[1].split('"findings"')[0]
    left_out = result.to_html(values=False)
    shown = left_out.split('id="row-table"')[1].split("</table>")[0]
    assert "income" not in shown
    assert "Features are not shown" in left_out


def test_a_wide_table_stays_below_three_megabytes(result):
    """What the page holds of a file, however long and strange its cells are."""
    first = result.report.least_stable_rows[0]
    strange = [dataclasses.replace(first, cells=('"&<' * 60,) * 100)] * 200
    report = dataclasses.replace(
        result.report, columns=("<" * 200,) * 100, least_stable_rows=strange
    )
    assert len(to_html(report).encode()) < 3_000_000
    plain = [dataclasses.replace(first, cells=("a plain value",) * 100)] * 200
    columns = ("a plain column",) * 100
    page = to_html(dataclasses.replace(report, columns=columns, least_stable_rows=plain))
    assert len(page.encode()) < 3_000_000
    assert page.count("a plain value") >= 200 * 100


# -- displays ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("display", "columns"),
    [
        (AccuracyFlipsDisplay, {"contender", "flip_estimate", "accuracy_lower"}),
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


# -- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address(result, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    result.save(path)
    return path.as_uri()


@pytest.fixture(scope="module")
def one_page(browser, address):
    """One page for all tests, and what went wrong on it."""
    trouble = []
    page = browser.new_page()
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on(
        "console",
        lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None,
    )
    page.on("request", lambda r: trouble.append(r.url) if r.url != address else None)
    return page, trouble


@pytest.fixture
def visit(one_page, address):
    """Load the page anew; fail on any error, console message of weight, or request beyond it."""
    page, trouble = one_page
    trouble.clear()

    def open_page(width=1280, height=900, color_scheme="light"):
        page.emulate_media(media="null", color_scheme=color_scheme)
        page.set_viewport_size({"width": width, "height": height})
        page.mouse.move(0, 0)
        page.goto(address)
        return page

    yield open_page
    assert trouble == []


def test_plots_draw_and_respond(visit):
    page = visit()
    page.evaluate(OPEN_ALL)
    for name in ("accuracy", "rows", "groups", "reliability"):
        assert page.locator(f"#plot-{name} svg .point").count() > 0, name
    assert page.locator("#plot-accuracy .point").count() == 2
    assert "guaranteed for pairs from one file:" in page.locator("#plot-rows").inner_text()
    page.locator("#legend button").nth(1).click()
    assert page.locator("#plot-accuracy .point").count() == 1
    assert page.locator("#legend button").nth(1).get_attribute("aria-pressed") == "false"
    before = page.locator("#plot-groups svg").inner_html()
    page.locator("#group-choice").select_option("town")
    assert page.locator("#plot-groups svg").inner_html() != before
    assert "Ulm" in page.locator("#plot-groups").inner_text()
    point = page.locator("#plot-accuracy .point").first
    point.hover()
    assert "predictions that change" in page.locator("#tip").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


def test_sorting_and_searching(visit):
    page = visit()
    page.evaluate(OPEN_ALL)
    rows = page.locator("#row-table tbody tr")
    total = rows.count()
    head = page.locator("#row-table thead th").first
    numbers = lambda: [int(t) for t in page.locator("#row-table tbody th").all_inner_texts()]  # noqa: E731
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert numbers() == sorted(numbers(), reverse=True)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert numbers() == sorted(numbers())
    label = page.locator("#row-table thead th").nth(1)
    label.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert label.get_attribute("aria-sort") == "ascending"
    assert head.get_attribute("aria-sort") is None
    page.get_by_label("Search").fill("harmless")
    visible = page.locator("#row-table tbody tr:visible").count()
    assert 0 < visible < total
    assert page.locator("#count").inner_text() == f"{visible} of {total} rows"
    page.get_by_label("Search").fill("nothing like this")
    assert page.locator("#row-table tbody tr:visible").count() == 0


OPEN_ALL = "for (const d of document.querySelectorAll('details')) d.open = true"


def test_nothing_from_the_data_runs(visit):
    page = visit()
    page.evaluate(OPEN_ALL)
    page.locator("#group-choice").select_option(EVIL)
    page.locator("#plot-groups .point").first.hover()
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert EVIL[:20] in page.locator("#tip").inner_text()


def cut_off(page):
    """Texts of table cells that reach beyond the screen, or beyond the box they scroll in."""
    return page.evaluate(
        """() => [...document.querySelectorAll("th, td")].filter((cell) => {
          const at = cell.getBoundingClientRect();
          if (at.width === 0) return false;
          const box = cell.closest(".scroll").getBoundingClientRect();
          return at.right > Math.min(box.right, window.innerWidth) + 1 || at.left < box.left - 1;
        }).map((cell) => cell.textContent.slice(0, 40))"""
    )


@pytest.mark.parametrize("width", [400, 1280])
def test_no_column_is_off_screen(visit, width):
    page = visit(width)
    page.evaluate(OPEN_ALL)
    assert cut_off(page) == []
    labels = page.locator("#contenders .label:visible")
    assert (labels.count() > 0) == (width == 400), "folded rows name their cells"


TWO_FRAMES = "() => new Promise(d => requestAnimationFrame(() => requestAnimationFrame(d)))"
FOCUSED = """() => {
  const [at, tip] = [document.activeElement, document.querySelector("#tip")];
  return [at.className, at.textContent, tip.checkVisibility(), tip.innerText];
}"""


@pytest.mark.parametrize("width", [400, 1280])
def test_every_word_has_a_hint_for_mouse_keyboard_and_finger(visit, width):
    page = visit(width)
    page.evaluate(OPEN_ALL)
    terms = page.locator("main .term:visible")
    wanted = {term.text_content(): term.get_attribute("data-hint") for term in terms.all()}
    assert len(wanted) >= 13
    assert all(len(hint) > 20 for hint in wanted.values())
    reached = {}
    page.locator("#main").focus()
    for _ in range(150):
        page.keyboard.press("Tab")
        name, word, is_shown, hint = page.evaluate(FOCUSED)
        if name == "term":
            assert is_shown
            reached[word] = hint
        if len(reached) == len(wanted):
            break
    assert reached == wanted
    term = terms.first
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()
    term.scroll_into_view_if_needed()
    page.evaluate(TWO_FRAMES)  # an event of this scrolling, if it came late, would hide the tip
    term.click()
    assert page.locator("#tip").inner_text() == term.get_attribute("data-hint")
    tip = page.locator("#tip").bounding_box()
    assert tip["x"] >= 0
    assert tip["x"] + tip["width"] <= width
    page.locator("h1").click()
    assert page.locator("#tip").is_hidden()
    terms.nth(2).hover()
    assert page.locator("#tip").is_visible()


def test_the_head_names_what_was_audited(visit):
    page = visit()
    head = page.locator("header").inner_text()
    for word in ("people.csv", "income", "logreg", "Date", "replearn"):
        assert word in head
    assert page.title() == "Audit of people.csv, target income, logreg"
    assert "Recommendation: " in page.locator(".recommendation").inner_text()
    for word in ("99 %", "Gained", "Against the first", "law value", "alike in"):
        assert word not in page.locator("body").inner_text()
    page.evaluate(OPEN_ALL)
    remedies = " ".join(page.locator(".remedy").all_inner_texts())
    assert "--key-file" in remedies
    assert "shared_key=" not in remedies


def test_one_page_to_print(visit, result, tmp_path, browser):
    page = visit()
    assert pages_of(page) == 1
    page.emulate_media(media="print")
    for hidden in ("#plots", "#rows", "#method", "#promises"):
        assert page.locator(hidden).is_hidden()
    for shown in (".lead", ".about", "#overview", "#plot-accuracy"):
        assert page.locator(shown).first.is_visible()
    found = [dataclasses.replace(f, status="found") for f in result.findings]  # every check
    report = dataclasses.replace(result.report, findings=tuple(found))
    (tmp_path / "long.html").write_text(to_html(report))
    longer = browser.new_page()
    longer.goto((tmp_path / "long.html").as_uri())
    assert pages_of(longer) == 1
    longer.close()


def pages_of(page):
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))


@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_is_wider_than_its_screen(visit, width):
    page = visit(width, 800)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.set_viewport_size({"width": 500, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 500


def test_light_and_dark(visit):
    colours = [
        visit(color_scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    ]
    assert colours[0] == "rgb(255, 255, 255)"
    assert colours[1] != colours[0]


def test_keyboard_and_screen_reader(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.evaluate(OPEN_ALL)
    page.locator("#plot-rows .point").first.focus()
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


def test_it_can_be_read_without_scripts(browser, address):
    page = browser.new_page(java_script_enabled=False)
    page.goto(address)
    assert page.locator("#row-table tbody tr").count() == 150
    assert page.locator("#search").is_hidden()
    assert page.locator("#words dt").count() == 17, "hints can be read without scripts"
    page.close()
