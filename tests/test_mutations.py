"""The list of mutations fits the source: every text is there once, every named test exists."""

import pytest

from tools.mutation_list import MUTATIONS
from tools.mutations import ROOT, patched


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_mutations_fit_the_source(mutation):
    assert patched(ROOT / "src" / "replearn", mutation)
    for test in mutation.tests:
        path, _, name = test.partition("::")
        place = ROOT / "src" / "replearn" / path[4:] if path.startswith("src:") else ROOT / path
        assert place.is_file()
        assert f"def {name.partition('[')[0]}" in place.read_text()


def test_there_are_enough_and_none_twice():
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS) >= 40
