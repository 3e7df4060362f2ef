"""The page about an update: what it says, that data cannot break it, and in a real browser."""

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from replearn.auditing import compare, update_gates
from replearn.auditing._update_page import _plotted

ROOT = Path(__file__).parents[2]
EVIL = "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=1'>"
OPEN_ALL = "for (const d of document.querySelectorAll('details')) d.open = true"


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    n = 900
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            EVIL: rng.choice([EVIL, "harmless"], n),
            **{f"x{k}": rng.normal(size=n) for k in range(5)},
            "town": rng.choice(["Ulm", "Bonn", "Rom"], n),
        }
    )
    risk = 1 / (1 + np.exp(-X["x0"].to_numpy()))
    other = np.clip(risk + rng.normal(0, 0.15, n), 0, 1)
    label = np.array(["no", EVIL])
    truth = label[(rng.random(n) < risk).astype(int)]
    both = [label[(s > 0.5).astype(int)] for s in (risk, other)]
    return compare(
        *both,
        X,
        truth,
        ids=np.array([f"{EVIL}{i}" for i in range(n)]),
        subgroups=["town", EVIL],
        scores=(1 - risk, 1 - other),
        pos_label="no",
        top_k=50,
        reference=X[:300],
        must_not_change=np.arange(n) < 60,
    )


@pytest.fixture(scope="module")
def gates(found):
    return update_gates(found, fail_above=0.02, fail_subgroup_above=0.9, fail_psi_above=0.5)


def test_the_page_stands_alone_and_escapes_everything(found, gates):
    page = found.to_html(gates, old=EVIL, new="new.csv", data="rows.csv")
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "https://" not in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"\b(src|srcset)=", page.replace("img src=x", ""))


def test_features_can_be_left_out(found):
    assert "harmless" in found.to_html()
    assert "harmless" in found.to_json()
    page = found.to_html(values=False)
    assert "harmless" not in page.split('id="row-table"')[1].split("</table>")[0]
    assert "Features are not shown" in page
    told = found.to_json(values=False)
    assert "harmless" not in told.split('"changed_rows"')[1]


def test_json_has_the_documented_items(found, gates, tmp_path):
    documented = set(re.findall(r"`(\w+)`", (ROOT / "docs/update-schema.md").read_text()))
    found.save(tmp_path / "update.json", gates)
    told = json.loads((tmp_path / "update.json").read_text())
    assert set(told) <= documented
    parts = [told["tests"][0], told["by_subgroup"][0], told["by_intersection"][0], told["scores"]]
    parts += [told["scores"][name] for name in ("stability", "migration", "top", "calibration")]
    parts += [told["approvals"][0], told["approvals"][0]["swap_in"], told["columns"][0]]
    parts += [told["golden_set"], told["golden_set"]["violations"][0], told["gates"][0]]
    parts += [told["changed_rows"][0], told["transitions"][0]]
    for part in parts:
        assert set(part) <= documented


