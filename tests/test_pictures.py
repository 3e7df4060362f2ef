"""The pictures of the guides: drawn by a script, and shown on a page."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")

from tools.pictures import IMAGES, PICTURES, main

DOCS = IMAGES.parent
BY_OTHERS = {"two-labs", "frontier", "growing", "incumbent", "house"}
"""Pictures that benchmarks or hands have drawn."""
QUICK = {"certificates", "classifier", "points", "small-samples", "which-learner"}
GUIDES = [page for page in sorted(DOCS.glob("guide/*.md")) if page.stem != "index"]


def shown():
    pages = [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    return set(re.findall(r"images/([\w-]+)\.(?:svg|png)", text))


def test_every_picture_is_drawn_by_somebody_and_shown_on_a_page():
    files = {path.stem for path in IMAGES.iterdir()}
    assert files == set(PICTURES) | BY_OTHERS
    assert files <= shown()


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_every_guide_shows_one_picture(page):
    pictures = re.findall(r"!\[([^\]]*)\]", page.read_text(encoding="utf-8"))
    assert len(pictures) == 1
    assert len(pictures[0]) > 20, "words for those who do not see it"


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in PICTURES],
)
def test_pictures_are_drawn(name, tmp_path):
    main([name], tmp_path)
    root = ElementTree.fromstring(Path(tmp_path, f"{name}.svg").read_text(encoding="utf-8"))
    assert len(list(root.iter())) > 20
