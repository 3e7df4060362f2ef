"""Ways in which real teams differ (benchmarks/two_labs.py): what the certificates say."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from joblib import parallel_config

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "two_labs.py"
pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.exceptions.PreprocessingWarning"),
    pytest.mark.filterwarnings("ignore::replearn.exceptions.UsefulnessWarning"),
    pytest.mark.skipif(not SCRIPT.exists(), reason="benchmarks are not in a source distribution"),
]

SEEN = {
    "nothing differs": ("yes, if", "yes, if"),
    "decimal comma, read as text": ("yes, if", "no"),
    "time zone of dates": ("yes, if", "no"),
    "time zone of times of day": ("yes, if", "no"),
    "day and month exchanged": ("yes, if", "no"),
    "order of categories": ("yes, if", "yes, if"),
    "floats through a spreadsheet (15 digits)": ("yes, if", "no"),
    "order of columns": ("yes, if", "yes, if"),
    "index saved as a column": ("no", "no"),
    "file sorted": ("yes, if", "yes, if"),
    "float32": ("yes, if", "no"),
    "other library version": ("unknown", "unknown"),
    "whole numbers as floats": ("yes, if", "yes, if"),
    "missing cells spelled NA": ("yes, if", "no"),
    "missing numbers spelled -999": ("yes, if", "no"),
    "truth values as 0 and 1": ("yes, if", "yes, if"),
    "labels exchanged": ("yes, if", "yes, if"),  # a listed condition
    "labels as texts": ("no", "no"),
    "spaces after texts": ("yes, if", "no"),
    "only members": ("yes, if", "yes, if"),  # another population, a listed condition
    "another parameter": ("no", "no"),
}
"""Results without and with a probe."""


@pytest.fixture(scope="module")
def labs():
    spec = importlib.util.spec_from_file_location("two_labs", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["two_labs"] = module
    sys.path.insert(0, str(SCRIPT.parent))  # its neighbours
    spec.loader.exec_module(module)
    sys.path.remove(str(SCRIPT.parent))
    module.RHO, module.FITS, module.POINTS = 0.5, 15, 64
    yield module
    del sys.modules["two_labs"]


@pytest.fixture(scope="module")
def ways(labs):
    return {way.name: way for way in labs.WAYS}


QUICK = {
    "nothing differs",
    "decimal comma, read as text",
    "time zone of times of day",
    "day and month exchanged",
    "order of columns",
    "index saved as a column",
    "other library version",
    "only members",
}
"""One way for each pair of predictions and each kind of verdict; the others are long tests."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.long) for n in SEEN]
)
def test_what_certificates_and_probes_say(name, labs, ways):
    pair = labs.measure(ways[name], 0)
    assert (pair.result, pair.probed or "-") == SEEN[name]
    assert (pair.verdict == "certified") == (not name.startswith("index"))


@pytest.mark.filterwarnings(
    "ignore:rows are not independent draws:replearn.exceptions.NotCertifiedWarning"
)
@pytest.mark.statistical
def test_no_way_is_broken_and_silent(labs, ways):
    from _pairs import Row

    labs.RHO, labs.FITS, labs.POINTS = 0.2, 60, 300
    with parallel_config("threading"):  # other processes cannot import the script
        measured = {w.name: tuple(labs.measure(w, pair) for pair in range(8)) for w in labs.WAYS}
    rows = [Row(*item) for item in measured.items()]
    assert len(rows) > 20
    assert sum(row.flips > 0.25 for row in rows) > 5  # the promise is 0.2
    assert not [row.name for row in rows if row.silent]
    # the warning that is not an error here belongs to the rows that a join has doubled
    assert all(pair.verdict == "certified" for pair in measured["nothing differs"])
    doubled = measured["rows doubled by a join"]
    assert {pair.verdict for pair in doubled} == {"not certified"}


def test_a_silent_row_is_called_silent(labs):
    from _pairs import Outcome, Row

    flips = [Outcome(0.2, rate, "certified", "yes, if") for rate in (0.5, 0.52, 0.48)]
    assert Row("trusted", tuple(flips)).silent
    assert not Row("a probe tells", tuple(replace(pair, probed="no") for pair in flips)).silent
    assert not Row(
        "refuted", tuple(replace(pair, verdict="not certified") for pair in flips)
    ).silent