def test_files_by_their_ending(found, gates, tmp_path):
    for ending in ("html", "json", "md"):
        found.save(tmp_path / f"update.{ending}", gates)
    assert (tmp_path / "update.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "update.md").read_text().startswith("### Gate FAILED")
    with pytest.raises(ValueError, match="must end in"):
        found.save(tmp_path / "update.pdf")


def test_no_gate_one_gate_some_gates(found, gates):
    assert "No gate was set" in found.to_html()
    (one, *others) = gates
    assert "No, the gate failed: flip rate" in found.to_html((one,))
    assert "No, 2 of 4 gates failed" in found.to_html(gates)
    passed = [gate for gate in others if gate.passed]
    assert "Yes, it passed all 2 gates" in found.to_html(passed)


@pytest.mark.parametrize(("side", "words"), [("above", "from 0.7"), ("below", "below 0.7")])
def test_the_first_screen_says_whose_probability_is_approved(side, words):
    scores = np.linspace(0, 1, 50)
    labels = np.where(scores > 0.7, "good", "bad")
    options = {"scores": (scores, scores**2), "pos_label": "good", "threshold": 0.7}
    found = compare(labels, labels, y=labels, approved=side, **options)
    assert f"approved: probability of 'good' {words}" in found.to_markdown()


def test_both_models_are_called_old_and_new(found):
    page = found.to_html().replace("\u00a0", " ")
    accuracy = re.search(r"Both models, and no model at all.*?</tr>", page, re.DOTALL)
    assert f"old {found.usefulness_a.accuracy}, new {found.usefulness_b.accuracy}" in accuracy[0]


def test_markdown_of_a_quantity_names_the_tolerance_and_no_accuracy():
    truth = np.arange(40.0)
    found = compare(truth + 1, truth + 6, y=truth, tolerance=5.0)
    text = found.to_markdown()
    assert text.startswith("### 40 of 40 predictions change by 5 or more")
    assert "| share within the tolerance | 100.00 % → 0.00 % |" in text
    assert "accuracy" not in text


def test_models_that_agree():
    same = np.arange(40) % 2
    page = compare(same, same, y=same).to_html()
    assert "0 of 40 predictions change" in page
    assert "No prediction changes." in page


# -- in a browser ----------------------------------------------------------------------------------


@pytest.fixture
def visit(browser, found, gates, tmp_path):
    """Open the page; fail on any error, console message of weight, or request beyond it."""
    path = tmp_path / "update.html"
    found.save(path, gates, old="june.csv", new="july.csv")
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
def test_the_first_screen_answers_four_questions(visit, scheme):
    page = visit(color_scheme=scheme)
    for shown in (".lead", ".verdict", "#plot-changes svg", "#overview"):
        box = page.locator(shown).bounding_box()
        assert box["y"] + box["height"] <= 900, shown
    assert "predictions change" in page.locator(".lead").inner_text()
    assert "May it be deployed? No" in page.locator(".verdict").inner_text()
    assert page.locator("#plot-changes .point").count() >= 6
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(255, 255, 255)") == (scheme == "light")


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


def test_no_word_of_a_narrow_table_is_broken(visit):
    page = visit(400)
    page.evaluate(OPEN_ALL)
    heights = page.evaluate(
        "[...document.querySelectorAll('.bands tbody th')].map(head => head.offsetHeight)"
    )
    assert len(heights) == 10
    assert max(heights) < 40, "one line each"


def test_each_gate_is_drawn_beside_its_rows_alone(visit, found, gates):
    page = visit()
    lines = "[...document.querySelectorAll('#plot-changes .ideal')]"
    drawn = page.evaluate(
        f"{lines}.map(line => [line.x1, line.y1, line.y2].map(at => at.baseVal.value))"
    )
    allowed = [line["allowed"] for line in _plotted(found, gates)["changes"]]
    assert len(drawn) == sum(share is not None for share in allowed)
    assert len({x for x, _, _ in drawn}) == len({share for share in allowed if share is not None})
    for (_, top, bottom), (_, following, _) in pairwise(drawn):
        assert top < bottom <= following + 1
    by_name = {line["name"]: line["allowed"] for line in _plotted(found, gates)["changes"]}
    assert by_name["become right"] is None
    flip_rate, *_ = gates
    assert by_name["all rows"] == flip_rate.allowed


def test_shares_are_written_in_one_way(found, gates):
    page = found.to_html(gates)
    texts = re.sub(r"<(script|style)>.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert re.search(r"\d\u00a0%", texts)
    for text in (texts, str(found), found.to_markdown(gates)):
        assert re.findall(r".{9}\d%.{9}", text) == []


def test_rows_can_be_searched_filtered_and_sorted(visit):
    page = visit()
    page.evaluate(OPEN_ALL)
    rows = page.locator("#row-table tbody tr")
    total = rows.count()
    page.locator("#kind").select_option("right to wrong")
    some = page.locator("#row-table tbody tr:visible").count()
    assert 0 < some < total
    assert page.locator("#count").inner_text() == f"{some} of {total} rows"
    page.get_by_label("Search").fill("nothing like this")
    assert page.locator("#row-table tbody tr:visible").count() == 0
    page.get_by_label("Search").fill("")
    page.locator("#kind").select_option("")
    head = page.locator("#row-table thead th", has_text="New score")
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    shown = page.locator("#row-table tbody tr td[data-label='New score']").all_inner_texts()
    numbers = [float(text) for text in shown]
    assert numbers == sorted(numbers, reverse=True)


def test_nothing_from_the_data_runs(visit):
    page = visit()
    page.evaluate(OPEN_ALL)
    page.locator("#plot-changes .point").last.hover()
    assert page.locator("#tip").is_visible()
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.locator("img").count() == 0


def test_every_part_opens_by_keyboard(visit):
    page = visit()
    for part in page.locator("details.part").all():
        summary = part.locator("summary").first
        before = part.evaluate("d => d.open")
        summary.focus()
        page.keyboard.press("Enter")
        assert part.evaluate("d => d.open") is not before
    assert page.locator("#plot-calibration .point").count() > 10


def test_one_page_to_print(visit):
    page = visit()
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == 1
    page.emulate_media(media="print")
    assert page.locator(".signature").is_visible()
    assert page.locator("#rows").is_hidden()
    for shown in (".lead", ".verdict", "#overview", "#plot-changes"):
        assert page.locator(shown).is_visible()
