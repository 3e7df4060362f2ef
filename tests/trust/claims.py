"""All claims that are attacked."""

from . import choices, heavy, others, rows, votes

CLAIMS = [*votes.CLAIMS, *rows.CLAIMS, *heavy.CLAIMS, *choices.CLAIMS, *others.CLAIMS]
BY_NAME = {claim.name: claim for claim in CLAIMS}
