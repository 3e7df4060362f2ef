"""Workbooks: the first sheet is a table like any other."""

import sys
import zipfile

import pytest

from replearn.tables.files import TableFileError, read_table

TYPES = """<?xml version="1.0"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>
</Types>"""
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def relation(kind, target):
    return (
        f'<?xml version="1.0"?><Relationships xmlns="{PACKAGE}"><Relationship Id="r1" '
        f'Type="{OFFICE}/{kind}" Target="{target}"/></Relationships>'
    )


def cell(value):
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>'
    return "<c/>" if value is None else f"<c><v>{value}</v></c>"


def write_workbook(path, rows):
    """Write the smallest workbook that there is."""
    lines = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    parts = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": relation("officeDocument", "xl/workbook.xml"),
        "xl/_rels/workbook.xml.rels": relation("worksheet", "worksheets/sheet1.xml"),
        "xl/workbook.xml": f'<?xml version="1.0"?><workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">'
        '<sheets><sheet name="Loans" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/worksheets/sheet1.xml": f'<?xml version="1.0"?><worksheet xmlns="{MAIN}">'
        f"<sheetData>{lines}</sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


ROWS = [
    ("age ", "fee", "answer"),
    (41, "1,200", "Yes "),
    (None, "5", "no"),
    (None, None, None),
    (33.5, "NA", "no"),
]


def test_a_sheet_is_read_like_a_text_file(tmp_path):
    table = read_table(write_workbook(tmp_path / "a.xlsx", ROWS))
    assert table.columns == {"age": "number", "fee": "number", "answer": "text"}
    assert table.frame.rows() == [(41.0, 1200.0, "Yes"), (None, 5.0, "no"), (33.5, None, "no")]


def test_what_is_no_workbook_is_refused(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04xx")
    with pytest.raises(TableFileError, match="not a complete workbook"):
        read_table(tmp_path / "a.xlsx")


def test_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    path = write_workbook(tmp_path / "a.xlsx", ROWS)
    with pytest.raises(TableFileError, match=r"pip install 'replicable-learn\[excel\]'"):
        read_table(path)
