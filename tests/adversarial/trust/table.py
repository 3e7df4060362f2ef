"""The table of all attacks; ``python -m tests.adversarial.trust.table [--write]``, into the docs.

The long suite leaves one file for each claim in the folder ``.trust``.
"""

import json
import math
import sys
from pathlib import Path

from .attack import Finding, words
from .claims import BY_NAME

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / ".trust"
PAGE = ROOT / "docs" / "trust.md"
BEGIN, END = "<!-- attacks -->", "<!-- end of attacks -->"
HEAD = (
    "| claim (theorem) | certified | worst case | simulated, with limits | ratio | where |",
    "|---|--:|--:|--:|--:|---|",
)


def record(found: Finding) -> None:
    """Leave the finding for the table."""
    FOLDER.mkdir(exist_ok=True)
    row = {
        "name": found.claim.name,
        "theorem": found.claim.theorem,
        "slack": found.claim.slack,
        "exact": found.claim.exact,
        "certified": found.certified,
        "value": found.value,
        "hits": found.hits,
        "pairs": found.pairs,
        "limits": found.limits,
        "ratio": found.ratio,
        "tried": found.tried,
        "where": words(found.case),
    }
    name = "".join(c if c.isalnum() else "-" for c in found.claim.name)
    (FOLDER / f"{name}.json").write_text(json.dumps(row, indent=1))


def rows() -> list[dict]:
    """Return what the long suite has left, in the order of the claims."""
    found = [json.loads(path.read_text()) for path in FOLDER.glob("*.json")]
    order = list(BY_NAME)
    return sorted(
        (row for row in found if row["name"] in BY_NAME), key=lambda r: order.index(r["name"])
    )


def line(row: dict) -> str:
    """Return one line of the table."""
    low, high = row["limits"]
    worst = f"{row['value']:.4g} (exact)" if row["exact"] else "by simulation"
    simulated = f"{row['hits'] / row['pairs']:.4g} ({low:.4g} to {high:.4g})"
    where = row["where"].replace("ThresholdLaw", "").replace("|", "/")
    where = where if len(where) <= 110 else where[:107] + "..."
    cells = [
        f"{row['name']} ([{row['theorem']}](theory/{row['theorem']}.md))",
        f"{_up(row['certified'])}",
        worst,
        simulated,
        f"{row['ratio']:.3f}",
        where,
    ]
    return "| " + " | ".join(cells) + " |"


def table() -> list[str]:
    """Return the table, the totals and what is known about slack."""
    found = rows()
    tried, pairs = sum(r["tried"] for r in found), sum(r["pairs"] for r in found)
    totals = (
        f"{len(found)} claims; {tried:,} populations tried, {pairs:,} pairs of runs simulated on "
        "the worst of them. Limits are exact binomial ones, each wrong with probability 1e-9."
    )
    far = [r for r in found if r["ratio"] < 0.9]
    slack = [f"- {r['name']} ({r['ratio']:.2f}): {r['slack'] or 'see its page'}." for r in far]
    return [
        totals,
        "",
        *HEAD,
        *map(line, found),
        "",
        "Where the ratio is below 0.9, and why:",
        "",
        *slack,
    ]


def write() -> None:
    """Put the table into the page."""
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text("\n".join([before + BEGIN, *table(), END + after]))


def _up(value: float) -> str:
    digits = 10.0 ** (3 - math.floor(math.log10(value)))
    return f"{math.ceil(value * digits - 1e-9) / digits:.6g}"


if __name__ == "__main__":
    missing = [name for name in BY_NAME if name not in {row["name"] for row in rows()}]
    sys.stdout.write("\n".join(table()) + "\n")
    if missing:
        folder = "tests/adversarial/trust"
        sys.exit(f"not attacked yet (pytest -m statistical {folder}): {', '.join(missing)}")
    if "--write" in sys.argv:
        write()
