"""All claims that are attacked."""

from . import accuracy, choices, decision_thresholds, heavy, large, others, rows, sharper, votes

CLAIMS = [
    *votes.CLAIMS,
    *decision_thresholds.CLAIMS,
    *rows.CLAIMS,
    *heavy.CLAIMS,
    *choices.CLAIMS,
    *others.CLAIMS,
    *accuracy.CLAIMS,
    *large.CLAIMS,
    *sharper.CLAIMS,
]
BY_NAME = {claim.name: claim for claim in CLAIMS}
