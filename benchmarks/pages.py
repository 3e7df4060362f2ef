"""Draw the tables of docs/benchmarks from their data files, without computing anything.

    python benchmarks/pages.py [--pictures]

Each page has a data file of its name in docs/benchmarks/data, into which the scripts write with
``--page``; its tables stand between ``<!-- section -->`` and ``<!-- end of section -->``.
``--pictures`` draws the pictures from the same numbers.
"""

from __future__ import annotations

import argparse
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _page_tables import PAGES, SUMMARY
from _records import machine, merge, read, write

DOCS = Path(__file__).parents[1] / "docs"
FOLDER = DOCS / "benchmarks"


def data_file(page: Path) -> Path:
    """Return the data file of a page."""
    return page.parent / "data" / f"{page.stem}.json"


def tables_of(page: str) -> dict[str, str]:
    """Return the text of every section of a page in docs/benchmarks."""
    data = read(FOLDER / "data" / f"{page}.json")
    return {section: show(data) for section, show in PAGES[page].items()}


def tables_of_summary() -> dict[str, str]:
    """Return the text of every section of docs/benchmarks.md."""
    return {
        section: show(read(FOLDER / "data" / f"{page}.json"))
        for section, (page, show) in SUMMARY.items()
    }


def put_into_page(page: Path, section: str, text: str) -> None:
    """Replace what stands between ``<!-- section -->`` and ``<!-- end of section -->``."""
    before, _, after = parts_of(page.read_text(encoding="utf-8"), section)
    page.write_text(f"{before}\n\n{text.strip()}\n\n{after}", encoding="utf-8")


def parts_of(content: str, section: str) -> tuple[str, str, str]:
    """Cut a page into what is before a section, the section, and what is after it."""
    begin = f"<!-- {section} -->"
    end = f"<!-- end of {section} -->"
    if begin not in content or end not in content:
        raise ValueError(f"the page has no section {begin} ... {end}")
    before, rest = content.split(begin, 1)
    text, after = rest.split(end, 1)
    return before + begin, text.strip(), end + after


def add_report_arguments(parser: ArgumentParser, name: str) -> None:
    """Where the numbers go: a data file with a folder of cells beside it, or that of a page."""
    parser.add_argument("--out", type=Path, default=Path(f"{name}.json"), help="data file")
    parser.add_argument("--page", type=Path, help="write into this page and its data file instead")
    parser.add_argument("--section", default=name, help="the section of the data file")
    parser.add_argument("--only-report", action="store_true", help="compute nothing new")


def all_records(options: Namespace, section: str, records: Sequence[Any]) -> list[Any]:
    """Return the records of a section as they are after these ones have been merged into it."""
    data = read(_data_path(options))
    merge(data, section, records, machine())
    return data[section]["records"]


def write_report(options: Namespace, sections: dict[str, Sequence[Any]]) -> None:
    """Merge records into the data file, and show the tables of the sections that have changed."""
    path = _data_path(options)
    data = read(path)
    for section, records in sections.items():
        merge(data, section, records, machine())
    write(path, data)
    for page, shows in PAGES.items():
        for section in (name for name in shows if name in sections):
            print(f"{section}:\n\n{shows[section](data)}\n")
        if options.page and options.page.stem == page:
            for section, show in shows.items():
                put_into_page(options.page, section, show(data))


def _data_path(options: Namespace) -> Path:
    return data_file(options.page) if options.page else options.out


def draw_pictures() -> None:
    """Draw what the pages show beside their tables."""
    import _frontier_picture
    import _growing_picture

    for page, section, draw, picture in (
        ("frontier", "frontier", _frontier_picture.draw, "frontier.png"),
        ("gradient-boosting", "growing", _growing_picture.draw, "growing.png"),
    ):
        records = read(FOLDER / "data" / f"{page}.json")[section]["records"]
        draw(records, DOCS / "images" / picture)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", action="store_true", help="draw the pictures, too")
    options = parser.parse_args()
    for page in PAGES:
        for section, text in tables_of(page).items():
            put_into_page(FOLDER / f"{page}.md", section, text)
    for section, text in tables_of_summary().items():
        put_into_page(DOCS / "benchmarks.md", section, text)
    if options.pictures:
        draw_pictures()


if __name__ == "__main__":
    main()
