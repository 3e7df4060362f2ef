"""Code in the guides runs as it stands; links, files and names that pages mention exist."""

import ast
import doctest
import importlib
import re
import runpy
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "src" / "replearn"
PAGES = sorted(ROOT.glob("docs/**/*.md"))
WITH_CODE = [
    ROOT / "docs" / "index.md",
    *(page for page in sorted(ROOT.glob("docs/guide/*.md")) if page.stem != "index"),
    *(page for page in sorted(ROOT.glob("docs/reference/*.md")) if "```py" in page.read_text()),
]
EXAMPLES = sorted(ROOT.glob("examples/plot_*.py"))
ALL_PAGES = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "tests" / "README.md"]
every_page = pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.stem)

PATH = re.compile(r"(?<![\w/.<>*-])((?:[\w-]+/)+(?:[\w-]+\.(?:py|md|json|toml))?)(?![\w/<>*])")
DOTTED = re.compile(r"(?<![\w/.])replearn(?:_lab)?(?:\.\w+)+")
BARE = re.compile(r"(?<![\w/.<>*-])(\w+\.py)\b")
NAMES_IN_FILE = re.compile(r"((?:`\w+`(?:, | and )?)+) \(`([\w/]+\.py)`\)")
SNAKE = re.compile(r"(?<![\w./-])_?[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w./-])")


def run_code(text, name):
    """Run all blocks in one namespace, and count them.

    Warnings are errors as everywhere: show or avoid them.
    """
    blocks = re.findall(r"```(?:python|pycon)\n(.*?)```", text, flags=re.S)
    namespace = {}
    for block in blocks:
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, namespace, name, name, 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(test, clear_globs=False)
            assert runner.summarize().failed == 0
            namespace.update(test.globs)
        else:
            exec(block, namespace)
    return len(blocks)


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_code_of_the_guide_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_code(page.read_text(), page.name) > 0, "a guide without code does no task"


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/guide/*.md")), ids=lambda page: page.stem)
def test_guides_are_short(page):
    assert len(page.read_text().split()) <= 700, "the rest belongs into docs/reference"


def test_the_credit_page_is_the_credit_example():
    page = (ROOT / "docs" / "guide" / "monthly-credit-model.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.S)
    example = (ROOT / "examples" / "monthly_credit.py").read_text()
    sections = [section.strip() for section in example.split("# %%\n")[1:]]
    assert [block.strip() for block in blocks] == sections


def test_the_list_of_environment_variables_is_complete():
    page = (ROOT / "docs" / "reference" / "messages.md").read_text()
    table = page.partition("## Environment variables")[2]
    listed = re.findall(r"^\| `(\w+)` \|", table, flags=re.M)
    sources = [path.read_text() for path in sorted((ROOT / "src").rglob("*.py"))]
    used = {name for text in sources for name in re.findall(r"\bREPLEARN_[A-Z_]+\b", text)}
    assert sorted(listed) == sorted(used)


@pytest.mark.long
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_examples_run(example, monkeypatch, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")
    monkeypatch.syspath_prepend(str(example.parent))
    runpy.run_path(str(example))
    assert capsys.readouterr().out or pyplot.get_fignums(), "an example shows something"


def test_every_example_opens_with_a_title():
    assert len(EXAMPLES) >= 12
    for example in EXAMPLES:
        title, line, empty = ast.get_docstring(ast.parse(example.read_text("utf-8"))).split("\n")[
            :3
        ]
        assert (set(line), len(line), empty) == ({"="}, len(title), "")


@pytest.mark.parametrize("prompt", ["", ">>> "])
def test_a_guide_that_warns_fails(prompt):
    code = f"{prompt}import warnings\n{prompt}warnings.warn('not certified')\n"
    with pytest.raises((UserWarning, AssertionError)):
        run_code(f"```python\n{code}```", "page")


@cache
def anchors(page):
    """Return the anchors of a page's headings, as Markdown makes them."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    heads = re.findall(r"^#+ +(.*)$", text, flags=re.M)
    plain = [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads]
    return plain + re.findall(r"<a id=\"([^\"]+)\"", text)


@every_page
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for link, _, anchor in re.findall(r"\]\(([^)#:\s]*)(#([^)\s]*))?\)", text):
        target = page if not link else page.parent / link
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{link}#{anchor}"


def test_pages_that_docstrings_name_exist():
    named = {
        (path.name, page)
        for path in HOUSE.parent.rglob("*.py")
        for page in re.findall(r"docs/[\w/-]+\.md", path.read_text("utf-8"))
    }
    assert [item for item in named if not (ROOT / item[1]).exists()] == []


def test_every_learner_and_bound_is_linked_to_its_theory():
    from replearn.bounds.theorem import BOUNDS
    from replearn.registry import ESTIMATORS, estimator_class

    theory_of = runpy.run_path(str(ROOT / "docs" / "conf.py"))["theory_of"]
    linked = [estimator_class(name) for name in ESTIMATORS]
    linked += BOUNDS.values()
    for value in linked:
        keys = theory_of(value)
        assert keys, value
        assert all((ROOT / "docs" / "theory" / f"{key}.md").exists() for key in keys), value


@cache
def spans(page):
    """Return what stands between single backticks."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    return re.findall(r"`([^`]+)`", text)


def exists(path):
    """Paths start at the root of the repository, or inside the package."""
    return any((place / path).exists() for place in (ROOT, ROOT / "src", HOUSE, ROOT / "docs"))


def resolves(dotted):
    """Import the longest module and follow the rest as attributes."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            if not hasattr(value, name):
                return False
            value = getattr(value, name)
        return True
    return False


@cache
def words_of_code():
    """Return every word of the sources, tests and benchmarks."""
    files = [
        path for room in ("src", "tests", "benchmarks") for path in ROOT.glob(f"{room}/**/*.py")
    ]
    words = {word for path in files for word in re.findall(r"\w+", path.read_text("utf-8"))}
    return words | {"roc_auc", "check_estimator", "max_bins"}  # scikit-learn's


