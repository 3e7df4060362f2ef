"""Every theorem used in code has an entry and a page, and every page has an entry."""

import re
from pathlib import Path

import pytest
from replearn.guarantees.registry import theorem

from replearn.exceptions import CertificateError
from replearn.guarantees import THEOREMS

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "theory"
CITATION = re.compile(r"#\s*theorem:\s*(\S+)")


def cited_keys():
    sources = (ROOT / "src" / "replearn").rglob("*.py")
    return {
        key.rstrip(".,;)")
        for source in sources
        for key in CITATION.findall(source.read_text(encoding="utf-8"))
    }


def test_citations_are_found():
    assert {"pointwise-threshold", "content-keyed-partition", "many-runs"} <= cited_keys()


def test_every_cited_key_is_registered():
    assert cited_keys() - set(THEOREMS) == set()


def test_every_registered_key_is_cited():
    assert set(THEOREMS) - cited_keys() == set()


@pytest.mark.parametrize("key", sorted(THEOREMS))
def test_every_theorem_has_a_page(key):
    page = ROOT / THEOREMS[key].page
    assert page.is_file(), f"{THEOREMS[key].page} is missing"
    assert page.read_text(encoding="utf-8").startswith("# ")


def test_every_page_has_a_theorem():
    pages = {page.stem for page in PAGES.glob("*.md")} - {"index", "README"}
    assert pages - set(THEOREMS) == set()


@pytest.mark.parametrize("key", sorted(THEOREMS))
def test_entries_say_something(key):
    entry = THEOREMS[key]
    assert entry.key == key
    assert entry.statement.endswith(".")
    assert entry.paper_label


def test_unknown_theorem_and_unknown_quantity_are_refused():
    with pytest.raises(CertificateError, match="no-such-theorem"):
        theorem("no-such-theorem")
    with pytest.raises(CertificateError, match="no_such_number"):
        theorem("pointwise-threshold").quantity("no_such_number")
