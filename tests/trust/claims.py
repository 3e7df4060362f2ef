"""All claims that are attacked."""

from . import accuracy, choices, heavy, large, others, rows, sharper, votes

CLAIMS = [
    *votes.CLAIMS,
    *rows.CLAIMS,
    *heavy.CLAIMS,
    *choices.CLAIMS,
    *others.CLAIMS,
    *accuracy.CLAIMS,
    *large.CLAIMS,
    *sharper.CLAIMS,
]
BY_NAME = {claim.name: claim for claim in CLAIMS}
