"""The guide's examples and its table of bad calls are true."""

import builtins
import datetime
import decimal
import doctest
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import replearn.exceptions
from replearn.randomness.key import SharedKey
from replearn.randomness.kinds import ENCODING_VERSION
from replearn.randomness.points import as_points

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = (DOCS / "guide" / "keys-and-points.md", DOCS / "guide" / "points.md")
ERRORS = DOCS / "reference" / "errors-and-warnings.md"
BAD_CALL = re.compile(r"^\| `(.+?)` \| `(\w+)` \| (.+) \|$", re.MULTILINE)
TABLE = [match.groups() for match in BAD_CALL.finditer(ERRORS.read_text(encoding="utf-8"))]


def names():
    return {
        "np": np,
        "pd": pd,
        "pl": pl,
        "datetime": datetime,
        "decimal": decimal,
        "SharedKey": SharedKey,
        "as_points": as_points,
        "key": SharedKey("trial-2026"),
    }


def test_the_table_is_found():
    assert len(TABLE) >= 40


@pytest.mark.parametrize(("call", "error", "message"), TABLE, ids=[row[0] for row in TABLE])
def test_bad_call(call, error, message):
    expected = getattr(replearn.exceptions, error, None) or getattr(builtins, error)
    with pytest.raises(expected) as raised:
        exec(call, names())
    assert type(raised.value) is expected
    assert str(raised.value) == message


def test_examples_of_the_guides():
    found = [
        doctest.testfile(str(guide), module_relative=False, encoding="utf-8") for guide in GUIDES
    ]
    assert sum(one.attempted for one in found) >= 10
    assert sum(one.failed for one in found) == 0


def test_the_guide_names_the_version():
    assert f"`{ENCODING_VERSION}`" in GUIDES[1].read_text(encoding="utf-8")
