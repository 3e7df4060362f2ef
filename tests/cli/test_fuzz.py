"""Whatever the file and the arguments: a result or a documented error, never a traceback."""

import contextlib
import inspect
import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings, strategies as st

from replearn.cli import main
from replearn.guarantees.plan import Plan
from replearn.registry import TASKS as ALL_TASKS, entries_of

TASKS = {name: entry for name, entry in entries_of(ALL_TASKS).items() if entry.solve}

pytestmark = pytest.mark.statistical

CODES = {0, 1, 2}
FEW = settings(deadline=None, suppress_health_check=list(HealthCheck))

cells = st.one_of(
    st.sampled_from(
        ["", "NA", "1", "2.5", "-3", "1e308", "-1e308", "inf", "nan", "2020-01-31", "31.12.1999"]
    ),
    st.sampled_from(["0123", "99999999999999999999", "True", "yes", "no", "a b c d", '"', "x;y"]),
    st.text(max_size=8),
    st.integers().map(str),
    st.floats().map(str),
)
names = st.one_of(st.sampled_from(["y", "x", "id", "when", ""]), st.text(max_size=5))


def run(*arguments):
    """Call the command; anything but a documented exit is a failure."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
    assert code in CODES
    assert "Traceback" not in err.getvalue()
    if code == 2:
        assert err.getvalue().strip()
    return code, out.getvalue()


@st.composite
def tables(draw):
    """A table, its header and its separator; often one that can be learned from."""
    header = draw(st.lists(names, min_size=1, max_size=4))
    tame = draw(st.booleans())
    last = st.sampled_from(["a", "b", "1", ""]) if tame else cells
    extra = 0 if tame else draw(st.sampled_from([0, 1]))
    row = st.lists(cells, min_size=len(header), max_size=len(header) + extra)
    rows = draw(st.lists(st.tuples(row, last).map(lambda pair: [*pair[0], pair[1]]), max_size=40))
    header = [*(f"{name}{i}" if tame else name for i, name in enumerate(header)), "y"]
    separator = draw(st.sampled_from(",;\t|"))
    quoted = tame or draw(st.booleans())
    lines = [separator.join(_cell(cell, quoted) for cell in row) for row in rows]
    top = separator.join(_cell(name, quoted) for name in header)
    return "\n".join([top, *lines * draw(st.sampled_from([1, 3]))])


def _cell(text, quoted):
    return '"' + text.replace('"', '""') + '"' if quoted else text


@settings(FEW, max_examples=300)
@given(
    text=tables(), model=st.sampled_from(["tree", "logreg"]), name=st.sampled_from(["csv", "tsv"])
)
def test_any_table(text, model, name):
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        data = home / f"data.{name}"
        data.write_text(text, encoding="utf-8", errors="surrogatepass")
        (home / "key.txt").write_text("k")
        key = ("--key-file", home / "key.txt")
        out = ("--out", home / "m.replearn", "--json", "--max-fits", 3)
        code, printed = run("fit", data, "--target", "y", *key, "--model", model, *out)
        event(f"fit: exit code {code}")
        assert (code == 0) is (home / "m.replearn").exists()
        if code == 0:
            json.loads(printed)
            code, printed = run("predict", home / "m.replearn", data, *key, "--json")
            assert code == 0
            assert json.loads(printed)["rows"] > 0


@settings(FEW, max_examples=150)
@given(content=st.one_of(st.binary(max_size=400), st.text(max_size=200).map(str.encode)))
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "feather"])
def test_any_bytes(content, ending):
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / f"data.{ending}"
        data.write_bytes(content)
        assert run("audit", data, "--target", "y")[0] == 2


numbers = st.one_of(st.integers(-5, 3000).map(str), st.floats(-1, 2).map(str), st.text(max_size=4))
options = st.sampled_from(
    [
        "--n",
        "--rho",
        "--runs",
        "--gamma",
        "--n-blocks",
        "--n-partitions",
        "--max-fits",
        "--decimals",
    ]
)


@settings(FEW, max_examples=150)
@given(st.dictionaries(options, numbers, max_size=4), st.sampled_from(["pointwise", "approximate"]))
def test_any_plan(chosen, notion):
    words = [word for pair in chosen.items() for word in pair]
    code, printed = run("plan", notion, "--json", *words)
    assert code in (0, 2)  # 1 is for gates: a plan has none
    if code == 0:
        assert json.loads(printed)
    else:
        assert not printed


fractions, counts = st.floats(0.02, 1).map(str), st.integers(1, 200).map(str)
odd_fractions = st.sampled_from(
    ["0", "1", "1e-300", "5e-324", "1e308", "nan", "inf", "-0.5", "none", "x", ""]
)
odd_counts = st.sampled_from(["0", "-1", str(10**9), str(10**30), "1e3", "2.5", "none", "x", ""])
FRACTIONS = {"rho", "gamma", "alpha", "beta", "nu", "p0", "q0"}


@st.composite
def choices(draw):
    """A task and targets: those that it takes, in half of the cases with something odd."""
    task, odd = draw(st.sampled_from(sorted(TASKS))), draw(st.booleans())
    arguments = inspect.signature(TASKS[task].solve).parameters
    needed = {name for name, item in arguments.items() if item.default is item.empty}
    given = draw(st.sets(st.sampled_from([*arguments]))) | (set() if odd else needed)
    words = [task.replace(",", "").replace(" ", "-")]
    for name in sorted(given):
        plain, strange = (fractions, odd_fractions) if name in FRACTIONS else (counts, odd_counts)
        value = draw(plain | strange if odd else plain)
        value = {"y_range": "0,12", "direction": "both"}.get(name, value)
        words.append(f"--{name.replace('_', '-')}={value}")
    return [*words, "--gamma=0.1"] if odd and draw(st.booleans()) else words


@settings(FEW, max_examples=400)
@given(words=choices())
def test_any_plan_of_another_task(words):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        code, printed = run("plan", *words, "--json", "--save", path)
        event(f"{words[0]}: exit code {code}")
        assert code in (0, 2)
        assert path.exists() is (code == 0)
        if code == 2:
            assert not printed
            return
        made = Plan.load(path)
        assert json.loads(printed) == json.loads(made.to_json())
        assert made.verdict == json.loads(printed)["verdict"]
        assert not (made.certified and made.task == "score")  # that one is only estimated
        assert run("plan", *words)[0] == 0


@settings(FEW, max_examples=100)
@given(
    words=st.lists(
        st.one_of(st.text(max_size=6), st.sampled_from(["plan", "key", "new", "--json"]))
    )
)
def test_any_words(words):
    if not any(word.startswith(("--out", "--save")) for word in words):
        code, printed = run(*words)
        assert code in (0, 2)
        assert printed or code == 2


@settings(FEW, max_examples=40)
@given(place=st.floats(0, 0.9999), mask=st.integers(1, 255))
def test_any_damaged_model_plan_or_certificate(shop, place, mask):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.replearn", "a.json", "plan.json"):
            content = bytearray((shop / name).read_bytes())
            content[int(place * len(content))] ^= mask
            damaged = Path(folder) / name
            damaged.write_bytes(content)
        code, _ = run("certify", Path(folder) / "a.json")
        assert code == 2
        key = ("--key-file", shop / "key.txt")
        assert run("predict", Path(folder) / "a.replearn", shop / "new.csv", *key)[0] in (0, 2)
        plan = ("--plan", Path(folder) / "plan.json", "--out", Path(folder) / "m")
        assert run("fit", shop / "new.csv", "--target", "churn", *key, *plan)[0] == 2
