"""The tables "before and now" of the theory pages, computed again from both bounds."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from replearn.bounds.approximate import disagreement_tail
from replearn.bounds.laws import uniform_law
from replearn.bounds.vc import log_growth
from replearn.bounds.whole_models import jensen_tail
from replearn.paper import realizable
from replearn.paper.realizable import smallest_sample_realizable, underrated_tail
from replearn.records.search import smallest_integer

THEORY = Path(__file__).parents[2] / "docs" / "theory"
pytestmark = pytest.mark.skipif(not THEORY.exists(), reason="the documentation is not here")


def table(page, head):
    """Return the cells of the table whose first cell is ``head``, without its head."""
    lines = (THEORY / f"{page}.md").read_text("utf-8").splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"| {head} |"))
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def numbers(cell):
    return [float(text.replace(",", "")) for text in re.findall(r"[\d.,]*\d", cell)]


def whole_number(cell):
    return int(cell.replace(",", ""))


def smallest_blocks(bound, rho, gamma):
    return smallest_integer(lambda t: bound(uniform_law(t), gamma) <= rho)


def test_blocks_for_whole_models():
    rows = table("approximate-jensen", "rho, gamma")
    assert len(rows) >= 3
    for cell, before, now in rows:
        rho, gamma = numbers(cell.replace(", ", " "))
        found = [smallest_blocks(bound, rho, gamma) for bound in (disagreement_tail, jensen_tail)]
        assert found == [whole_number(before), whole_number(now)], cell


def by_cauchy_and_schwarz(n, d, gamma, limits):
    """The bounds of the realizable page with sqrt(2) deviations instead of 2 / sqrt(3)."""
    slack = gamma / 2.0 - limits - math.sqrt(2.0 * log_growth(d, n) / n)
    wrong = np.where(slack > 0.0, 2.0 * np.exp(-2.0 * n * np.maximum(slack, 0.0) ** 2), 1.0)
    tail = underrated_tail(n, d, limits, gamma / 2.0)
    absolute = 1.0 / (limits * math.sqrt(2.0 * n)) + wrong
    return np.minimum(absolute, np.sqrt((gamma + 2.0 * tail) / n) / limits + 2.0 * tail)


def test_rows_for_realizable_learners(monkeypatch):
    rows = table("realizable", "γ = α")[1:5]  # larger ones take long
    targets = [(0.1, float(row[0]), float(row[0]), 0.05, d) for row in rows for d in (1, 10)]
    now = [smallest_sample_realizable(*target)[0] for target in targets]
    monkeypatch.setattr(realizable, "_flip_bounds", by_cauchy_and_schwarz)
    before = [smallest_sample_realizable(*target)[0] for target in targets]
    assert [whole_number(row[k]) for row in rows for k in (2, 5)] == before
    assert [whole_number(row[k]) for row in rows for k in (3, 6)] == now
