"""Code in the guides runs as it stands, and links lead somewhere."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(ROOT.glob("docs/**/*.md"))
GUIDES = sorted(ROOT.glob("docs/guide/*.md"))


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


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_code_of_the_guide_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_code(page.read_text(), page.name) > 0, "a guide without code answers no task"


@pytest.mark.parametrize("prompt", ["", ">>> "])
def test_a_guide_that_warns_fails(prompt):
    code = f"{prompt}import warnings\n{prompt}warnings.warn('not certified')\n"
    with pytest.raises((UserWarning, AssertionError)):
        run_code(f"```python\n{code}```", "page")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []
