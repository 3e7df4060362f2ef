"""What a mutation is, and the tests that several of them name."""

from typing import NamedTuple


class Mutation(NamedTuple):
    """One text of one module of ``src/replearn``, replaced."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


ENUMERATED = "tests/trust/test_enumeration.py"
SEPARATE = "tests/trust/test_separate_keys.py"
SURPLUS = (
    "tests/statistical/test_surplus.py::"
    "test_labs_choose_independently_if_their_numbers_of_rows_differ_and_alike_if_not"
)
TWINS = "tests/trust/test_twins.py"
ATTACK = "tests/trust/test_adversary.py::test_a_short_search_breaks_nothing"
FITTED = f"{ENUMERATED}::test_fitted_learners_vote_as_enumerated"
BLOCKS = f"{ENUMERATED}::test_library_blocks_are_among_those_enumerated"


def attack_on(claim: str) -> str:
    """Return the short search for the worst case of one claim."""
    return f"{ATTACK}[{claim}]"


def mutation(name: str, file: str, old: str, new: str, *tests: str) -> Mutation:
    """Return a mutation with the tests that must notice it."""
    return Mutation(name, file, old, new, tests)
