"""What a mutation is, and the tests that several of them name."""

from pathlib import Path
from typing import NamedTuple

from tools.mutation_edits import AnchorError, Edit, edited


class Mutation(NamedTuple):
    """One edit of one definition below ``src``; tools/mutation_edits.py says how to write it."""

    name: str
    where: str
    edit: Edit
    tests: tuple[str, ...]

    def apply(self, source: Path) -> tuple[str, str]:
        """Return the path of the mutated module below ``source``, and its new text."""
        try:
            return edited(source, self.where, self.edit)
        except AnchorError as error:
            raise AnchorError(f"mutation {self.name!r}: {error}") from None


ENUMERATED = "tests/adversarial/trust/test_enumeration.py"
SEPARATE = "tests/adversarial/trust/test_separate_keys.py"
SURPLUS = (
    "tests/adversarial/statistical/test_surplus.py::"
    "test_labs_choose_independently_if_their_numbers_of_rows_differ_and_alike_if_not"
)
TWINS = "tests/adversarial/trust/test_twins.py"
ATTACK = "tests/adversarial/trust/test_adversary.py::test_a_short_search_breaks_nothing"
FITTED = f"{ENUMERATED}::test_fitted_learners_vote_as_enumerated"
BLOCKS = f"{ENUMERATED}::test_library_blocks_are_among_those_enumerated"


def attack_on(claim: str) -> str:
    """Return the short search for the worst case of one claim."""
    return f"{ATTACK}[{claim}]"


def mutation(name: str, where: str, edit: Edit, *tests: str) -> Mutation:
    """Return a mutation with the tests that must notice it."""
    return Mutation(name, where, edit, tests)
