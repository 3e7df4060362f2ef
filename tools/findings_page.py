"""Write docs/reference/findings.md from the data file of the findings.

python tools/findings_page.py
"""

from pathlib import Path

from replearn.auditing.findings import descriptions

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "findings.md"

HEAD = """# Findings

An [audit](../guide/audit.md) looks for what puts predictions or guarantees at risk. This page
explains each finding.

```python
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from replearn.auditing.audits import audit

X, y = make_classification(1500, flip_y=0.2, random_state=0)
result = audit(GaussianNB(), X, y, n_pairs=2).with_settings(ignore=["RPL007"])
for finding in result.findings:
    print(finding.code, finding.status, finding)
```

A code never changes its meaning. Its status is *found*, *passed*, *not applicable* (the audit
cannot tell) or *ignored*. A pass is not a proof: each section says what it leaves open. Words such
as [flip rate](../glossary.md) and [contender](../glossary.md) are in the glossary.
"""


def section(code: str, about: dict[str, str]) -> str:
    """Write what the file says about one finding."""
    return f"""
## {code}: {about["title"]}

*{about["severity"].capitalize()}.* **Detected** when {about["detected"]}

- **Why it matters**: {about["why"]}
- **What to do**: {about["remedy"]}
- **What a pass does not prove**: {about["not_proved"]}
"""


def page() -> str:
    """Write the whole page."""
    return HEAD + "".join(section(*item) for item in descriptions().items())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
