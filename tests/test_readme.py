"""The README's code runs as it stands, in order, in one namespace."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_readme_code_runs():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    assert len(blocks) >= 2
    exec("\n".join(blocks), {})


def test_readme_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text())
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