@cache
def names_of_files():
    return {path.name for path in ROOT.glob("[!.]*/**/*.py")}


@every_page
def test_files_that_are_named_exist(page):
    named = [path for span in spans(page) for path in PATH.findall(span)]
    assert [path for path in named if not exists(path)] == []
    bare = [name for span in spans(page) for name in BARE.findall(span)]
    assert [name for name in bare if name not in names_of_files()] == []


@every_page
def test_functions_stand_in_the_files_named_beside_them(page):
    for names, path in NAMES_IN_FILE.findall(page.read_text()):
        files = [ROOT / path, HOUSE.parent / path, HOUSE / path, *HOUSE.glob(f"*/{path}")]
        text = next(file for file in files if file.exists()).read_text("utf-8")
        missing = [
            n for n in re.findall(r"\w+", names) if not re.search(rf"\b(def|class) {n}\b", text)
        ]
        assert missing == [], path


@every_page
def test_names_of_the_package_exist(page):
    named = DOTTED.findall(page.read_text())
    assert [name for name in named if not resolves(name)] == []


@every_page
def test_functions_and_parameters_that_are_named_exist(page):
    named = [name for span in spans(page) for name in SNAKE.findall(span)]
    assert [name for name in named if name not in words_of_code()] == []


def test_missing_files_and_names_are_noticed(tmp_path):
    page = tmp_path / "page.md"
    absent = "_".join(["no", "such", "function"])
    page.write_text(f"`bounds/nothing.py` and `{absent}(x)`, but `bounds/flips.py`")
    assert [exists(path) for span in spans(page) for path in PATH.findall(span)] == [False, True]
    assert SNAKE.findall(spans(page)[1]) == [absent]
    assert absent not in words_of_code()
    assert resolves("replearn.bounds.flips.flip_bound")
    assert not resolves("replearn.bounds.flip_bounds")
